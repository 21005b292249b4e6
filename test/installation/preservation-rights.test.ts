import { afterEach, describe, expect, it } from 'vitest';
import { PRESERVATION_OBSERVE_ACCESS, PRESERVATION_OWN_ACCESS, PRESERVER_ROLE } from '../../src/manifests/preservation-access.ts';
import { MACHINE_DEPLOYMENTS, MACHINE_SETS, MACHINES } from '../../src/ports/machines.ts';
import { NODES } from '../../src/ports/resources.ts';
import { Daemon } from '../scenarios/daemon.ts';
import { until } from '../scenarios/waiting.ts';
import { PreservingCluster } from './preserving-cluster.ts';
import { grantsOf, refusalsIn, rightsOf, rightsUsed } from './rights.ts';
import type { Right } from './rights.ts';

const PRESERVE = 'node.machine.sapcloud.io/preserve';
const WITHIN_MS = 60_000;
const NAMESPACE = 'default';
/** What is there comes as the beginning of a watch, where the server has that: src/kube/initial-events.test.ts. Others are listed. */
const LISTED_WITHOUT_WATCH_LIST: readonly Right[] = ['machinedeployments', 'machinesets'].map(
  (resource) => `cluster: list ${resource}.machine.sapcloud.io`,
);
/** Rights that the course below need not make use of, and why they are granted all the same. */
const SELDOM_USED: Readonly<Record<Right, string>> = {
  ...Object.fromEntries(LISTED_WITHOUT_WATCH_LIST.map((right) => [right, 'by a server that does not begin a watch with what is there'])),
  'cluster: patch events': 'an Event that repeats is counted',
};
/** Of the controller; the others are of people. */
const ROLES = [...PRESERVATION_OBSERVE_ACCESS, ...PRESERVATION_OWN_ACCESS].filter(
  ({ metadata }) => metadata.name !== PRESERVER_ROLE && metadata.name !== 'nodefence-machines-view',
);

let there: PreservingCluster | undefined;
let daemon: Daemon | undefined;

afterEach(async () => {
  await daemon?.kill();
  await there?.end();
});

describe('the roles of preservation', { timeout: 240_000 }, () => {
  it('grant nothing that is not used, but what is listed with its reason', async () => {
    there = await PreservingCluster.start(['n1'], ['machine-crd', 'preservation-observe', 'preservation-own']);
    const { cluster, witness } = there.world;
    const pool = { 'worker.gardener.cloud/pool': 'worker1' };
    const owned = (kind: string, name: string, uid = ''): object => ({
      ownerReferences: [{ apiVersion: 'machine.sapcloud.io/v1alpha1', kind, name, uid, controller: true }],
    });
    const deployment = await cluster.create(MACHINE_DEPLOYMENTS, {
      metadata: { name: 'd', namespace: NAMESPACE, labels: pool },
      spec: { replicas: 1 },
    });
    const set = await cluster.create(MACHINE_SETS, {
      metadata: { name: 's', namespace: NAMESPACE, ...owned('MachineDeployment', 'd', deployment.metadata.uid) },
      spec: { replicas: 1 },
    });
    const machine = async (name: string, phase: string, more: object): Promise<void> => {
      await cluster.create(MACHINES, { metadata: { name, namespace: NAMESPACE, ...more } });
      const status = { currentStatus: { phase } };
      await cluster.mergePatch(MACHINES, name, { status }, { namespace: NAMESPACE, subresource: 'status' });
    };
    const ill = { type: 'KernelDeadlock', status: 'True', reason: 'DockerHung', message: 'task docker:7 is blocked' } as const;
    const { status } = (await cluster.get(NODES, 'n1')) ?? {};
    const conditions = [...(status?.conditions ?? []), ill];
    await cluster.mergePatch(NODES, 'n1', { status: { conditions } }, { subresource: 'status' });
    await cluster.mergePatch(NODES, 'n1', { metadata: { annotations: { [PRESERVE]: 'when-failed' } } });
    await machine('kept', 'Failed', { labels: { ...pool, node: 'n1' }, ...owned('MachineSet', 's', set.metadata.uid) });
    await machine('going', 'Terminating', {});
    daemon = new Daemon(there.kubeconfig(), ['--mode', 'enforce', '--preservation', 'own']);

    await until('the Machine without a Node is gone', async () => ((await there?.machine('going')) === undefined ? true : undefined), WITHIN_MS);
    await until(
      'its Node tells that the other is preserved',
      async () => ((await cluster.get(NODES, 'n1'))?.status.conditions?.some(({ type }) => type === 'Preserved') === true ? true : undefined),
      WITHIN_MS,
    );
    const grants = grantsOf(ROLES);
    const unused = (): Right[] => {
      const used = rightsUsed(witness.trace, grants);
      return rightsOf(grants).filter((right) => !used.has(right) && SELDOM_USED[right] === undefined);
    };
    await until(
      'every right is used',
      async () => (unused().length === 0 ? true : undefined),
      WITHIN_MS / 2,
      async () => unused().join(', '),
    );
    expect(refusalsIn(witness.trace)).toEqual([]);
    expect(Object.keys(SELDOM_USED).filter((right) => !rightsOf(grants).includes(right))).toEqual([]);
  });
});
