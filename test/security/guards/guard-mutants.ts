import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments, stringify } from 'yaml';
import { lessened } from './clauses.ts';

const CONFIG = join(import.meta.dirname, '..', '..', '..', 'config');
const OF_GUARDS = 'test/installation/guards.test.ts';

/** Each file with admission policies, and the test that must notice when one of its expressions lacks a clause. */
const TESTS: Readonly<Record<string, string>> = {
  'node-daemon/guard.yaml': 'test/node-daemon/own-node-only.test.ts',
  'node-daemon-token/guard.yaml': 'test/node-daemon/own-token-only.test.ts',
  'node-daemon-conditions/guard.yaml': 'test/node-daemon/own-conditions-only.test.ts',
  // And test/installation/words-guards.test.ts.
  'guards/authorship.yaml': 'guards.test.ts',
  'guards/nodes.yaml': OF_GUARDS,
  'guards/jobs.yaml': OF_GUARDS,
  'out-of-service-only/guard.yaml': OF_GUARDS,
  'machine-remediation-guard/guard.yaml': 'test/installation/machine-remediation-guard.test.ts',
};

export interface GuardMutant {
  name: string;
  without: string;
  /** Below config/. */
  file: string;
  /** The file with the defect. */
  text: string;
  test: string;
}

interface Policy {
  kind: string;
  metadata: { name: string };
  spec: Partial<Record<'matchConditions' | 'variables' | 'validations', { expression: string }[]>>;
}

const PARTS = ['matchConditions', 'variables', 'validations'] as const;

export function guardFiles(): string[] {
  return Object.keys(TESTS);
}

/** Every shipped policy, less one clause of one of its expressions. */
export function guardMutants(): GuardMutant[] {
  return Object.entries(TESTS).flatMap(([file, test]) => {
    const text = readFileSync(join(CONFIG, file), 'utf8');
    return parseAllDocuments(text).flatMap((document, place) => {
      const policy = document.toJS() as Policy;
      if (policy.kind !== 'ValidatingAdmissionPolicy') return [];
      return PARTS.flatMap((part) => (policy.spec[part] ?? []).flatMap(({ expression }, index) => ofExpression(policy, part, index, expression))).map(
        ({ name, without, path, expression }) => ({ name, without, file, test, text: replaced(text, place, path, expression) }),
      );
    });
  });
}

interface Less {
  name: string;
  without: string;
  path: (string | number)[];
  expression: string;
}

function ofExpression({ metadata }: Policy, part: string, index: number, expression: string): Less[] {
  const less = lessened(expression);
  // A variable without an operator is a name for what it says: who uses it is tried.
  const tried = part === 'variables' ? less.filter((one) => one.expression !== 'true') : less;
  return tried.map((one, clause) => ({ name: `${metadata.name} ${part} ${index}.${clause}`, ...one, path: ['spec', part, index, 'expression'] }));
}

function replaced(text: string, place: number, path: readonly (string | number)[], expression: string): string {
  const documents = parseAllDocuments(text);
  documents[place]?.setIn(path, expression);
  return rewritten(documents);
}

/** The files as they are, written as a mutant writes them: the tests pass with these, or a mutant says nothing. */
export function soundFiles(): { file: string; text: string }[] {
  return guardFiles().map((file) => ({ file, text: rewritten(parseAllDocuments(readFileSync(join(CONFIG, file), 'utf8'))) }));
}

function rewritten(documents: readonly { toJS(): unknown }[]): string {
  return documents.map((document) => stringify(document.toJS())).join('---\n');
}
