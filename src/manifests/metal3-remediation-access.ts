import { CLUSTER_API_GROUP } from '../ports/cluster-api.ts';
import { BARE_METAL_HOSTS, INFRASTRUCTURE_GROUP, metal3Remediations, METAL3_REMEDIATION_VERSIONS } from '../ports/metal3.ts';
import { OPERATOR_DEPLOYMENTS, OPERATOR_LEASES } from './machine-remediation-access.ts';
import { RESTORE } from './node-guard.ts';
import { binding, LABELS, READ, rule } from './access.ts';
import type { Binding, Role } from './access.ts';

/** By which Metal3's provider for Cluster API elects its leader. */
export const PROVIDER_LEASES: readonly string[] = ['controller-leader-election-capm3'];
export const PROVIDER_DEPLOYMENTS: readonly string[] = ['capm3-controller-manager'];

const [version] = METAL3_REMEDIATION_VERSIONS;
const { requests, templates } = metal3Remediations(version);
/** Whose definition tells who owns them. */
export const METAL3_REMEDIATION_DEFINITION = `${requests.plural}.${requests.group}`;

const ROLE: Role = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: 'nodefence-metal3-remediation', labels: LABELS },
  rules: [
    rule(INFRASTRUCTURE_GROUP, [requests.plural], [...READ, 'patch']),
    rule(INFRASTRUCTURE_GROUP, [`${requests.plural}/status`], ['patch']),
    rule(INFRASTRUCTURE_GROUP, [templates.plural], READ),
    // Whose Machine it is, whether it is paused, on which host it runs, and that its owner is to replace it.
    rule(INFRASTRUCTURE_GROUP, ['metal3machines'], ['get']),
    rule(CLUSTER_API_GROUP, ['clusters'], ['get']),
    rule(CLUSTER_API_GROUP, ['machines'], ['get', 'patch']),
    rule(CLUSTER_API_GROUP, ['machines/status'], ['patch']),
    rule(BARE_METAL_HOSTS.group, [BARE_METAL_HOSTS.plural], [...READ, 'patch']),
    // The release where the cluster is older than 1.28.
    // Also to give a Node that is registered anew the labels and annotations of the old one, which config/guards asks for.
    rule('', ['nodes'], ['delete', RESTORE]),
    { ...rule('apiextensions.k8s.io', ['customresourcedefinitions'], ['get']), resourceNames: [METAL3_REMEDIATION_DEFINITION] },
    { ...rule('apps', ['deployments'], ['list']), resourceNames: [...PROVIDER_DEPLOYMENTS, ...OPERATOR_DEPLOYMENTS] },
    { ...rule('coordination.k8s.io', ['leases'], ['list']), resourceNames: [...PROVIDER_LEASES, ...OPERATOR_LEASES] },
  ],
};

/** Installed beside the rest where Metal3Remediations are ours (`kubectl apply -k config/metal3-remediation`). */
export const METAL3_REMEDIATION_ACCESS: readonly (Role | Binding)[] = [ROLE, binding(ROLE)];
