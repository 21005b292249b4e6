import { describe, expect, it } from 'vitest';
import { fenceName } from '../../src/domain/node-fence.ts';
import { NODE_FENCE_ACKNOWLEDGEMENTS, NODE_FENCES } from '../../src/ports/resources.ts';
import { POD_DISRUPTION_BUDGETS } from '../../src/testbed/cluster/kinds.ts';
import { CONTROLLER_ACCESS, MEDIK8S_LEASE_NAMESPACE } from '../../src/manifests/access.ts';
import { installMedik8s, nodeLease } from '../scenarios/medik8s.ts';
import { scenario } from '../scenarios/scenario.ts';
import type { Play } from '../scenarios/scenario.ts';
import { until } from '../scenarios/waiting.ts';
import { GRANTED, refusalsIn, rightsUsed } from './rights.ts';
import type { Right } from './rights.ts';

/** What is there comes as the beginning of a watch, where the server has that: src/kube/initial-events.test.ts. Others are listed. */
const LISTED_WITHOUT_WATCH_LIST: readonly Right[] = [
  ...['nodefenceacknowledgements.ha.k8s.io', 'nodefencereports.ha.k8s.io', 'nodes', 'pods', 'volumeattachments.storage.k8s.io'].map(
    (resource) => `cluster: list ${resource}`,
  ),
  'kube-node-lease: list leases.coordination.k8s.io',
  ...['configmaps', 'leases.coordination.k8s.io', 'secrets'].map((resource) => `nodefence-system: list ${resource}`),
];

/** Rights that the scenarios below need not make use of, and why they are granted all the same. */
const SELDOM_USED: Readonly<Record<Right, string>> = {
  ...Object.fromEntries(LISTED_WITHOUT_WATCH_LIST.map((right) => [right, 'by a server that does not begin a watch with what is there'])),
  'cluster: delete nodefenceacknowledgements.ha.k8s.io': 'a settled acknowledgement is removed an hour later',
  'cluster: delete nodefencereports.ha.k8s.io': 'the report of a Node that is gone: src/controllers/fence/report-end.test.ts',
  'cluster: get nodefences.ha.k8s.io': 'read again when a write met another one',
  'cluster: get nodefencereports.ha.k8s.io': 'read when a write met another one, or before its watch has shown it',
  'cluster: get persistentvolumeclaims': 'read where a storage was revoked: test/scenarios/release-storage.test.ts',
  'cluster: get persistentvolumes': 'the same',
  'default: list endpointslices.discovery.k8s.io': 'asked by the connectivity probes, which no scenario sends',
  'cluster: patch events': 'an Event that repeats is counted, and not all runs have one',
  'nodefence-system: create leases.coordination.k8s.io': 'made a whole lease after none was found; test/scenarios/lease-deleted.test.ts',
  'nodefence-system: patch leases.coordination.k8s.io': 'a replica that waits says that it could lead; test/scenarios/handover.test.ts',
  'medik8s-leases: list leases.coordination.k8s.io': 'watched soon after its namespace appeared; test/scenarios/ownership.test.ts',
  'medik8s-leases: watch leases.coordination.k8s.io': 'the same',
  'medik8s-leases: patch leases.coordination.k8s.io':
    'a lease that is over is taken, ours is renewed in a long fence; test/scenarios/ownership.test.ts',
};

const CLUSTER_ROLES = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRole',
  plural: 'clusterroles',
  namespaced: false,
} as const;

const worlds: Play['world'][] = [];

function played(play: (play: Play) => Promise<void>): (play: Play) => Promise<void> {
  return async (given) => {
    worlds.push(given.world);
    await play(given);
  };
}

async function gone(what: string, find: () => Promise<unknown>): Promise<void> {
  await until(`${what} is gone`, async () => ((await find()) === undefined ? true : undefined), 40_000);
}

describe.concurrent('under the shipped roles', () => {
  scenario(
    'a whole fence, to the end of its history',
    { wrote: (files) => files.set({ history_ttl: '1s' }) },
    played(async ({ world, operator }) => {
      world.machine('a').panic();
      await operator.seesRecovery('a');
      await gone('the NodeFence', () => operator.fence('a'));
    }),
  );

  scenario(
    'the lease of a node in hand',
    { nodeLeaseNamespace: MEDIK8S_LEASE_NAMESPACE },
    played(async ({ world, operator }) => {
      await installMedik8s(world);
      world.machine('a').panic();
      await operator.seesRecovery('a');
      await gone('the lease', () => nodeLease(world, 'a'));
    }),
  );

  scenario(
    'release=delete-pods',
    { wrote: (files) => files.set({ release: 'delete-pods' }) },
    played(async ({ world, operator }) => {
      world.machine('a').panic();
      await operator.seesRecovery('a');
    }),
  );

  scenario(
    'release=evict, which a disruption budget forbids here: the node is not kept off for it',
    { wrote: (files) => files.set({ release: 'evict' }) },
    played(async ({ world, operator }) => {
      await world.cluster.mergePatch(POD_DISRUPTION_BUDGETS, 'db', { spec: { maxUnavailable: 0 } }, { namespace: 'default' });
      world.machine('a').panic();
      await operator.sees(
        'a',
        'refused by the budget',
        ({ released }) => released?.kept?.some(({ by }) => by.includes('disruption budget')) === true,
      );
      await operator.seesRecovery('a');
    }),
  );

  scenario(
    'a stop, and a NodeFence that a person deletes',
    {},
    played(async ({ world, operator }) => {
      world.machine('a').panic();
      await operator.seesState('a', 'running');
      await operator.stop('a', 'stop-a', 'maintenance');
      await operator.sees('a', 'held', ({ hold }) => hold !== undefined);
      const uid = (await operator.fence('a'))?.metadata.uid;
      await operator.removeStop('stop-a');
      await world.cluster.remove(NODE_FENCES, fenceName('a'));
      await until('another NodeFence', async () => ((await operator.fence('a'))?.metadata.uid === uid ? undefined : true));
    }),
  );

  scenario(
    'an acknowledgement',
    { bmcs: { a: { faults: { isSilent: true } } } },
    played(async ({ world, operator }) => {
      world.machine('a').panic();
      await operator.seesFailure('a');
      world.machine('a').powerOff('restore');
      const fence = await operator.fence('a');
      const bootID = (await operator.node('a')).status.nodeInfo?.bootID;
      const words = { node: 'a', nodeFenceUID: fence?.metadata.uid ?? '', incident: fence?.status?.incident ?? 0, reason: 'I looked' };
      await world.cluster.create(NODE_FENCE_ACKNOWLEDGEMENTS, {
        metadata: { name: 'word' },
        spec: { ...words, ...(bootID === undefined ? {} : { bootID }) },
      });
      await operator.sees('a', 'done with its release', ({ state }) => state === 'done');
      world.machine('a').powerOn('restore');
      await operator.seesRecovery('a');
    }),
  );
});

describe.concurrent('under a role less one verb', () => {
  scenario('a fence ends, and the drill calls what was refused by its name', {}, async ({ world, operator }) => {
    const [role] = CONTROLLER_ACCESS.filter((object) => object.kind === 'ClusterRole');
    if (role === undefined || !('rules' in role)) throw new Error('there is no role of the controller');
    const rules = role.rules.filter(({ resources }) => !resources.includes('events'));
    await world.cluster.mergePatch(CLUSTER_ROLES, role.metadata.name, { rules });
    world.machine('a').panic();
    await operator.seesRecovery('a');
    await until('an Event is refused', async () => (refusalsIn(world.witness.trace).length > 0 ? true : undefined));
    expect(refusalsIn(world.witness.trace)).toEqual(['nodefence-controller was refused: create events (default): 403']);
  });
});

describe('the shipped roles', () => {
  const trace = (): Play['world']['witness']['trace'] => worlds.flatMap(({ witness }) => witness.trace);

  it('let the controller do everything that it asked for', () => {
    expect(trace().length).toBeGreaterThan(100);
    expect(refusalsIn(trace())).toEqual([]);
  });

  it('grant nothing that is not used, but what is listed with its reason', () => {
    const used = rightsUsed(trace());
    expect(GRANTED.filter((right) => !used.has(right) && SELDOM_USED[right] === undefined)).toEqual([]);
    expect(Object.keys(SELDOM_USED).filter((right) => !GRANTED.includes(right))).toEqual([]);
  });
});
