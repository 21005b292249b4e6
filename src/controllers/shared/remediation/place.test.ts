import { beforeEach, describe, expect, it } from 'vitest';
import { installedCluster } from '../../../../test/scenarios/installed-cluster.ts';
import type { Cluster } from '../../../ports/cluster.ts';
import type { ClusterMachine } from '../../../ports/cluster-api.ts';
import { NODES } from '../../../ports/resources.ts';
import { claim } from '../claims/claim.ts';
import { placeOf } from './place.ts';
import type { Place } from './place.ts';

const NAMESPACE = 'machines';
const UID = 'uid-r';
const MACHINE = {
  metadata: { name: 'm', namespace: NAMESPACE, labels: { 'cluster.x-k8s.io/cluster-name': 'c' } },
  spec: { clusterName: 'c' },
} as unknown as ClusterMachine;

function marks(machine: string, { cluster = 'c', namespace = NAMESPACE } = {}): Record<string, string> {
  return { 'cluster.x-k8s.io/cluster-name': cluster, 'cluster.x-k8s.io/cluster-namespace': namespace, 'cluster.x-k8s.io/machine': machine };
}

describe('the place of a node of a Cluster', () => {
  let own: Cluster;
  let asked: string[];
  const placed = (other?: Cluster): Promise<Place | undefined> => {
    const workloadClusters = ({ namespace, name }: { namespace: string; name: string }): Promise<Cluster | undefined> => {
      asked.push(`${namespace}/${name}`);
      return Promise.resolve(other);
    };
    const target = { node: 'n', ofCluster: { namespace: NAMESPACE, name: 'c' } };
    return placeOf({ cluster: own, workloadClusters }, target, { uid: UID, machine: MACHINE });
  };
  const add = (name: string, annotations: Record<string, string>, cluster = own): Promise<unknown> =>
    cluster.create(NODES, { metadata: { name, annotations }, spec: {}, status: {} });

  beforeEach(async () => {
    own = await installedCluster();
    asked = [];
  });

  it('is this one where the Node says that it is that Machine’s, and no Secret is read', async () => {
    await add('n', marks('m'));
    expect(await placed()).toMatchObject({ isOwn: true, node: { metadata: { name: 'n' } } });
    expect(asked).toEqual([]);
  });

  it('is that of its Secret, whatever Nodes are here', async () => {
    await add('other', marks('other'));
    const workload = await installedCluster();
    await add('n', {}, workload);
    const place = await placed(workload);
    expect(place).toMatchObject({ isOwn: false, node: { metadata: { name: 'n' } } });
    expect(place?.cluster).toBe(workload);
    expect(asked).toEqual([`${NAMESPACE}/c-kubeconfig`]);
  });

  it('is this one, and the node is gone, where there is no Secret and others of its Cluster are here', async () => {
    await add('other', marks('other'));
    expect(await placed()).toEqual({ cluster: own, isOwn: true, node: undefined });
  });

  it.each([
    ['of another Cluster', marks('other', { cluster: 'd' })],
    ['of a Cluster of that name in another namespace', marks('other', { namespace: 'others' })],
    ['that say nothing', {}],
  ])('is not known where there is no Secret, and only Nodes are here %s', async (_words, annotations) => {
    await add('other', annotations);
    expect(await placed()).toBeUndefined();
  });

  it.each([
    ['does not say whose it is', {}],
    ['is another Machine’s', marks('another')],
  ])('is not known where a Node of that name is here that %s, though others of its Cluster are', async (_words, annotations) => {
    await add('other', marks('other'));
    await add('n', annotations);
    expect(await placed()).toBeUndefined();
  });

  it('is this one as long as its fence is here, though its Node is gone', async () => {
    const claimant = { apiVersion: 'ha.k8s.io/v1', kind: 'NodeFenceRemediation', namespace: NAMESPACE, name: 'm', uid: UID };
    await claim({ cluster: own, recorder: { event: () => undefined } }, 'n', claimant);
    expect(await placed()).toEqual({ cluster: own, isOwn: true, node: undefined });
    expect(asked).toEqual([]);
  });
});
