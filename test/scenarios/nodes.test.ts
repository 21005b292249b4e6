import { describe, expect } from 'vitest';
import { NODE_FENCE_REPORTS, NODES } from '../../src/ports/resources.ts';
import { condition, journal, readiness } from './operator.ts';
import { scenario } from './scenario.ts';
import { SickKubelet } from './sick-kubelet.ts';
import { until } from './waiting.ts';

describe.concurrent('a node that is not, or not any more, what the fence was begun for', () => {
  scenario(
    'replaced under its name in mid-fence: no power call any more, and the fence closes in words',
    { wrote: (files) => files.set({ power_management_delay: '3s' }) },
    async ({ world, operator }) => {
      world.machine('a').panic();
      const begun = await operator.seesState('a', 'running');
      await world.cluster.remove(NODES, 'a');
      world.machine('a').powerOff('panic');
      world.machine('a').powerOn('start');
      const status = await operator.sees('a', 'closed', ({ state, outcome }) => state === 'final' && outcome === 'node-gone');
      expect(status.message).toContain('replaced under the same name');
      await until('the new Node is Ready', async () => {
        const node = await world.cluster.get(NODES, 'a');
        return node !== undefined && node.metadata.uid !== begun.frozen?.nodeUID ? true : undefined;
      });
      expect(world.witness.sets('a')).toEqual([]);
      expect(world.witness.releases()).toEqual([]);
    },
  );

  scenario(
    'back before the isolation: nothing is touched',
    { wrote: (files) => files.set({ isolation_delay: '4s' }) },
    async ({ world, operator }) => {
      world.machine('a').partition();
      await operator.seesState('a', 'new');
      world.machine('a').heal();
      const status = await operator.sees('a', 'final', ({ state }) => state === 'final');
      expect(status.outcome).toBe('untouched');
      expect(status.journal).toEqual([]);
      expect(world.witness.cordons('a')).toEqual([]);
      expect(world.witness.deviceEvents('a')).toEqual([]);
    },
  );

  scenario(
    'back after the isolation: it is uncordoned, and never switched',
    { wrote: (files) => files.set({ power_management_delay: '30s' }) },
    async ({ world, operator }) => {
      world.machine('a').partition();
      await operator.seesState('a', 'running');
      expect((await operator.node('a')).spec.unschedulable).toBe(true);
      world.machine('a').heal();
      const status = await operator.seesRecovery('a');
      expect(journal(status)).toEqual(['mark-unschedulable run succeeded', 'mark-schedulable run succeeded']);
      expect((await operator.node('a')).spec.unschedulable ?? false).toBe(false);
      expect(world.witness.deviceEvents('a')).toEqual([]);
    },
  );

  scenario(
    'back while its slow off is under way: the off is read to its end, nothing is released, the machine is switched on again',
    { bmcs: { a: { faults: { offDelayMs: 3_000 } } }, nodeGraceMs: 4_000, wrote: (files) => files.set({ power_timeout: '8s' }) },
    async ({ world, operator }) => {
      world.machine('a').partition();
      await until('the off is sent', async () => (world.witness.sets('a').length > 0 ? true : undefined));
      world.machine('a').heal();
      await until('it is Ready again', async () => (readiness(await operator.node('a')) === 'True' ? true : undefined));
      expect(world.machine('a').state).toBe('on');
      const status = await operator.seesRecovery('a');
      expect(journal(status)).toContain('redfish-off off succeeded');
      expect(status.released).toBeUndefined();
      expect(world.witness.releases()).toEqual([]);
      expect(world.witness.sets('a')).toEqual(['off 204', 'on 204']);
    },
  );

  scenario(
    'Ready=False with a living kubelet: not before not_ready_period is over, then by the same proof',
    { wrote: (files) => files.set({ not_ready_period: '3s' }) },
    async ({ world, operator }) => {
      const sick = await SickKubelet.instead(world, 'a');
      const began = world.clock.monotonicMs();
      try {
        const fence = await until('a fence', () => operator.fence('a'));
        expect(world.clock.monotonicMs() - began).toBeGreaterThanOrEqual(2_900);
        expect(fence.status?.journal ?? []).toEqual([]);
        await operator.sees('a', 'begun by Ready=False', ({ trigger }) => trigger?.status === 'False');
        await until('the off is sent', async () => (world.witness.sets('a').length > 0 ? true : undefined));
      } finally {
        sick.stop();
      }
      await operator.seesRecovery('a');
    },
  );
});

describe.concurrent('--mode observe', () => {
  scenario('touches nothing, and the NodeFence carries the plan', { mode: 'observe' }, async ({ world, operator }) => {
    const podsBefore = await world.podsOn('a');
    const nodeBefore = await operator.node('a');
    world.machine('a').panic();
    const status = await operator.sees('a', 'held', ({ hold }) => hold !== undefined);
    expect(status).toMatchObject({ state: 'new', hold: { reason: 'observe', policy: 'observe' } });
    expect(condition(status, 'Held')).toBe('True Observe');
    expect(status.message).toContain('nothing is changed');
    const methods = status.frozen?.plan.powerManagement.flatMap((level) => level.methods.map(({ name, action }) => `${name} ${action}`));
    expect(methods).toEqual(['redfish-off off', 'redfish-on on']);
    await operator.hears('NodeFence', 'node-fence-a', 'WouldFence');
    await until('well past every delay', async () => (world.clock.wallMs() > Date.parse(status.hold?.since ?? '') + 2_000 ? true : undefined));
    expect((await operator.status('a'))?.journal).toEqual([]);
    expect(world.witness.kindsWritten()).toEqual([
      'events',
      'leases.coordination.k8s.io',
      'nodefencereports.ha.k8s.io',
      'nodefencereports.ha.k8s.io/status',
      'nodefences.ha.k8s.io',
      'nodefences.ha.k8s.io/status',
      // A question, which leaves nothing behind.
      'selfsubjectrulesreviews.authorization.k8s.io',
    ]);
    expect(world.witness.deviceEvents('a')).toEqual([]);
    expect(await world.podsOn('a')).toEqual(podsBefore);
    const node = await operator.node('a');
    expect(node.spec.unschedulable).toBe(nodeBefore.spec.unschedulable);
    expect(node.metadata.annotations).toEqual(nodeBefore.metadata.annotations);
  });
});

describe.concurrent('the node that the controller runs on', () => {
  scenario('is never fenced by it, and the hold says what must happen first', { ownNode: 'a' }, async ({ world, operator }) => {
    world.machine('a').panic();
    const status = await operator.sees('a', 'held', ({ hold }) => hold !== undefined);
    expect(status).toMatchObject({ state: 'new', hold: { reason: 'own-node' } });
    expect(status.message).toContain('another replica must lead');
    await until('well past every delay', async () => (world.clock.wallMs() > Date.parse(status.hold?.since ?? '') + 2_000 ? true : undefined));
    expect(world.witness.deviceEvents('a')).toEqual([]);
    expect(world.witness.cordons('a')).toEqual([]);
    expect((await operator.status('a'))?.journal).toEqual([]);
  });

  scenario('does not keep it from fencing another one', { ownNode: 'b' }, async ({ world, operator }) => {
    world.machine('a').panic();
    await operator.seesRecovery('a');
    expect(await world.cluster.get(NODE_FENCE_REPORTS, 'b')).toBeDefined();
    expect(world.witness.sets('b')).toEqual([]);
  });
});
