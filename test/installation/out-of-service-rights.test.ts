import { describe, expect } from 'vitest';
import type { Role } from '../../src/manifests/access.ts';
import { CONTROLLER_CLUSTER_ROLE } from '../../src/manifests/access.ts';
import { scenario } from '../scenarios/scenario.ts';
import { CONTROLLER_USER } from '../scenarios/witness.ts';

const DELETED = ['pods', 'volumeattachments'];

/** What is left where nothing may be deleted: what config/out-of-service-only refuses. */
function withoutDeletion(): Role['rules'] {
  return CONTROLLER_CLUSTER_ROLE.rules.map((rule) =>
    rule.resources.some((resource) => DELETED.includes(resource)) ? { ...rule, verbs: rule.verbs.filter((verb) => verb !== 'delete') } : rule,
  );
}

describe('a controller that may delete neither pods nor VolumeAttachments', () => {
  scenario(
    'releases a node by the taint out-of-service alone, and brings it back',
    { wrote: (files) => files.set({ release: 'out-of-service' }) },
    async ({ world, operator }) => {
      const path = `/apis/rbac.authorization.k8s.io/v1/clusterroles/${CONTROLLER_CLUSTER_ROLE.metadata.name}`;
      const body = { rules: withoutDeletion() };
      const patched = await world.transport.request({
        method: 'PATCH',
        path,
        body,
        contentType: 'application/merge-patch+json',
        deadlineMs: 5_000,
      });
      expect(patched.status).toBe(200);
      world.machine('a').panic();
      await operator.sees('a', 'released', ({ released }) => released?.by === 'out-of-service');
      await operator.seesRecovery('a');
      const deletions = world.witness.trace.filter(
        (event) => event.kind === 'api' && event.user === CONTROLLER_USER && event.verb === 'delete' && DELETED.includes(event.resource),
      );
      expect(deletions.filter((event) => event.kind === 'api' && event.status < 300)).toEqual([]);
    },
  );
});
