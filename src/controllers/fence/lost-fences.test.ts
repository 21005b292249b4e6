import { describe, expect, it } from 'vitest';
import type { NodeFenceStatus } from '../../domain/node-fence.ts';
import { planOf } from '../../domain/testing/model.ts';
import type { NodeFence, NodeFenceReport } from '../../ports/resources.ts';
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
  const clock = new ManualClock();
  const harness = new FenceHarness(clock);
  harness.nodes.items = [nodeOf()];
  const told: string[] = [];
  harness.dependencies.recorder = { event: (_about, _type, _reason, message) => void told.push(message) };
  harness.dependencies.leadership = { ...harness.dependencies.leadership, isLeading };
  const known = new KnownFences(harness.fences);
  const leads = (): void => {
    harness.dependencies.leadership = { ...harness.dependencies.leadership, isLeading: true };
  };
  return { clock, harness, leads, known, told, lost: new LostFences(harness.dependencies, known) };
}

describe('a NodeFence that is gone', () => {
  it('and that nobody let go is told once, with what of it is left', async () => {
    const { lost: fences, told } = lost();
    fences.gone(fenceOf({}));
    expect(await fences.tell('a', { ...QUIET, inFlight: new Set(['off-1']) })).toBe(false);
    expect(told).toEqual([]);
    expect([await fences.tell('a', QUIET), await fences.tell('a', QUIET)]).toEqual([true, false]);
    expect(told).toEqual([expect.stringContaining('LeftOff: off (redfish bmc) is off.')]);
  });

  it('is told where its finalizer was taken away first, and it was deleted after that', async () => {
    const { lost: fences, told } = lost();
    fences.gone(fenceOf({}, { finalizers: [] }));
    expect([await fences.tell('a', QUIET), told]).toEqual([true, [expect.stringContaining('LeftOff: off (redfish bmc) is off.')]]);
  });

  it('is told once too where a write found it first', async () => {
    const { lost: fences, told } = lost();
    fences.missed(fenceOf({}));
    await fences.tell('a', QUIET);
    fences.missed(fenceOf({}));
    fences.gone(fenceOf({}));
    await fences.tell('a', QUIET);
    expect(told).toHaveLength(1);
    // Another one of this uid there is none: what is remembered of it went with the news.
    fences.gone(fenceOf({}));
    expect(await fences.tell('a', QUIET)).toBe(true);
  });

  it('is told where it was to be let go, which was refused, and its status was written since', async () => {
    const { lost: fences, told } = lost();
    fences.letGo(fenceOf({ state: 'final' }));
    fences.stands(fenceOf({}));
    fences.gone(fenceOf({}));
    expect([await fences.tell('a', QUIET), told]).toEqual([true, [expect.stringContaining('off (redfish bmc) is off.')]]);
  });

  it('is told with an off of which nobody has heard the end', async () => {
    const { lost: fences, told } = lost();
    const entry = { ...OFF, id: 'off-1', action: 'off', operation: 'off:off', step: 'power-management' } as unknown as NodeFenceStatus['journal'][0];
    const { restore: _none, ...status } = fenceOf({ journal: [entry] }).status as NodeFenceStatus;
    fences.gone({ ...fenceOf({}), status });
    await fences.tell('a', QUIET);
    expect(told).toEqual([expect.stringContaining('LeftOff: off (redfish bmc) may be off or closed.')]);
  });

  it('is told as we wrote it last, which the watch had not shown', async () => {
    const { lost: fences, known, told } = lost();
    known.wrote(fenceOf({ restore: { edges: [{ ...OFF, method: 'close', state: 'closed' }] } }, { resourceVersion: '10' }));
    fences.gone(fenceOf({}));
    await fences.tell('a', QUIET);
    expect(told).toEqual([expect.stringContaining('LeftOff: close (redfish bmc) is closed.')]);
    known.wrote(fenceOf({}, { uid: 'another', resourceVersion: '20' }));
    fences.gone(fenceOf({}));
    expect(known.newest('a')?.metadata.uid).toBe('another');
  });

  it.each([
    ['that we let go', fenceOf({}), true, true],
    ['that another leader wrote last, and that was over', fenceOf({ epoch: 2, state: 'final' }), false, true],
    ['that another leader wrote last, and that was being deleted', fenceOf({ epoch: 2 }, { deletionTimestamp: '2026-01-01T00:00:00Z' }), false, true],
    ['that another leader wrote last, and that carried the status of a backup', fenceOf({ epoch: 2, fenceUID: 'another' }), false, true],
    ['while another leads, and that was over', fenceOf({ state: 'final' }), false, false],
    ['that had not begun', fenceOf(undefined), false, true],
  ])('%s is nothing to tell', async (_what, fence, isLetGo, isLeading) => {
    const { lost: fences, told } = lost(isLeading);
    if (isLetGo) fences.letGo(fence);
    if (isLetGo) fences.missed(fence);
    fences.gone(fence);
    expect([await fences.tell('a', QUIET), told]).toEqual([false, []]);
  });

  it('at work, that another leader wrote last, is told by the one that leads', async () => {
    const { lost: fences, told } = lost();
    fences.gone(fenceOf({ epoch: 2 }));
    expect([await fences.tell('a', QUIET), told]).toEqual([true, [expect.stringContaining('off (redfish bmc) is off.')]]);
  });

  it.each([
    ['at once, is told', 299_000, 1],
    ['much later, is told no more: the leader of that time has told it', 301_000, 0],
  ])('at work, while another led, by the one that leads %s', async (_when, afterMs, times) => {
    const { clock, leads, lost: fences, told } = lost(false);
    fences.gone(fenceOf({}));
    await clock.advance(afterMs);
    leads();
    expect(await fences.tell('a', QUIET)).toBe(times === 1);
    expect(told).toHaveLength(times);
    expect(await fences.tell('a', QUIET)).toBe(false);
  });

  it('is nothing to tell where nothing of it is left, but nothing stands of its runs either', async () => {
    const { lost: fences, told } = lost();
    fences.gone(fenceOf({ restore: { cordoned: true } }));
    expect([await fences.tell('a', QUIET), told]).toEqual([true, []]);
  });

  it('has its boot on record whose pods were let go on closed storage, before it is told, and is asked about again where that is refused', async () => {
    const { harness, lost: fences, told } = lost();
    const written: unknown[] = [];
    let answers = false;
    const replaceStatus = (_resource: unknown, report: NodeFenceReport): Promise<NodeFenceReport> => {
      if (!answers) return Promise.reject(new Error('no answer'));
      written.push(report.status?.incidents?.[0]?.revoked);
      return Promise.resolve(report);
    };
    Object.assign(harness.dependencies, { cluster: { ...harness.dependencies.cluster, replaceStatus } });
    harness.reports.items = [{ metadata: { name: 'a', resourceVersion: '1' }, status: {} }];
    fences.gone(fenceOf({ storageRelease: { at: '2026-01-01T00:00:00Z', pods: 1, evidence: 'x', storages: ['san'], bootID: 'boot-1' } }));
    await expect(fences.tell('a', QUIET)).rejects.toThrow('no answer');
    expect(told).toEqual([]);
    answers = true;
    expect([await fences.tell('a', QUIET), told.length]).toEqual([true, 1]);
    expect(written).toEqual([{ bootID: 'boot-1', storages: ['san'] }]);
  });
});
