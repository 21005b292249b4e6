import { PRESERVE } from '../controllers/preservation/names.ts';
import { AUTHORSHIP_GUARD, PRESERVE_REASON, PRESERVE_REQUESTED_BY, REQUESTED_BY } from '../ports/authorship.ts';
import { MACHINE_GROUP } from '../ports/machines.ts';
import type { KubeObject } from '../ports/objects.ts';
import { GROUP } from '../ports/resources.ts';
import { LABELS } from './access.ts';
import { annotation, PRESERVE_STAMP, WORDS } from './authorship-guard.ts';
import { ADMISSION, resourceRules, USER } from './guard.ts';

function add(key: string, value: string): string {
  return `JSONPatch{op: 'add', path: '/metadata/annotations/' + jsonpatch.escapeKey('${key}'), value: ${value}}`;
}

/** Writes these annotations, whatever stands there. */
function stamps(name: string, entries: Readonly<Record<string, string>>, spec: object): (KubeObject & { spec: object })[] {
  const writes = Object.entries(entries).map(([key, value]) => add(key, value));
  const all = `(has(object.metadata.annotations) ? [] : [JSONPatch{op: 'add', path: '/metadata/annotations', value: {}}]) + [${writes.join(', ')}]`;
  return [
    {
      apiVersion: ADMISSION,
      kind: 'MutatingAdmissionPolicy',
      metadata: { name, labels: LABELS },
      spec: {
        failurePolicy: 'Fail',
        reinvocationPolicy: 'Never',
        ...spec,
        mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: all } }],
      },
    },
    { apiVersion: ADMISSION, kind: 'MutatingAdmissionPolicyBinding', metadata: { name, labels: LABELS }, spec: { policyName: name } },
  ];
}

const IS_SAID = [PRESERVE, PRESERVE_REASON].map((key) => `${annotation('object', key)} != ${annotation('oldObject', key)}`).join(' || ');
/** Writes who asked, so that nobody has to (`kubectl apply -k config/stamps`, Kubernetes 1.36 and newer; with config/guards, which refuses what is changed later). */
export const AUTHORSHIP_STAMPS: readonly (KubeObject & { spec: object })[] = [
  ...stamps(
    AUTHORSHIP_GUARD,
    { [REQUESTED_BY]: USER },
    {
      matchConstraints: {
        resourceRules: [resourceRules(GROUP, [...WORDS, 'nodefenceremediations'], ['CREATE'])],
      },
    },
  ),
  ...stamps(
    `${AUTHORSHIP_GUARD}-reports`,
    { [REQUESTED_BY]: USER },
    {
      matchConstraints: { resourceRules: [resourceRules(GROUP, ['nodefencereports'])] },
      matchConditions: [
        { name: 'spec-is-written', expression: 'has(object.spec) && (oldObject == null || !has(oldObject.spec) || object.spec != oldObject.spec)' },
      ],
    },
  ),
  ...stamps(
    `${AUTHORSHIP_GUARD}-preservation`,
    { [PRESERVE_REQUESTED_BY]: PRESERVE_STAMP },
    {
      matchConstraints: { resourceRules: [resourceRules('', ['nodes']), resourceRules(MACHINE_GROUP, ['machines'])] },
      matchConditions: [{ name: 'asked-for', expression: `${annotation('object', PRESERVE)} != '' && (${IS_SAID})` }],
    },
  ),
];
