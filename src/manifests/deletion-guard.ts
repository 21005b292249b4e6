import type { KubeObject } from '../ports/objects.ts';
import { guard, IS_CONTROLLER } from './authorship-guard.ts';

const NAME = 'nodefence-out-of-service-only';

/** Where the taint lets go all that a release lets go, nothing is deleted by the controller itself. A policy, not a smaller role: a controller that lacks a right does not lead. */
export const DELETION_GUARD: readonly (KubeObject & { spec: object })[] = guard(NAME, {
  matchConstraints: {
    resourceRules: [
      { apiGroups: [''], apiVersions: ['*'], operations: ['DELETE'], resources: ['pods'] },
      { apiGroups: ['storage.k8s.io'], apiVersions: ['*'], operations: ['DELETE'], resources: ['volumeattachments'] },
    ],
  },
  matchConditions: [{ name: 'by-the-controller', expression: IS_CONTROLLER }],
  validations: [
    {
      expression: 'false',
      message:
        'config/out-of-service-only: the controller deletes no pods and no VolumeAttachments; release=delete-pods and release=evict do not work with it',
      reason: 'Forbidden',
    },
  ],
});
