import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inTotal, nextBatch, paceOf, podName, releasePlan } from './release-plan.ts';
import type { PodFacts, ReleaseBasis, ReleaseChoice } from './release-plan.ts';
import { Implications } from './testing/implications.ts';

function pod(name: string, more: Partial<PodFacts> = {}): PodFacts {
  const usual = {
    priority: 0,
    priorityClass: undefined,
    ownerKind: 'ReplicaSet',
    ownerName: 'shop',
    isMeantToStay: false,
    staysForNow: false,
    isTerminating: false,
    isForced: false,
  };
  return { namespace: 'web', name, uid: `uid-${name}`, ...usual, storages: [], hasUnknownVolume: false, ...more };
}

const ON_SAN = pod('on-san', { storages: ['san'] });
const ON_BOTH = pod('on-both', { storages: ['san', 'nas'] });
const ON_UNKNOWN = pod('on-unknown', { storages: ['san'], hasUnknownVolume: true });
const STATELESS = pod('stateless');
const DAEMON = pod('daemon', { ownerKind: 'DaemonSet', storages: ['san'] });
const MIRROR = pod('mirror', { ownerKind: 'Node', storages: ['san'] });
const STAYING = pod('staying', { isMeantToStay: true, storages: ['san'] });
const ALL = [ON_SAN, ON_BOTH, ON_UNKNOWN, STATELESS, DAEMON, MIRROR, STAYING];
const WHOLE = ['on-both', 'on-san', 'on-unknown', 'stateless'];
const ATTACHMENT = { name: 'csi-1', uid: 'uid-csi-1', volume: 'pv-1' };

function names(pods: readonly PodFacts[]): string[] {
  return pods.map(({ name }) => name);
}

const DELETE: ReleaseChoice = { mode: 'delete-pods' };
const TAINT: ReleaseChoice = { mode: 'out-of-service' };
const EVICT: ReleaseChoice = { mode: 'evict' };

type Line = [basis: ReleaseBasis, choice: ReleaseChoice, taint: boolean, treatment: string, pods: string[], batched: string[], detaches: boolean];

const TABLE: Line[] = [
  ...(['power-off', 'instance-stopped', 'host-off', 'ack', 'watchdog'] as const).flatMap((kind): Line[] => [
    [{ kind }, TAINT, true, 'force', WHOLE, [], false],
    [{ kind }, { ...TAINT, podsPerMinute: 6 }, true, 'force', WHOLE, WHOLE, false],
    [{ kind }, { ...TAINT, priorityOrder: ['gold'] }, true, 'force', WHOLE, WHOLE, false],
    [{ kind }, DELETE, false, 'force', WHOLE, WHOLE, true],
    [{ kind }, EVICT, false, 'evict-force', WHOLE, WHOLE, false],
  ]),
  [{ kind: 'storage-revoked', storages: ['san'] }, TAINT, false, 'force', ['on-san'], ['on-san'], false],
  [{ kind: 'storage-revoked', storages: ['san'] }, DELETE, false, 'force', ['on-san'], ['on-san'], false],
  [{ kind: 'storage-revoked', storages: ['san', 'nas'] }, DELETE, false, 'force', ['on-both', 'on-san'], ['on-both', 'on-san'], false],
  [{ kind: 'storage-revoked', storages: [] }, DELETE, false, 'force', [], [], false],
  [{ kind: 'storage-revoked' }, TAINT, false, 'force', [], [], false],
  [{ kind: 'booted-anew' }, TAINT, false, 'graceful', WHOLE, WHOLE, false],
  [{ kind: 'booted-anew' }, DELETE, false, 'graceful', WHOLE, WHOLE, false],
  [{ kind: 'booted-anew' }, EVICT, false, 'evict', WHOLE, WHOLE, false],
  [{ kind: 'kdump' }, TAINT, false, 'force', WHOLE, WHOLE, false],
  [{ kind: 'kdump' }, DELETE, false, 'force', WHOLE, WHOLE, false],
  [{ kind: 'alive' }, TAINT, false, 'evict', WHOLE, WHOLE, false],
  [{ kind: 'alive' }, DELETE, false, 'evict', WHOLE, WHOLE, false],
];

describe('what a proof permits', () => {
  it.each(TABLE)('by %j with %j: taint %s, pods by %s', (basis, choice, taint, treatment, pods, batched, detaches) => {
    const plan = releasePlan(basis, choice, ALL, [ATTACHMENT]);
    expect({ taint: plan.taint, treatment: plan.treatment, pods: names(plan.pods), batched: names(plan.batched) }).toEqual({
      taint,
      treatment,
      pods,
      batched,
    });
    expect(plan.attachments).toEqual(detaches ? [ATTACHMENT] : []);
  });

  it('does not ask again for the deletion of a pod that only a finalizer keeps', () => {
    const plan = releasePlan({ kind: 'power-off' }, DELETE, [pod('held', { isForced: true }), pod('free')], []);
    expect([names(plan.pods), names(plan.batched)]).toEqual([['free', 'held'], ['free']]);
  });

  it('waits for a pod that is on its way where it may not be forced', () => {
    const plan = releasePlan({ kind: 'booted-anew' }, DELETE, [pod('going', { isTerminating: true }), pod('free')], []);
    expect(names(plan.batched)).toEqual(['free']);
  });
});

describe('the order of a release', () => {
  it('is the value of the PriorityClass, then StatefulSets, then the name', () => {
    const set = { ownerKind: 'StatefulSet' };
    const pods = [
      pod('b'),
      pod('a'),
      pod('z', set),
      pod('low', { priority: -5 }),
      pod('high', { priority: 10 }),
      pod('high-set', { priority: 10, ...set }),
    ];
    expect(names(releasePlan({ kind: 'power-off' }, DELETE, pods, []).pods)).toEqual(['high-set', 'high', 'z', 'a', 'b', 'low']);
  });

  it('begins with the classes of priority_order, in that order, whatever their values', () => {
    const pods = [pod('a', { priority: 1000 }), pod('b', { priorityClass: 'silver', priority: 5 }), pod('c', { priorityClass: 'gold', priority: 1 })];
    const choice = { ...DELETE, priorityOrder: ['gold', 'silver'] };
    const plan = releasePlan({ kind: 'power-off' }, choice, pods, []);
    expect(names(plan.pods)).toEqual(['c', 'b', 'a']);
    expect(names(nextBatch(plan, choice)), 'a batch ends where its priority does').toEqual(['c']);
  });

  it.each([
    ['another value of its class', { priorityClass: 'gold', priority: 2 }],
    ['another class of its value', { priorityClass: 'silver', priority: 1 }],
  ])('has the batch of a pod end before one with %s', (_what, other) => {
    const gold = { priorityClass: 'gold', priority: 1 };
    const batched = [pod('a', gold), pod('b', gold), pod('c', other)];
    expect(names(nextBatch({ batched }, { ...DELETE, priorityOrder: ['gold'] }))).toEqual(['a', 'b']);
    expect(names(nextBatch({ batched }, DELETE)), 'where nobody has asked for an order').toEqual(['a', 'b', 'c']);
  });

  it.each([
    [1, 'delete-pods', { size: 1, intervalMs: 60_000 }],
    [6, 'delete-pods', { size: 1, intervalMs: 10_000 }],
    [90, 'out-of-service', { size: 15, intervalMs: 10_000 }],
    [6_000, 'delete-pods', { size: 100, intervalMs: 1_000 }],
    [7, 'delete-pods', { size: 1, intervalMs: 8_572 }],
    [6_000, 'evict', { size: 100, intervalMs: 5_000 }],
    [undefined, 'delete-pods', { size: 100, intervalMs: 0 }],
    [undefined, 'evict', { size: 100, intervalMs: 5_000 }],
  ] as const)('of %s pods a minute by %s is kept by batches of one size', (podsPerMinute, mode, pace) => {
    expect(paceOf({ podsPerMinute, mode })).toEqual(pace);
  });

  it('counts per workload and in total', () => {
    expect(inTotal([])).toBe('0 pods');
    const bare = pod('alone', { ownerKind: '', ownerName: '' });
    expect(inTotal([pod('a'), pod('b'), bare])).toBe('3 pods: ReplicaSet web/shop 2, pod web/alone 1');
    const many = Array.from({ length: 10 }, (_item, index) => pod(`p${index}`, { ownerName: `shop-${index}` }));
    expect(inTotal(many)).toContain('and 2 more workloads');
  });
});

const POD: fc.Arbitrary<PodFacts> = fc.record({
  namespace: fc.constantFrom('web', 'db'),
  name: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
  uid: fc.option(fc.uuid(), { nil: undefined }),
  priority: fc.constantFrom(-1, 0, 7),
  priorityClass: fc.constantFrom(undefined, 'gold', 'silver'),
  ownerKind: fc.constantFrom('', 'StatefulSet', 'ReplicaSet', 'DaemonSet', 'Node', 'Job'),
  ownerName: fc.constant('x'),
  isMeantToStay: fc.boolean(),
  staysForNow: fc.boolean(),
  isTerminating: fc.boolean(),
  isForced: fc.boolean(),
  storages: fc.subarray(['san', 'nas']),
  hasUnknownVolume: fc.boolean(),
});
/** Of one name there is one in a namespace. */
const PODS = fc.uniqueArray(POD, { maxLength: 12, selector: podName });
const BASIS: fc.Arbitrary<ReleaseBasis> = fc.record({
  kind: fc.constantFrom('power-off', 'instance-stopped', 'host-off', 'storage-revoked', 'booted-anew', 'ack', 'watchdog', 'kdump', 'alive'),
  storages: fc.subarray(['san', 'nas']),
});
const CHOICE: fc.Arbitrary<ReleaseChoice> = fc.record({
  mode: fc.constantFrom('out-of-service', 'delete-pods', 'evict'),
  podsPerMinute: fc.option(fc.integer({ min: 1, max: 1_000 }), { nil: undefined }),
  priorityOrder: fc.option(fc.subarray(['gold', 'silver']), { nil: undefined }),
});

describe('any release', () => {
  it('frees nobody out of its scope, forces only where the proof permits it, and has one order whatever the pods came in', () => {
    const laws = new Implications('freed of revoked storage', 'weak', 'alive');
    fc.assert(
      fc.property(BASIS, CHOICE, PODS, (basis, choice, pods) => {
        const plan = releasePlan(basis, choice, pods, [ATTACHMENT]);
        for (const freed of plan.pods) {
          expect(['DaemonSet', 'Node']).not.toContain(freed.ownerKind);
          expect(freed.isMeantToStay).toBe(false);
          laws.where('freed of revoked storage', basis.kind === 'storage-revoked', () => {
            expect(freed.hasUnknownVolume || freed.storages.length === 0).toBe(false);
            expect(basis.storages).toEqual(expect.arrayContaining([...freed.storages]));
          });
        }
        const isWeak = ['storage-revoked', 'booted-anew', 'kdump', 'alive'].includes(basis.kind);
        laws.where('weak', isWeak, () => expect(plan.taint || plan.attachments.length > 0).toBe(false));
        laws.where('alive', basis.kind === 'booted-anew' || basis.kind === 'alive', () => expect(plan.treatment).not.toContain('force'));
        expect(plan.pods).toEqual(expect.arrayContaining([...plan.batched]));
        const key = (one: PodFacts): string => JSON.stringify([podName(one), one.uid, one.priority, one.priorityClass, one.ownerKind]);
        const again = releasePlan(basis, choice, [...pods].reverse(), [ATTACHMENT]);
        expect(again.pods.map(key)).toEqual(plan.pods.map(key));
      }),
      { numRuns: 1_000 },
    );
    expect(laws.neverGiven).toEqual([]);
  });

  it('comes to an end by batches that are neither empty nor larger than the pace', () => {
    fc.assert(
      fc.property(CHOICE, fc.array(POD, { maxLength: 30 }), (choice, pods) => {
        let left = releasePlan({ kind: 'power-off' }, choice, pods, []).batched;
        while (left.length > 0) {
          const batch = nextBatch({ batched: left }, choice);
          expect(batch.length).toBeGreaterThan(0);
          expect(batch.length).toBeLessThanOrEqual(paceOf(choice).size);
          expect(left.slice(0, batch.length)).toEqual(batch);
          left = left.slice(batch.length);
        }
      }),
    );
  });
});
