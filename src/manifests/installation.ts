import type { KubeObject } from '../ports/objects.ts';
import { CONTROLLER_ACCESS, CONTROLLER_ACCOUNT, LABELS, NAMESPACE } from './access.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from './definitions.ts';

/** A manifest file: its path under config/ and the objects in it. */
export interface ManifestFile {
  path: string;
  objects: readonly object[];
}

const COMPONENT = { ...LABELS, 'app.kubernetes.io/component': 'controller' };
const HTTP_PORT = 8080;

const NAMESPACE_OBJECT: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE, labels: LABELS } };

const ACCOUNT: KubeObject = {
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name: CONTROLLER_ACCOUNT, namespace: NAMESPACE, labels: LABELS },
};

const CONTAINER = {
  name: 'controller',
  image: 'nodefence:0.1.0',
  // observe: decides and records everything, touches nothing. config/enforce switches it on.
  args: ['controller', '--mode', 'observe'],
  // A controller never fences the node that it runs on.
  env: [{ name: 'NODEFENCE_OWN_NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }],
  ports: [{ name: 'http', containerPort: HTTP_PORT }],
  livenessProbe: { httpGet: { path: '/healthz', port: 'http' }, periodSeconds: 10, failureThreshold: 3 },
  readinessProbe: { httpGet: { path: '/readyz', port: 'http' }, periodSeconds: 5 },
  resources: { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '384Mi' } },
  securityContext: {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    runAsNonRoot: true,
    runAsUser: 65532,
    capabilities: { drop: ['ALL'] },
    seccompProfile: { type: 'RuntimeDefault' },
  },
};

const DEPLOYMENT = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'nodefence-controller', namespace: NAMESPACE, labels: COMPONENT },
  spec: {
    replicas: 2,
    selector: { matchLabels: COMPONENT },
    template: {
      metadata: { labels: COMPONENT },
      spec: {
        serviceAccountName: CONTROLLER_ACCOUNT,
        priorityClassName: 'system-cluster-critical',
        // It must keep running while nodes are tainted around it.
        tolerations: [{ key: 'node-role.kubernetes.io/control-plane', operator: 'Exists', effect: 'NoSchedule' }],
        affinity: {
          podAntiAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector: { matchLabels: COMPONENT }, topologyKey: 'kubernetes.io/hostname' }],
          },
        },
        containers: [CONTAINER],
      },
    },
  },
};

const BUDGET = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'nodefence-controller', namespace: NAMESPACE, labels: COMPONENT },
  spec: { minAvailable: 1, selector: { matchLabels: COMPONENT } },
};

const DEFINITION_FILES: readonly ManifestFile[] = CUSTOM_RESOURCE_DEFINITIONS.map((definition) => ({
  path: `crd/${definition.spec.names.plural}.yaml`,
  objects: [definition],
}));

function kustomization(path: string, resources: readonly string[], more: object = {}): ManifestFile {
  const object = { apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization', resources, ...more };
  return { path: `${path}/kustomization.yaml`, objects: [object] };
}

/** The one explicit switch from observe to enforce. */
const ENFORCE = {
  patches: [
    {
      target: { kind: 'Deployment', name: 'nodefence-controller' },
      patch: '- op: replace\n  path: /spec/template/spec/containers/0/args/2\n  value: enforce\n',
    },
  ],
};

/** Everything under config/ that `npm run generate` writes. `kubectl apply -k config/observe` installs it, `-k config/enforce` lets it act. */
export const MANIFEST_FILES: readonly ManifestFile[] = [
  ...DEFINITION_FILES,
  kustomization(
    'crd',
    DEFINITION_FILES.map(({ path }) => path.replace('crd/', '')),
  ),
  { path: 'rbac/controller.yaml', objects: [NAMESPACE_OBJECT, ACCOUNT, ...CONTROLLER_ACCESS] },
  kustomization('rbac', ['controller.yaml']),
  { path: 'controller/deployment.yaml', objects: [DEPLOYMENT, BUDGET] },
  kustomization('controller', ['deployment.yaml']),
  kustomization('observe', ['../crd', '../rbac', '../controller']),
  kustomization('enforce', ['../observe'], ENFORCE),
];
