import { describe, expect, it } from 'vitest';
import { Problems } from '../../src/config/problems.ts';
import { parsePreservationPools } from '../../src/config/preservation-pools.ts';
import * as names from '../../src/controllers/preservation/names.ts';
import { Page } from '../baremetal-host/page.ts';
import { DIFFERENT } from './differences.ts';

const PAGE = new Page('preservation.md');
const HELD = new Page('preservation.md', 'test/docs');

const OURS = [...HELD.rows('With fencing'), ...HELD.rows('What the documents leave open'), ...HELD.rows('Beyond the cases')].map(
  ([sentence = '', held = '']) => ['ours', sentence, held],
);
const SENTENCES = [...HELD.rows('The usage guide, sentence by sentence'), ...HELD.rows('The proposal, sentence by sentence')];

describe('docs/preservation.md', () => {
  it('names every sentence of both', () => {
    expect(SENTENCES.length).toBeGreaterThanOrEqual(100);
    expect(OURS.length).toBeGreaterThanOrEqual(17);
  });

  it('lists exactly the cases in which we differ', () => {
    const listed = PAGE.rows('Where we differ from the released MCM').map(([id = '', _upstream, reason = '']) => [id, reason]);
    expect(listed).toEqual([...DIFFERENT].map(([id, { reason }]) => [id, reason]));
  });

  it('has settings that are without any problem', () => {
    const [, yaml = ''] = /```yaml\n# ConfigMap preservation-pools[^\n]*\n(.*?)```/s.exec(PAGE.text) ?? [];
    const problems = new Problems();
    const pools = parsePreservationPools({ 'pools.yaml': yaml }, problems);
    expect(problems.all()).toEqual([]);
    expect(pools.get('worker1')).toEqual({ autoPreserveMax: 2, preserveTimeoutMs: 72 * 3_600_000 });
  });

  it('names every annotation and label that is written or read', () => {
    const keys = Object.values(names).filter((value) => typeof value === 'string' && value.includes('/'));
    expect(keys.length).toBeGreaterThanOrEqual(10);
    for (const key of keys) expect(PAGE.text).toContain(`\`${String(key)}\``);
  });
});
