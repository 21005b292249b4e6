import { describe, expect, it } from 'vitest';
import type { NodeFenceStatus } from '../../domain/node-fence.ts';
import { planOf } from '../../domain/testing/model.ts';
import type { NodeFence } from '../../ports/resources.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { FINALIZER } from '../shared/ownership.ts';
import { KnownFences } from './known-fences.ts';
import { LostFences } from './lost-fences.ts';
import { FenceHarness, nodeOf, provenStatus } from './testing/harness.ts';

const QUIET = { inFlight: new Set<string>(), reports: [] };
const OFF = { method: 'off', agent: 'redfish', device: 'bmc', plug: '', state: 'off' as const };

function fenceOf(status: Partial<NodeFenceStatus> | undefined, metadata: Partial<NodeFence['metadata']> = {}): NodeFence {
  const held = { name: 'node-fence-a', uid: 'f', resourceVersion: '9', finalizers: [FINALIZER], ...metadata };
  return { metadata: held, spec: { node: 'a' }, ...(status && { status: { ...provenStatus(planOf()), restore: { edges: [OFF] }, ...status } }) };
}

function lost(isLeading = true) {
  const harness = new FenceHarness(new ManualClock());
  harness.nodes.items = [nodeOf()];
  const told: string[] = [];
  harness.dependencies.recorder = { event: (_about, _type, _reason, message) => void told.push(message) };
  harness.dependencies.leadership = { ...harness.dependencies.leadership, isLeading };
  const known = new KnownFences(harness.fences);
  return { known, told, lost: new LostFences(harness.dependencies, known) };
}

describe('a NodeFence that is gone', () => {
  it('and that nobody let go is told once, with what of it is left', () => {
    const { lost: fences, told } = lost();
    fences.gone(fenceOf({}));
    expect(fences.tell('a', { ...QUIET, inFlight: new Set(['off-1']) })).toBe(false);
    expect(told).toEqual([]);
    expect([fences.tell('a', QUIET), fences.tell('a', QUIET)]).toEqual([true, false]);
    expect(told).toEqual([expect.stringContaining('LeftOff: off (redfish bmc) is off.')]);
  });

  it('is told once too where a write found it first', () => {
    const { lost: fences, told } = lost();
    fences.missed(fenceOf({}));
    fences.tell('a', QUIET);
    fences.missed(fenceOf({}));
    fences.gone(fenceOf({}));
    fences.tell('a', QUIET);
    expect(told).toHaveLength(1);
    // Another one of this uid there is none: what is remembered of it went with the news.
    fences.gone(fenceOf({}));
    expect(fences.tell('a', QUIET)).toBe(true);
  });

  it('is told as we wrote it last, which the watch had not shown', () => {
    const { lost: fences, known, told } = lost();
    known.wrote(fenceOf({ restore: { edges: [{ ...OFF, method: 'close', state: 'closed' }] } }, { resourceVersion: '10' }));
    fences.gone(fenceOf({}));
    fences.tell('a', QUIET);
    expect(told).toEqual([expect.stringContaining('LeftOff: close (redfish bmc) is closed.')]);
    known.wrote(fenceOf({}, { uid: 'another', resourceVersion: '20' }));
    fences.gone(fenceOf({}));
    expect(known.newest('a')?.metadata.uid).toBe('another');
  });

  it.each([
    ['that we let go', fenceOf({}), true, true],
    ['while another leads', fenceOf({}), false, false],
    ['that another leader wrote last', fenceOf({ epoch: 2 }), false, true],
    ['that had not begun', fenceOf(undefined), false, true],
    ['that nobody had claimed', fenceOf({}, { finalizers: [] }), false, true],
  ])('%s is nothing to tell', (_what, fence, isLetGo, isLeading) => {
    const { lost: fences, told } = lost(isLeading);
    if (isLetGo) fences.letGo(fence);
    if (isLetGo) fences.missed(fence);
    fences.gone(fence);
    expect([fences.tell('a', QUIET), told]).toEqual([false, []]);
  });

  it('is nothing to tell where nothing of it is left, but nothing stands of its runs either', () => {
    const { lost: fences, told } = lost();
    fences.gone(fenceOf({ restore: { cordoned: true } }));
    expect([fences.tell('a', QUIET), told]).toEqual([true, []]);
  });
});
