import type { KubeObject } from '../ports/objects.ts';
import { CONTROLLER_ACCOUNT, LABELS } from './access.ts';

export const ADMISSION = 'admissionregistration.k8s.io/v1';
export const FORBIDDEN = { reason: 'Forbidden' };
export const USER = 'request.userInfo.username';
/** By the controller, in whatever namespace it is. */
export const IS_CONTROLLER = isAccount(CONTROLLER_ACCOUNT);

export function isAccount(name: string): string {
  return `${USER}.startsWith('system:serviceaccount:') && ${USER}.endsWith(':${name}')`;
}

/** Rules of requests about these resources, and never about their status unless it is named. The scope too: a list in which the server adds something differs each time it is applied. */
export function resourceRules(group: string, resources: readonly string[], operations: readonly string[] = ['CREATE', 'UPDATE']): object {
  return { apiGroups: [group], apiVersions: ['*'], operations: [...operations], resources: [...resources], scope: '*' };
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
