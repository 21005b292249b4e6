import { afterAll, beforeAll, describe, expect } from 'vitest';
import { NODES } from '../../src/ports/resources.ts';
import { AwsRegion, NAMES } from './aws-region.ts';
import { properties } from './configuration.ts';
import type { Configuration } from './configuration.ts';
import { journal } from './operator.ts';
import { scenario } from './scenario.ts';
import type { World } from './world.ts';

class Region extends AwsRegion {
  /** The instance is deleted, or else restarted. */
  configure(files: Configuration, world: World): void {
    this.begin(files, world);
    for (const node of NAMES) {
      const name = `fence-config-${node}`;
      const steps = { isolation: 'mark-unschedulable', power_management: 'replace', 'power_management.2': 'restart', recovery: 'mark-schedulable' };
      files.write(name, 'config.properties', properties({ node_name: node, ...steps }));
      for (const [method, action] of [
        ['replace', 'delete'],
        ['restart', 'reboot'],
      ] as const)
        files.write(name, `fence-method-${method}`, properties({ agent_name: 'aws', ...this.common(node), action }));
    }
  }

  deletions(): string[] {
    return this.service.requests.filter((name) => /^Terminate\w+$/.test(name));
  }
}

describe.concurrent('a node whose instance is to be deleted', () => {
  const [own, owned] = [new Region(), new Region()];

  beforeAll(async () => {
    await Promise.all([own, owned].map((region) => region.start()));
  });
  afterAll(async () => {
    await Promise.all([own, owned].map(({ service }) => service.close()));
  });

  scenario(
    'loses it once it is proven off and its workload runs elsewhere, and is replaced when its Node goes',
    { instances: own.instances, wrote: (files, world) => own.configure(files, world) },
    async ({ world, operator }) => {
      world.machine('a').panic();
      const deleted = await operator.sees(
        'a',
        'done, its instance deleted',
        ({ state, evidence }) => state === 'done' && evidence[0]?.terminated === true,
      );
      expect(journal(deleted)).toEqual([
        'mark-unschedulable run succeeded',
        'replace off succeeded',
        'release release succeeded',
        'release-end release-end succeeded',
        'replace delete succeeded',
      ]);
      expect(deleted.restore?.edges, 'nothing is left to switch on').toBeUndefined();
      expect(own.deletions()).toEqual(['TerminateInstances']);
      expect(own.service.instances.map(({ isDeleted }) => isDeleted)).toEqual([true, false]);
      // As the cloud controller manager does it.
      await world.cluster.remove(NODES, 'a');
      const status = await operator.sees('a', 'final', ({ state }) => state === 'final');
      expect(status).toMatchObject({ outcome: 'replaced', message: expect.stringContaining('its Node is gone') as string });
    },
  );

  scenario(
    'keeps it where it belongs to a Machine, is told so, and restarted by the next level',
    { instances: owned.instances, wrote: (files, world) => owned.configure(files, world) },
    async ({ world, operator }) => {
      await operator.changeNode('a', ({ metadata }) => ({ metadata: { annotations: { ...metadata.annotations, 'cluster.x-k8s.io/machine': 'm' } } }));
      world.machine('a').panic();
      const status = await operator.seesRecovery('a');
      const refused = status.journal.find(({ action }) => action === 'delete');
      expect(refused).toMatchObject({ result: 'refused', message: expect.stringContaining('kubectl delete machine') as string });
      expect(owned.deletions()).toEqual([]);
      expect(owned.service.instances.map(({ isDeleted }) => isDeleted)).toEqual([false, false]);
    },
  );
});
