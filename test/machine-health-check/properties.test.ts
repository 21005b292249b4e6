import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Condition } from '../../src/controllers/machine-health-check/conditions.ts';
import { Implications } from '../../src/domain/testing/implications.ts';
import { externalFleet, fleet, setNode } from './fleet.ts';
import type { FleetOptions, State } from './fleet.ts';
import { ago, clusterObject, NOW_MS, requestObject, templateObject } from './objects.ts';
import type { MachineParts } from './objects.ts';
import type { World } from './world.ts';

const STATES: State[] = ['well', 'well', 'pending', 'failed', 'failed', 'gone', 'starting'];
const OWN = ['HealthCheckSucceeded', 'OwnerRemediated', 'ExternallyRemediated'];

const condition = (type: string): fc.Arbitrary<Condition[]> =>
  fc
    .option(
      fc.record({
        type: fc.constant(type),
        status: fc.constantFrom('True' as const, 'False' as const),
        reason: fc.constantFrom('WaitingForRemediation', 'RemediationTemplateNotFound', 'RemediationInProgress', 'UnhealthyNode'),
        lastTransitionTime: fc.constant(ago(500)),
      }),
    )
    .map((one) => (one === null ? [] : [one]));

const lists = fc.tuple(...OWN.map(condition), condition('Ready')).map((all) => all.flat());

interface Made {
  state: State;
  parts: MachineParts;
  request: 'none' | 'own' | 'ending' | 'foreign';
}

const made: fc.Arbitrary<Made> = fc.record({
  state: fc.constantFrom(...STATES),
  parts: fc.record(
    {
      conditions: lists,
      deprecated: lists,
      isDeleting: fc.integer({ min: 0, max: 4 }).map((dice) => dice === 0),
      annotations: fc.constantFrom({}, {}, {}, { 'cluster.x-k8s.io/remediate-machine': '' }, { 'cluster.x-k8s.io/skip-remediation': '' }),
      owners: fc.constant([]),
    },
    { requiredKeys: ['conditions', 'deprecated'] },
  ),
  request: fc.constantFrom('none', 'none', 'own', 'ending', 'foreign'),
});

interface Picture {
  machines: Made[];
  isExternal: boolean;
  maximum: number | undefined;
  maxInFlight: number | undefined;
  hasTemplate: boolean;
  isPaused: boolean;
  hasBothLists: boolean;
}

const picture: fc.Arbitrary<Picture> = fc.record({
  machines: fc.array(made, { maxLength: 8 }),
  isExternal: fc.boolean(),
  maximum: fc.option(fc.integer({ min: 0, max: 8 }), { nil: undefined }),
  maxInFlight: fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined }),
  hasTemplate: fc.integer({ min: 0, max: 4 }).map((dice) => dice > 0),
  isPaused: fc.integer({ min: 0, max: 9 }).map((dice) => dice === 0),
  hasBothLists: fc.boolean(),
});

function worldOf({ machines, isExternal, maximum, maxInFlight, hasTemplate, isPaused, hasBothLists }: Picture): World {
  const states = Object.fromEntries(machines.map(({ state }, index) => [`m${index}`, state]));
  const requests = machines.flatMap(({ request }, index) => {
    if (request === 'none' || !isExternal) return [];
    return [requestObject(`m${index}`, { isDeleting: request === 'ending', ...(request === 'foreign' && { ownerUID: 'uid-other' }) })];
  });
  const options: FleetOptions = {
    parts: Object.fromEntries(machines.map(({ parts }, index) => [`m${index}`, parts])),
    remediation: maximum === undefined ? {} : { triggerIf: { unhealthyLessThanOrEqualTo: maximum } },
    requests,
    clusters: [clusterObject({ isPaused })],
    served: { hasBothLists },
    ...(maxInFlight !== undefined && { maxInFlight }),
    ...(isExternal && { templates: hasTemplate ? [templateObject()] : [] }),
  };
  return isExternal ? externalFleet(states, options) : fleet(states, options);
}

/** What stands in the cluster, without versions. */
function standing(world: World): unknown {
  const bare = ({ metadata: { resourceVersion: _version, ...metadata }, ...rest }: World['machines'][number]): unknown => ({ ...rest, metadata });
  const byName = (one: World['machines'][number], other: World['machines'][number]): number => (one.metadata.name < other.metadata.name ? -1 : 1);
  return [world.checks, world.machines, world.requests].map((objects) => objects.toSorted(byName).map(bare));
}

const RUNS = { numRuns: 150 };

describe('whatever stands in the cluster', () => {
  it('done once over, there is nothing more to do', () => {
    fc.assert(
      fc.property(picture, (each) => {
        const world = worldOf(each);
        world.settle();
        const before = standing(world);
        expect(world.decide().actions).toEqual([]);
        expect(standing(world)).toEqual(before);
      }),
      RUNS,
    );
  });

  it('no object is written twice by one decision', () => {
    fc.assert(
      fc.property(picture, (each) => {
        const written = worldOf(each)
          .decide()
          .actions.filter(({ kind }) => kind !== 'create-request')
          .map(({ target }) => target.uid);
        expect(new Set(written).size).toBe(written.length);
      }),
      RUNS,
    );
  });

  it('it comes to the same rest when any of the writes are lost', () => {
    fc.assert(
      fc.property(picture, fc.infiniteStream(fc.boolean()), (each, losses) => {
        const whole = worldOf(each);
        whole.settle();
        const broken = worldOf(each);
        for (let round = 0; round < 3; round += 1) {
          // What follows a failed write about one machine waits for the next decision.
          const failed = new Set<string>();
          for (const action of broken.decide().actions) {
            if (failed.has(action.target.uid) || losses.next().value === true) failed.add(action.target.uid);
            else broken.apply(action);
          }
        }
        broken.settle();
        // Which of several machines has the places is the order of the writes; how many is not.
        const rest = (world: World): unknown => (each.maxInFlight === undefined ? standing(world) : world.requests.length);
        expect(rest(broken)).toEqual(rest(whole));
      }),
      RUNS,
    );
  });

  it('there are never more requests for unhealthy machines than may be unhealthy, nor than may be at once, and no new one after a short circuit', () => {
    const laws = new Implications('short circuit', 'as many unhealthy as may be', 'as many at once as may be');
    fc.assert(
      fc.property(picture, (each) => {
        const world = worldOf({ ...each, isExternal: true });
        const before = world.requests.length;
        const { views, actions } = world.decide();
        const made = actions.filter(({ kind }) => kind === 'create-request').length;
        const view = views[0]!;
        laws.where('short circuit', view.blocked !== undefined || view.isPaused, () => expect(made).toBe(0));
        laws.where('as many unhealthy as may be', made > 0 && each.maximum, (maximum) => expect(view.failed).toBeLessThanOrEqual(maximum));
        laws.where('as many at once as may be', made > 0 && each.maxInFlight, (max) => expect(view.inFlight).toBeLessThanOrEqual(Math.max(max, 0)));
        expect(made + before).toBeLessThanOrEqual(before + view.failed);
      }),
      RUNS,
    );
    expect(laws.neverGiven).toEqual([]);
  });

  it('a machine that is being deleted never gets OwnerRemediated', () => {
    const laws = new Implications('being deleted');
    fc.assert(
      fc.property(picture, (each) => {
        const world = worldOf(each);
        const lists = ['v1beta2', 'v1beta1'] as const;
        const before = world.machines.flatMap(({ metadata: { name } }) =>
          lists.map((list) => [name, list, world.condition(name, 'OwnerRemediated', list)] as const),
        );
        world.settle();
        for (const [name, list, was] of before) {
          laws.where('being deleted', world.machine(name).isDeleting, () =>
            expect([undefined, was]).toContainEqual(world.condition(name, 'OwnerRemediated', list)),
          );
        }
      }),
      RUNS,
    );
    expect(laws.neverGiven).toEqual([]);
  });

  it('nothing of an external remediation is left when all machines are well', () => {
    const laws = new Implications('a request', 'a condition that is False');
    fc.assert(
      fc.property(picture, (each) => {
        const world = worldOf({ ...each, isExternal: true, isPaused: false });
        world.settle();
        for (const { metadata } of world.machines) {
          setNode(world, metadata.name, 'well');
          world.editMachine(metadata.name, {
            metadata: { annotations: { 'cluster.x-k8s.io/remediate-machine': null, 'cluster.x-k8s.io/skip-remediation': null } },
            status: { nodeRef: { name: `node-of-${metadata.name}` } },
          });
        }
        world.nowMs = NOW_MS + 10_000;
        world.settle();
        for (const { metadata, ...rest } of world.requests) {
          const isEnding = metadata.deletionTimestamp !== undefined || metadata.ownerReferences?.[0]?.uid === 'uid-other';
          const { isDeleting } = world.machine(metadata.name);
          laws.where('a request', true, () => expect(isEnding || isDeleting, JSON.stringify({ metadata, ...rest })).toBe(true));
        }
        for (const { metadata } of world.machines) {
          const external = world.condition(metadata.name, 'ExternallyRemediated', 'v1beta2');
          laws.where(
            'a condition that is False',
            !world.machine(metadata.name).isDeleting && external?.status === 'False' && external,
            ({ reason }) => expect(reason).not.toMatch(/^(WaitingForRemediation|RemediationTemplateNotFound)$/),
          );
        }
      }),
      RUNS,
    );
  });
});
