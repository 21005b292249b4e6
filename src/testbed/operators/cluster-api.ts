import type { Resource } from '../../ports/cluster.ts';
import type { KubeObject } from '../../ports/objects.ts';
import fixture from './cluster-api/definitions.json' with { type: 'json' };

/** Cluster API's own definition of Machine or Cluster, as strict as it is shipped; that version alone is served, for nothing converts here. */
export function clusterApiDefinition({ group, version, plural }: Resource): KubeObject & { spec: unknown } {
  const found = fixture.definitions.find(({ names }) => names.plural === plural && fixture.group === group);
  const served = found?.versions.find(({ name }) => name === version);
  if (found === undefined || served === undefined) throw new Error(`there is no definition of ${plural}.${group}/${version}`);
  return {
    metadata: { name: `${plural}.${group}`, annotations: { 'api-approved.kubernetes.io': 'https://github.com/kubernetes-sigs/cluster-api' } },
    spec: { group, scope: 'Namespaced', names: found.names, versions: [{ ...served, served: true, storage: true }] },
  };
}
