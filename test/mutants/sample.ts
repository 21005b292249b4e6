import { createHash } from 'node:crypto';
import { filesOf } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const DAY_MS = 86_400_000;

/** Those that stand in one of these files. */
export function standingIn(mutants: readonly SourceMutant[], files: readonly string[]): SourceMutant[] {
  return mutants.filter((mutant) => [...filesOf(mutant)].some((file) => files.includes(file)));
}

/** The mutants of one day, `2026-11-23`: each has its turn once before any comes again. A search takes a minute and has a test of its own. */
export function sampleOf(mutants: readonly SourceMutant[], date: string, count: number): SourceMutant[] {
  const day = Date.parse(date) / DAY_MS;
  if (!Number.isInteger(day)) throw new Error(`${JSON.stringify(date)} is no date like 2026-11-23`);
  // Neighbours in the list are of one folder: a day is to see several.
  const drawn = mutants.filter(({ killedBy }) => killedBy.kind === 'test').map((mutant) => ({ mutant, place: placeOf(mutant) }));
  drawn.sort((one, other) => (one.place < other.place ? -1 : 1));
  return Array.from({ length: Math.min(count, drawn.length) }, (_, index) => drawn[(day * count + index) % drawn.length]?.mutant).filter(
    (mutant) => mutant !== undefined,
  );
}

/** Those of a change: as many as a person waits for. */
export const CHANGED_COUNT = 2;

/** The files that a change is made in, with commas between them: the sample is drawn from their mutants. */
export const MUTANTS_IN_VARIABLE = 'NODEFENCE_MUTANTS_IN';

function placeOf({ name }: SourceMutant): string {
  return createHash('sha256').update(name).digest('hex');
}
