import { describe, expect, it } from 'vitest';
import { decide } from '../../domain/automaton.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { NodeObservation } from './observation.ts';
import { takeSnapshot } from './snapshot.ts';
import type { FenceDependencies } from './dependencies.ts';
import { FenceHarness, leaseOf, neverHeardNode, nodeOf } from './testing/harness.ts';

const NO_RUNS = { inFlight: new Set<string>(), reports: [] };

interface Stage {
  harness: FenceHarness;
  clock: ManualClock;
  observation: NodeObservation;
}

function stage(options: Partial<FenceDependencies['options']> = {}): Stage {
  const clock = new ManualClock();
  const harness = new FenceHarness(clock, options);
  harness.nodes.items = [nodeOf()];
  return { harness, clock, observation: new NodeObservation(clock.monotonicMs()) };
}

function snapshotOf({ harness, observation }: Stage): ReturnType<typeof takeSnapshot> {
  return takeSnapshot(harness.dependencies, 'a', undefined, observation, NO_RUNS, undefined);
}

describe('a snapshot', () => {
  it('counts delays from our own first sight, whatever lastTransitionTime says', () => {
    const one = stage();
    one.harness.nodes.items = [nodeOf({ ready: 'False', since: '2020-01-01T00:00:00Z' })];
    const decision = decide(snapshotOf(one));
    expect(decision.create, 'six years of NotReady by the word of another clock are none').toBeUndefined();
    expect(decision.requeueAtMs).toBe(one.clock.monotonicMs() + 600_000);
  });

  it('does not begin the delay anew when lastTransitionTime is written anew', async () => {
    const one = stage();
    one.harness.nodes.items = [nodeOf({ ready: 'False' })];
    const due = decide(snapshotOf(one)).requeueAtMs;
    await one.clock.advance(60_000);
    one.harness.nodes.items = [nodeOf({ ready: 'False', since: '2026-06-01T00:00:00Z' })];
    expect(decide(snapshotOf(one)).requeueAtMs).toBe(due);
  });

  it('judges silence by receipt: a node that this process has only just met is not silent', async () => {
    const one = stage();
    expect(decide(snapshotOf(one)).create).toBeUndefined();
    await one.clock.advance(15_000);
    expect(decide(snapshotOf(one)).create).toEqual({ spec: { node: 'a' } });
  });

  it('counts no silence from before the leases could be heard again', async () => {
    const one = stage();
    await one.clock.advance(60_000);
    one.harness.leases.freshSinceMs = one.clock.monotonicMs();
    const decision = decide(snapshotOf(one));
    expect(decision.create, 'after an outage every node seems silent').toBeUndefined();
    expect(decision.requeueAtMs).toBe(one.clock.monotonicMs() + 15_000);
    await one.clock.advance(15_000);
    expect(decide(snapshotOf(one)).create).toEqual({ spec: { node: 'a' } });
  });

  it('takes a renewed lease for life, and the same renewal seen again for none', async () => {
    const one = stage();
    one.observation.seeLease(leaseOf('t1'), one.clock.monotonicMs());
    await one.clock.advance(14_000);
    one.observation.seeLease(leaseOf('t1'), one.clock.monotonicMs());
    await one.clock.advance(1_000);
    expect(decide(snapshotOf(one)).create, 'a stale event replayed is no sign of life').toEqual({ spec: { node: 'a' } });
    one.observation.seeLease(leaseOf('t2'), one.clock.monotonicMs());
    expect(decide(snapshotOf(one)).create).toBeUndefined();
  });

  it('takes the node controller marking a node Unknown for no sign of life', async () => {
    const one = stage();
    one.observation.seeNode(nodeOf({ ready: 'True' }), one.clock.monotonicMs());
    await one.clock.advance(14_000);
    one.observation.seeNode(nodeOf({ ready: 'Unknown' }), one.clock.monotonicMs());
    expect(one.observation.lifeAtMs).toBe(one.clock.monotonicMs() - 14_000);
  });

  it('takes it for none of a node that never had Ready either, and its first Ready for one', async () => {
    const one = stage();
    one.observation.seeNode(neverHeardNode('unmarked'), one.clock.monotonicMs());
    await one.clock.advance(14_000);
    expect(one.observation.catchUp(neverHeardNode('marked'), undefined, one.clock.monotonicMs())).toBeUndefined();
    expect(one.observation.lifeAtMs).toBe(one.clock.monotonicMs() - 14_000);
    one.observation.seeNode(nodeOf({ ready: 'False' }), one.clock.monotonicMs());
    expect(one.observation.lifeAtMs).toBe(one.clock.monotonicMs());
  });

  it.each([
    ['the node on which the controller itself runs', { ownNode: 'a' }, 'own-node'],
    ['every node in observe mode', { mode: 'observe' as const }, 'observe'],
  ])('holds %s', (_words, options, policy) => {
    expect(snapshotOf(stage(options)).holds.map((hold) => hold.policy)).toEqual([policy]);
  });

  it('holds everything while the watch of nodes or of leases is silent: a cut-off controller does not judge others', () => {
    for (const lister of ['nodes', 'leases'] as const) {
      const one = stage();
      one.harness[lister].freshAtMs = one.clock.monotonicMs() - 10_001;
      expect(snapshotOf(one).holds.map((hold) => hold.policy)).toEqual(['controller-isolated']);
    }
  });

  it('names the stop that is active on this node or on all, and none of another node', () => {
    const one = stage();
    const stopOf = (spec: { node?: string; all?: boolean }): void => {
      one.harness.stops.items = [{ metadata: { name: 'x' }, spec: { ...spec, reason: 'maintenance' } }];
    };
    stopOf({ node: 'b' });
    expect(snapshotOf(one).stop).toBeUndefined();
    stopOf({ node: 'a' });
    expect(snapshotOf(one).stop).toEqual({ by: 'NodeFenceStop x', reason: 'maintenance' });
    stopOf({ all: true });
    expect(snapshotOf(one).stop).toBeDefined();
  });

  it('trusts a recorded identity only for the same Node object', () => {
    const one = stage();
    const identity = { nodeUID: 'uid-a', systemUUID: 'sys-recorded', recordedAt: '2026-01-01T00:00:00Z' };
    one.harness.reports.items = [{ metadata: { name: 'a' }, status: { identity } }];
    expect(snapshotOf(one).identity?.systemUUID).toBe('sys-recorded');
    one.harness.reports.items = [{ metadata: { name: 'a' }, status: { identity: { ...identity, nodeUID: 'uid-old' } } }];
    expect(snapshotOf(one).identity).toBeUndefined();
  });

  it('takes what the machine said while it was healthy for its identity until a report says so, and of the same Node object only', () => {
    const one = stage();
    one.observation.machine = { nodeUID: 'uid-a', systemUUID: 'sys-seen', recordedAt: '2026-01-01T00:00:00Z' };
    expect(snapshotOf(one).identity?.systemUUID).toBe('sys-seen');
    const identity = { nodeUID: 'uid-a', systemUUID: 'sys-recorded', recordedAt: '2026-01-01T00:00:00Z' };
    one.harness.reports.items = [{ metadata: { name: 'a' }, status: { identity } }];
    expect(snapshotOf(one).identity?.systemUUID).toBe('sys-recorded');
    one.harness.reports.items = [];
    one.observation.machine = { ...identity, nodeUID: 'uid-old' };
    expect(snapshotOf(one).identity).toBeUndefined();
  });
});
