import type { Resource } from '../../ports/cluster.ts';
import type { KubeObject } from '../../ports/objects.ts';

/** A definition that takes whatever somebody writes. */
export function definitionOf({ group, version, kind, plural, namespaced }: Resource): KubeObject & { spec: unknown } {
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  return {
    // Groups under k8s.io are protected (KEP-1111).
    metadata: { name: `${plural}.${group}`, annotations: { 'api-approved.kubernetes.io': 'unapproved, a test' } },
    spec: {
      group,
      scope: namespaced ? 'Namespaced' : 'Cluster',
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
      versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema }, subresources: { status: {} } }],
    },
  };
}
