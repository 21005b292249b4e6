import { deployment } from '../deployment.ts';
import { NODE_DAEMON_DUTIES } from '../node-daemonset.ts';
import { OVERLAYS } from '../overlays.ts';

/** JSON Schema, draft 7, as far as Helm's values need it. */
export interface ValueSchema {
  type: 'object' | 'array' | 'string' | 'integer' | 'boolean';
  description?: string;
  properties?: Readonly<Record<string, ValueSchema>>;
  additionalProperties?: boolean;
  items?: ValueSchema;
  enum?: readonly string[];
  pattern?: string;
  minimum?: number;
  uniqueItems?: boolean;
}

/** A value of the chart: what it is for, what it is unless somebody says otherwise, what it may be. */
export interface Value {
  description: string;
  initial: unknown;
  schema: ValueSchema;
}

export interface Group {
  description: string;
  values: Readonly<Record<string, Value>>;
}

/** Of the Kubernetes API: their inner shape is checked by the API server. */
const ANY_OBJECT: ValueSchema = { type: 'object', additionalProperties: true };
const LIST_OF_OBJECTS: ValueSchema = { type: 'array', items: ANY_OBJECT };

function text(description: string, initial: string, limits: Pick<ValueSchema, 'enum' | 'pattern'> = {}): Value {
  return { description, initial, schema: { type: 'string', ...limits } };
}

function flag(description: string, initial = false): Value {
  return { description, initial, schema: { type: 'boolean' } };
}

function list(description: string, schema: ValueSchema = LIST_OF_OBJECTS): Value {
  return { description, initial: [], schema };
}

function map(description: string, initial: object = {}): Value {
  return { description, initial, schema: ANY_OBJECT };
}

const CONTAINER = (deployment() as unknown as { spec: { template: { spec: { containers: { resources: object }[] } } } }).spec.template.spec
  .containers[0];

/** Everything that `--set` and `--values` may say. */
export const CHART_VALUES: Readonly<Record<string, Value | Group>> = {
  mode: text('observe: decides, explains and records everything, and changes nothing; enforce: fences.', 'observe', { enum: ['observe', 'enforce'] }),
  image: {
    description: 'Image of the controller and of the node daemons.',
    values: {
      repository: text('Without tag and digest.', 'nodefence', { pattern: '^[a-zA-Z0-9][a-zA-Z0-9._/:-]*$' }),
      tag: text('Empty: the version of this chart.', '', { pattern: '^[\\w.-]*$' }),
      digest: text('sha256:..., and the tag is of no importance.', '', { pattern: '^(sha256:[0-9a-f]{64})?$' }),
      pullPolicy: text('Empty: what Kubernetes takes.', '', { enum: ['', 'Always', 'IfNotPresent', 'Never'] }),
      pullSecrets: list('As imagePullSecrets of a Pod.'),
    },
  },
  replicas: { description: 'Of the controller; one leads.', initial: 2, schema: { type: 'integer', minimum: 1 } },
  preservation: text('As --preservation, with its rights: observe beside an MCM, own in place of one.', '', { enum: ['', 'observe', 'own'] }),
  arguments: list('Further options of `nodefence controller`.', { type: 'array', items: { type: 'string' } }),
  env: list('Further environment variables of the controller, such as the credentials of a cloud.'),
  volumes: list('Further volumes of its pods.'),
  volumeMounts: list('Further mounts of its container.'),
  resources: map('Of its container.', CONTAINER?.resources),
  podAnnotations: map('Of its pods.'),
  nodeSelector: map('Of its pods.'),
  tolerations: list('Of its pods, beside those that a fence controller needs.'),
  affinity: map('Of its pods; empty: replicas stay apart.'),
  definitions: flag('Installs and upgrades our kinds. They are kept when the release is uninstalled, and with them the record of every fence.', true),
  serveNodeDaemons: flag('The controllers hear the daemons of nodes (docs/node-daemon.md).'),
  hearKdump: flag('The controllers hear the messages of crash kernels, on the network of their node (docs/kdump.md).'),
  nodeDaemons: {
    description: 'A daemon on each node (docs/node-daemon.md).',
    values: {
      enabled: flag('Installs the DaemonSet, and what keeps each daemon to its own node (Kubernetes 1.30 or newer).'),
      duties: list('What a daemon does beside its heartbeat; each takes privileges of its own.', {
        type: 'array',
        uniqueItems: true,
        items: { type: 'string', enum: Object.keys(NODE_DAEMON_DUTIES) },
      }),
      env: list('Further environment variables of the daemons: their options as NODEFENCE_NODE_...'),
      nodeSelector: map('Of their pods, beside kubernetes.io/os: linux.'),
    },
  },
  with: {
    description: 'Folders of config/ that are installed beside: rights and rules for what a cluster may have.',
    values: Object.fromEntries(OVERLAYS.map((name) => [name, flag(`config/${name}`)])),
  },
};

export function isGroup(value: Value | Group): value is Group {
  return 'values' in value;
}
