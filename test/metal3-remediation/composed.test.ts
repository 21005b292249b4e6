import { afterEach, describe, expect, it } from 'vitest';
import { standardRegistry } from '../../agents/registry.ts';
import { composeController } from '../../src/manager/compose.ts';
import type { ComposedController } from '../../src/manager/compose.ts';
import type { Metal3RemediationChoice } from '../../src/manager/metal3-remediation/mode.ts';
import { LivePlanner } from '../../src/config/live-planner.ts';
import { testRandom } from '../../src/testbed/apiserver/test-support.ts';
import { MEDIK8S_LEASE_NAMESPACE, NAMESPACE } from '../../src/manifests/access.ts';
import { NO_METRICS } from '../../src/ports/metrics.ts';
import type { KubeObject } from '../../src/ports/objects.ts';
import { CONFIG_MAPS, NODES } from '../../src/ports/resources.ts';
import { ShellWorld } from './shell-world.ts';
import { MINUTE_MS, SECOND_MS } from './world.ts';

const quiet = (): void => undefined;
const QUIET = { debug: quiet, info: quiet, warn: quiet, error: quiet };
let world: ShellWorld;
let controller: ComposedController | undefined;

afterEach(async () => {
  const stopping = controller?.stop(1_000);
  await world.pass(5 * SECOND_MS);
  await stopping;
  expect(world.broken).toEqual([]);
});

/** The whole program, as the daemon composes it; returns what it tells in Events about remediations. */
async function start(metal3Remediation: Metal3RemediationChoice): Promise<string[]> {
  const events: string[] = [];
  const event = ({ kind = '' }: KubeObject, _type: string, reason: string, message: string): void => {
    if (kind === 'Metal3Remediation') events.push(`${reason} ${message}`);
  };
  controller = composeController(
    {
      ...{ transport: world.own.controllers, clock: world.clock, random: testRandom(), registry: standardRegistry(), logger: QUIET },
      ...{ metrics: NO_METRICS, recorder: { event }, exit: quiet },
      planner: (sources) => new LivePlanner({ ...sources, namespace: NAMESPACE }),
    },
    {
      ...{ mode: 'enforce', ownNode: undefined, outOfService: true, staleAfterMs: 60_000, namespace: NAMESPACE, identity: 'here', concurrency: 8 },
      ...{ nodeLeaseNamespace: MEDIK8S_LEASE_NAMESPACE, metal3Remediation, syncDeadlineMs: 10_000 },
    },
  );
  const starting = controller.start();
  await world.pass(5 * SECOND_MS);
  await starting;
  await world.pass(30 * SECOND_MS);
  return events;
}

describe('Metal3Remediation in the program', { timeout: 60_000 }, () => {
  it('switches nothing off while a storm policy stands; one that stands because its host is off keeps it from a release, and never from coming back', async () => {
    world = await ShellWorld.create();
    world.isAlive = true;
    const { operator } = world.own;
    const says = async (name: string, status: string): Promise<void> => {
      const conditions = [{ type: 'Ready', status, lastTransitionTime: '2027-01-01T00:00:00Z' }];
      await operator.mergePatch(NODES, name, { status: { conditions } }, { subresource: 'status' });
    };
    await operator.create(NODES, { metadata: { name: 'third' }, spec: {}, status: {} });
    for (const name of ['other', 'third']) await says(name, 'Unknown');
    await operator.create(CONFIG_MAPS, { metadata: { name: 'fence-policy-max-unhealthy', namespace: NAMESPACE }, data: { max: '1' } });
    const events = await start('auto');
    await world.request();
    await world.pass(MINUTE_MS);
    expect(events.join('\n')).toContain('waits: max-unhealthy');
    expect([world.host.machine.offs, await world.holds()]).toEqual([0, []]);
    await operator.remove(NODES, 'third');
    await world.pass(30 * SECOND_MS);
    expect(events.join('\n')).toContain('waits: max-unhealthy, 1 of 2 nodes are unhealthy (0 of them silent) beside this one');
    await says('other', 'True');
    for (let second = 0; second < 60 && world.host.machine.isOn; second += 1) await world.pass(SECOND_MS);
    await says('other', 'Unknown');
    await world.pass(15 * MINUTE_MS);
    expect([world.host.machine.offs, world.host.machine.isOn, await world.holds(), await world.lock()]).toEqual([1, true, [], undefined]);
    expect(events.join('\n')).toContain('waits: max-unhealthy, 2 of 2 nodes are unhealthy');
    expect(events.at(-1)).toContain('RemediationFinished');
    // What counts down is told once.
    expect(events.filter((event) => event.includes('cooldown')).length).toBeLessThanOrEqual(1);
  });

  it('is not there where it is switched off', async () => {
    world = await ShellWorld.create();
    await start('off');
    await world.request();
    await world.pass(MINUTE_MS);
    expect(await world.phase()).toBe('');
  });
});
