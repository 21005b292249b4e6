import type { KubeObject } from '../ports/objects.ts';
import { CONTROLLER_ACCOUNT, LABELS } from './access.ts';

export const ADMISSION = 'admissionregistration.k8s.io/v1';
export const FORBIDDEN = { reason: 'Forbidden' };
export const USER = 'request.userInfo.username';
/** Of controllers that come with another user than the ServiceAccount, such as a certificate: who is in it is bound as the account is. */
const CONTROLLER_GROUP = 'nodefence:controllers';
/** By the controller, in whatever namespace it is, or as whatever user of that group. */
export const IS_CONTROLLER = `(${isAccount(CONTROLLER_ACCOUNT)} || '${CONTROLLER_GROUP}' in request.userInfo.groups)`;

export function isAccount(name: string): string {
  return `${USER}.startsWith('system:serviceaccount:') && ${USER}.endsWith(':${name}')`;
}

/** Rules of requests about these resources, and never about their status unless it is named. The scope too: a list in which the server adds something differs each time it is applied. */
export function resourceRules(group: string, resources: readonly string[], operations: readonly string[] = ['CREATE', 'UPDATE']): object {
  return { apiGroups: [group], apiVersions: ['*'], operations: [...operations], resources: [...resources], scope: '*' };
}

/** Every condition of the one stands in the other as it is, but those of these types. */
function keptConditions(one: string, other: string, types: readonly string[]): string {
  return `${one}.all(condition, condition.type in ${celList(types)} || ${other}.exists(same, same == condition))`;
}

/** In CEL: a change of these maps leaves their members as they are, but those of which `mayDiffer`, about its `key`, is true. */
export function sameBut(mayDiffer: string, after: string, before: string): string {
  const kept = `${after}.all(key, ${mayDiffer} || (key in ${before} && ${after}[key] == ${before}[key]))`;
  return `${kept} && ${before}.all(key, ${mayDiffer} || key in ${after})`;
}

/** In CEL: a change of these lists of conditions leaves all as they are, but those of these types. */
export function sameConditionsBut(types: readonly string[], after: string, before: string): string {
  return `${keptConditions(after, before, types)} && ${keptConditions(before, after, types)}`;
}

/** In CEL: these members of metadata are left as they are. */
export function sameMetadata(members: readonly string[]): string {
  return members.map((what) => `object.?metadata.${what} == oldObject.?metadata.${what}`).join(' && ');
}

export function celList(names: readonly string[]): string {
  return `[${names.map((name) => `'${name}'`).join(', ')}]`;
}

/** A policy that refuses, and the binding by which it does. */
export function guard(name: string, spec: object): (KubeObject & { spec: object })[] {
  return [
    {
      apiVersion: ADMISSION,
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name, labels: LABELS },
      spec: { failurePolicy: 'Fail', ...spec },
    },
    {
      apiVersion: ADMISSION,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name, labels: LABELS },
      spec: { policyName: name, validationActions: ['Deny'] },
    },
  ];
}
