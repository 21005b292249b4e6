import { CLUSTER_NAME_LABEL } from '../names.ts';
import type { MachineFacts } from '../snapshot.ts';
import { conditionsOf, flavourOf, headerOf, loosely, pathsOf, present, timeOf } from './objects.ts';
import type { UntypedObject } from '../../../ports/cluster-api.ts';
import type { ServedAs } from './objects.ts';

/** status.nodeRef.name. */
export function nodeNameOf({ status }: UntypedObject): string | undefined {
  const name = loosely(status).child('nodeRef').text('name');
  return name === '' ? undefined : name;
}

/** spec.clusterName, or the label. */
export function clusterNameOf({ metadata, spec }: UntypedObject): string | undefined {
  const name = loosely(spec).text('clusterName') ?? metadata.labels?.[CLUSTER_NAME_LABEL];
  return name === '' ? undefined : name;
}

/** A Machine of any version of Cluster API, or of OpenShift. */
export function readMachine(object: UntypedObject, served: ServedAs): MachineFacts {
  const header = headerOf(object);
  const { metadata } = object;
  const status = loosely(object.status);
  // OpenShift's own check writes nothing into its Machines, and nobody there would read it.
  const paths = flavourOf(header.apiVersion) === 'openshift' ? {} : pathsOf(header.apiVersion, served);
  return {
    ...header,
    ...present('generation', metadata.generation),
    labels: metadata.labels ?? {},
    annotations: metadata.annotations ?? {},
    createdMs: timeOf(metadata.creationTimestamp) ?? 0,
    isDeleting: metadata.deletionTimestamp !== undefined,
    ...present('clusterName', clusterNameOf(object)),
    ...present('nodeName', nodeNameOf(object)),
    conditions: conditionsOf(object.status, paths),
    paths,
    hasController: metadata.ownerReferences?.some(({ controller }) => controller === true) ?? false,
    ...present('phase', status.text('phase')),
    ...present('lastUpdatedMs', timeOf(status.text('lastUpdated'))),
  };
}
