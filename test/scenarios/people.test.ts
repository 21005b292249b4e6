import { describe, expect } from 'vitest';
import { CORDON_MARK, fenceName } from '../../src/domain/node-fence.ts';
import { NODE_FENCES } from '../../src/ports/resources.ts';
import { condition, journal } from './operator.ts';
import { scenario } from './scenario.ts';
import { until } from './waiting.ts';

const FOREIGN_TAINT = { key: 'example.com/maintenance', value: 'disk', effect: 'PreferNoSchedule' };

describe.concurrent('a NodeFence deleted by hand in the middle of a fence', () => {
  scenario(
    'takes our cordon with it, and the node that is still failed gets a new one with the next number',
    { wrote: (files) => files.set({ power_management_delay: '60s', isolation_delay: '2s' }) },
    async ({ world, operator }) => {
      world.machine('a').panic();
      await operator.seesState('a', 'running');
      const before = await operator.fence('a');
      expect((await operator.node('a')).spec.unschedulable).toBe(true);
      await world.cluster.remove(NODE_FENCES, fenceName('a'));
      const next = await operator.sees('a', 'begun anew', (status) => status.incident === 2);
      expect(world.witness.uncordons('a')).toHaveLength(1);
      expect((await operator.fence('a'))?.metadata.uid).not.toBe(before?.metadata.uid);
      expect(next.journal.length).toBeLessThanOrEqual(1);
      expect(world.witness.sets('a')).toEqual([]);
    },
  );

  scenario(
    "leaves an administrator's cordon where it is",
    { wrote: (files) => files.set({ power_management_delay: '60s', isolation_delay: '2s' }) },
    async ({ world, operator }) => {
      await operator.changeNode('a', () => ({ spec: { unschedulable: true } }));
      world.machine('a').panic();
      await operator.seesState('a', 'running');
      await world.cluster.remove(NODE_FENCES, fenceName('a'));
      await operator.sees('a', 'begun anew', (status) => status.incident === 2);
      const node = await operator.node('a');
      expect(node.spec.unschedulable).toBe(true);
      expect(node.metadata.annotations?.[CORDON_MARK]).toBeUndefined();
      expect(world.witness.cordons('a')).toEqual([]);
    },
  );

  scenario('after the off the machine is switched on again before it is let go', {}, async ({ world, operator }) => {
    world.machine('a').panic();
    await operator.sees('a', 'proven off', (status) => status.timeline.poweredOffAt !== undefined);
    const uid = (await operator.fence('a'))?.metadata.uid;
    await world.cluster.remove(NODE_FENCES, fenceName('a'));
    await until('it is gone', async () => ((await operator.fence('a'))?.metadata.uid === uid ? undefined : true));
    expect(world.witness.sets('a')).toEqual(['off 204', 'on 204']);
    const node = await operator.node('a');
    expect(node.spec.unschedulable ?? false).toBe(false);
    expect(JSON.stringify(node)).not.toContain('out-of-service');
  });
});

describe.concurrent('a NodeFenceStop', () => {
  scenario(
    'in the middle of a fence holds it as it stands, in words, and its removal lets it go on',
    { wrote: (files) => files.set({ power_management_delay: '1s' }) },
    async ({ world, operator }) => {
      world.machine('a').panic();
      await operator.seesState('a', 'running');
      await operator.stop('a', 'look-first', 'I am at the console');
      const stopped = await operator.sees('a', 'stopped', (status) => condition(status, 'Stopped') === 'True StoppedByPerson');
      expect(stopped.message).toContain('NodeFenceStop look-first: I am at the console');
      expect(await operator.hears('NodeFence', 'node-fence-a', 'FencingStopped')).toContain('look-first');
      await until('well past power_management_delay', async () =>
        world.clock.wallMs() > Date.parse(stopped.timeline.isolatedAt ?? '') + 2_500 ? true : undefined,
      );
      expect(world.witness.sets('a')).toEqual([]);
      expect((await operator.node('a')).spec.unschedulable).toBe(true);
      await operator.removeStop('look-first');
      const status = await operator.seesRecovery('a');
      expect(condition(status, 'Stopped')).toBe('False NotStopped');
    },
  );

  scenario('between the off and the on leaves the machine off, and says so', {}, async ({ world, operator }) => {
    world.machine('a').panic();
    await operator.sees('a', 'proven off', (status) => status.timeline.poweredOffAt !== undefined);
    await operator.stop('a', 'leave-it', 'the power supply smells');
    const stopped = await operator.sees('a', 'stopped', (status) => condition(status, 'Stopped') === 'True StoppedByPerson');
    expect(stopped.message).toContain('Left off: 127.0.0.1:');
    await until('well past settle', async () => (world.clock.wallMs() > Date.parse(stopped.timeline.poweredOffAt ?? '') + 4_500 ? true : undefined));
    expect(world.witness.sets('a')).toEqual(['off 204']);
    await operator.removeStop('leave-it');
    await operator.seesRecovery('a');
    expect(world.witness.sets('a')).toEqual(['off 204', 'on 204']);
  });
});

describe.concurrent('what others have set on a Node', () => {
  scenario('taints, labels, annotations and a cordon of others survive a whole fence', {}, async ({ world, operator }) => {
    await operator.changeNode('a', (node) => ({
      metadata: { labels: { rack: '7' }, annotations: { 'example.com/owner': 'storage team' } },
      spec: { unschedulable: true, taints: [...(node.spec.taints ?? []), FOREIGN_TAINT] },
    }));
    world.machine('a').panic();
    const status = await operator.seesRecovery('a');
    const node = await operator.node('a');
    expect(node.metadata.labels?.['rack']).toBe('7');
    expect(node.metadata.annotations?.['example.com/owner']).toBe('storage team');
    expect(node.spec.unschedulable).toBe(true);
    expect(node.spec.taints).toContainEqual(FOREIGN_TAINT);
    expect(journal(status)[0]).toBe('mark-unschedulable run succeeded');
    expect(world.witness.cordons('a')).toEqual([]);
    expect(Object.keys(node.metadata.annotations ?? {}).filter((key) => key.startsWith('nodefence'))).toEqual([]);
  });

  scenario('a taint that is set while the fence runs survives too', {}, async ({ world, operator }) => {
    world.machine('a').panic();
    await operator.sees('a', 'released', (status) => status.released !== undefined);
    await operator.changeNode('a', (node) => ({ spec: { taints: [...(node.spec.taints ?? []), FOREIGN_TAINT] } }));
    await operator.seesRecovery('a');
    expect((await operator.node('a')).spec.taints).toContainEqual(FOREIGN_TAINT);
  });
});
