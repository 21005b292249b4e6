import { beforeEach, describe, expect, it } from 'vitest';
import { microTimestamp } from '../ports/clock.ts';
import type { Lease } from '../ports/objects.ts';
import type { ManualClock } from '../runtime/manual-clock.ts';
import type { LeaderElector, LeaderElectorOptions } from './leader-elector.ts';
import { ElectorHarness, held } from './testing/elector-harness.ts';
import type { LeaseServer } from './testing/elector-harness.ts';

describe('the leader elector', () => {
  let harness: ElectorHarness;
  let clock: ManualClock;
  let server: LeaseServer;
  let log: string[];

  beforeEach(() => {
    harness = new ElectorHarness();
    ({ clock, server, log } = harness);
  });

  const build = (name: string, options: Partial<LeaderElectorOptions> = {}): LeaderElector => harness.build(name, options);

  it('creates the Lease where there is none after a whole lease, and leads with epoch 1: it may have been deleted, or lost by a restore', async () => {
    server.set(undefined);
    const elector = build('a');
    await clock.advance(14_999);
    expect([elector.isLeading, elector.epoch, elector.mayBegin(0), server.writes]).toEqual([false, 0, false, 0]);
    await clock.advance(1);
    expect([elector.isLeading, elector.epoch, elector.actsFromMs]).toEqual([true, 1, 1_015_000]);
    expect(server.lease?.spec).toMatchObject({ holderIdentity: 'a_uuid1', leaseDurationSeconds: 15, leaseTransitions: 1 });
    expect(server.lease?.spec.renewTime).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    expect(microTimestamp(clock)).toHaveLength(27);
  });

  it('leaves a free Lease to others as long as it may not stand, and is asked how long it has been free', async () => {
    const freeFor: number[] = [];
    const elector = build('a', {
      mayLead: (freeForMs) => {
        freeFor.push(freeForMs);
        return freeForMs >= 4_000;
      },
    });
    await clock.advance(3_999);
    expect([elector.isLeading, server.writes]).toEqual([false, 0]);
    await clock.advance(1);
    expect([elector.isLeading, freeFor]).toEqual([true, [0, 2_000, 4_000]]);
  });

  it('counts anew how long the Lease is free when somebody else held it in between', async () => {
    const freeFor: number[] = [];
    build('a', { mayLead: (freeForMs) => freeFor.push(freeForMs) > 3 });
    await clock.advance(2_000);
    server.set(held('t1'));
    await clock.advance(2_000);
    server.set({ ...held('t2', 1), holderIdentity: '' });
    await clock.advance(2_000);
    expect(freeFor).toEqual([0, 2_000, 0]);
  });

  it('says of itself on the Lease what it was given, over the words of its predecessor, and keeps those of others', async () => {
    server.set({ ...held('t', 1), holderIdentity: '' }, { mode: 'observe', theirs: 'x' });
    build('a', { annotations: { mode: 'enforce' } });
    await clock.advance(0);
    expect(server.lease?.metadata.annotations).toEqual({ mode: 'enforce', theirs: 'x' });
    await clock.advance(2_000);
    expect(server.lease?.metadata.annotations).toEqual({ mode: 'enforce', theirs: 'x' });
  });

  it('grants a set only while now + its deadline is within lease − 1 s, counted from before the renewal was sent', async () => {
    const elector = build('a');
    await clock.advance(0);
    expect([elector.mayBegin(14_000), elector.mayBegin(14_001)]).toEqual([true, false]);
    server.fault = 'refuse';
    await clock.advance(6000);
    expect([elector.mayBegin(8000), elector.mayBegin(8001)]).toEqual([true, false]);
  });

  it('says that it stands by, once for each holder', async () => {
    const said: string[] = [];
    const info = (message: string, fields: object = {}): void => void said.push(`${message} ${JSON.stringify(fields)}`);
    const silent = (): void => undefined;
    server.set(held('t1'));
    build('a', { logger: { debug: silent, info, warn: silent, error: silent } });
    await clock.advance(5_000);
    expect(said).toEqual(['standing by {"reason":"other holds the lease"}']);
    server.set({ ...held('t2'), holderIdentity: 'third' });
    await clock.advance(5_000);
    expect(said.slice(1)).toEqual(['standing by {"reason":"third holds the lease"}']);
  });

  it('says once why it waits where no Lease stands, and for how long', async () => {
    const said: string[] = [];
    const info = (message: string, fields: object = {}): void => void said.push(`${message} ${JSON.stringify(fields)}`);
    const silent = (): void => undefined;
    server.set(undefined);
    build('a', { logger: { debug: silent, info, warn: silent, error: silent } });
    await clock.advance(14_999);
    expect(said).toEqual([
      'standing by {"reason":"there is no Lease: a leader whose Lease was deleted, or lost in a restore of etcd, may act for 15 s more; then the Lease is created"}',
    ]);
  });

  it('says once that the Lease can not be taken, however often it is tried again', async () => {
    const said: string[] = [];
    const warn = (message: string): void => void said.push(message);
    const silent = (): void => undefined;
    server.set(undefined);
    server.fault = 'refuse';
    build('a', { logger: { debug: silent, info: silent, warn, error: silent } });
    await clock.advance(60_000);
    expect(said).toEqual(['the lease could not be taken and will be tried again']);
  });

  it('takes an emptied Lease at once when it is poked, and not one that is held', async () => {
    server.set(held('then'));
    const elector = build('a');
    await clock.advance(100);
    elector.poke();
    await clock.advance(100);
    expect(elector.isLeading).toBe(false);
    server.set({ ...held('later', 1), holderIdentity: '' });
    await clock.advance(100);
    expect(elector.isLeading, 'its next turn is two seconds away').toBe(false);
    elector.poke();
    await clock.advance(1);
    expect([elector.isLeading, elector.epoch]).toEqual([true, 8]);
    elector.poke();
    await clock.advance(0);
    expect(log).toEqual(['a acquired 8']);
  });

  it('counts from the moment the renewal was sent, not from its answer', async () => {
    const elector = build('a');
    await clock.advance(1999);
    const answer = Promise.withResolvers<undefined>();
    const replace = server.replace.bind(server);
    server.replace = async (resource, object) => {
      await answer.promise;
      return replace(resource, object);
    };
    await clock.advance(1501);
    answer.resolve(undefined);
    await clock.settle();
    expect([elector.mayBegin(14_000 - 1500), elector.mayBegin(14_000 - 1499)]).toEqual([true, false]);
  });

  it('keeps the lease by renewing every two seconds', async () => {
    const elector = build('a');
    await clock.advance(600_000);
    expect([elector.isLeading, elector.epoch]).toEqual([true, 1]);
    expect(server.writes).toBe(301);
  });

  it('loses the lease when it cannot renew for ten seconds, and says so once', async () => {
    for (const fault of ['refuse', 'hang'] as const) {
      harness = new ElectorHarness();
      ({ clock, server, log } = harness);
      const elector = build('a');
      await clock.advance(0);
      server.fault = fault;
      await clock.advance(9_999);
      expect(elector.isLeading).toBe(true);
      await clock.advance(1);
      expect([elector.isLeading, elector.mayBegin(0), elector.epoch]).toEqual([false, false, 0]);
      server.fault = undefined;
      await clock.advance(60_000);
      expect(log).toEqual(['a acquired 1', 'a lost: it was not renewed for 10000 ms']);
      expect(clock.pending).toBe(0);
    }
  });

  it('survives short trouble and answers that were lost', async () => {
    const elector = build('a');
    await clock.advance(0);
    for (const fault of ['lose-answer', 'refuse', 'hang'] as const) {
      server.fault = fault;
      await clock.advance(4100);
      server.fault = undefined;
      await clock.advance(4100);
    }
    expect([elector.isLeading, elector.epoch, log]).toEqual([true, 1, ['a acquired 1']]);
  });

  it('leads with a lease whose taking was answered by silence, without waiting for itself', async () => {
    server.fault = 'lose-answer';
    const elector = build('a');
    await clock.advance(0);
    expect(elector.isLeading).toBe(false);
    server.fault = undefined;
    server.set({ holderIdentity: elector.identity, leaseDurationSeconds: 15, leaseTransitions: 1 });
    await clock.advance(2000);
    expect([elector.isLeading, elector.epoch]).toEqual([true, 2]);
  });

  it('keeps the lease when somebody only annotates it', async () => {
    const elector = build('a');
    await clock.advance(1000);
    server.set(server.lease?.spec, { note: 'x' });
    await clock.advance(5000);
    expect(elector.isLeading).toBe(true);
    expect(server.lease?.metadata.annotations).toEqual({ note: 'x' });
  });

  it.each([
    ['another holds it', (): Lease['spec'] => held('now'), 'the Lease is held by "other"'],
    ['it was emptied', (): Lease['spec'] => ({ holderIdentity: '' }), 'the Lease is held by ""'],
    ['it was deleted', (): undefined => undefined, 'the Lease was deleted'],
  ])('loses the lease when %s', async (_case, spec, reason) => {
    const elector = build('a');
    await clock.advance(1000);
    server.set(spec());
    await clock.advance(1000);
    expect([elector.isLeading, log.at(-1)]).toEqual([false, `a lost: ${reason}`]);
  });

  it('loses the lease the moment that a suspension of the machine is noticed', async () => {
    const elector = build('a');
    await clock.advance(0);
    clock.suspend(500);
    expect(elector.mayBegin(1000)).toBe(true);
    clock.suspend(1);
    expect(elector.mayBegin(1000)).toBe(false);
    expect(log).toEqual(['a acquired 1']);
    await clock.settle();
    expect(log).toEqual(['a acquired 1', 'a lost: the machine was suspended since the last renewal']);
  });

  it('lets nothing begin after the process stood still past its lease, before any timer has fired', async () => {
    const elector = build('a');
    await clock.advance(0);
    clock.freeze(14_001);
    expect([elector.isLeading, elector.mayBegin(0)]).toEqual([false, false]);
    await clock.advance(0);
    expect(log.at(-1)).toContain('a lost');
  });

  it('waits the longer of both durations from its own first sight of the unchanged record', async () => {
    server.set(held('2020-01-01T00:00:00.000000Z', 40));
    const elector = build('a');
    await clock.advance(39_999);
    expect(elector.isLeading).toBe(false);
    await clock.advance(1);
    expect([elector.isLeading, elector.epoch]).toEqual([true, 8]);
    server.set(held('x', 1));
    const second = build('b');
    await clock.advance(14_999);
    expect(second.isLeading).toBe(false);
    await clock.advance(1);
    expect(second.isLeading).toBe(true);
  });

  it('starts its wait anew with each change of the record, but not for an annotation', async () => {
    server.set(held('1'));
    const elector = build('a');
    await clock.advance(10_000);
    server.set(held('2'));
    await clock.advance(10_000);
    server.set(held('2'), { note: 'x' });
    await clock.advance(6_999);
    expect(elector.isLeading).toBe(false);
    await clock.advance(2_000);
    expect(elector.isLeading).toBe(true);
  });

  it('takes an emptied Lease at its next look', async () => {
    server.set({ holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 3 });
    const elector = build('a');
    await clock.advance(0);
    expect(elector.epoch).toBe(4);
  });

  it('waits a whole lease when the Lease is deleted under its eyes, and never reuses an epoch', async () => {
    server.set(held('1'));
    const elector = build('a');
    await clock.advance(1000);
    server.set(undefined);
    await clock.advance(15_999);
    expect(elector.isLeading).toBe(false);
    await clock.advance(1001);
    expect([elector.isLeading, elector.epoch]).toEqual([true, 8]);
  });

  it('waits a whole lease from the return of an API server that was away: etcd may have been restored from before a renewal', async () => {
    server.set(held('1'));
    const elector = build('a');
    await clock.advance(1000);
    // The holder renewed meanwhile; the restored Lease does not show it.
    server.fault = 'refuse';
    await clock.advance(12_000);
    server.fault = undefined;
    await clock.advance(14_000);
    expect(elector.isLeading).toBe(false);
    await clock.advance(3_500);
    expect(elector.isLeading).toBe(true);
  });

  it('does not trust a holder that reads empty right after the API server was away', async () => {
    server.set(held('1'));
    const elector = build('a');
    server.fault = 'refuse';
    await clock.advance(3_000);
    server.set({ holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 3 });
    server.fault = undefined;
    await clock.advance(14_000);
    expect(elector.isLeading).toBe(false);
    await clock.advance(3_500);
    expect(elector.isLeading).toBe(true);
  });

  it('waits so where there is no Lease either: the first one ever may be what the restore took away', async () => {
    server.set(undefined);
    server.fault = 'refuse';
    const elector = build('a');
    await clock.advance(3_000);
    server.fault = undefined;
    await clock.advance(14_000);
    expect(elector.isLeading).toBe(false);
    await clock.advance(3_500);
    expect(elector.isLeading).toBe(true);
  });

  it('does not begin anew at a refusal: the server that refuses has not been restored meanwhile', async () => {
    const elector = build('a');
    server.set(held('1'));
    await clock.advance(2_000);
    server.fault = 'too-many';
    await clock.advance(4_000);
    server.fault = undefined;
    await clock.advance(11_500);
    expect(elector.isLeading).toBe(true);
  });

  it('tells, leading or not, when the Lease reads older than it was: etcd was restored, and every watch has a gap', async () => {
    const told: string[] = [];
    const leader = build('a', { onWentBack: (message) => told.push(`a: ${message}`) });
    await clock.advance(1_000);
    build('b', { onWentBack: (message) => told.push(`b: ${message}`) });
    const backup = server.backup();
    await clock.advance(10_000);
    expect(told).toEqual([]);
    server.restore(backup);
    await clock.advance(5_000);
    expect(told.toSorted()).toEqual([
      expect.stringMatching(/^a: leases\/leader has version 1, older than \d+ .* was etcd restored/),
      expect.stringMatching(/^b: leases\/leader has version \d+, older than \d+ .* was etcd restored/),
    ]);
    expect(leader.isLeading).toBe(true);
  });

  it('hands over at once on release, and the old leader says nothing of a loss', async () => {
    const first = build('a');
    await clock.advance(0);
    const second = build('b');
    await clock.advance(1000);
    const releasing = first.release();
    expect(first.mayBegin(0)).toBe(false);
    await clock.settle();
    await releasing;
    expect(server.lease?.spec).toMatchObject({ holderIdentity: '', leaseTransitions: 1 });
    await clock.advance(2000);
    expect([second.epoch, log]).toEqual([2, ['a acquired 1', 'b acquired 2']]);
  });

  it('does not empty a Lease that is not its own, and ends its release in time when the server hangs', async () => {
    server.set(held('1'));
    const standby = build('a');
    await clock.advance(0);
    await standby.release();
    expect(server.lease?.spec.holderIdentity).toBe('other');
    server.set(undefined);
    const leader = build('b');
    await clock.advance(0);
    server.fault = 'hang';
    let isReleased = false;
    void leader.release(3000).then(() => (isReleased = true));
    await clock.advance(3000);
    expect(isReleased).toBe(true);
  });

  it('never lets two candidates lead at the same time, whoever of them is cut off', async () => {
    const electors = ['a', 'b', 'c'].map((name) => build(name));
    for (let round = 0; round < 3; round++) {
      await clock.advance(30_000);
      expect(
        electors.filter(({ isLeading }) => isLeading),
        log.join(),
      ).toHaveLength(1);
      server.set(held(`cut ${String(round)}`));
      for (let step = 0; step < 200; step++) {
        await clock.advance(100);
        expect(electors.filter(({ isLeading }) => isLeading).length).toBeLessThanOrEqual(1);
      }
    }
  });

  it('refuses durations that break the rule', () => {
    expect(() => build('a', { durationMs: 10_000 })).toThrow('lease − 1 s ≥ renew deadline > 1.2 · retry must hold, not 10000 ms, 10000 ms, 2000 ms');
    expect(() => build('a', { renewDeadlineMs: 2000 })).toThrow('must hold');
  });
});
