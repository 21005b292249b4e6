// Which tests a change touches: those that its importers lead to, without going through the places where everything meets.
import { posix } from 'node:path';
import { importersOf, type Sources } from './import-graph.ts';

const TEST = /\.test\.ts$/u;
const MODULE = /\.ts$/u;
/** What puts everything together: from here a change would reach nearly every test. */
const MEETING_PLACES = [
  /^src\/(?:manager|cli|drill)\//u,
  /^src\/main\.ts$/u,
  /^agents\/registry\.ts$/u,
  /^test\/(?:scenarios|simulation|integration|installation|mutants|laws|bench|hour)\//u,
];
/** The rules that read the repository as a text, and what is generated from code. */
const ALWAYS = ['glossary', 'page-links', 'sources'].map((name) => `test/rules/${name}.test.ts`).concat('scripts/generated-files.test.ts');
/** Plants violations: of use where the rules themselves have changed. */
const PLANTING = /^test\/rules\/(?:format|layer|lint)-rules\.test\.ts$/u;
const RULES = /^[^/]*\.(?:mjs|json|config\.ts)$|^scripts\/lint\//u;

export interface ChangedTests {
  tests: string[];
  /** How many more tests the change reaches, and through which files. */
  leftOut: { tests: number; through: string[] };
}

/** The tests of a change; `changed` and the keys of `sources` are paths from the root of the repository. */
export function testsOf(changed: readonly string[], sources: Sources): ChangedTests {
  const importers = importersOf(sources);
  const start = changed.flatMap((file) => [file, ...(MODULE.test(file) ? [] : readersOf(file, sources))]);
  const reached = walk(start, (file) => (isMeetingPlace(file) && !changed.includes(file) ? [] : importersThat(file, importers, changed)));
  const all = walk(start, (file) => importers.get(file) ?? []);
  const folders = new Set(changed.filter((file) => MODULE.test(file)).map(ownTestsOf));
  const isTouched = (file: string): boolean =>
    reached.has(file) ||
    folders.has(posix.dirname(file)) ||
    ALWAYS.includes(file) ||
    (PLANTING.test(file) && changed.some((each) => RULES.test(each)));
  const tests = [...sources.keys()].filter((file) => TEST.test(file) && isTouched(file)).toSorted();
  const beyond = [...all].filter((file) => TEST.test(file) && !tests.includes(file));
  const through = [...reached].filter((file) => isMeetingPlace(file) && !TEST.test(file)).toSorted();
  return { tests, leftOut: { tests: beyond.length, through } };
}

function isMeetingPlace(file: string): boolean {
  return MEETING_PLACES.some((place) => place.test(file));
}

/** A change in a meeting place touches what imports it and no more; any other change goes on to whoever imports its importers. */
function importersThat(file: string, importers: ReadonlyMap<string, readonly string[]>, changed: readonly string[]): readonly string[] {
  const found = importers.get(file) ?? [];
  return isMeetingPlace(file) && changed.includes(file) ? found.filter((each) => TEST.test(each)) : found;
}

function walk(start: readonly string[], next: (file: string) => readonly string[]): Set<string> {
  const seen = new Set(start);
  // A set is gone through with what is added on the way.
  for (const file of seen) for (const each of next(file)) seen.add(each);
  return seen;
}

/** Who names a file that is no module (a page, a fixture, a script), or reads all of its kind that stand beside it. */
function readersOf(file: string, sources: Sources): string[] {
  const { base, dir, ext } = posix.parse(file);
  const named = `${posix.basename(dir)}/${base}`;
  const isRead = ([reader, text]: [string, string]): boolean =>
    text.includes(named) ||
    (dir.startsWith(posix.dirname(reader)) && text.includes(`${base}'`)) ||
    (dir === posix.dirname(reader) && text.includes(`'${ext}'`));
  return [...sources].filter(isRead).map(([reader]) => reader);
}

/** The folder of a module's own tests that do not stand beside it. */
function ownTestsOf(file: string): string {
  const controller = /^src\/controllers\/(?<name>[^/]+)\//u.exec(file)?.groups?.['name'];
  return controller === undefined ? posix.dirname(file) : `test/${controller}`;
}
