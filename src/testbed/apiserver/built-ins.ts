import type { Backend } from './backend.ts';
import { seconds } from './clock-text.ts';
import { invalid, type FieldCause } from './failure.ts';
import { at, equal, isObject, isString, listAt, objectsAt, shown, textAt, type ApiObject, type JsonObject } from './json.ts';
import { qualified } from './failure.ts';
import type { Kind } from './kinds.ts';

const EVICTED_AFTER_SECONDS = 300;

/** What a server's defaulting and its standard admission plugins add to a new object of a built-in kind. */
export function prepareBuiltIn(object: ApiObject, kind: Kind, backend: Backend): ApiObject {
  switch (qualified(kind)) {
    case 'pods':
      return preparePod(object, backend);
    case 'nodes':
      return prepareNode(object);
    case 'namespaces':
      return prepareNamespace(object);
    case 'secrets':
      return encodeSecret({ type: 'Opaque', ...object });
    case 'persistentvolumes':
      return withSpec({ ...object, status: { phase: 'Pending' } }, { persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem' });
    case 'persistentvolumeclaims':
      return withSpec({ ...object, status: { phase: 'Pending' } }, { volumeMode: 'Filesystem' });
    case 'services':
      return withSpec({ ...object, status: { loadBalancer: {} } }, { type: 'ClusterIP', sessionAffinity: 'None', clusterIP: 'None' });
    case 'volumeattachments.storage.k8s.io':
      return { ...object, status: { attached: false } };
    case 'storageclasses.storage.k8s.io':
      return { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate', ...object };
    case 'statefulsets.apps':
      return withSpec({ ...object, status: { replicas: 0, availableReplicas: 0 } }, STATEFUL_SET);
    case 'deployments.apps':
      return withSpec({ ...object, status: {} }, { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600, strategy: ROLLING });
    case 'replicasets.apps':
      return withSpec({ ...object, status: { replicas: 0 } }, { replicas: 1 });
    case 'jobs.batch':
      return withSpec({ ...object, status: {} }, { parallelism: 1, completions: 1, backoffLimit: 6, completionMode: 'NonIndexed', suspend: false });
    case 'rolebindings.rbac.authorization.k8s.io':
    case 'clusterrolebindings.rbac.authorization.k8s.io':
      return prepareBinding(object);
    case 'priorityclasses.scheduling.k8s.io':
      return { preemptionPolicy: 'PreemptLowerPriority', ...object };
    default:
      return kind.subresources.includes('status') ? without(object, 'status') : object;
  }
}

const STATEFUL_SET: JsonObject = {
  replicas: 1,
  podManagementPolicy: 'OrderedReady',
  revisionHistoryLimit: 10,
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
  persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
};
const ROLLING: JsonObject = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } };
const POD: JsonObject = {
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  securityContext: {},
  schedulerName: 'default-scheduler',
  enableServiceLinks: true,
  preemptionPolicy: 'PreemptLowerPriority',
};

function withSpec(object: ApiObject, defaults: JsonObject): ApiObject {
  const spec = object['spec'];
  return { ...object, spec: { ...defaults, ...(isObject(spec) ? spec : {}) } };
}

function without(object: ApiObject, name: string): ApiObject {
  const { [name]: _dropped, ...rest } = object;
  return { ...rest, apiVersion: object.apiVersion, kind: object.kind, metadata: object.metadata };
}

function preparePod(object: ApiObject, backend: Backend): ApiObject {
  const spec = isObject(object['spec']) ? object['spec'] : {};
  const className = textAt(spec, 'priorityClassName');
  const priorityClass = backend.store.collection('priorityclasses.scheduling.k8s.io').get(className);
  const tolerations = objectsAt(spec, 'tolerations');
  for (const key of ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']) {
    const known = tolerations.some(
      (one) => (one['key'] === key || one['key'] === undefined) && ['NoExecute', '', undefined].includes(one['effect'] as string | undefined),
    );
    if (!known) tolerations.push({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: EVICTED_AFTER_SECONDS });
  }
  return {
    ...object,
    spec: { ...POD, ...spec, priority: systemPriority(className) ?? at(priorityClass, 'value') ?? 0, tolerations },
    status: { phase: 'Pending', qosClass: 'BestEffort' },
  };
}

function systemPriority(className: string): number | undefined {
  if (className === 'system-node-critical') return 2_000_001_000;
  return className === 'system-cluster-critical' ? 2_000_000_000 : undefined;
}

const RBAC = 'rbac.authorization.k8s.io';

function prepareBinding(object: ApiObject): ApiObject {
  const role = object['roleRef'];
  const subjects = objectsAt(object, 'subjects').map((subject) => (subject['kind'] === 'ServiceAccount' ? subject : { apiGroup: RBAC, ...subject }));
  return { ...object, roleRef: isObject(role) ? { apiGroup: RBAC, ...role } : role, subjects };
}

const NODE_INFO = Object.fromEntries(
  [
    'machineID',
    'systemUUID',
    'bootID',
    'kernelVersion',
    'osImage',
    'containerRuntimeVersion',
    'kubeletVersion',
    'kubeProxyVersion',
    'operatingSystem',
    'architecture',
  ].map((name) => [name, '']),
);

/** A new node is tainted as not ready until a controller sees it ready (admission plugin TaintNodesByCondition). What no kubelet has said is empty text. */
function prepareNode(object: ApiObject): ApiObject {
  const taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };
  const taints = objectsAt(object['spec'], 'taints');
  const known = taints.some((one) => one['key'] === taint.key && one['effect'] === taint.effect);
  const spec = isObject(object['spec']) ? object['spec'] : {};
  const status = isObject(object['status']) ? object['status'] : {};
  const nodeInfo = isObject(status['nodeInfo']) ? status['nodeInfo'] : {};
  return {
    ...object,
    spec: { ...spec, taints: known ? taints : [...taints, taint] },
    status: { daemonEndpoints: { kubeletEndpoint: { Port: 0 } }, ...status, nodeInfo: { ...NODE_INFO, ...nodeInfo } },
  };
}

function prepareNamespace(object: ApiObject): ApiObject {
  const { metadata } = object;
  return {
    ...object,
    metadata: { ...metadata, labels: { ...metadata.labels, 'kubernetes.io/metadata.name': metadata.name } },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  };
}

/** `stringData` is write-only: it becomes base64 in `data`. */
export function encodeSecret(object: ApiObject): ApiObject {
  const plain = object['stringData'];
  if (!isObject(plain)) return object;
  const encoded = Object.fromEntries(Object.entries(plain).map(([name, text]) => [name, Buffer.from(shown(text)).toString('base64')]));
  const data = object['data'];
  return { ...without(object, 'stringData'), data: { ...(isObject(data) ? data : {}), ...encoded } };
}

type Rule = (
  after: ApiObject,
  before: ApiObject | undefined,
  complain: (field: string, reason: FieldCause['reason'], message: string) => void,
) => void;

const POD_MUTABLE = ['containers', 'initContainers', 'activeDeadlineSeconds', 'tolerations', 'terminationGracePeriodSeconds', 'schedulingGates'];
const STATEFUL_SET_MUTABLE = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
];
const POD_WORDS =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';
const STATEFUL_SET_WORDS =
  "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";

const RULES: Readonly<Record<string, Rule>> = {
  nodes: (after, before, complain) => {
    objectsAt(after['spec'], 'taints').forEach((taint, index) => {
      const field = `metadata.taints[${String(index)}]`;
      const effect = textAt(taint, 'effect');
      if (textAt(taint, 'key') === '') complain(`${field}.key`, 'FieldValueRequired', 'Required value');
      if (!['NoSchedule', 'PreferNoSchedule', 'NoExecute'].includes(effect)) {
        complain(
          `${field}.effect`,
          'FieldValueNotSupported',
          `Unsupported value: ${JSON.stringify(effect)}: supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"`,
        );
      }
      const same = objectsAt(after['spec'], 'taints').findIndex((one) => one['key'] === taint['key'] && one['effect'] === taint['effect']);
      if (same < index) complain(field, 'FieldValueDuplicate', `Duplicate value: ${JSON.stringify(taint)}`);
    });
    const was = textAt(before, 'spec', 'providerID');
    if (was !== '' && textAt(after, 'spec', 'providerID') !== was)
      complain('spec.providerID', 'FieldValueForbidden', 'Forbidden: node updates may not change providerID except from "" to valid');
  },
  pods: (after, before, complain) => {
    if (before === undefined) {
      if (listAt(after, 'spec', 'containers').length === 0) complain('spec.containers', 'FieldValueRequired', 'Required value');
    } else if (!equal(other(after, POD_MUTABLE), other(before, POD_MUTABLE))) complain('spec', 'FieldValueForbidden', `Forbidden: ${POD_WORDS}`);
  },
  'statefulsets.apps': (after, before, complain) => {
    if (before !== undefined && !equal(other(after, STATEFUL_SET_MUTABLE), other(before, STATEFUL_SET_MUTABLE)))
      complain('spec', 'FieldValueForbidden', `Forbidden: ${STATEFUL_SET_WORDS}`);
  },
  'volumeattachments.storage.k8s.io': (after, before, complain) => {
    if (before !== undefined && !equal(after['spec'], before['spec']))
      complain('spec', 'FieldValueInvalid', `Invalid value: ${JSON.stringify(after['spec'])}: field is immutable`);
  },
  'leases.coordination.k8s.io': (after, _before, complain) => {
    const duration = at(after, 'spec', 'leaseDurationSeconds');
    if (typeof duration === 'number' && duration <= 0)
      complain('spec.leaseDurationSeconds', 'FieldValueInvalid', `Invalid value: ${String(duration)}: must be greater than 0`);
    const transitions = at(after, 'spec', 'leaseTransitions');
    if (typeof transitions === 'number' && transitions < 0)
      complain('spec.leaseTransitions', 'FieldValueInvalid', `Invalid value: ${String(transitions)}: must be greater than or equal to 0`);
  },
  configmaps: keyed,
  secrets: keyed,
};

const KEY_WORDS =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
const DATA_BYTES_MAX = 1_048_576;

function keyed(after: ApiObject, before: ApiObject | undefined, complain: Parameters<Rule>[2]): void {
  const data = after['data'];
  let size = 0;
  for (const [key, value] of Object.entries(isObject(data) ? data : {})) {
    if (!/^[-._a-zA-Z0-9]+$/.test(key)) complain(`data[${key}]`, 'FieldValueInvalid', `Invalid value: ${JSON.stringify(key)}: ${KEY_WORDS}`);
    size += isString(value) ? value.length : 0;
  }
  if (size > DATA_BYTES_MAX) complain('', 'FieldValueTooLong', `Too long: may not be more than ${String(DATA_BYTES_MAX)} bytes`);
  immutable(after, before, complain);
}

function immutable(after: ApiObject, before: ApiObject | undefined, complain: Parameters<Rule>[2]): void {
  if (before?.['immutable'] === true && !equal(after['data'], before['data']))
    complain('data', 'FieldValueForbidden', 'Forbidden: field is immutable when `immutable` is set');
}

function other(object: ApiObject, names: readonly string[]): JsonObject {
  const spec = object['spec'];
  return Object.fromEntries(
    Object.entries(isObject(spec) ? spec : {}).filter(([name, value]) => !names.includes(name) && isString(name) && value !== null),
  );
}

/** The rules of a built-in kind that its types cannot say. */
export function checkBuiltIn(after: ApiObject, before: ApiObject | undefined, kind: Kind): void {
  const rule = RULES[qualified(kind)];
  if (rule === undefined) return;
  const causes: FieldCause[] = [];
  rule(after, before, (field, reason, message) => void causes.push({ field, reason, message }));
  if (causes.length > 0) throw invalid(kind, after.metadata.name, causes);
}

/** Objects that exist from the first moment. */
export function initialObjects(wallMs: number, uuid: () => string): { storage: string; object: ApiObject }[] {
  const metadata = (name: string): ApiObject['metadata'] => ({ name, uid: uuid(), creationTimestamp: seconds(wallMs) });
  const namespaces = ['default', 'kube-node-lease', 'kube-public', 'kube-system'].map((name) => ({
    storage: 'namespaces',
    object: prepareNamespace({ apiVersion: 'v1', kind: 'Namespace', metadata: metadata(name) }),
  }));
  const admin: ApiObject = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: metadata('cluster-admin'),
    rules: [
      { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
      { nonResourceURLs: ['*'], verbs: ['*'] },
    ],
  };
  return [...namespaces, { storage: 'clusterroles.rbac.authorization.k8s.io', object: admin }];
}
