import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { EVIDENCE_RULES } from '../domain/evidence.ts';
import { LAWS } from './judge.ts';
import { LAW_NAMES } from './law.ts';
import { lawsPage } from './laws-page.ts';
import { EVIDENCE, STATEMENTS } from './statements.ts';

describe('the page of the laws', () => {
  it.each(LAW_NAMES)('states %s, with a file that holds its judge', (name) => {
    const { file, law, checks } = STATEMENTS[name];
    const path = new URL(file, import.meta.url);
    expect(existsSync(path)).toBe(true);
    expect(readFileSync(path, 'utf8')).toContain(`export const ${LAWS[name].name}: Law`);
    for (const text of [law, ...checks]) expect(lawsPage()).toContain(text);
  });

  it('has every kind of evidence that the controller admits, at the grade that it gives it', () => {
    const known = Object.entries(EVIDENCE_RULES).map(([kind, { grade }]) => [kind, grade]);
    expect(EVIDENCE.map(({ kind, grade }) => [kind, grade])).toEqual(known);
  });
});
