import { describe, expect, it } from 'vitest';
import { VOLUME_ATTACHMENTS } from '../../src/ports/resources.ts';
import { condition, journal, Operator } from '../scenarios/operator.ts';
import { until } from '../scenarios/waiting.ts';
import { HAS_KUBECTL, HAS_REAL_SERVER, knowsOutOfService, NEEDS_REAL_SERVER, START_DEADLINE_MS } from './real-server.ts';
import { PATIENCE_MS, RealWorld } from './real-world.ts';

const TIMEOUT_MS = START_DEADLINE_MS + 4 * PATIENCE_MS;

/** One story on a real control plane; whatever it is about, no law may be violated in it. */
async function story(settings: Readonly<Record<string, string>>, play: (world: RealWorld, operator: Operator) => Promise<void>): Promise<void> {
  const world = await RealWorld.start(['a', 'b'], { node_grace: '4s', ...settings });
  try {
    await play(world, new Operator(world));
    expect(world.violations()).toEqual([]);
  } finally {
    await world.end();
  }
}

describe.runIf(HAS_REAL_SERVER && HAS_KUBECTL)(
  `a fence on a real control plane (${NEEDS_REAL_SERVER}, and kubectl 1.30)`,
  { timeout: TIMEOUT_MS },
  () => {
    it('releases by the out-of-service taint, by deletion where the server does not know it, and the pod writes on another node', async () => {
      await story({}, async (world, operator) => {
        const [pod = ''] = await world.podsOn('a');
        world.member('a').machine.panic();
        const status = await operator.sees('a', 'recovered', ({ outcome }) => outcome === 'recovered', PATIENCE_MS);
        expect(journal(status)).toEqual([
          'mark-unschedulable run succeeded',
          'redfish-off off succeeded',
          'release release succeeded',
          'release-end release-end succeeded',
          'redfish-on on succeeded',
          'mark-schedulable run succeeded',
        ]);
        const [by, write] = knowsOutOfService() ? ['out-of-service', 'patch nodes a'] : ['delete-pods', `delete pods ${pod}`];
        expect(status.released).toMatchObject({ by, pods: 1 });
        expect(world.witness.releases()).toContain(write);
        const moved = async (): Promise<true | undefined> => ((await world.podsOn('b')).includes(pod) ? true : undefined);
        await until(`${pod} is bound to b`, moved, PATIENCE_MS);
        const volumes = async (): Promise<string[]> => (await world.cluster.list(VOLUME_ATTACHMENTS)).map(({ spec }) => spec.nodeName);
        await until(
          'both volumes are attached to b',
          async () => ((await volumes()).join() === 'b,b' ? true : undefined),
          PATIENCE_MS,
          async () => (await volumes()).join(),
        );
      });
    });

    it('releases nothing on the word of a BMC that lies', async () => {
      await story({}, async (world, operator) => {
        world.member('a').bmc.device.faults = { ignoresReset: true, shows: 'On', chassisShows: 'On' };
        world.member('a').machine.panic();
        const status = await operator.sees('a', 'failed', ({ outcome }) => outcome === 'failed', PATIENCE_MS);
        expect(status.message).toContain('Nothing was released');
        expect(condition(status, 'WorkloadReleased')).not.toMatch(/^True/);
        expect(world.witness.releases()).toEqual([]);
      });
    });

    it("waits for a person's stop, and goes on when it is gone", async () => {
      await story({ power_management_delay: '4s' }, async (world, operator) => {
        world.member('a').machine.panic();
        await operator.sees('a', 'running', ({ state }) => state === 'running', PATIENCE_MS);
        await operator.stop('a', 'not-now', 'somebody is at the rack');
        await operator.sees('a', 'stopped', (status) => condition(status, 'Stopped').startsWith('True'), PATIENCE_MS);
        expect(world.witness.sets('a')).toEqual([]);
        await operator.removeStop('not-now');
        await operator.sees('a', 'recovered', ({ outcome }) => outcome === 'recovered', PATIENCE_MS);
      });
    });
  },
);
