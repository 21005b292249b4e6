import { beforeEach, describe, expect, it } from 'vitest';
import { TransportError } from '../ports/api-transport.ts';
import type { ManualClock } from '../runtime/manual-clock.ts';
import { ElectorBench, held } from './testing/elector-bench.ts';
import type { LeaseServer } from './testing/elector-bench.ts';

describe('the leader elector, by what earlier leaders have written,', () => {
  let bench: ElectorBench;
  let clock: ManualClock;
  let server: LeaseServer;

  beforeEach(() => {
    bench = new ElectorBench();
    ({ clock, server } = bench);
  });

  it('begins above every epoch on record where the Lease was made anew, and the Lease carries it on', async () => {
    bench.records.highestEpoch = 41;
    server.set(undefined);
    const elector = bench.build('a');
    await clock.advance(15_000);
    expect([elector.isLeading, elector.epoch, server.lease?.spec.leaseTransitions]).toEqual([true, 42, 42]);
    bench.records.highestEpoch = 0;
    void elector.release();
    await clock.settle();
    const next = bench.build('b');
    await clock.advance(0);
    expect(next.epoch).toBe(43);
  });

  it('begins above them too where the Lease was restored with a lower one', async () => {
    bench.records.highestEpoch = 41;
    server.set({ holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 3 });
    const elector = bench.build('a');
    await clock.advance(0);
    expect(elector.epoch).toBe(42);
  });

  it('says in the Lease that it gives back which epoch it found above its own: a standby may have read the records before', async () => {
    const leader = bench.build('a');
    await clock.advance(0);
    const standby = bench.build('b');
    await clock.advance(0);
    leader.outrankedBy(41);
    void leader.release();
    await clock.advance(4_000);
    expect([standby.isLeading, standby.epoch]).toEqual([true, 42]);
  });

  it('takes no Lease before the records were read', async () => {
    bench.records.highestEpoch = new TransportError('unreachable', 'no answer');
    const elector = bench.build('a');
    await clock.advance(30_000);
    expect([elector.isLeading, server.writes]).toEqual([false, 0]);
    bench.records.highestEpoch = 41;
    await clock.advance(17_000);
    expect(elector.epoch).toBe(42);
  });

  it('reads the records anew when another Lease stands there', async () => {
    server.set(held('1'));
    const elector = bench.build('a');
    await clock.advance(0);
    bench.records.highestEpoch = 50;
    server.lease = {
      metadata: { name: 'leader', namespace: 'ns', uid: 'u1', resourceVersion: '9' },
      spec: { holderIdentity: '', leaseTransitions: 1 },
    };
    await clock.advance(2_000);
    expect(elector.epoch).toBe(51);
  });
});
