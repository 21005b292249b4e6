import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { guardFiles, guardMutants } from './guard-mutants.ts';
import { lessened } from './clauses.ts';

const CONFIG = join(import.meta.dirname, '..', '..', '..', 'config');

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
});
