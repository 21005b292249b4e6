import type { KubeObject } from '../ports/objects.ts';
import { CONTROLLER_ACCOUNT, LABELS, NAMESPACE } from './access.ts';

/** What an installation may choose. */
export interface DeploymentChoice {
  /** Reference of the image, with its tag or digest. */
  image: string;
  /** observe decides and records everything and touches nothing; enforce fences. */
  mode: 'observe' | 'enforce';
  /** As --preservation; absent: its default. */
  preservation?: 'observe' | 'own';
}

export const DEFAULT_CHOICE: DeploymentChoice = { image: 'nodefence:0.1.0', mode: 'observe' };

/** Of the Deployment, and of what belongs to it. */
export const CONTROLLER_NAME = 'nodefence-controller';
export const COMPONENT = { ...LABELS, 'app.kubernetes.io/component': 'controller' };
const PRIORITY = 'system-cluster-critical';
/** Of the node daemons. */
export const NODE_PRIORITY = 'system-node-critical';
const HTTP_PORT = 8080;
/** A replica on a node that died is started elsewhere after this time, not after the usual five minutes. */
const REPLACED_AFTER_SECONDS = 30;
/** Of the image's user; any number but 0 will do. */
const USER_ID = 65_532;

const REPLACED_SOON = ['not-ready', 'unreachable'].map((condition) => ({
  key: `node.kubernetes.io/${condition}`,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: REPLACED_AFTER_SECONDS,
}));

/**
 * It runs where others may not: on control planes, and on nodes that are short of something while their kubelet works. The marks of nodes whose kubelet may not
 * work (not-ready, unreachable) keep it away: there it would wait for a start that never comes, on the emptiest node of all. config/controller-anywhere says
 * otherwise.
 */
const STARTED_ALSO = [
  ...['control-plane', 'master'].map((role) => `node-role.kubernetes.io/${role}`),
  ...['memory', 'disk', 'pid'].map((scarce) => `node.kubernetes.io/${scarce}-pressure`),
].map((key) => ({ key, operator: 'Exists', effect: 'NoSchedule' }));

function near(topologyKey: string): object {
  return { labelSelector: { matchLabels: COMPONENT }, topologyKey };
}

/** Two replicas on one machine die with it. In one zone they are better than one replica alone. */
const APART = {
  requiredDuringSchedulingIgnoredDuringExecution: [near('kubernetes.io/hostname')],
  preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 50, podAffinityTerm: near('topology.kubernetes.io/zone') }],
};

/** One after the other: a third replica may have no machine of its own. The other leads meanwhile. */
const ONE_BY_ONE = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } };

function fromPod(name: string, fieldPath: string): object {
  return { name, valueFrom: { fieldRef: { fieldPath } } };
}

function container({ image, mode, preservation }: DeploymentChoice): object {
  return {
    name: 'controller',
    image,
    args: ['controller', '--mode', mode, ...(preservation === undefined ? [] : ['--preservation', preservation])],
    env: [
      // A controller never fences the node that it runs on.
      fromPod('NODEFENCE_OWN_NODE', 'spec.nodeName'),
      fromPod('NODEFENCE_FENCE_NAMESPACE', 'metadata.namespace'),
    ],
    ports: [{ name: 'http', containerPort: HTTP_PORT }],
    // It serves nothing before the API server has answered once, or for a minute has not.
    startupProbe: { httpGet: { path: '/healthz', port: 'http' }, periodSeconds: 2, failureThreshold: 45 },
    livenessProbe: { httpGet: { path: '/healthz', port: 'http' }, periodSeconds: 10, failureThreshold: 3 },
    readinessProbe: { httpGet: { path: '/readyz', port: 'http' }, periodSeconds: 5 },
    // The limit leaves room for an ipmitool per BMC when a rack fails at once.
    resources: { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '1Gi' } },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      runAsNonRoot: true,
      runAsUser: USER_ID,
      capabilities: { drop: ['ALL'] },
      seccompProfile: { type: 'RuntimeDefault' },
    },
  };
}

/** The controller: two replicas of which one leads. */
export function deployment(choice: DeploymentChoice = DEFAULT_CHOICE): KubeObject {
  const object = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: CONTROLLER_NAME, namespace: NAMESPACE, labels: COMPONENT },
    spec: {
      replicas: 2,
      strategy: ONE_BY_ONE,
      selector: { matchLabels: COMPONENT },
      template: {
        metadata: { labels: COMPONENT },
        spec: {
          serviceAccountName: CONTROLLER_ACCOUNT,
          priorityClassName: PRIORITY,
          enableServiceLinks: false,
          // The lease is handed over within a second; the rest is for calls that are under way.
          terminationGracePeriodSeconds: 15,
          tolerations: [...STARTED_ALSO, ...REPLACED_SOON],
          affinity: { podAntiAffinity: APART },
          containers: [container(choice)],
        },
      },
    },
  };
  return object;
}

/** One replica stays when nodes are drained. `policy/v1` is served since Kubernetes 1.21, `policy/v1beta1` until 1.24. */
export function disruptionBudget(apiVersion: 'policy/v1' | 'policy/v1beta1'): KubeObject {
  const object = {
    apiVersion,
    kind: 'PodDisruptionBudget',
    metadata: { name: CONTROLLER_NAME, namespace: NAMESPACE, labels: COMPONENT },
    spec: { minAvailable: 1, selector: { matchLabels: COMPONENT } },
  };
  return object;
}

/** Pods of this class may run in this namespace: a cluster that limits the class to namespaces with a quota for it starts none without one. */
function priorityQuota(name: string, priorityClass: string, pods: string): KubeObject {
  const object = {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name, namespace: NAMESPACE, labels: LABELS },
    spec: { hard: { pods }, scopeSelector: { matchExpressions: [{ operator: 'In', scopeName: 'PriorityClass', values: [priorityClass] }] } },
  };
  return object;
}

/** For replicas, those that end while others start, and some to spare; and for more node daemons than a cluster has nodes. */
export const PRIORITY_QUOTAS: readonly KubeObject[] = [
  priorityQuota(CONTROLLER_NAME, PRIORITY, '10'),
  priorityQuota('nodefence-node', NODE_PRIORITY, '20k'),
];

/** In the Deployment: no mark keeps it from a node, for clusters in which every node has one of its own. */
export const ANYWHERE = [{ op: 'add', path: '/spec/template/spec/tolerations/-', value: { operator: 'Exists', effect: 'NoSchedule' } }];
