import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { Problems } from '../../src/config/problems.ts';
import { parsePreservationPools } from '../../src/config/preservation-pools.ts';
import * as names from '../../src/controllers/preservation/names.ts';
import { DIFFERENT } from './differences.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PAGE = readFileSync(`${ROOT}docs/preservation.md`, 'utf8');

/** The rows of the tables under one heading. */
function rows(heading: string): string[][] {
  const [, section = ''] = new RegExp(`^## ${heading}\\n(.*?)(?=^## |$(?![\\s\\S]))`, 'ms').exec(PAGE) ?? [];
  const lines = section.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| --'));
  const cells = lines.map((line) => line.replace(/^\| | *\|$/g, '').split(' | '));
  return cells.map((row) => row.map((cell) => cell.trim())).slice(1);
}

const OURS = [...rows('With fencing'), ...rows('What the documents leave open'), ...rows('Beyond the cases')].map(([sentence = '', held = '']) => [
  'ours',
  sentence,
  held,
]);
const SENTENCES = [...rows('The usage guide, sentence by sentence'), ...rows('The proposal, sentence by sentence')];

describe('docs/preservation.md', () => {
  it('names every sentence of both', () => {
    expect(SENTENCES.length).toBeGreaterThanOrEqual(100);
    expect(OURS.length).toBeGreaterThanOrEqual(17);
  });

  it('lists exactly the cases in which we differ', () => {
    const listed = rows('Where we differ from the released MCM').map(([id = '', _upstream, reason = '']) => [id, reason]);
    expect(listed).toEqual([...DIFFERENT].map(([id, { reason }]) => [id, reason]));
  });

  it('has settings that are without any problem', () => {
    const [, yaml = ''] = /```yaml\n# ConfigMap preservation-pools[^\n]*\n(.*?)```/s.exec(PAGE) ?? [];
    const problems = new Problems();
    const pools = parsePreservationPools({ 'pools.yaml': yaml }, problems);
    expect(problems.all()).toEqual([]);
    expect(pools.get('worker1')).toEqual({ autoPreserveMax: 2, preserveTimeoutMs: 72 * 3_600_000 });
  });

  it('names every annotation and label that is written or read', () => {
    const keys = Object.values(names).filter((value) => typeof value === 'string' && value.includes('/'));
    expect(keys.length).toBeGreaterThanOrEqual(10);
    for (const key of keys) expect(PAGE).toContain(`\`${String(key)}\``);
  });
});
