import { describe, expect, it } from 'vitest';
import type { Cluster } from '../../ports/cluster.ts';
import { NODE_FENCES } from '../../ports/resources.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { leadershipRecords } from './records.ts';
import { FenceHarness, provenStatus } from './testing/harness.ts';

const { plan } = new FenceHarness(new ManualClock());

/** A cluster that holds these fences, by their epochs. */
function clusterWith(epochs: readonly (number | undefined)[]): Pick<Cluster, 'list'> {
  const fences = epochs.map((epoch, index) => ({
    metadata: { name: `node-fence-${index}` },
    ...(epoch === undefined ? {} : { status: { ...provenStatus(plan), epoch } }),
  }));
  return { list: ({ plural }) => Promise.resolve((plural === NODE_FENCES.plural ? fences : []) as never) };
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

  it('is unknown, not nothing, where it cannot be read', async () => {
    const records = leadershipRecords({ list: () => Promise.reject(new Error('no answer')) });
    await expect(records.highestEpoch()).rejects.toThrow('no answer');
  });
});
