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

const NAME = 'nodefence-controller';
const COMPONENT = { ...LABELS, 'app.kubernetes.io/component': 'controller' };
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

const CONTROL_PLANE = ['control-plane', 'master'].map((role) => ({
  key: `node-role.kubernetes.io/${role}`,
  operator: 'Exists',
  effect: 'NoSchedule',
}));

/** Two replicas on one machine or in one zone are better than one replica: preferred, not required. */
const APART = [
  { weight: 100, topologyKey: 'kubernetes.io/hostname' },
  { weight: 50, topologyKey: 'topology.kubernetes.io/zone' },
].map(({ weight, topologyKey }) => ({ weight, podAffinityTerm: { labelSelector: { matchLabels: COMPONENT }, topologyKey } }));

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
    metadata: { name: NAME, namespace: NAMESPACE, labels: COMPONENT },
    spec: {
      replicas: 2,
      selector: { matchLabels: COMPONENT },
      template: {
        metadata: { labels: COMPONENT },
        spec: {
          serviceAccountName: CONTROLLER_ACCOUNT,
          priorityClassName: 'system-cluster-critical',
          enableServiceLinks: false,
          // The lease is handed over within a second; the rest is for calls that are under way.
          terminationGracePeriodSeconds: 15,
          tolerations: [...CONTROL_PLANE, ...REPLACED_SOON],
          affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: APART } },
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
    metadata: { name: NAME, namespace: NAMESPACE, labels: COMPONENT },
    spec: { minAvailable: 1, selector: { matchLabels: COMPONENT } },
  };
  return object;
}
