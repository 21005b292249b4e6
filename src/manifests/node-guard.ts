import { TAINT_MARK } from '../../agents/taint/agent.ts';
import { PRESERVE, PRESERVED_TAINT, SCALE_DOWN_DISABLED, SCALE_DOWN_MARKER } from '../controllers/preservation/names.ts';
import { OUT_OF_SERVICE_TAINT } from '../domain/advance.ts';
import type { KubeObject } from '../ports/objects.ts';
import { GROUP } from '../ports/resources.ts';
import { annotation } from './authorship-guard.ts';
import { celList, FORBIDDEN, guard, IS_CONTROLLER, resourceRules, sameBut, sameConditionsBut, sameMetadata } from './guard.ts';

const NAME = 'nodefence-controller-nodes';
/** Verb on Nodes, of a controller that gives a Node which was registered anew the labels and annotations of the old one. Only this guard asks for it. */
export const RESTORE = 'restore';

const OWN_ANNOTATIONS = celList([PRESERVE, SCALE_DOWN_DISABLED, SCALE_DOWN_MARKER]);
const OWN_TAINTS = celList([OUT_OF_SERVICE_TAINT.key, PRESERVED_TAINT]);
const IS_OWN = `(key.startsWith('${GROUP}/') || key.matches('^[a-z0-9.-]+[.]${GROUP.replaceAll('.', '[.]')}/') || key in ${OWN_ANNOTATIONS})`;

/** As the annotation lists it. */
const AS_LISTED = "(taint.key + '=' + taint.?value.orValue('') + ':' + taint.effect)";

/** Who lists a taint sets it in the same write: a taint of others is not made ours by listing it first. */
function isListedAs(taints: string): string {
  return `variables.${taints}.exists(taint, ${AS_LISTED} == entry)`;
}

/** Each taint of the one stands in the other too, is of ours, or is listed as one that a fence set. */
function taintsOf(one: string, other: string, listed: string): string {
  const same = `${other}.exists(same, same.key == taint.key && same.effect == taint.effect && same.?value.orValue('') == taint.?value.orValue(''))`;
  return `${one}.all(taint, ${same} || taint.key in ${OWN_TAINTS} || ${AS_LISTED} in ${listed})`;
}

/** RBAC knows no fields: who may patch a Node may change all of it. With this the controller changes what it is for, whoever has its token. */
const OF_SPEC = guard(NAME, {
  matchConstraints: { resourceRules: [resourceRules('', ['nodes'], ['UPDATE'])] },
  matchConditions: [{ name: 'by-the-controller', expression: IS_CONTROLLER }],
  variables: [
    { name: 'after', expression: 'object.?spec.orValue({})' },
    { name: 'before', expression: 'oldObject.?spec.orValue({})' },
    { name: 'taintsAfter', expression: 'object.?spec.taints.orValue([])' },
    { name: 'taintsBefore', expression: 'oldObject.?spec.taints.orValue([])' },
    { name: 'listed', expression: `${annotation('object', TAINT_MARK)}.split(',')` },
    { name: 'wasListed', expression: `${annotation('oldObject', TAINT_MARK)}.split(',')` },
    { name: 'marksAfter', expression: 'object.?metadata.annotations.orValue({})' },
    { name: 'marksBefore', expression: 'oldObject.?metadata.annotations.orValue({})' },
    { name: 'mayRestore', expression: `authorizer.group('').resource('nodes').name(oldObject.metadata.name).check('${RESTORE}').allowed()` },
  ],
  validations: [
    {
      expression: `${taintsOf('variables.taintsAfter', 'variables.taintsBefore', 'variables.listed')} && ${taintsOf('variables.taintsBefore', 'variables.taintsAfter', 'variables.wasListed')}`,
      message: `the controller sets and removes taints ${OUT_OF_SERVICE_TAINT.key}, ${PRESERVED_TAINT} and those that annotation ${TAINT_MARK} lists`,
      ...FORBIDDEN,
    },
    {
      expression: `variables.listed.all(entry, entry == '' || entry in variables.wasListed || (${isListedAs('taintsAfter')} && !${isListedAs('taintsBefore')})) || variables.mayRestore`,
      message: `the controller lists a taint in annotation ${TAINT_MARK} only as it sets it`,
      ...FORBIDDEN,
    },
    {
      expression: sameBut("key in ['taints', 'unschedulable']", 'variables.after', 'variables.before'),
      message: 'the controller changes nothing of spec but taints and unschedulable',
      ...FORBIDDEN,
    },
    {
      expression: `${sameBut(IS_OWN, 'variables.marksAfter', 'variables.marksBefore')} || variables.mayRestore`,
      message: `the controller writes annotations of ${GROUP} and those of preservation; others only who has the verb ${RESTORE} on that Node`,
      ...FORBIDDEN,
    },
    {
      expression: 'object.?metadata.labels == oldObject.?metadata.labels || variables.mayRestore',
      message: `the controller writes no labels without the verb ${RESTORE} on that Node`,
      ...FORBIDDEN,
    },
    {
      expression: sameMetadata(['finalizers', 'ownerReferences']),
      message: 'the controller changes no finalizers and no owners of a Node',
      ...FORBIDDEN,
    },
  ],
});

/** Of the status it writes the condition `Preserved`, where config/preservation-own lets it. */
const OF_STATUS = guard(`${NAME}-status`, {
  matchConstraints: { resourceRules: [resourceRules('', ['nodes/status'], ['UPDATE'])] },
  matchConditions: [{ name: 'by-the-controller', expression: IS_CONTROLLER }],
  variables: [
    { name: 'after', expression: 'object.?status.orValue({})' },
    { name: 'before', expression: 'oldObject.?status.orValue({})' },
    { name: 'conditionsAfter', expression: 'object.?status.conditions.orValue([])' },
    { name: 'conditionsBefore', expression: 'oldObject.?status.conditions.orValue([])' },
  ],
  validations: [
    {
      expression: `${sameConditionsBut(['Preserved'], 'variables.conditionsAfter', 'variables.conditionsBefore')} && ${sameBut("key == 'conditions'", 'variables.after', 'variables.before')}`,
      message: 'the controller writes nothing of the status but condition Preserved',
      ...FORBIDDEN,
    },
    {
      expression: sameMetadata(['labels', 'annotations', 'finalizers', 'ownerReferences']),
      message: 'the controller changes no metadata by way of the status',
      ...FORBIDDEN,
    },
  ],
});

/** What of a Node the controller may change (`kubectl apply -k config/guards`, Kubernetes 1.30 and newer). */
export const NODE_GUARDS: readonly (KubeObject & { spec: object })[] = [...OF_SPEC, ...OF_STATUS];
