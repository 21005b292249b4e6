import { describe, expect, it } from 'vitest';
import { fence, NOW_MS, run } from '../commands/testing/pictured-cluster.ts';
import { ago } from '../commands/testing/pictured-cluster.ts';
import type { NodeFenceStatus } from '../../domain/node-fence.ts';
import { partingOf } from './parting.ts';

const OFF = { method: 'off', agent: 'redfish', device: 'bmc', plug: '', state: 'off' as const };
const done = { finishedAt: ago(100), result: 'succeeded' as const };
const off = run('off:off', 200, done);
const on = run('on:on', 90, { finishedAt: ago(80), result: 'succeeded' });
const proof: NodeFenceStatus['evidence'] = [{ kind: 'power-off', grade: 'read-back', source: off.id, detail: 'Off', observedAt: ago(100) }];
const released: NodeFenceStatus['released'] = { by: 'out-of-service', at: ago(95), pods: 1, evidence: off.id };

describe('what becomes of a fence when nodefence is uninstalled', () => {
  it.each<[string, Partial<NodeFenceStatus>, string, RegExp | undefined]>([
    ['a new one', { state: 'new', step: 'isolation', journal: [], restore: {} }, 'ready', undefined],
    ['an isolated one', {}, 'ready', /not proven off: its pods stay bound/],
    [
      'one that is proven off and not on again',
      { journal: [off], evidence: proof, restore: { edges: [OFF] } },
      'open',
      /redfish at bmc is OFF by this fence and stays off/,
    ],
    ['one that is releasing', { journal: [off], evidence: proof, released }, 'open', undefined],
    [
      'one whose off nobody settled',
      { state: 'error', journal: [run('off:off', 200, { finishedAt: ago(100), result: 'timeout' })] },
      'open',
      /what became of "switch off by redfish at bmc"/,
    ],
    ['one that a crash left open', { journal: [run('off:off', 200)] }, 'open', /what became of/],
    ['one with a call under way', { journal: [run('off:off', 4)] }, 'busy', /may be under way until 2026-03-29T02:15:14/],
    ['one that is on again', { state: 'done', step: 'recovery', journal: [off, on], evidence: proof }, 'ready', undefined],
    [
      'one that failed with its machine off',
      { state: 'final', outcome: 'failed', journal: [off], evidence: proof, restore: { edges: [OFF] } },
      'ready',
      /stays off/,
    ],
    [
      'one whose machine a person brought back',
      { state: 'final', outcome: 'recovered', journal: [run('off:off', 200, { finishedAt: ago(190), result: 'unreachable' })] },
      'ready',
      undefined,
    ],
    ['one that is over', { state: 'final', outcome: 'recovered', journal: [off, on], restore: {} }, 'ready', undefined],
  ])('%s', (_what, status, kind, words) => {
    const parting = partingOf(fence('a', status), NOW_MS);
    expect(parting.kind).toBe(kind);
    expect(parting.left.join('\n')).toMatch(words ?? /^$/);
  });

  it('names an off that was tried twice in vain once, by its last try', () => {
    const tries = [300, 200].map((seconds) => run('off:off', seconds, { finishedAt: ago(seconds - 10), result: 'unreachable' }));
    const { left } = partingOf(fence('a', { state: 'error', journal: tries }), NOW_MS);
    const told = left.filter((words) => words.startsWith('what became of'));
    expect(told).toHaveLength(1);
    expect(told[0]).toContain(ago(200));
  });

  it('leaves a node cordoned whose way to storage stays closed', () => {
    const closed = { ...OFF, agent: 'fc-switch', state: 'closed' as const };
    expect(partingOf(fence('a', { restore: { edges: [closed] } }), NOW_MS)).toMatchObject({ kind: 'open', keepsCordon: true });
  });

  it('is nothing where it has not begun', () => {
    expect(partingOf({ metadata: { name: 'node-fence-a' }, spec: { node: 'a' } }, NOW_MS)).toMatchObject({ kind: 'ready', left: [] });
  });
});
