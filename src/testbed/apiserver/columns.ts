import { age } from './clock-text.ts';
import { qualified } from './failure.ts';
import { at, isObject, listAt, objectsAt, shown, textAt, type ApiObject, type Json, type JsonObject } from './json.ts';
import { compileJsonPath } from './json-path.ts';
import type { Column, Kind } from './kinds.ts';
import { podReason, readyContainers, restarts } from './pod-columns.ts';

type Cell = (object: ApiObject, nowMs: number) => string | number | boolean | null;

const NAME: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'Name of the object.',
  priority: 0,
  value: (object) => object.metadata.name,
};
const AGE = column('Age', (object, nowMs) => since(object.metadata.creationTimestamp, nowMs));

function column(name: string, value: Cell, priority = 0, type: Column['type'] = 'string'): Column {
  return { name, type, description: `${name} of the object.`, priority, value };
}

function text(name: string, path: string, priority = 0, missing = ''): Column {
  const steps = path.split('.');
  return column(name, (object) => shown(at(object, ...steps)) || missing, priority);
}

function number(name: string, path: string): Column {
  const steps = path.split('.');
  return column(name, (object) => Number(at(object, ...steps) ?? 0), 0, 'integer');
}

function since(timestamp: string | undefined, nowMs: number): string {
  const then = timestamp === undefined ? Number.NaN : new Date(timestamp).getTime();
  return Number.isNaN(then) ? '<unknown>' : age(then, nowMs);
}

function count(member: string): Cell {
  return (object) => {
    const found = object[member];
    return isObject(found) ? Object.keys(found).length : 0;
  };
}

function nodeStatus(node: ApiObject): string {
  const ready = objectsAt(node, 'status', 'conditions').find((condition) => condition['type'] === 'Ready');
  const word = ready === undefined ? 'Unknown' : ready['status'] === 'True' ? 'Ready' : 'NotReady';
  return at(node, 'spec', 'unschedulable') === true ? `${word},SchedulingDisabled` : word;
}

function nodeRoles(node: ApiObject): string {
  const prefix = 'node-role.kubernetes.io/';
  const roles = Object.keys(node.metadata.labels ?? {}).filter((label) => label.startsWith(prefix));
  return roles.length === 0
    ? '<none>'
    : roles
        .map((label) => label.slice(prefix.length))
        .sort()
        .join(',');
}

function address(type: string): Cell {
  return (node) =>
    textAt(
      objectsAt(node, 'status', 'addresses').find((one) => one['type'] === type),
      'address',
    ) || '<none>';
}

const MODES: Readonly<Record<string, string>> = { ReadWriteOnce: 'RWO', ReadOnlyMany: 'ROX', ReadWriteMany: 'RWX', ReadWriteOncePod: 'RWOP' };

function accessModes(path: readonly string[]): Cell {
  return (object) =>
    listAt(object, ...path)
      .map((mode) => MODES[shown(mode)] ?? shown(mode))
      .join(',');
}

function claimOf(volume: ApiObject): string {
  const claim = at(volume, 'spec', 'claimRef');
  return isObject(claim) ? `${textAt(claim, 'namespace')}/${textAt(claim, 'name')}` : '';
}

function involved(event: ApiObject): string {
  const object = at(event, 'involvedObject');
  return `${textAt(object, 'kind').toLowerCase()}/${textAt(object, 'name')}`;
}

function lastSeen(event: ApiObject, nowMs: number): string {
  const when = textAt(event, 'series', 'lastObservedTime') || textAt(event, 'lastTimestamp') || textAt(event, 'eventTime');
  return since(when === '' ? event.metadata.creationTimestamp : when, nowMs);
}

function templated(member: string): Cell {
  return (object) =>
    objectsAt(object, 'spec', 'template', 'spec', 'containers')
      .map((container) => textAt(container, member))
      .join(',');
}

function ready(path: string, wanted: string): Column {
  return column('Ready', (object) => `${shown(at(object, 'status', path) ?? 0)}/${shown(at(object, 'spec', wanted) ?? 0)}`);
}

const CONTAINERS = [column('Containers', templated('name'), 1), column('Images', templated('image'), 1)];

const BUILT_IN: Readonly<Record<string, readonly Column[]>> = {
  namespaces: [NAME, text('Status', 'status.phase'), AGE],
  nodes: [
    NAME,
    column('Status', nodeStatus),
    column('Roles', nodeRoles),
    AGE,
    text('Version', 'status.nodeInfo.kubeletVersion'),
    column('Internal-IP', address('InternalIP'), 1),
    column('External-IP', address('ExternalIP'), 1),
    text('OS-Image', 'status.nodeInfo.osImage', 1, '<unknown>'),
    text('Kernel-Version', 'status.nodeInfo.kernelVersion', 1, '<unknown>'),
    text('Container-Runtime', 'status.nodeInfo.containerRuntimeVersion', 1, '<unknown>'),
  ],
  pods: [
    NAME,
    column('Ready', readyContainers),
    column('Status', podReason),
    column('Restarts', restarts),
    AGE,
    text('IP', 'status.podIP', 1, '<none>'),
    text('Node', 'spec.nodeName', 1, '<none>'),
    text('Nominated Node', 'status.nominatedNodeName', 1, '<none>'),
    column('Readiness Gates', () => '<none>', 1),
  ],
  configmaps: [NAME, column('Data', count('data'), 0, 'integer'), AGE],
  secrets: [NAME, text('Type', 'type'), column('Data', count('data'), 0, 'integer'), AGE],
  services: [NAME, text('Type', 'spec.type'), text('Cluster-IP', 'spec.clusterIP', 0, '<none>'), AGE],
  events: [
    column('Last Seen', lastSeen),
    text('Type', 'type'),
    text('Reason', 'reason'),
    column('Object', involved),
    text('Subobject', 'involvedObject.fieldPath', 1),
    text('Source', 'source.component', 1),
    text('Message', 'message'),
    column('First Seen', (event, nowMs) => since(textAt(event, 'firstTimestamp') || event.metadata.creationTimestamp, nowMs), 1),
    text('Count', 'count', 1),
    { ...NAME, priority: 1 },
  ],
  serviceaccounts: [NAME, column('Secrets', (object) => listAt(object, 'secrets').length, 0, 'integer'), AGE],
  persistentvolumes: [
    NAME,
    text('Capacity', 'spec.capacity.storage'),
    column('Access Modes', accessModes(['spec', 'accessModes'])),
    text('Reclaim Policy', 'spec.persistentVolumeReclaimPolicy'),
    text('Status', 'status.phase'),
    column('Claim', claimOf),
    text('StorageClass', 'spec.storageClassName'),
    text('VolumeAttributesClass', 'spec.volumeAttributesClassName', 0, '<unset>'),
    text('Reason', 'status.reason'),
    AGE,
    text('VolumeMode', 'spec.volumeMode', 1),
  ],
  persistentvolumeclaims: [
    NAME,
    text('Status', 'status.phase'),
    text('Volume', 'spec.volumeName'),
    text('Capacity', 'status.capacity.storage'),
    column('Access Modes', accessModes(['status', 'accessModes'])),
    text('StorageClass', 'spec.storageClassName'),
    text('VolumeAttributesClass', 'spec.volumeAttributesClassName', 0, '<unset>'),
    AGE,
    text('VolumeMode', 'spec.volumeMode', 1),
  ],
  'leases.coordination.k8s.io': [NAME, text('Holder', 'spec.holderIdentity'), AGE],
  'statefulsets.apps': [NAME, ready('readyReplicas', 'replicas'), AGE, ...CONTAINERS],
  'deployments.apps': [
    NAME,
    ready('readyReplicas', 'replicas'),
    number('Up-to-date', 'status.updatedReplicas'),
    number('Available', 'status.availableReplicas'),
    AGE,
    ...CONTAINERS,
  ],
  'replicasets.apps': [
    NAME,
    number('Desired', 'spec.replicas'),
    number('Current', 'status.replicas'),
    number('Ready', 'status.readyReplicas'),
    AGE,
    ...CONTAINERS,
  ],
  'daemonsets.apps': [
    NAME,
    number('Desired', 'status.desiredNumberScheduled'),
    number('Current', 'status.currentNumberScheduled'),
    number('Ready', 'status.numberReady'),
    number('Up-to-date', 'status.updatedNumberScheduled'),
    number('Available', 'status.numberAvailable'),
    AGE,
    ...CONTAINERS,
  ],
  'jobs.batch': [
    NAME,
    column('Completions', (job) => `${shown(at(job, 'status', 'succeeded') ?? 0)}/${shown(at(job, 'spec', 'completions') ?? 1)}`),
    AGE,
  ],
  'poddisruptionbudgets.policy': [
    NAME,
    text('Min Available', 'spec.minAvailable', 0, 'N/A'),
    text('Max Unavailable', 'spec.maxUnavailable', 0, 'N/A'),
    number('Allowed Disruptions', 'status.disruptionsAllowed'),
    AGE,
  ],
  'storageclasses.storage.k8s.io': [
    NAME,
    text('Provisioner', 'provisioner'),
    text('ReclaimPolicy', 'reclaimPolicy'),
    text('VolumeBindingMode', 'volumeBindingMode'),
    text('AllowVolumeExpansion', 'allowVolumeExpansion', 0, 'false'),
    AGE,
  ],
  'volumeattachments.storage.k8s.io': [
    NAME,
    text('Attacher', 'spec.attacher'),
    text('PV', 'spec.source.persistentVolumeName'),
    text('Node', 'spec.nodeName'),
    text('Attached', 'status.attached', 0, 'false'),
    AGE,
  ],
  'priorityclasses.scheduling.k8s.io': [NAME, number('Value', 'value'), text('Global-Default', 'globalDefault', 0, 'false'), AGE],
  'customresourcedefinitions.apiextensions.k8s.io': [NAME, column('Created At', (object) => object.metadata.creationTimestamp ?? '')],
  'rolebindings.rbac.authorization.k8s.io': [NAME, column('Role', roleOf), AGE],
  'clusterrolebindings.rbac.authorization.k8s.io': [NAME, column('Role', roleOf), AGE],
};

function roleOf(binding: ApiObject): string {
  return `${textAt(binding, 'roleRef', 'kind')}/${textAt(binding, 'roleRef', 'name')}`;
}

/** The columns of a kind, as `kubectl get` shows them. */
export function columnsOf(kind: Kind): readonly Column[] {
  if (kind.columns !== undefined) return [NAME, ...kind.columns];
  return (kind.custom ? undefined : BUILT_IN[qualified(kind)]) ?? [NAME, AGE];
}

/** `additionalPrinterColumns` of a definition's version; `undefined` when it has none. */
export function printerColumns(version: JsonObject): Column[] | undefined {
  const columns = objectsAt(version, 'additionalPrinterColumns');
  if (columns.length === 0) return undefined;
  return columns.map((definition) => {
    const find = compileJsonPath(textAt(definition, 'jsonPath'));
    const type = textAt(definition, 'type') as Column['type'];
    return {
      name: textAt(definition, 'name'),
      type,
      format: textAt(definition, 'format'),
      description: textAt(definition, 'description') || `Custom resource definition column (in JSONPath format): ${textAt(definition, 'jsonPath')}`,
      priority: Number(definition['priority'] ?? 0),
      value: (object, nowMs) => cellOf(find(object)[0], type, nowMs),
    };
  });
}

function cellOf(value: Json | undefined, type: Column['type'], nowMs: number): string | number | boolean | null {
  if (value === undefined || value === null) return null;
  switch (type) {
    case 'date':
      return since(shown(value), nowMs);
    case 'integer':
    case 'number':
      return typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'string':
      return shown(value);
  }
}
