import type { KubeObject } from '../ports/objects.ts';
import { FORBIDDEN, guard, IS_CONTROLLER, resourceRules } from './guard.ts';

const NAME = 'nodefence-out-of-service-only';

/** Where the taint lets go all that a release lets go, nothing is deleted by the controller itself. A policy, not a smaller role: a controller that lacks a right does not lead. */
export const DELETION_GUARD: readonly (KubeObject & { spec: object })[] = guard(NAME, {
  matchConstraints: {
    resourceRules: [resourceRules('', ['pods'], ['DELETE']), resourceRules('storage.k8s.io', ['volumeattachments'], ['DELETE'])],
  },
  matchConditions: [{ name: 'by-the-controller', expression: IS_CONTROLLER }],
  validations: [
    {
      expression: 'false',
      message:
        'config/out-of-service-only: the controller deletes no pods and no VolumeAttachments; release=delete-pods and release=evict do not work with it',
      ...FORBIDDEN,
    },
  ],
});
