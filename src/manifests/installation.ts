import type { KubeObject } from '../ports/objects.ts';
import {
  AUTHORSHIP_ACCESS,
  CEPH_ACCESS,
  CONTROLLER_ACCESS,
  CONTROLLER_ACCOUNT,
  ELSEWHERE_ACCESS,
  JOB_ACCESS,
  LABELS,
  METAL3_ACCESS,
  NAMESPACE,
  NODE_LEASE_ACCESS,
} from './access.ts';
import { AUTHORSHIP_GUARDS } from './authorship-guard.ts';
import { AUTHORSHIP_STAMPS } from './authorship-stamps.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from './definitions.ts';
import { DELETION_GUARD } from './deletion-guard.ts';
import { deployment, disruptionBudget, PRIORITY_QUOTAS } from './deployment.ts';
import type { DeploymentChoice } from './deployment.ts';
import { FLOW_CONTROL } from './flow-control.ts';
import { HEALTH_CHECK_ACCESS } from './health-check-access.ts';
import { HEALTH_CHECK_DEFINITION, PROPOSED_HEALTH_CHECK_DEFINITION } from './health-check-definitions.ts';
import { JOB_GUARD } from './job-guard.ts';
import { KDUMP_ACCESS } from './kdump-access.ts';
import { REMEDIES_ACCESS } from './remedies-access.ts';
import { MACHINE_DEFINITIONS } from './machine-definitions.ts';
import { MACHINE_REMEDIATION_ACCESS, MACHINE_REMEDIATION_GUARD } from './machine-remediation-access.ts';
import { METRICS_ACCESS, METRICS_MONITOR } from './metrics-access.ts';
import { METAL3_REMEDIATION_ACCESS } from './metal3-remediation-access.ts';
import { METAL3_REMEDIATION_DEFINITIONS } from './metal3-remediation-definitions.ts';
import { EGRESS_POLICIES, NETWORK_POLICIES } from './network-policies.ts';
import { NODE_DAEMON_ACCESS, NODE_DAEMON_GUARD } from './node-daemon-access.ts';
import { NODE_CONDITIONS_ACCESS, NODE_CONDITIONS_GUARD } from './node-daemon-conditions-access.ts';
import { NODE_DAEMON_CONTROLLER_ACCESS } from './node-daemon-controller-access.ts';
import { NODE_TOKEN_ACCESS, NODE_TOKEN_GUARD } from './node-daemon-token-access.ts';
import { NODE_GUARDS } from './node-guard.ts';
import { OPERATOR_ACCESS, OPERATOR_HEARTBEAT_ROLE, OPERATOR_NODE_LEASE_ROLE } from './operator-access.ts';
import { PRESERVATION_OBSERVE_ACCESS, PRESERVATION_OWN_ACCESS } from './preservation-access.ts';
import { PROBLEM_ACCESS } from './problem-access.ts';
import { REMEDIATION_ACCESS } from './remediation-access.ts';
import { PROPOSED_REMEDIATION_DEFINITIONS, REMEDIATION_DEFINITIONS } from './remediation-definitions.ts';
import { WORKLOAD_CLUSTERS_ACCESS } from './workload-access.ts';

/** A manifest file: its path under config/ and the objects in it. */
export interface ManifestFile {
  path: string;
  objects: readonly object[];
}

const NAMESPACE_OBJECT: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE, labels: LABELS } };

const ACCOUNT: KubeObject = {
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name: CONTROLLER_ACCOUNT, namespace: NAMESPACE, labels: LABELS },
};

/** Namespace, account and rights: what the controller needs wherever it runs. */
export const RIGHTS: readonly KubeObject[] = [NAMESPACE_OBJECT, ACCOUNT, ...CONTROLLER_ACCESS];

/** What an installation by one stream of manifests may choose. */
export interface InstallationChoice extends DeploymentChoice {
  /** Of the controller, its configuration and its lease. */
  namespace: string;
  /** `policy/v1beta1` for servers before 1.21. */
  policyVersion: 'v1' | 'v1beta1';
}

/** Everything that `kubectl apply -k config/observe` would install, as objects, with other choices, and with these beside, each once. */
export function installation(choice: InstallationChoice, beside: readonly KubeObject[] = []): KubeObject[] {
  const objects = new Set<KubeObject>([
    ...CUSTOM_RESOURCE_DEFINITIONS,
    ...beside.filter(({ kind }) => kind === 'CustomResourceDefinition'),
    ...RIGHTS,
    ...OPERATOR_ACCESS,
    ...(choice.preservation === undefined ? [] : PRESERVATION_OBSERVE_ACCESS),
    ...(choice.preservation === 'own' ? PRESERVATION_OWN_ACCESS : []),
    ...PRIORITY_QUOTAS,
    deployment(choice),
    disruptionBudget(`policy/${choice.policyVersion}`),
    ...beside,
  ]);
  return [...objects].map((object) => moved(object, choice.namespace));
}

/** The same object where the controller's namespace has another name. */
export function moved(object: KubeObject, namespace: string): KubeObject {
  const text = JSON.stringify(object, (key, value: unknown) => (key === 'namespace' && value === NAMESPACE ? namespace : value));
  const copy = JSON.parse(text) as KubeObject;
  return copy.kind === 'Namespace' ? { ...copy, metadata: { ...copy.metadata, name: namespace } } : copy;
}

const DEFINITION_FILES: readonly ManifestFile[] = CUSTOM_RESOURCE_DEFINITIONS.map((definition) => ({
  path: `crd/${definition.spec.names.plural}.yaml`,
  objects: [definition],
}));

function kustomization(path: string, resources: readonly string[], more: object = {}): ManifestFile {
  const object = { apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization', resources, ...more };
  return { path: `${path}/kustomization.yaml`, objects: [object] };
}

/** A folder with one file of objects. */
function folder(path: string, file: string, objects: readonly object[]): ManifestFile[] {
  return [{ path: `${path}/${file}`, objects }, kustomization(path, [file])];
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

/**
 * Everything under config/ that `npm run generate` writes. `kubectl apply -k config/observe` installs it, `-k config/enforce` lets it act; the
 * two under config/before-1.21 are the same for servers without `policy/v1`.
 */
export const MANIFEST_FILES: readonly ManifestFile[] = [
  ...DEFINITION_FILES,
  kustomization(
    'crd',
    DEFINITION_FILES.map(({ path }) => path.replace('crd/', '')),
  ),
  { path: 'rbac/controller.yaml', objects: RIGHTS },
  { path: 'rbac/operator.yaml', objects: OPERATOR_ACCESS },
  kustomization('rbac', ['controller.yaml', 'operator.yaml']),
  { path: 'controller/quota.yaml', objects: PRIORITY_QUOTAS },
  { path: 'controller/deployment.yaml', objects: [deployment()] },
  // The quota first: without it the class may be refused.
  kustomization('controller', ['quota.yaml', 'deployment.yaml']),
  ...folder('disruption-budget', 'controller.yaml', [disruptionBudget('policy/v1')]),
  kustomization('observe', ['../crd', '../rbac', '../controller', '../disruption-budget']),
  kustomization('enforce', ['../observe'], ENFORCE),
  ...folder('before-1.21/disruption-budget', 'controller.yaml', [disruptionBudget('policy/v1beta1')]),
  kustomization('before-1.21/observe', ['../../crd', '../../rbac', '../../controller', '../disruption-budget']),
  kustomization('before-1.21/enforce', ['../observe'], ENFORCE),
];

/** Folders that nothing else includes, for clusters in which the objects' namespaces exist. */
export const OPTIONAL_FILES: readonly ManifestFile[] = [
  // Servers before 1.29 have another version of it, or none.
  ...folder('flow-control', 'levels.yaml', FLOW_CONTROL),
  ...folder('network-policies', 'policies.yaml', NETWORK_POLICIES),
  { path: 'network-policies-egress/egress.yaml', objects: EGRESS_POLICIES },
  kustomization('network-policies-egress', ['../network-policies', 'egress.yaml']),
  ...folder('metrics', 'access.yaml', METRICS_ACCESS),
  // Of a kind of the Prometheus operator.
  ...folder('service-monitor', 'monitor.yaml', METRICS_MONITOR),
  ...folder('other-namespaces', 'access.yaml', [...ELSEWHERE_ACCESS, OPERATOR_HEARTBEAT_ROLE]),
  ...folder('medik8s', 'node-leases.yaml', [...NODE_LEASE_ACCESS, OPERATOR_NODE_LEASE_ROLE]),
  ...folder('jobs', 'jobs.yaml', JOB_ACCESS),
  ...folder('node-daemon-controller', 'access.yaml', NODE_DAEMON_CONTROLLER_ACCESS),
  ...folder('kdump', 'access.yaml', KDUMP_ACCESS),
  { path: 'remedies/access.yaml', objects: REMEDIES_ACCESS },
  { path: 'remedies/events.yaml', objects: PROBLEM_ACCESS },
  kustomization('remedies', ['access.yaml', 'events.yaml']),
  ...folder('metal3', 'hosts.yaml', METAL3_ACCESS),
  ...folder('ceph', 'network-fences.yaml', CEPH_ACCESS),
  ...folder('preservation-observe', 'access.yaml', PRESERVATION_OBSERVE_ACCESS),
  { path: 'preservation-own/access.yaml', objects: PRESERVATION_OWN_ACCESS },
  kustomization('preservation-own', ['../preservation-observe', 'access.yaml']),
  { path: 'remediation/definitions.yaml', objects: REMEDIATION_DEFINITIONS },
  { path: 'remediation/access.yaml', objects: REMEDIATION_ACCESS },
  kustomization('remediation', ['definitions.yaml', 'access.yaml']),
  ...folder('workload-clusters', 'access.yaml', WORKLOAD_CLUSTERS_ACCESS),
  ...folder('remediation-proposed-crd', 'definitions.yaml', PROPOSED_REMEDIATION_DEFINITIONS),
  ...folder('machine-health-check', 'access.yaml', HEALTH_CHECK_ACCESS),
  ...folder('machine-remediation', 'access.yaml', MACHINE_REMEDIATION_ACCESS),
  ...folder('machine-remediation-guard', 'guard.yaml', MACHINE_REMEDIATION_GUARD),
  { path: 'guards/authorship.yaml', objects: AUTHORSHIP_GUARDS },
  { path: 'guards/nodes.yaml', objects: NODE_GUARDS },
  { path: 'guards/jobs.yaml', objects: JOB_GUARD },
  { path: 'guards/access.yaml', objects: AUTHORSHIP_ACCESS },
  kustomization('guards', ['authorship.yaml', 'nodes.yaml', 'jobs.yaml', 'access.yaml']),
  ...folder('out-of-service-only', 'guard.yaml', DELETION_GUARD),
  // Servers before 1.36 have no MutatingAdmissionPolicy in v1.
  ...folder('stamps', 'authorship.yaml', AUTHORSHIP_STAMPS),
  { path: 'node-daemon/guard.yaml', objects: NODE_DAEMON_GUARD },
  { path: 'node-daemon/access.yaml', objects: NODE_DAEMON_ACCESS },
  // The guard first: no token is ever good for more than its own node.
  kustomization('node-daemon', ['guard.yaml', 'access.yaml']),
  { path: 'node-daemon-conditions/guard.yaml', objects: NODE_CONDITIONS_GUARD },
  { path: 'node-daemon-conditions/access.yaml', objects: NODE_CONDITIONS_ACCESS },
  kustomization('node-daemon-conditions', ['guard.yaml', 'access.yaml']),
  { path: 'node-daemon-token/guard.yaml', objects: NODE_TOKEN_GUARD },
  { path: 'node-daemon-token/access.yaml', objects: NODE_TOKEN_ACCESS },
  kustomization('node-daemon-token', ['guard.yaml', 'access.yaml']),
  ...folder('metal3-remediation', 'access.yaml', METAL3_REMEDIATION_ACCESS),
  // For `kubectl create` alone, which leaves what is there as it is.
  ...folder('machine-crd', 'machines.yaml', MACHINE_DEFINITIONS),
  ...folder('metal3-remediation-crd', 'remediations.yaml', METAL3_REMEDIATION_DEFINITIONS),
  ...folder('machine-health-check-crd', 'health-checks.yaml', [HEALTH_CHECK_DEFINITION]),
  ...folder('machine-health-check-proposed-crd', 'health-checks.yaml', [PROPOSED_HEALTH_CHECK_DEFINITION]),
];
