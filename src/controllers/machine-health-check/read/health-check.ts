import { CLUSTER_NAME_LABEL, EXTERNAL_STRATEGY, MAX_IN_FLIGHT, PAUSED_ANNOTATION, STRATEGY_ANNOTATION, TEMPLATE_SUFFIX } from '../names.ts';
import { readSelector } from '../selector.ts';
import type { CheckStatus, Flavour, HealthCheck, ReadCheck, TemplateRef } from '../snapshot.ts';
import { faultOf } from '../threshold.ts';
import type { IntOrPercent } from '../threshold.ts';
import { Fields } from './fields.ts';
import { conditionsOf, flavourOf, groupOf, headerOf, loosely, pathsOf, present, timeOf } from './objects.ts';
import type { UntypedObject } from '../../../ports/cluster-api.ts';
import type { ServedAs } from './objects.ts';
import { namesOf } from './dialects.ts';
import { readConditions, readStartupTimeout, readTrigger } from './criteria.ts';

const CLUSTER_NAME_MAX = 63;

function readTemplateRef(fields: Fields, flavour: Flavour): TemplateRef | undefined {
  if (!fields.isPresent) return undefined;
  const [apiVersion, kind, name] = [fields.text('apiVersion') ?? '', fields.text('kind') ?? '', fields.text('name') ?? ''];
  if (apiVersion === '') fields.required('apiVersion');
  else if (groupOf(apiVersion) === '') fields.invalid('apiVersion', apiVersion, 'must be a group and a version');
  if (kind === '') fields.required('kind');
  // Cluster API makes a request of the template's own kind out of any other.
  else if (!kind.endsWith(TEMPLATE_SUFFIX) && flavour === 'cluster-api') fields.invalid('kind', kind, `must end in ${TEMPLATE_SUFFIX}`);
  if (name === '') fields.required('name');
  return { apiVersion, kind, name };
}

function readMaxInFlight(text: string | undefined, problems: string[]): IntOrPercent | undefined {
  if (text === undefined) return undefined;
  const value = /^\d+$/.test(text) ? Number(text) : text;
  const fault = faultOf(value);
  if (fault === undefined) return value;
  new Fields({}, 'metadata.annotations', problems).invalid(MAX_IN_FLIGHT, text, `must be either an int or a percentage: ${fault}`);
  return undefined;
}

function readStatus(object: UntypedObject, conditions: CheckStatus['conditions']): CheckStatus {
  const status = loosely(object.status);
  const targets = status.raw('targets');
  return {
    ...present('expectedMachines', status.number('expectedMachines')),
    ...present('currentHealthy', status.number('currentHealthy')),
    ...present('remediationsAllowed', status.number('remediationsAllowed')),
    ...present('observedGeneration', status.number('observedGeneration')),
    ...(Array.isArray(targets) && { targets: status.texts('targets') }),
    conditions,
  };
}

function readClusterName(spec: Fields, isWanted: boolean, before: UntypedObject | undefined): string | undefined {
  if (!isWanted) return undefined;
  const clusterName = spec.text('clusterName');
  if (clusterName === undefined || clusterName === '') spec.required('clusterName');
  else if (clusterName.length > CLUSTER_NAME_MAX) spec.invalid('clusterName', clusterName, `may not be longer than ${CLUSTER_NAME_MAX}`);
  if (before !== undefined && loosely(before.spec).text('clusterName') !== clusterName) spec.forbidden('clusterName', 'field is immutable');
  return clusterName === '' ? undefined : clusterName;
}

/** A MachineHealthCheck of v1beta2, v1beta1, the seed's v1alpha3, or OpenShift. `before` is what it was before an update, where that is judged. */
export function readHealthCheck(object: UntypedObject, served: ServedAs, before?: UntypedObject): ReadCheck {
  const problems: string[] = [];
  const header = headerOf(object);
  const { metadata } = object;
  const flavour = flavourOf(header.apiVersion);
  const names = namesOf(header.apiVersion);
  const spec = new Fields(object.spec, 'spec', problems);
  const { matches, isEmpty, matchLabels } = readSelector(spec.child('selector'));
  if (isEmpty && flavour === 'cluster-api') spec.required('selector', 'selector must not be empty');
  const clusterName = readClusterName(spec, names.hasCluster, before);
  const wanted = matchLabels[CLUSTER_NAME_LABEL];
  if (names.hasCluster && wanted !== undefined && wanted !== clusterName) {
    spec.invalid('selector', spec.raw('selector'), 'cannot specify a cluster selector other than the one specified by ClusterName');
  }
  const trigger = readTrigger(spec, names);
  const template = readTemplateRef(names.template(spec), flavour);
  const annotations = metadata.annotations ?? {};
  const maxInFlight = readMaxInFlight(annotations[MAX_IN_FLIGHT], problems);
  const paths = pathsOf(header.apiVersion, served);
  const check: HealthCheck = {
    ...header,
    flavour,
    ...present('generation', metadata.generation),
    createdMs: timeOf(metadata.creationTimestamp) ?? 0,
    isDeleting: metadata.deletionTimestamp !== undefined,
    isPaused: PAUSED_ANNOTATION in annotations,
    labels: metadata.labels ?? {},
    ownerReferences: metadata.ownerReferences ?? [],
    ...present('clusterName', clusterName),
    selects: matches,
    matchLabels,
    startupTimeoutMs: readStartupTimeout(spec, names),
    nodeConditions: readConditions(names.checks(spec), names.nodeConditions, names, false),
    machineConditions: names.machineConditions === undefined ? [] : readConditions(names.checks(spec), names.machineConditions, names, true),
    ...present('trigger', trigger),
    ...present('template', template),
    annotatesMachines: flavour === 'openshift' && annotations[STRATEGY_ANNOTATION] === EXTERNAL_STRATEGY,
    ...present('maxInFlight', maxInFlight),
    status: readStatus(object, conditionsOf(object.status, paths)),
    paths,
    reportsTargets: names.reportsTargets,
  };
  return { check, problems };
}
