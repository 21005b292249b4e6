import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Action } from '../../src/controllers/preservation/actions.ts';
import { claimsPreserved } from '../../src/controllers/preservation/condition.ts';
import { effectiveValue, readMarks } from '../../src/controllers/preservation/marks.ts';
import {
  CORDON_MARK,
  LAST_APPLIED,
  NODE_ENDED,
  NODE_EXPIRY,
  PRESERVE,
  PRESERVED_TAINT,
  REQUEST_MARK,
  SCALE_DOWN_BEFORE,
  SCALE_DOWN_DISABLED,
  SCALE_DOWN_MARKER,
} from '../../src/controllers/preservation/names.ts';
import { Implications } from '../../src/domain/testing/implications.ts';
import type { FenceFacts, MachineFacts, MachinePhase, NodeFacts } from '../../src/controllers/preservation/snapshot.ts';
import { POOL, POOL_LABEL } from './fleet.ts';
import { HOUR_MS, machine, node, NOW_MS, World } from './world.ts';

const VALUES = ['now', 'when-failed', 'false', '', 'auto-preserve', 'auto-preserved', 'nonsense'];
const PHASES: MachinePhase[] = ['', 'Pending', 'Running', 'Unknown', 'Failed', 'Terminating', 'CrashLoopBackOff'];

const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(arbitrary, { nil: undefined });
const value = maybe(fc.constantFrom(...VALUES));
const flag = fc.boolean();
const hours = fc.integer({ min: -100, max: 100 });

/** An object without the keys whose value is undefined. */
function present<T extends object>(facts: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(facts).filter(([, fact]) => fact !== undefined)) as T;
}

const fence: fc.Arbitrary<FenceFacts> = fc.record({ uid: fc.constant('uid-fence'), isOpen: flag, isIsolated: flag, isOff: flag });

const nodeFacts: fc.Arbitrary<Partial<NodeFacts>> = fc
  .record({
    preserve: value,
    shield: maybe(fc.constantFrom('true', 'false')),
    marker: maybe(fc.constant('true')),
    before: maybe(fc.constant('false')),
    cordonMark: maybe(fc.constant('true')),
    request: maybe(fc.constant('uid-fence')),
    ended: maybe(fc.constant('true')),
    expiry: maybe(fc.constantFrom('2027-01-02T00:00:00Z', '2026-12-01T00:00:00Z', 'soon')),
    isUnschedulable: flag,
    isTainted: flag,
    isDeleting: fc.integer({ min: 0, max: 9 }).map((dice) => dice === 0),
    preserved: maybe(
      fc.record({
        status: fc.constantFrom('True' as const, 'False' as const),
        reason: fc.constantFrom('Preserved by MCM.', 'Preserved by user.', 'Preservation stopped.'),
        message: fc.constantFrom('', 'Machine preserved until X.', 'Preserved node drained successfully. Machine preserved until X.'),
      }),
    ),
    ready: maybe(fc.constantFrom('True' as const, 'False' as const, 'Unknown' as const)),
    readySince: fc.integer({ min: 0, max: 3 }),
    fence: maybe(fence),
  })
  .map(({ preserve, shield, marker, before, cordonMark, request, ended, expiry, isTainted, readySince, preserved, ready, fence: open, ...rest }) => ({
    ...rest,
    annotations: present<Record<string, string>>({
      [PRESERVE]: preserve,
      [SCALE_DOWN_DISABLED]: shield,
      [SCALE_DOWN_MARKER]: marker,
      [SCALE_DOWN_BEFORE]: before,
      [CORDON_MARK]: cordonMark,
      [REQUEST_MARK]: request,
      [NODE_ENDED]: ended,
      [NODE_EXPIRY]: expiry,
    }),
    labels: { [POOL_LABEL]: POOL },
    taints: isTainted ? [PRESERVED_TAINT] : [],
    readySinceMs: NOW_MS - readySince * HOUR_MS,
    ...present<Partial<NodeFacts>>({ preserved, ready, fence: open }),
  }));

const machineFacts: fc.Arbitrary<Partial<MachineFacts>> = fc
  .record({
    preserve: value,
    lastApplied: value,
    phase: fc.constantFrom(...PHASES),
    expiry: maybe(hours),
    since: fc.integer({ min: 0, max: 3 }),
    age: fc.integer({ min: 0, max: 50 }),
    isDeleting: fc.integer({ min: 0, max: 9 }).map((dice) => dice === 0),
    machineSet: fc.constantFrom('old', 'new', 'other'),
  })
  .map(({ preserve, lastApplied, expiry, since, age, ...rest }) => ({
    ...rest,
    annotations: present<Record<string, string>>({ [PRESERVE]: preserve, [LAST_APPLIED]: lastApplied }),
    createdMs: NOW_MS - age * HOUR_MS,
    phaseSinceMs: NOW_MS - since * HOUR_MS,
    ...(expiry !== undefined && { expiryMs: NOW_MS + expiry * HOUR_MS }),
  }));

interface Made {
  machines: [Partial<MachineFacts>, boolean][];
  nodes: Partial<NodeFacts>[];
  max: number;
  replicas: number[];
  isHibernated: boolean;
  mode: 'own' | 'observe';
  drains: World['drains'];
  powerOffs: World['powerOffs'];
}

const made: fc.Arbitrary<Made> = fc.record({
  machines: fc.array(fc.tuple(machineFacts, flag), { maxLength: 5 }),
  nodes: fc.array(nodeFacts, { minLength: 6, maxLength: 7 }),
  max: fc.integer({ min: 0, max: 3 }),
  replicas: fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 3, maxLength: 3 }),
  isHibernated: fc.integer({ min: 0, max: 9 }).map((dice) => dice === 0),
  mode: fc.constantFrom('own' as const, 'own' as const, 'observe' as const),
  drains: fc.constantFrom('succeeded' as const, 'succeeded' as const, 'failed' as const, 'running' as const),
  powerOffs: fc.constantFrom('off' as const, 'open' as const, 'failed' as const),
});

function worldOf({ machines, nodes, max, replicas, isHibernated, mode, drains, powerOffs }: Made): World {
  const world = new World({
    mode,
    requestsWhenFailed: true,
    machines: machines.map(([facts, hasNode], index) => machine(`m${index}`, { ...facts, nodeName: hasNode ? `n${index}` : `gone${index}` })),
    nodes: nodes.map((facts, index) => node(`n${index}`, facts)),
    machineSets: ['old', 'new', 'other'].map((name, index) => ({
      name,
      namespace: 'shoot',
      uid: `uid-${name}`,
      deployment: name === 'other' ? 'e' : 'd',
      replicas: replicas[index] ?? 0,
    })),
    machineDeployments: ['d', 'e'].map((name) => ({ name, namespace: 'shoot', uid: name, labels: { [POOL_LABEL]: POOL }, isHibernated })),
    pools: { [POOL]: { autoPreserveMax: max } },
  });
  world.drains = drains;
  world.powerOffs = powerOffs;
  return world;
}

/** What must hold of a cluster in which there is nothing more to do. */
class SettledLaws extends Implications<'preserved' | 'preserved and failed' | 'not preserved' | 'not preserved and running'> {
  constructor() {
    super('preserved', 'preserved and failed', 'not preserved', 'not preserved and running');
  }

  judge(world: World): void {
    const { views, actions } = world.decide();
    expect(actions).toEqual([]);
    for (const own of world.machines) {
      const backing = world.nodes.find(({ name }) => name === own.nodeName);
      if (own.isDeleting || backing === undefined || backing.fence?.isOpen === true || world.scene.mode === 'observe') continue;
      this.#judgePair(own, backing, views.find(({ name }) => name === own.name)?.isPreserved === true);
    }
  }

  #judgePair(own: MachineFacts, backing: NodeFacts, isPreserved: boolean): void {
    this.where('preserved', isPreserved, () => {
      expect(backing.annotations[SCALE_DOWN_DISABLED]).toBe('true');
      expect(['now', 'when-failed', 'automatic']).toContain(effectiveValue(readMarks(own.annotations, backing.annotations), true));
    });
    this.where('preserved and failed', isPreserved && own.phase === 'Failed', () =>
      expect(backing).toMatchObject({ isUnschedulable: true, taints: [PRESERVED_TAINT] }),
    );
    this.where('not preserved', !isPreserved, () => {
      expect(own.expiryMs).toBeUndefined();
      expect(backing.annotations[SCALE_DOWN_MARKER]).toBeUndefined();
      expect(backing.taints).toEqual([]);
      expect(claimsPreserved(backing.preserved)).toBe(false);
    });
    this.where('not preserved and running', !isPreserved && own.phase === 'Running', () => expect(backing.annotations[CORDON_MARK]).toBeUndefined());
  }
}

const WRITES = ['observes', 'of a Node', 'under a fence', 'annotates a Node', 'uncordons', 'drains by force', 'deletes', 'keeps a time'] as const;

/** What no single write may do. */
class WriteLaws extends Implications<(typeof WRITES)[number]> {
  constructor() {
    super(...WRITES);
  }

  judge(before: World, action: Action): void {
    const isOwn = before.scene.mode !== 'observe';
    this.where('observes', !isOwn, () => expect(action).toMatchObject({ kind: 'annotate', target: { kind: 'Node' } }));
    const backing = before.nodes.find(({ name }) => action.target.kind === 'Node' && name === action.target.name);
    this.where('of a Node', isOwn && action.target.kind === 'Node', () => expect(action.target.uid).toBe(backing?.uid));
    this.where('under a fence', isOwn && backing?.fence?.isOpen === true, () => expect(action.kind).toBe('annotate'));
    this.where('annotates a Node', isOwn && action.kind === 'annotate' && action.target.kind === 'Node' && action, ({ changes }) =>
      expect(changes).not.toContainEqual(expect.objectContaining({ key: PRESERVE, was: 'false' })),
    );
    this.where('uncordons', isOwn && action.kind === 'cordon' && !action.isCordoned, () => expect(backing?.annotations[CORDON_MARK]).toBeDefined());
    this.where('drains by force', isOwn && action.kind === 'drain' && action.options.isForced, () =>
      expect(backing?.fence?.isIsolated === true || isOffAndSilent(backing)).toBe(true),
    );
    this.where('deletes', isOwn && action.kind === 'delete-machine', () => {
      const owner = before.machine(action.target.name);
      const stood = before.nodes.find(({ name }) => name === owner.nodeName);
      expect(stood === undefined || isOffAndSilent(stood)).toBe(true);
    });
    const times = action.kind === 'machine-status' ? { was: action.was.expiryMs, to: action.to.expiryMs } : {};
    this.where('keeps a time', isOwn && times.was !== undefined && times.to !== undefined, () => expect(times.to).toBe(times.was));
  }
}

function isOffAndSilent(backing: NodeFacts | undefined): boolean {
  return backing?.fence?.isOff === true && backing.ready !== 'True';
}

describe('decide', () => {
  it('has nothing more to do once its actions are done, and leaves no mark of ours behind', () => {
    const laws = new SettledLaws();
    fc.assert(
      fc.property(made, (facts) => {
        const world = worldOf(facts);
        world.settle();
        laws.judge(world);
      }),
      { numRuns: 1_500 },
    );
    expect(laws.neverGiven).toEqual([]);
  });

  it('comes to rest from wherever a crash leaves it: after any part of its actions, done in the order in which they stand', () => {
    const laws = new SettledLaws();
    fc.assert(
      fc.property(made, fc.array(fc.nat({ max: 6 }), { maxLength: 12 }), (facts, crashes) => {
        const world = worldOf(facts);
        for (const count of crashes) for (const action of world.decide().actions.slice(0, count)) world.apply(action);
        world.settle();
        laws.judge(world);
      }),
      { numRuns: 1_500 },
    );
    expect(laws.neverGiven).toEqual([]);
  });

  it('comes to rest when any of its actions are lost', () => {
    const laws = new SettledLaws();
    fc.assert(
      fc.property(made, fc.array(fc.array(flag, { maxLength: 12 }), { maxLength: 6 }), (facts, losses) => {
        const world = worldOf(facts);
        for (const kept of losses) {
          const chosen = world.decide().actions.filter((_, index) => kept[index] === true);
          for (const action of chosen) if (isStillPossible(world, action)) world.apply(action);
        }
        world.settle();
        laws.judge(world);
      }),
      { numRuns: 1_500 },
    );
    expect(laws.neverGiven).toEqual([]);
  });

  it('forces no drain, deletes no Machine and touches no node under a fence without proof, in any state', () => {
    const laws = new WriteLaws();
    fc.assert(
      fc.property(made, (facts) => {
        const world = worldOf(facts);
        let { actions } = world.decide();
        for (let round = 0; round < 40 && actions.length > 0; round += 1) {
          for (const action of actions) {
            laws.judge(world, action);
            world.apply(action);
          }
          ({ actions } = world.decide());
        }
      }),
      { numRuns: 1_000 },
    );
    expect(laws.neverGiven).toEqual([]);
  });

  it('is the same whatever the order in which things are listed', () => {
    fc.assert(
      fc.property(made, (facts) => {
        const one = worldOf(facts);
        const other = worldOf(facts);
        other.machines = other.machines.toReversed();
        other.nodes = other.nodes.toReversed();
        one.settle();
        other.settle();
        const byName = (list: readonly { name: string }[]): unknown[] => [...list].sort((left, right) => (left.name < right.name ? -1 : 1));
        expect(byName(other.machines)).toEqual(byName(one.machines));
        expect(byName(other.nodes)).toEqual(byName(one.nodes));
      }),
      { numRuns: 500 },
    );
  });
});

/** An action whose machine went with another action of the same decision has nothing to do. */
function isStillPossible(world: World, { target }: Action): boolean {
  return target.kind !== 'Machine' || world.machines.some(({ name }) => name === target.name);
}

describe('5,000 machines in 100 pools', () => {
  it('are decided in one look', () => {
    const names = Array.from({ length: 5_000 }, (_, index) => `m${index}`);
    const world = new World({
      machines: names.map((name, index) => machine(name, { machineSet: `s${index % 100}`, phase: index % 50 === 0 ? 'Failed' : 'Running' })),
      nodes: names.map((name, index) => node(`node-of-${name}`, { ready: index % 50 === 0 ? 'False' : 'True' })),
      machineSets: Array.from({ length: 100 }, (_, index) => ({
        name: `s${index}`,
        namespace: 'shoot',
        uid: `s${index}`,
        deployment: `d${index}`,
        replicas: 50,
      })),
      machineDeployments: Array.from({ length: 100 }, (_, index) => ({
        name: `d${index}`,
        namespace: 'shoot',
        uid: `d${index}`,
        labels: { [POOL_LABEL]: `p${index}` },
        isHibernated: false,
      })),
      pools: Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`p${index}`, { autoPreserveMax: 1 }])),
    });
    const { views } = world.decide();
    expect(views).toHaveLength(5_000);
    expect(views.every(({ pool }) => pool !== undefined)).toBe(true);
  });
});
