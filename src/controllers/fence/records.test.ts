import { describe, expect, it } from 'vitest';
import type { Cluster } from '../../ports/cluster.ts';
import { NODE_FENCE_REPORTS, NODE_FENCES } from '../../ports/resources.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { leadershipRecords } from './records.ts';
import { FenceBench, provenStatus } from './testing/bench.ts';

const { plan } = new FenceBench(new ManualClock());

/** A cluster whose quorum holds these fences, by their epochs, and so many reports. */
function clusterWith(epochs: readonly (number | undefined)[], reports = 0): Pick<Cluster, 'list'> {
  const fences = epochs.map((epoch, index) => ({
    metadata: { name: `node-fence-${index}` },
    ...(epoch === undefined ? {} : { status: { ...provenStatus(plan), epoch } }),
  }));
  const held = new Map<string, readonly object[]>([
    [NODE_FENCES.plural, fences],
    [NODE_FENCE_REPORTS.plural, Array.from({ length: reports }, (_, index) => ({ metadata: { name: `n-${index}` } }))],
  ]);
  return { list: ({ plural }) => Promise.resolve((held.get(plural) ?? []) as never) };
}

describe('what earlier leaders have written', () => {
  it('is the highest epoch of all fences, wherever it stands among them', async () => {
    expect(await leadershipRecords(clusterWith([4, 41, undefined, 7])).highestEpoch()).toBe(41);
  });

  it('is 0 where there is no fence, or none that a leader has seen', async () => {
    expect(await leadershipRecords(clusterWith([])).highestEpoch()).toBe(0);
    expect(await leadershipRecords(clusterWith([undefined])).highestEpoch()).toBe(0);
  });

  it('leaves out an epoch that no Lease can count to', async () => {
    expect(await leadershipRecords(clusterWith([Number.MAX_SAFE_INTEGER, 7])).highestEpoch()).toBe(7);
  });

  it('tells by the reports whether anybody has led, for a healthy cluster has no fence', async () => {
    expect(await leadershipRecords(clusterWith([], 1)).hasLed()).toBe(true);
    expect(await leadershipRecords(clusterWith([7])).hasLed()).toBe(false);
  });

  it('is unknown, not nothing, where it cannot be read', async () => {
    const records = leadershipRecords({ list: () => Promise.reject(new Error('no quorum')) });
    await expect(records.highestEpoch()).rejects.toThrow('no quorum');
    await expect(records.hasLed()).rejects.toThrow('no quorum');
  });
});
