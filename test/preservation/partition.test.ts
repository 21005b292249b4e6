import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decide } from '../../src/controllers/preservation/decide.ts';
import type { Decision } from '../../src/controllers/preservation/actions.ts';
import { PreservationCache } from '../../src/controllers/preservation/cache.ts';
import { Changes } from '../../src/controllers/preservation/changes.ts';
import { observe } from '../../src/controllers/preservation/observe.ts';
import { ManualClock } from '../../src/runtime/manual-clock.ts';
import { FakeLister } from '../../src/controllers/fence/testing/harness.ts';
import { PRESERVE } from '../../src/controllers/preservation/names.ts';
import type { Machine, MachineDeployment, MachineSet } from '../../src/ports/machines.ts';
import type { Node } from '../../src/ports/objects.ts';
import type { NodeFence } from '../../src/ports/resources.ts';
import { POOL_LABEL } from './fleet.ts';
import { HOUR_MS, NOW_MS } from './world.ts';

const CREATED = new Date(NOW_MS - 24 * HOUR_MS).toISOString();
const FAILED = new Date(NOW_MS - HOUR_MS).toISOString();
const SETTINGS = { mode: 'own', hasExpiryField: true, spelling: 'auto-preserve', requestsWhenFailed: true } as const;
const RECORDER = { event: () => undefined };

const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(arbitrary, { nil: undefined });
const index = (count: number): fc.Arbitrary<number> => fc.integer({ min: 0, max: count - 1 });
const label = maybe(fc.constantFrom('p0', 'p1', 'p2'));
const asked = maybe(fc.constantFrom('now', 'when-failed', 'false', 'auto-preserve', ''));

const cluster = fc.record({
  deployments: fc.array(fc.record({ pool: label, max: maybe(index(3)) }), { maxLength: 3 }),
  sets: fc.array(fc.record({ deployment: maybe(index(3)), replicas: maybe(index(5)) }), { maxLength: 4 }),
  machines: fc.array(
    fc.record({
      set: maybe(index(4)),
      node: maybe(index(8)),
      pool: label,
      phase: fc.constantFrom('', 'Running', 'Unknown', 'Failed', 'Terminating'),
      asked,
    }),
    { maxLength: 8 },
  ),
  nodes: fc.array(fc.record({ pool: label, isReady: fc.boolean(), asked }), { maxLength: 8 }),
  pools: fc.uniqueArray(fc.constantFrom('p0', 'p1', 'p2'), { maxLength: 3 }),
});

type Made = typeof cluster extends fc.Arbitrary<infer T> ? T : never;

const labels = (pool: string | undefined): Record<string, string> => (pool === undefined ? {} : { [POOL_LABEL]: pool });
const marks = (value: string | undefined): Record<string, string> => (value === undefined ? {} : { [PRESERVE]: value });
const meta = (name: string, more: object = {}) => ({ name, uid: `uid-${name}`, resourceVersion: '1', creationTimestamp: CREATED, ...more });
const owned = (kind: string, name: string | undefined): object =>
  name === undefined ? {} : { ownerReferences: [{ apiVersion: 'v1', kind, name, uid: `uid-${name}`, controller: true }] };

function cacheOf(made: Made): PreservationCache {
  const nodes = new FakeLister<Node>();
  const fences = new FakeLister<NodeFence>();
  const machines = new FakeLister<Machine>();
  const machineSets = new FakeLister<MachineSet>();
  const machineDeployments = new FakeLister<MachineDeployment>();
  nodes.items = made.nodes.map(({ pool, isReady, asked: value }, number) => ({
    metadata: meta(`n${String(number)}`, { labels: labels(pool), annotations: marks(value) }),
    spec: {},
    status: { conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: FAILED }] },
  }));
  machineDeployments.items = made.deployments.map(({ pool, max }, number) => ({
    metadata: meta(`d${String(number)}`, { namespace: 'x', labels: labels(pool) }),
    spec: max === undefined ? {} : { autoPreserveFailedMachineMax: max },
  }));
  machineSets.items = made.sets.map(({ deployment, replicas }, number) => ({
    metadata: meta(`s${String(number)}`, {
      namespace: 'x',
      ...owned('MachineDeployment', deployment === undefined ? undefined : `d${String(deployment)}`),
    }),
    spec: replicas === undefined ? {} : { replicas },
  }));
  machines.items = made.machines.map(({ set, node, pool, phase, asked: value }, number) => ({
    metadata: meta(`m${String(number)}`, {
      namespace: 'x',
      labels: { ...labels(pool), ...(node !== undefined && { node: `n${String(node)}` }) },
      annotations: marks(value),
      ...owned('MachineSet', set === undefined ? undefined : `s${String(set)}`),
    }),
    status: { currentStatus: { phase, lastUpdateTime: FAILED } },
  }));
  const unused = {} as never;
  const cache = new PreservationCache(
    new ManualClock(),
    { cluster: unused, recorder: RECORDER, listers: { nodes, fences, leases: unused, pods: unused } },
    { cluster: unused, recorder: RECORDER, listers: { machines, machineSets, machineDeployments } },
    () => undefined,
  );
  cache.start();
  return cache;
}

const sorted = (items: readonly unknown[]): string[] => items.map((item) => JSON.stringify(item)).sort();

function told({ actions, guards, views, deployments, drains, problems }: Omit<Decision, 'nextDueMs'>): Record<string, string[]> {
  const all = { actions, guards, views, deployments, drains, problems: [...new Set(problems)] };
  return Object.fromEntries(Object.entries(all).map(([name, items]) => [name, sorted(items)]));
}

describe('the pools of a cluster', () => {
  it('decided one by one come to what the whole comes to', () => {
    fc.assert(
      fc.property(cluster, (made) => {
        const pools = new Map(made.pools.map((name) => [name, { autoPreserveMax: 2, preserveTimeoutMs: HOUR_MS }]));
        const cache = cacheOf(made);
        const circumstances = { options: SETTINGS, clock: new ManualClock({ wallMs: NOW_MS }), drainOf: () => undefined };
        const snapshots = [...new Changes().take(cache, pools).pools.values()].map((pool) => observe(cache, pool, circumstances));
        const whole = {
          ...SETTINGS,
          nowMs: NOW_MS,
          machines: snapshots.flatMap(({ machines }) => machines),
          nodes: snapshots.flatMap(({ nodes }) => nodes),
          machineSets: snapshots.flatMap(({ machineSets }) => machineSets),
          machineDeployments: snapshots.flatMap(({ machineDeployments }) => machineDeployments),
          pools,
        };
        expect([whole.machines.length, whole.nodes.length]).toEqual([made.machines.length, made.nodes.length]);
        const decisions = snapshots.map(decide);
        const together = {
          actions: decisions.flatMap(({ actions }) => actions),
          guards: decisions.flatMap(({ guards }) => guards),
          views: decisions.flatMap(({ views }) => views),
          deployments: decisions.flatMap(({ deployments }) => deployments),
          drains: decisions.flatMap(({ drains }) => drains),
          problems: decisions.flatMap(({ problems }) => problems),
          warnings: decisions.flatMap(({ warnings }) => warnings),
        };
        expect(told(together)).toEqual(told(decide(whole)));
      }),
      { numRuns: 1_000 },
    );
  });

  it('are decided apart: machines of different pools do not concern each other', () => {
    const made: Made = {
      deployments: [
        { pool: 'p0', max: undefined },
        { pool: 'p1', max: undefined },
      ],
      sets: [
        { deployment: 0, replicas: 1 },
        { deployment: 1, replicas: 1 },
      ],
      machines: [0, 1].map((number) => ({ set: number, node: number, pool: undefined, phase: 'Running', asked: undefined })),
      nodes: [0, 1].map(() => ({ pool: undefined, isReady: true, asked: undefined })),
      pools: ['p0', 'p1'],
    };
    expect([...new Changes().take(cacheOf(made), new Map()).pools.values()].map(({ members }) => [members.Machine, members.Node])).toEqual([
      [['x/m0'], ['n0']],
      [['x/m1'], ['n1']],
    ]);
  });
});
