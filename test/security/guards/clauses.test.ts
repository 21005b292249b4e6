import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { guardFiles, guardMutants } from './guard-mutants.ts';
import { lessened } from './clauses.ts';
import { EQUIVALENT } from './equivalent.ts';
import { readRecord, shownIn, tableOf, noEquivalentsIn } from './record.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const CONFIG = join(ROOT, 'config');

describe('an expression less one clause', () => {
  it.each<[string, string[]]>([
    ['a', ['true']],
    ['a && b', ['b', 'a']],
    ['a && b && c', ['b && c', 'a && c', 'a && b']],
    ['a || b && c', ['b && c', 'a', 'a || c', 'a || b']],
    ["x == '&& (' && b", ['b', "x == '&& ('"]],
    [
      '!(a || b) && f(c, d || e)',
      ['!(b) && f(c, d || e)', '!(a) && f(c, d || e)', '!(a || b) && f(c, e)', '!(a || b) && f(c, d)', 'f(c, d || e)', '!(a || b)'],
    ],
    ['o == null ? x : a.?b == c || d', ['o == null ? x : d', 'o == null ? x : a.?b == c']],
  ])('%s', (expression, expected) => {
    expect(lessened(expression).map((one) => one.expression.replaceAll(/ +/g, ' ').replaceAll(/(^|[ (]) | (?=[)]|$)/g, '$1'))).toEqual(expected);
  });
});

describe('the guards', () => {
  it('have each a test, by which every expression less one clause is tried', () => {
    const shipped = readdirSync(CONFIG, { recursive: true, encoding: 'utf8' }).filter(
      (file) => file.endsWith('.yaml') && readFileSync(join(CONFIG, file), 'utf8').includes('kind: ValidatingAdmissionPolicy\n'),
    );
    expect(guardFiles().toSorted()).toEqual(shipped.toSorted());
    const mutants = guardMutants();
    expect(mutants.length).toBeGreaterThan(100);
    expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length);
  });

  it('have no clause that is listed as one that changes nothing, and was noticed after all, or is gone', () => {
    expect(noEquivalentsIn(readRecord())).toEqual([]);
    const names = new Set(guardMutants().map(({ name, without }) => `${name}: ${without}`));
    expect(Object.entries(EQUIVALENT).filter(([name, { without }]) => !names.has(`${name}: ${without}`))).toEqual([]);
  });

  it('are shown in docs/security.md as they were tried', () => {
    expect(shownIn(readFileSync(join(ROOT, 'docs', 'security.md'), 'utf8'))).toBe(tableOf(readRecord()));
  });
});
