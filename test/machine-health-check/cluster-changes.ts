import fc from 'fast-check';
import { fenceName } from '../../src/domain/node-fence.ts';
import { kindKey } from '../../src/controllers/machine-health-check/snapshot.ts';
import type { ObjectCache } from '../../src/kube/lister.ts';
import type { UntypedObject } from '../../src/ports/cluster-api.ts';
import type { KubeObject, Lease, Node } from '../../src/ports/objects.ts';
import type { NodeFence } from '../../src/ports/resources.ts';
import {
  ago,
  checkObject,
  clusterObject,
  machineObject,
  NAMESPACE,
  nodeConditionsOf,
  requestObject,
  TEMPLATE_REF,
  templateObject,
} from './objects.ts';
import type { MachineParts } from './objects.ts';
import type { WatchedCluster } from './watched-cluster.ts';

const CHECKS = { unhealthyNodeConditions: [{ type: 'Ready', status: 'Unknown', timeoutSeconds: 300 }] };
/** Its Machines are on Nodes of this cluster; that of the other is behind a kubeconfig, or nowhere. */
export const [HERE, ELSEWHERE] = ['c1', 'c2'];

export type Change = (cluster: WatchedCluster) => void;

/** Each a new object, as a watch brings it. */
let versions = 1;
function put<T extends KubeObject>(cache: ObjectCache<T>, object: T): void {
  versions += 1;
  cache.put({ ...object, metadata: { ...object.metadata, resourceVersion: String(versions) } });
}

function nodeObject(name: string, status: 'True' | 'Unknown', ageSeconds: number, uid = `uid-${name}`): Node {
  const conditions = nodeConditionsOf(status, ageSeconds);
  return { metadata: { name, uid }, spec: { providerID: `test:///${name}` }, status: { conditions } } as Node;
}

function machine(name: string, parts: MachineParts): UntypedObject {
  const object = machineObject(name, parts);
  return { ...object, spec: { ...(object.spec as object), providerID: `test:///${parts.nodeName ?? ''}` } };
}

const index = fc.integer({ min: 0, max: 5 });
const seldom = fc.integer({ min: 0, max: 4 }).map((dice) => dice === 0);

const putMachine = fc
  .record({
    index,
    node: fc.option(index),
    pool: fc.constantFrom('a', 'b'),
    clusterName: fc.constantFrom(HERE, HERE, HERE, ELSEWHERE),
    uid: fc.constantFrom('first', 'second'),
    isDeleting: seldom,
    annotations: fc.constantFrom({}, {}, { 'cluster.x-k8s.io/remediate-machine': '' }, { 'cluster.x-k8s.io/paused': '' }),
    ageSeconds: fc.constantFrom(60, 500, 7_200),
  })
  .map(({ index: at, node, pool, uid, ...parts }): Change => ({ machines }) => {
    const nodeName = node === null ? null : `n${node}`;
    put(machines, machine(`m${at}`, { ...parts, nodeName, labels: { pool }, uid: `${uid}-${at}` }));
  });

const removeMachine = index.map((at): Change => ({ machines }) => {
  machines.remove(`${NAMESPACE}/m${at}`);
});

const putNode = fc
  .record({
    at: index,
    status: fc.constantFrom('True' as const, 'Unknown' as const),
    ageSeconds: fc.constantFrom(10, 299, 300, 900),
    isHere: fc.boolean(),
  })
  .map(({ at, status, ageSeconds, isHere }): Change => ({ nodes, remoteNodes }) => {
    // What is called alike there is another Node.
    put(isHere ? nodes : remoteNodes, nodeObject(`n${at}`, status, ageSeconds, isHere ? `uid-n${at}` : `uid-remote-n${at}`));
  });

const removeNode = fc.tuple(index, fc.boolean()).map(([at, isHere]): Change => ({ nodes, remoteNodes }) => {
  (isHere ? nodes : remoteNodes).remove(`n${at}`);
});

const putCluster = fc
  .record({ name: fc.constantFrom(HERE, ELSEWHERE), isPaused: seldom, is: fc.boolean() })
  .map(({ name, isPaused, is }): Change => ({ clusters }) => {
    put(clusters, clusterObject({ name, isPaused, infrastructureReady: { is, ageSeconds: 400 } }));
  });

const removeCluster = fc.constantFrom(HERE, ELSEWHERE, ELSEWHERE, ELSEWHERE).map((name): Change => ({ clusters }) => {
  clusters.remove(`${NAMESPACE}/${name}`);
});

const which = fc.constantFrom('one', 'two', 'three');

const putCheck = fc
  .record({
    name: which,
    matchLabels: fc.constantFrom({ pool: 'a' }, { pool: 'b' }, { role: 'worker' }),
    clusterName: fc.constantFrom(HERE, HERE, ELSEWHERE),
    isExternal: fc.boolean(),
    ageSeconds: fc.constantFrom(100, 200, 300),
    maximum: fc.constantFrom(0, 2, '50%', 'nonsense'),
    isDeleting: seldom,
  })
  .map(({ name, matchLabels, clusterName, isExternal, ageSeconds, maximum, isDeleting }): Change => ({ checks }) => {
    const remediation = { triggerIf: { unhealthyLessThanOrEqualTo: maximum }, ...(isExternal && { templateRef: TEMPLATE_REF }) };
    const spec = { selector: { matchLabels }, clusterName, checks: CHECKS, remediation };
    const metadata = { creationTimestamp: ago(ageSeconds), ...(isDeleting && { deletionTimestamp: ago(10) }) };
    put(checks, checkObject(name, spec, 'v1beta2', metadata));
  });

const removeCheck = which.map((name): Change => ({ checks }) => {
  checks.remove(`${NAMESPACE}/${name}`);
});

const setRequest = fc.tuple(index, fc.constantFrom('there', 'ending', 'gone')).map(([at, is]): Change => ({ requests }) => {
  if (is === 'gone') requests.remove(`${NAMESPACE}/m${at}`);
  else put(requests, requestObject(`m${at}`, { isDeleting: is === 'ending', ownerUID: `first-${at}` }));
});

const setTemplate = fc.boolean().map((isThere): Change => ({ templates }) => {
  if (isThere) put(templates, templateObject());
  else templates.remove(`${NAMESPACE}/${TEMPLATE_REF.name}`);
});

const setFence = fc.tuple(index, fc.boolean()).map(([at, isThere]): Change => ({ fences }) => {
  const fence: NodeFence = { metadata: { name: fenceName(`n${at}`), uid: `uid-fence-${at}` }, spec: { node: `n${at}` } };
  if (isThere) put(fences, fence);
  else fences.remove(fence.metadata.name);
});

const setLease = fc.tuple(index, fc.constantFrom('', 'other')).map(([at, holderIdentity]): Change => ({ nodeLeases }) => {
  const spec = { holderIdentity, leaseDurationSeconds: 300 };
  put<Lease>(nodeLeases, { metadata: { name: `node-n${at}`, namespace: 'medik8s-leases', uid: `uid-lease-${at}` }, spec });
});

const setKubeconfig = fc.constantFrom('read', 'unreachable', 'none').map((is): Change => (cluster) => {
  const key = `${NAMESPACE}/${ELSEWHERE}`;
  if (is === 'none') cluster.workloads.delete(key);
  else cluster.workloads.set(key, is === 'unreachable' ? is : { lister: cluster.remoteNodes, cluster: cluster.dependencies.cluster });
  cluster.tell();
});

const setKind = fc.constantFrom('served', 'unknown', 'absent').map((is): Change => (cluster) => {
  const kind = kindKey(TEMPLATE_REF.apiVersion, 'PowerCycle');
  cluster.kinds.set(kind, is === 'served' ? cluster.requestKind : is === 'absent' ? is : 'unknown');
  cluster.tell();
});

const setSynced = fc.tuple(fc.constantFrom('templates' as const, 'remoteNodes' as const), fc.boolean()).map(([name, synced]): Change => (cluster) => {
  cluster[name].synced = synced;
});

const resume = fc.constantFrom('machines' as const, 'nodes' as const, 'remoteNodes' as const).map((name): Change => (cluster) => {
  cluster[name].resumedAtMs = cluster.clock.monotonicMs();
});

const passTime = fc.constantFrom(1, 10, 301, 600).map((seconds): Change => ({ clock }) => {
  clock.freeze(seconds * 1_000);
});

const OTHERS = [
  removeMachine,
  removeNode,
  removeCluster,
  removeCheck,
  setRequest,
  setTemplate,
  setFence,
  setLease,
  setKubeconfig,
  setKind,
  setSynced,
  resume,
  passTime,
];

export const changes: fc.Arbitrary<readonly Change[]> = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: putMachine },
    { weight: 4, arbitrary: putNode },
    { weight: 3, arbitrary: putCheck },
    { weight: 2, arbitrary: putCluster },
    ...OTHERS.map((arbitrary) => ({ weight: 1, arbitrary })),
  ),
  { minLength: 1, maxLength: 30 },
);

/** A cluster that works, so that what changes matters. */
export const START: readonly Change[] = [
  ({ clusters }) => {
    put(clusters, clusterObject({ name: HERE }));
  },
  // Nobody checks it; by it the Nodes of its Cluster are found here.
  ({ nodes, machines }) => {
    put(nodes, nodeObject('anchor', 'True', 7_200));
    put(machines, machine('anchor', { nodeName: 'anchor', labels: { role: 'none' } }));
  },
  ({ checks }) => {
    put(checks, checkObject('one', { checks: CHECKS, remediation: { templateRef: TEMPLATE_REF } }));
  },
  ...[0, 1, 2, 3].flatMap((at): Change[] => [
    ({ nodes }) => {
      put(nodes, nodeObject(`n${at}`, 'Unknown', at * 150));
    },
    ({ machines }) => {
      put(machines, machine(`m${at}`, { nodeName: `n${at}`, labels: { pool: 'a' }, uid: `first-${at}` }));
    },
  ]),
];
