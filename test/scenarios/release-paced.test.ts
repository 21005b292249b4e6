import { describe, expect } from 'vitest';
import { SCALE_DOWN_DISABLED } from '../../src/domain/node-fence.ts';
import { PODS } from '../../src/ports/resources.ts';
import type { ApiEvent } from '../../src/laws/trace.ts';
import { scenario } from './scenario.ts';
import { until } from './waiting.ts';
import type { World } from './world.ts';

/** One pod a batch, about 5.5 seconds apart. */
const SLOW = { pods_per_minute: '11', release_timeout: '15s' };

async function addPod(world: World, name: string): Promise<void> {
  const spec = { nodeName: 'a', containers: [{ name: 'x', image: 'x' }] };
  await world.cluster.create(PODS, { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default' }, spec });
  await until('the pod is on the node', async () => ((await world.podsOn('a')).includes(name) ? true : undefined));
}

function releaseTimes(world: World): [what: string, at: number][] {
  return world.witness
    .controllerWrites()
    .filter((write): write is ApiEvent => (write.verb === 'delete' && write.resource === 'pods') || isTaint(write))
    .map(({ name = '', resource, at }) => [`${resource} ${name}`, at]);
}

function isTaint({ resource, request }: ApiEvent): boolean {
  return resource === 'nodes' && JSON.stringify(request).includes('out-of-service","value');
}

describe.concurrent('a paced release', () => {
  scenario(
    'lets pods go one batch after another, those of StatefulSets first, each on reads of its own, and the taint comes with the last',
    { wrote: (files) => files.set(SLOW) },
    async ({ world, operator }) => {
      await addPod(world, 'alone');
      const [pod = ''] = (await world.podsOn('a')).filter((name) => name !== 'alone');
      world.machine('a').panic();
      const status = await operator.seesRecovery('a');
      const releases = releaseTimes(world);
      expect(releases.map(([what]) => what)).toEqual([`pods ${pod}`, 'pods alone', 'nodes a']);
      expect((releases[1]?.[1] ?? 0) - (releases[0]?.[1] ?? 0)).toBeGreaterThan(5_000);
      expect(status.released).toMatchObject({ by: 'out-of-service', pods: 2, left: 0, batch: 2 });
      expect(status.journal.filter(({ operation, action }) => action === 'confirm' && operation === 'off:redfish-off')).not.toEqual([]);
    },
  );

  scenario(
    'is stopped between two batches by a person, and goes on when he lets it',
    { wrote: (files) => files.set(SLOW) },
    async ({ world, operator }) => {
      await addPod(world, 'alone');
      world.machine('a').panic();
      await operator.sees('a', 'in its first batch', ({ released }) => released?.left === 1);
      await operator.stop('a', 'stop-a', 'wait');
      await operator.sees('a', 'stopped', ({ hold }) => hold?.policy === 'stop');
      await world.clock.sleep(7_000);
      expect(await world.podsOn('a')).toContain('alone');
      await operator.removeStop('stop-a');
      const status = await operator.seesRecovery('a');
      expect(status.released).toMatchObject({ left: 0, batch: 2 });
    },
  );
});

describe.concurrent('a fenced node', () => {
  scenario('is kept from the cluster autoscaler until it has recovered', {}, async ({ world, operator }) => {
    world.machine('a').panic();
    await operator.seesState('a', 'running');
    expect((await operator.node('a')).metadata.annotations?.[SCALE_DOWN_DISABLED]).toBe('true');
    await operator.seesRecovery('a');
    expect((await operator.node('a')).metadata.annotations?.[SCALE_DOWN_DISABLED]).toBeUndefined();
  });

  scenario(
    'is not started while it carries an out-of-service taint of somebody else, and says so',
    { wrote: (files) => files.set({ release: 'none' }) },
    async ({ world, operator }) => {
      const taint = { key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' };
      world.machine('a').panic();
      await operator.seesState('a', 'running');
      await operator.changeNode('a', ({ spec }) => ({ spec: { taints: [...(spec.taints ?? []), taint] } }));
      const status = await operator.seesFailure('a');
      expect(status.message).toContain('the Node has an out-of-service taint that nodefence did not set');
      expect(world.witness.sets('a')).toEqual(['off 204']);
      expect(JSON.stringify((await operator.node('a')).spec.taints)).toContain('out-of-service');
    },
  );
});
