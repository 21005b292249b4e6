import { PRESERVE } from '../controllers/preservation/names.ts';
import { AUTHORSHIP_GUARD, PRESERVE_REASON, PRESERVE_REQUESTED_BY, REQUESTED_BY } from '../ports/authorship.ts';
import { MACHINE_GROUP } from '../ports/machines.ts';
import type { KubeObject } from '../ports/objects.ts';
import { GROUP } from '../ports/resources.ts';
import { celList, FORBIDDEN, guard, IS_CONTROLLER, resourceRules, USER } from './guard.ts';

/** A person's words, whole objects of them: their author and what they say stay as they were created. */
export const WORDS: readonly string[] = ['nodefencestops', 'nodefenceacknowledgements'];
/** Whose controllers may change what they say, but not who asked. */
const REQUESTS: readonly string[] = ['nodefenceremediations'];

/** The annotation of an object; an empty text where there is none. There is an `oldObject` in an update only. */
export function annotation(object: 'object' | 'oldObject', key: string): string {
  const text = `${object}.?metadata.annotations[?'${key}'].orValue('')`;
  return object === 'object' ? text : `(oldObject == null ? '' : ${text})`;
}

/** A text that is there and no mere space. */
function isSaid(field: string): string {
  return `${field}.orValue('').trim() != ''`;
}

/**
 * Of stops, acknowledgements and requests. Whoever names an author names himself; nobody changes it afterwards.
 *
 * What never changes is a rule here and not in the definitions: a kubectl that validates by a server before 1.23 refuses a definition with rules.
 */
const OF_WORDS = guard(AUTHORSHIP_GUARD, {
  matchConstraints: { resourceRules: [resourceRules(GROUP, [...WORDS, ...REQUESTS])] },
  variables: [
    { name: 'by', expression: annotation('object', REQUESTED_BY) },
    { name: 'before', expression: annotation('oldObject', REQUESTED_BY) },
  ],
  validations: [
    {
      expression: `oldObject != null ? variables.by == variables.before : variables.by == '' || variables.by == ${USER}`,
      messageExpression: `oldObject != null ? 'annotation ${REQUESTED_BY} stays as it was created' : 'annotation ${REQUESTED_BY} names who asks, and that is ' + ${USER} + ': leave it out or write this name'`,
      message: `annotation ${REQUESTED_BY} is who asks, and stays so`,
      ...FORBIDDEN,
    },
    {
      expression: `oldObject == null || !(request.resource.resource in ${celList(WORDS)}) || object.spec == oldObject.spec`,
      message: "a person's word stays as it was given: delete it, and create another",
      ...FORBIDDEN,
    },
    {
      expression: `oldObject != null || ${isSaid('object.?spec.reason')} || !(request.resource.resource in ${celList(WORDS)})`,
      message: 'spec.reason says why, in more than spaces',
    },
  ],
});

/** Of what a person writes into a report: who lets a node be fenced again, or its remedies go on. */
const OF_REPORTS = guard(`${AUTHORSHIP_GUARD}-reports`, {
  matchConstraints: { resourceRules: [resourceRules(GROUP, ['nodefencereports'])] },
  variables: [
    { name: 'by', expression: annotation('object', REQUESTED_BY) },
    { name: 'before', expression: annotation('oldObject', REQUESTED_BY) },
    { name: 'isSaid', expression: `has(object.spec) && (oldObject == null || !has(oldObject.spec) || object.spec != oldObject.spec)` },
  ],
  validations: [
    {
      expression: `variables.by == '' && variables.isSaid || variables.by == ${USER} && variables.isSaid || variables.by == variables.before && !variables.isSaid`,
      messageExpression: `'annotation ${REQUESTED_BY} names who wrote spec, and that is ' + ${USER} + ': it goes with spec, and never alone'`,
      message: `annotation ${REQUESTED_BY} names who wrote spec`,
      ...FORBIDDEN,
    },
    {
      expression: `!has(object.spec) || ((!has(object.spec.resumed) || ${isSaid('object.?spec.resumed.reason')}) && (!has(object.spec.resumedRemedies) || object.spec.resumedRemedies.all(each, each.reason.trim() != '')))`,
      message: 'reason says why, in more than spaces',
    },
  ],
});

const IS_PERSON = "(object.?spec.requestedBy.kind.orValue('') == 'Person')";

/** A NodeFence that a person asks for names that person. */
const OF_FENCES = guard(`${AUTHORSHIP_GUARD}-fences`, {
  matchConstraints: { resourceRules: [resourceRules(GROUP, ['nodefences'])] },
  validations: [
    {
      expression: `!${IS_PERSON} || object.?spec.requestedBy.name.orValue('') == ${USER} || oldObject.?spec.requestedBy == object.?spec.requestedBy`,
      messageExpression: `'spec.requestedBy of a person names who asks, and that is ' + ${USER}`,
      message: 'spec.requestedBy of a person names who asks',
      ...FORBIDDEN,
    },
    {
      expression: 'oldObject == null || object.spec.node == oldObject.spec.node',
      message: 'spec.node stays: what was done and proven was done to that node',
    },
  ],
});

/** The value that is asked for, and by whom: so that it says nothing of another value that somebody writes later. */
export const PRESERVE_STAMP = `${annotation('object', PRESERVE)} + ' by ' + ${USER}`;

/**
 * Of the wish to preserve a Node or a Machine. Machine controllers write that annotation too, and are never refused: what they write is another value than a
 * person's, of which the stamp of the person says nothing.
 */
const OF_PRESERVATION = guard(`${AUTHORSHIP_GUARD}-preservation`, {
  matchConstraints: { resourceRules: [resourceRules('', ['nodes']), resourceRules(MACHINE_GROUP, ['machines'])] },
  matchConditions: [
    { name: 'by-others-than-the-controller', expression: `!(${IS_CONTROLLER})` },
    {
      name: 'marks-change',
      expression: [PRESERVE, PRESERVE_REASON, PRESERVE_REQUESTED_BY]
        .map((key) => `${annotation('object', key)} != ${annotation('oldObject', key)}`)
        .join(' || '),
    },
  ],
  variables: [
    { name: 'value', expression: annotation('object', PRESERVE) },
    { name: 'by', expression: annotation('object', PRESERVE_REQUESTED_BY) },
    { name: 'own', expression: PRESERVE_STAMP },
    { name: 'isReasoned', expression: `${annotation('object', PRESERVE_REASON)} != ${annotation('oldObject', PRESERVE_REASON)}` },
    { name: 'isStamped', expression: `${annotation('object', PRESERVE_REQUESTED_BY)} != ${annotation('oldObject', PRESERVE_REQUESTED_BY)}` },
  ],
  validations: [
    {
      expression:
        "variables.by == '' || variables.by == variables.own || (!variables.isStamped && !variables.isReasoned && !variables.by.startsWith(variables.value + ' by '))",
      messageExpression: `'annotation ${PRESERVE_REQUESTED_BY} names who wrote ${PRESERVE} and its reason: remove it, or write: ' + variables.own`,
      message: `annotation ${PRESERVE_REQUESTED_BY} names who wrote ${PRESERVE} and its reason`,
      ...FORBIDDEN,
    },
  ],
});

/** Nobody speaks in another's name (`kubectl apply -k config/guards`, Kubernetes 1.30 and newer). */
export const AUTHORSHIP_GUARDS: readonly (KubeObject & { spec: object })[] = [...OF_WORDS, ...OF_REPORTS, ...OF_FENCES, ...OF_PRESERVATION];
