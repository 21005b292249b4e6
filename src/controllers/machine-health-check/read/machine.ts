import { CLUSTER_NAME_LABEL } from '../names.ts';
import type { MachineFacts } from '../snapshot.ts';
import { conditionsOf, flavourOf, headerOf, loosely, pathsOf, present, timeOf } from './objects.ts';
import type { UntypedObject } from '../../../ports/cluster-api.ts';
import type { ServedAs } from './objects.ts';

/** A Machine of any version of Cluster API, or of OpenShift. */
export function readMachine(object: UntypedObject, served: ServedAs): MachineFacts {
  const header = headerOf(object);
  const { metadata } = object;
  const spec = loosely(object.spec);
  const status = loosely(object.status);
  // OpenShift's own check writes nothing into its Machines, and nobody there would read it.
  const paths = flavourOf(header.apiVersion) === 'openshift' ? {} : pathsOf(header.apiVersion, served);
  const named = spec.text('clusterName') ?? metadata.labels?.[CLUSTER_NAME_LABEL];
  const nodeName = status.child('nodeRef').text('name');
  return {
    ...header,
    ...present('generation', metadata.generation),
    labels: metadata.labels ?? {},
    annotations: metadata.annotations ?? {},
    createdMs: timeOf(metadata.creationTimestamp) ?? 0,
    isDeleting: metadata.deletionTimestamp !== undefined,
    ...present('clusterName', named === '' ? undefined : named),
    ...present('nodeName', nodeName === '' ? undefined : nodeName),
    conditions: conditionsOf(object.status, paths),
    paths,
    hasController: metadata.ownerReferences?.some(({ controller }) => controller === true) ?? false,
    ...present('phase', status.text('phase')),
    ...present('lastUpdatedMs', timeOf(status.text('lastUpdated'))),
  };
}
