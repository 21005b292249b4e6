import { describe, expect } from 'vitest';
import { EVENTS } from '../../src/ports/resources.ts';
import { properties } from './configuration.ts';
import { condition } from './operator.ts';
import type { Play } from './scenario.ts';
import { scenario } from './scenario.ts';
import { until } from './waiting.ts';

const SIX = ['a', 'b', 'c', 'd', 'e', 'f'];
const LONG_MS = 75_000;

/** How often the Events of this reason were told about a NodeFence. */
async function timesTold({ world }: Play, node: string, reason: string): Promise<number> {
  const events = (await world.cluster.list(EVENTS)) as { involvedObject?: { kind: string; name: string }; reason?: string; count?: number }[];
  return events
    .filter(
      ({ involvedObject, reason: told }) => involvedObject?.kind === 'NodeFence' && involvedObject.name === `node-fence-${node}` && told === reason,
    )
    .reduce((sum, { count = 1 }) => sum + count, 0);
}

/** Where in the trace the controller first did this. */
function firstAt({ world }: Play, matches: (write: ReturnType<Play['world']['witness']['controllerWrites']>[number]) => boolean): number {
  const first = world.witness.controllerWrites().find(matches);
  return first === undefined ? Number.POSITIVE_INFINITY : world.witness.trace.indexOf(first);
}

function seesHeld({ operator }: Play, node: string, policy: string): Promise<unknown> {
  return operator.sees(node, `held by ${policy}`, ({ hold }) => hold?.policy === policy);
}

describe.concurrent('a storm', () => {
  scenario(
    'half of the nodes at once: nobody is fenced, each is told once; what healed is dropped, and what is left takes turns',
    { nodes: SIX, nodeGraceMs: 4_000, wrote: (files) => files.removeConfigMap('fence-policy-max-unhealthy'), timeoutMs: 180_000 },
    async (play) => {
      const { world, operator } = play;
      const { witness } = world;
      world.machine('a').panic();
      world.machine('b').panic();
      world.machine('c').partition();
      for (const node of ['a', 'b', 'c']) await seesHeld(play, node, 'max-unhealthy');
      const status = await operator.sees('a', 'held with its numbers', ({ hold }) => hold?.message.includes('3 of 6 nodes') === true);
      expect(condition(status, 'Held')).toBe('True MaxUnhealthy');
      expect(witness.trace.filter(({ kind }) => kind === 'device')).toEqual([]);
      expect(SIX.flatMap((node) => witness.cordons(node))).toEqual([]);

      world.machine('c').heal();
      const healed = await operator.sees('c', 'dropped', ({ outcome }) => outcome === 'untouched', LONG_MS);
      expect([healed.outcome, healed.journal, healed.restore]).toEqual(['untouched', [], undefined]);
      await operator.hears('Node', 'c', 'HeldNodeRecovered');
      for (const node of ['a', 'b']) await operator.sees(node, 'recovered', ({ outcome }) => outcome === 'recovered', LONG_MS);
      expect(witness.deviceEvents('c')).toEqual([]);
      expect(await timesTold(play, 'c', 'FencingHeld')).toBe(1);

      // One failure domain, one slot: who came second isolates after the other's release.
      const cordonOf = (node: string): number =>
        firstAt(play, ({ name, request }) => name === node && JSON.stringify(request).includes('"unschedulable":true'));
      const releaseOf = (node: string): number =>
        firstAt(play, ({ name, request }) => name === node && JSON.stringify(request).includes('out-of-service'));
      const [first = '', second = ''] = cordonOf('a') < cordonOf('b') ? ['a', 'b'] : ['b', 'a'];
      expect(cordonOf(second)).toBeGreaterThan(releaseOf(first));
      expect(cordonOf(second)).toBeLessThan(Number.POSITIVE_INFINITY);
    },
  );

  scenario(
    'a start: nobody is fenced before the grace is over, and then without anything else happening',
    { wrote: (files) => files.write('fence-policy-startup-grace', 'config.properties', properties({ duration: '12s' })), timeoutMs: 120_000 },
    async (play) => {
      play.world.machine('a').panic();
      await seesHeld(play, 'a', 'startup-grace');
      expect(play.world.witness.cordons('a')).toEqual([]);
      await play.operator.sees('a', 'recovered', ({ outcome }) => outcome === 'recovered', LONG_MS);
    },
  );
});

const MAINTENANCE = { metadata: { annotations: { 'nodefence/maintenance': 'disk swap' } } };
const NO_MAINTENANCE = { metadata: { annotations: { 'nodefence/maintenance': null } } };

describe.concurrent('a node that somebody has in hand', () => {
  scenario('is left alone, until the mark is gone', { timeoutMs: 120_000 }, async (play) => {
    const { world, operator } = play;
    await operator.changeNode('a', () => MAINTENANCE);
    world.machine('a').panic();
    await seesHeld(play, 'a', 'maintenance');
    expect((await operator.status('a'))?.hold?.message).toContain('annotation nodefence/maintenance=disk swap on Node a');
    expect([world.witness.cordons('a'), world.witness.deviceEvents('a')]).toEqual([[], []]);
    await operator.changeNode('a', () => NO_MAINTENANCE);
    await operator.sees('a', 'recovered', ({ outcome }) => outcome === 'recovered', LONG_MS);
  });

  scenario('after the off: nothing is released, and it is switched on again all the same', { timeoutMs: 120_000 }, async (play) => {
    const { world, operator } = play;
    world.machine('a').panic();
    await until('the off was sent', async () => Promise.resolve(world.witness.sets('a').length > 0 ? true : undefined));
    await operator.changeNode('a', () => MAINTENANCE);
    await operator.sees('a', 'switched on', ({ timeline }) => timeline.poweredOnAt !== undefined, LONG_MS);
    expect(world.witness.releases()).toEqual([]);
    await operator.sees('a', 'recovered', ({ outcome }) => outcome === 'recovered', LONG_MS);
  });
});
