import { randomUUID } from 'node:crypto';

import { JOB_LABEL } from '../../agents/job/objects.ts';
import { REMEDY_JOB_LABEL } from '../../src/controllers/remedies/job/intent.ts';

const HA = '/apis/ha.k8s.io/v1';
export const STOPS = `${HA}/nodefencestops`;
export const WORDS = `${HA}/nodefenceacknowledgements`;
export const REPORTS = `${HA}/nodefencereports`;
export const FENCES = `${HA}/nodefences`;
export const NODE = '/api/v1/nodes/worker-1';
export const BINDINGS = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';
export const BY = 'nodefence.ha.k8s.io/requested-by';
export const PRESERVE = 'node.machine.sapcloud.io/preserve';
export const PRESERVED_BY = 'nodefence.ha.k8s.io/preserve-requested-by';
export const REASON = 'ha.k8s.io/preserve-reason';
export const CONTROLLER = 'system:serviceaccount:nodefence-system:nodefence-controller';
/** By a certificate, of a controller that systemd starts. */
export const OWN_USER = 'fencer.example.com';
/** None is the controller's account, though each has a part of its name; they may do everything. */
export const NO_CONTROLLERS = ['corp:nodefence-controller', 'system:serviceaccount:default:other'];
/** MutatingAdmissionPolicy is v1 from here on. */
export const STAMPED_SINCE = 36;

/** Who has which of the shipped roles. */
export const ROLES: Readonly<Record<string, readonly string[]>> = {
  vera: ['nodefence-view'],
  alice: ['nodefence-operator', 'nodefence-fencer'],
  bob: ['nodefence-operator', 'nodefence-fencer'],
  // Stops and resumes, and acknowledges nothing.
  otto: ['nodefence-operator'],
  olga: ['nodefence-preserver'],
  // Whatever an administrator may do, he does it in his own name.
  root: ['cluster-admin'],
};

/** Whose deletion would take what it owns with it. */
export const OWNER = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'x' };

export const TAINTED = 'nodefence.ha.k8s.io/tainted';
export const OUT_OF_SERVICE = { key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' };
/** A taint of others; one that is like it but for its key; one that is like it but for its effect. */
export const FOREIGN = { key: 'example.com/theirs', effect: 'NoSchedule' };
export const LIKE_IT = { ...FOREIGN, key: 'example.com/also-theirs' };
export const BESIDE_IT = { ...FOREIGN, effect: 'PreferNoSchedule' };
export const ALL = [FOREIGN, LIKE_IT, BESIDE_IT];

export type Named = Readonly<Record<string, string | null>>;

export function named(annotations: Named): { metadata: { annotations: Named } } {
  return { metadata: { annotations } };
}

/** What the controller cannot do to a Node: the words of the refusal, and the change. */
export const FORBIDDEN_TO_CONTROLLERS: [string, string, object][] = [
  ['remove a taint of others', 'sets and removes taints', { spec: { taints: [] } }],
  ['remove one that is like another but for its key', 'sets and removes taints', { spec: { taints: [FOREIGN, BESIDE_IT] } }],
  ['remove one that is like another but for its effect', 'sets and removes taints', { spec: { taints: [FOREIGN, LIKE_IT] } }],
  ['set a taint that it does not list', 'sets and removes taints', { spec: { taints: [...ALL, { key: 'x', effect: 'NoExecute' }] } }],
  ['set one that is like another but for its key', 'sets and removes taints', { spec: { taints: [...ALL, { key: 'x', effect: 'NoSchedule' }] } }],
  ['set one that is like another but for its effect', 'sets and removes taints', { spec: { taints: [...ALL, { ...FOREIGN, effect: 'NoExecute' }] } }],
  ['change the value of a taint', 'sets and removes taints', { spec: { taints: [{ ...FOREIGN, value: 'x' }, LIKE_IT, BESIDE_IT] } }],
  [
    'change the value of a taint of others and list it',
    'sets and removes taints',
    { spec: { taints: [{ ...FOREIGN, value: 'x' }, LIKE_IT, BESIDE_IT] }, ...named({ [TAINTED]: 'example.com/theirs=x:NoSchedule' }) },
  ],
  ['make a taint of others its own by listing it', 'only as it sets it', named({ [TAINTED]: 'example.com/theirs=:NoSchedule' })],
  ['list what nobody has set', 'only as it sets it', named({ [TAINTED]: 'node-role.kubernetes.io/control-plane=:NoSchedule' })],
  ['change another field', 'nothing of spec but', { spec: { providerID: 'aws:///other' } }],
  ['label a node', 'writes no labels', { metadata: { labels: { zone: 'b' } } }],
  ['annotate it for others', 'writes annotations of', named({ 'kubeadm.alpha.kubernetes.io/cri-socket': 'x' })],
  ['write an annotation that only looks like ours', 'writes annotations of', named({ 'evilha.k8s.io/x': 'x' })],
  ['remove an annotation of others', 'writes annotations of', named({ 'example.com/theirs': null })],
  ['change an annotation of others', 'writes annotations of', named({ 'example.com/theirs': 'y' })],
  ['have it deleted with another object', 'no finalizers and no owners', { metadata: { ownerReferences: [OWNER] } }],
  ['keep it from being deleted', 'no finalizers', { metadata: { finalizers: ['example.com/kept'] } }],
];

export function stop(name: string, annotations: Named = {}): object {
  return { apiVersion: 'ha.k8s.io/v1', kind: 'NodeFenceStop', metadata: { name, annotations }, spec: { node: 'worker-1', reason: 'maintenance' } };
}

export function acknowledgement(name: string, annotations: Named = {}): object {
  const spec = { node: 'worker-1', nodeFenceUID: 'u', incident: 1, reason: 'I looked' };
  return { apiVersion: 'ha.k8s.io/v1', kind: 'NodeFenceAcknowledgement', metadata: { name, annotations }, spec };
}

export function fenceFor(name: string, person: string): object {
  const requestedBy = { apiVersion: 'v1', kind: 'Person', name: person, uid: randomUUID() };
  return { apiVersion: 'ha.k8s.io/v1', kind: 'NodeFence', metadata: { name: `node-fence-${name}` }, spec: { node: name, requestedBy } };
}

export function bindingOf(user: string, role: string): object {
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role };
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }];
  return { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding', metadata: { name: `${user}-${role}` }, roleRef, subjects };
}

/** As the controller creates it for an agent or for a remedy. */
export const job = (kind: 'agent' | 'remedy', pod: object, container: object = {}): object => {
  const labels = { [kind === 'agent' ? JOB_LABEL : REMEDY_JOB_LABEL]: 'x' };
  const spec = { restartPolicy: 'Never', containers: [{ name: 'c', image: 'none', ...container }], ...pod };
  return { metadata: { generateName: 'j-', labels }, spec: { template: { metadata: { labels }, spec } } };
};
