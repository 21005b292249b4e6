import { beforeEach, describe, expect, it } from 'vitest';
import { TransportError } from '../ports/api-transport.ts';
import type { ManualClock } from '../runtime/manual-clock.ts';
import { ElectorHarness, held } from './testing/elector-harness.ts';
import type { LeaseServer } from './testing/elector-harness.ts';

describe('the leader elector, by what earlier leaders have written,', () => {
  let harness: ElectorHarness;
  let clock: ManualClock;
  let server: LeaseServer;

  beforeEach(() => {
    harness = new ElectorHarness();
    ({ clock, server } = harness);
  });

  it('begins above every epoch on record where the Lease was made anew, and the Lease carries it on', async () => {
    harness.records.highestEpoch = 41;
    server.set(undefined);
    const elector = harness.build('a');
    await clock.advance(15_000);
    expect([elector.isLeading, elector.epoch, server.lease?.spec.leaseTransitions]).toEqual([true, 42, 42]);
    harness.records.highestEpoch = 0;
    void elector.release();
    await clock.settle();
    const next = harness.build('b');
    await clock.advance(0);
    expect(next.epoch).toBe(43);
  });

  it('begins above them too where the Lease was restored with a lower one', async () => {
    harness.records.highestEpoch = 41;
    server.set({ holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 3 });
    const elector = harness.build('a');
    await clock.advance(0);
    expect(elector.epoch).toBe(42);
  });

  it('writes its own epoch into a Lease that was restored from an earlier term of its own: the successor comes after it', async () => {
    server.fault = 'lose-answer';
    const leader = harness.build('a');
    await clock.advance(0);
    server.fault = undefined;
    server.set({ holderIdentity: leader.identity, leaseDurationSeconds: 15, leaseTransitions: 1 });
    const backup = server.backup();
    await clock.advance(5_000);
    expect([leader.epoch, server.lease?.spec.leaseTransitions]).toEqual([2, 2]);
    server.restore(backup);
    expect(server.lease?.spec).toMatchObject({ holderIdentity: leader.identity, leaseTransitions: 1 });
    await clock.advance(5_000);
    expect([leader.isLeading, leader.epoch, server.lease?.spec.leaseTransitions]).toEqual([true, 2, 2]);
  });

  it('says in the Lease that it gives back which epoch it found above its own: a standby may have read the records before', async () => {
    const leader = harness.build('a');
    await clock.advance(0);
    const standby = harness.build('b');
    await clock.advance(0);
    leader.outrankedBy(41);
    void leader.release();
    await clock.advance(4_000);
    expect([standby.isLeading, standby.epoch]).toEqual([true, 42]);
  });

  it('takes no Lease before the records were read', async () => {
    harness.records.highestEpoch = new TransportError('unreachable', 'no answer');
    const elector = harness.build('a');
    await clock.advance(30_000);
    expect([elector.isLeading, server.writes]).toEqual([false, 0]);
    harness.records.highestEpoch = 41;
    await clock.advance(17_000);
    expect(elector.epoch).toBe(42);
  });

  it('reads the records anew when another Lease stands there', async () => {
    server.set(held('1'));
    const elector = harness.build('a');
    await clock.advance(0);
    harness.records.highestEpoch = 50;
    server.lease = {
      metadata: { name: 'leader', namespace: 'ns', uid: 'u1', resourceVersion: '9' },
      spec: { holderIdentity: '', leaseTransitions: 1 },
    };
    await clock.advance(2_000);
    expect(elector.epoch).toBe(51);
  });
});
