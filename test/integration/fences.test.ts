import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { VOLUME_ATTACHMENTS } from '../../src/ports/resources.ts';
import { condition, journal, Operator } from '../scenarios/operator.ts';
import { until } from '../scenarios/waiting.ts';
import { HAS_KUBECTL, HAS_REAL_SERVER, knowsOutOfService, NEEDS_REAL_SERVER, START_DEADLINE_MS } from './real-server.ts';
import { PATIENCE_MS, RealWorld } from './real-world.ts';

const TIMEOUT_MS = 4 * PATIENCE_MS;

describe.runIf(HAS_REAL_SERVER && HAS_KUBECTL)(
  `a fence on a real control plane (${NEEDS_REAL_SERVER}, and kubectl 1.30)`,
  { timeout: TIMEOUT_MS },
  () => {
    let world: RealWorld;
    let operator: Operator;

    // One control plane for all stories, each of which has a node of its own; the last one stays down.
    beforeAll(async () => {
      world = await RealWorld.start(['a', 'b', 'c'], { node_grace: '4s', power_management_delay: '4s' });
      operator = new Operator(world);
    }, START_DEADLINE_MS + PATIENCE_MS);
    afterEach(() => {
      expect(world.violations(), 'whatever a story is about, no law may be violated in it').toEqual([]);
    });
    afterAll(() => world.end());

    it('releases by the out-of-service taint, by deletion where the server does not know it, and the pod writes on another node', async () => {
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
      const moved = async (): Promise<true | undefined> =>
        [...(await world.podsOn('b')), ...(await world.podsOn('c'))].includes(pod) ? true : undefined;
      await until(`${pod} is bound to another node`, moved, PATIENCE_MS);
      const volumes = async (): Promise<string[]> => (await world.cluster.list(VOLUME_ATTACHMENTS)).map(({ spec }) => spec.nodeName);
      await until(
        'every volume is attached to another node',
        async () => {
          const nodes = await volumes();
          return nodes.length === 3 && !nodes.includes('a') ? true : undefined;
        },
        PATIENCE_MS,
        async () => (await volumes()).join(),
      );
    });

    it("waits for a person's stop, and goes on when it is gone", async () => {
      world.member('b').machine.panic();
      await operator.sees('b', 'running', ({ state }) => state === 'running', PATIENCE_MS);
      await operator.stop('b', 'not-now', 'somebody is at the rack');
      await operator.sees('b', 'stopped', (status) => condition(status, 'Stopped').startsWith('True'), PATIENCE_MS);
      expect(world.witness.sets('b')).toEqual([]);
      await operator.removeStop('not-now');
      await operator.sees('b', 'recovered', ({ outcome }) => outcome === 'recovered', PATIENCE_MS);
    });

    it('releases nothing on the word of a BMC that lies', async () => {
      const before = world.witness.releases();
      world.member('c').bmc.device.faults = { ignoresReset: true, shows: 'On', chassisShows: 'On' };
      world.member('c').machine.panic();
      const status = await operator.sees('c', 'failed', ({ outcome }) => outcome === 'failed', PATIENCE_MS);
      expect(status.message).toContain('Nothing was released');
      expect(condition(status, 'WorkloadReleased')).not.toMatch(/^True/);
      expect(world.witness.releases()).toEqual(before);
    });
  },
);
