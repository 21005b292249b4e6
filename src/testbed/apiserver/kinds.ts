import type { ApiObject, JsonObject } from './json.ts';

/** A column of a Table answer. `value` gives the cell; `path` is a CRD's JSONPath. */
export interface Column {
  name: string;
  type: 'string' | 'integer' | 'date' | 'number' | 'boolean';
  description: string;
  /** 0: always shown; 1: with `-o wide`. */
  priority: number;
  format?: string;
  value: (object: ApiObject, nowMs: number) => string | number | boolean | null;
}

/** One served version of a kind: built in, or from a CustomResourceDefinition. */
export interface Kind {
  group: string;
  version: string;
  kind: string;
  plural: string;
  singular: string;
  shortNames: readonly string[];
  categories: readonly string[];
  namespaced: boolean;
  /** `status`, `scale`, `eviction`, `binding`, `log`, `token`. */
  subresources: readonly string[];
  /** Field labels that select, besides metadata.name and metadata.namespace. */
  selectable: readonly string[];
  /** `metadata.generation` counts changes of everything but metadata and status. */
  generation: boolean;
  /** Reviews are answered, never stored. */
  virtual: boolean;
  /** Name of the collection in the store: two versions of a kind share one. */
  storage: string;
  /** Structural schema; of built-in kinds it knows fields and list types, and nothing is pruned or refused by it unless asked. */
  schema: JsonObject | undefined;
  custom: boolean;
  /** A definition's own columns, shown after the name. */
  columns?: readonly Column[];
}

type Row = readonly [group: string, version: string, kind: string, plural: string, scope: 'namespaced' | 'cluster', options?: RowOptions];

interface RowOptions {
  short?: readonly string[];
  subresources?: readonly string[];
  fields?: readonly string[];
  generation?: true;
  virtual?: true;
  all?: true;
  storage?: string;
}

const RBAC = 'rbac.authorization.k8s.io';
const STATUS = ['status'];
const SCALED = ['status', 'scale'];

/** Every built-in kind that the server knows. */
const ROWS: readonly Row[] = [
  ['', 'v1', 'Namespace', 'namespaces', 'cluster', { short: ['ns'], subresources: STATUS, fields: ['status.phase'] }],
  ['', 'v1', 'Node', 'nodes', 'cluster', { short: ['no'], subresources: STATUS, fields: ['spec.unschedulable'] }],
  [
    '',
    'v1',
    'Pod',
    'pods',
    'namespaced',
    {
      short: ['po'],
      subresources: ['status', 'eviction', 'binding', 'log'],
      fields: [
        'spec.nodeName',
        'spec.restartPolicy',
        'spec.schedulerName',
        'spec.serviceAccountName',
        'status.phase',
        'status.podIP',
        'status.nominatedNodeName',
      ],
      all: true,
    },
  ],
  ['', 'v1', 'ConfigMap', 'configmaps', 'namespaced', { short: ['cm'] }],
  ['', 'v1', 'Secret', 'secrets', 'namespaced', { fields: ['type'] }],
  ['', 'v1', 'Service', 'services', 'namespaced', { short: ['svc'], subresources: STATUS, fields: ['spec.clusterIP', 'spec.type'], all: true }],
  [
    '',
    'v1',
    'Event',
    'events',
    'namespaced',
    {
      short: ['ev'],
      fields: [
        'involvedObject.kind',
        'involvedObject.namespace',
        'involvedObject.name',
        'involvedObject.uid',
        'involvedObject.apiVersion',
        'involvedObject.resourceVersion',
        'involvedObject.fieldPath',
        'reason',
        'reportingComponent',
        'source',
        'type',
      ],
    },
  ],
  [
    'events.k8s.io',
    'v1',
    'Event',
    'events',
    'namespaced',
    { short: ['ev'], storage: 'events', fields: ['regarding.kind', 'regarding.name', 'regarding.uid', 'reason', 'type'] },
  ],
  ['', 'v1', 'ServiceAccount', 'serviceaccounts', 'namespaced', { short: ['sa'], subresources: ['token'] }],
  ['', 'v1', 'ResourceQuota', 'resourcequotas', 'namespaced', { short: ['quota'], subresources: STATUS }],
  ['', 'v1', 'PersistentVolume', 'persistentvolumes', 'cluster', { short: ['pv'], subresources: STATUS }],
  ['', 'v1', 'PersistentVolumeClaim', 'persistentvolumeclaims', 'namespaced', { short: ['pvc'], subresources: STATUS }],
  ['coordination.k8s.io', 'v1', 'Lease', 'leases', 'namespaced'],
  ['apps', 'v1', 'StatefulSet', 'statefulsets', 'namespaced', { short: ['sts'], subresources: SCALED, generation: true, all: true }],
  ['apps', 'v1', 'Deployment', 'deployments', 'namespaced', { short: ['deploy'], subresources: SCALED, generation: true, all: true }],
  ['apps', 'v1', 'ReplicaSet', 'replicasets', 'namespaced', { short: ['rs'], subresources: SCALED, generation: true, all: true }],
  ['apps', 'v1', 'DaemonSet', 'daemonsets', 'namespaced', { short: ['ds'], subresources: STATUS, generation: true, all: true }],
  ['batch', 'v1', 'Job', 'jobs', 'namespaced', { subresources: STATUS, generation: true, all: true, fields: ['status.successful'] }],
  ['policy', 'v1', 'PodDisruptionBudget', 'poddisruptionbudgets', 'namespaced', { short: ['pdb'], subresources: STATUS, generation: true }],
  ['storage.k8s.io', 'v1', 'StorageClass', 'storageclasses', 'cluster', { short: ['sc'] }],
  ['storage.k8s.io', 'v1', 'VolumeAttachment', 'volumeattachments', 'cluster', { subresources: STATUS }],
  ['scheduling.k8s.io', 'v1', 'PriorityClass', 'priorityclasses', 'cluster', { short: ['pc'], generation: true }],
  ['flowcontrol.apiserver.k8s.io', 'v1', 'FlowSchema', 'flowschemas', 'cluster', { subresources: STATUS, generation: true }],
  [
    'flowcontrol.apiserver.k8s.io',
    'v1',
    'PriorityLevelConfiguration',
    'prioritylevelconfigurations',
    'cluster',
    { subresources: STATUS, generation: true },
  ],
  ['networking.k8s.io', 'v1', 'NetworkPolicy', 'networkpolicies', 'namespaced', { short: ['netpol'], generation: true }],
  [RBAC, 'v1', 'Role', 'roles', 'namespaced'],
  [RBAC, 'v1', 'RoleBinding', 'rolebindings', 'namespaced'],
  [RBAC, 'v1', 'ClusterRole', 'clusterroles', 'cluster'],
  [RBAC, 'v1', 'ClusterRoleBinding', 'clusterrolebindings', 'cluster'],
  [
    'apiextensions.k8s.io',
    'v1',
    'CustomResourceDefinition',
    'customresourcedefinitions',
    'cluster',
    { short: ['crd', 'crds'], subresources: STATUS, generation: true },
  ],
  ['authentication.k8s.io', 'v1', 'TokenReview', 'tokenreviews', 'cluster', { virtual: true }],
  ['authentication.k8s.io', 'v1', 'SelfSubjectReview', 'selfsubjectreviews', 'cluster', { virtual: true }],
  ['authorization.k8s.io', 'v1', 'SubjectAccessReview', 'subjectaccessreviews', 'cluster', { virtual: true }],
  ['authorization.k8s.io', 'v1', 'SelfSubjectAccessReview', 'selfsubjectaccessreviews', 'cluster', { virtual: true }],
  ['authorization.k8s.io', 'v1', 'SelfSubjectRulesReview', 'selfsubjectrulesreviews', 'cluster', { virtual: true }],
  ['authorization.k8s.io', 'v1', 'LocalSubjectAccessReview', 'localsubjectaccessreviews', 'namespaced', { virtual: true }],
];

export const BUILT_IN_KINDS: readonly Kind[] = ROWS.map(([group, version, kind, plural, scope, options = {}]) => ({
  group,
  version,
  kind,
  plural,
  singular: kind.toLowerCase(),
  shortNames: options.short ?? [],
  categories: options.all === true ? ['all'] : [],
  namespaced: scope === 'namespaced',
  subresources: options.subresources ?? [],
  selectable: options.fields ?? [],
  generation: options.generation === true,
  virtual: options.virtual === true,
  storage: options.storage ?? (group === '' ? plural : `${plural}.${group}`),
  schema: undefined,
  custom: false,
}));

export function apiVersionOf(kind: Pick<Kind, 'group' | 'version'>): string {
  return kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
}
