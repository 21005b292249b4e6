import { clusterApiDefinition } from '../../src/testbed/operators/cluster-api.ts';
import type { KubeObject } from '../../src/ports/objects.ts';
import type { Resource } from '../../src/ports/cluster.ts';
import { apiClusters, clusterMachines } from '../../src/ports/cluster-api.ts';
import type { UntypedObject } from '../../src/ports/cluster-api.ts';

export const DEFINITIONS: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
};

const ofRemediation = (kind: string, plural: string): Resource<UntypedObject> => ({
  group: 'remediation.example.io',
  version: 'v1',
  kind,
  plural,
  namespaced: true,
});
export const TEMPLATES = ofRemediation('PowerCycleTemplate', 'powercycletemplates');
export const REQUESTS = ofRemediation('PowerCycle', 'powercycles');

/** A definition that keeps whatever is put there, as far as these tests go; with `schema` of its own where a test looks at it. */
export function definitionOf({ group, version, kind, plural, namespaced }: Resource, more: { status?: object; spec?: object } = {}): KubeObject {
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: { ...open, ...more.spec }, status: { ...open, ...more.status } } } };
  const names = { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase(), shortNames: [], categories: [] };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: namespaced ? 'Namespaced' : 'Cluster',
      names,
      versions: [{ name: version, served: true, storage: true, schema, subresources: { status: {} }, additionalPrinterColumns: [] }],
    },
  } as KubeObject;
}

/** Cluster API's own, as strict as they are. */
export const CLUSTER_API_DEFINITIONS = [clusterMachines('v1beta2'), apiClusters('v1beta2')].map(clusterApiDefinition);
