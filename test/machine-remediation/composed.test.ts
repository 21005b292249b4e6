import { afterEach, describe, expect, it } from 'vitest';
import { standardRegistry } from '../../agents/registry.ts';
import { composeController } from '../../src/manager/compose.ts';
import type { ComposedController } from '../../src/manager/compose.ts';
import { LivePlanner } from '../../src/config/live-planner.ts';
import { REQUEST } from '../../src/controllers/machine-remediation/names.ts';
import { MEDIK8S_LEASE_NAMESPACE, NAMESPACE } from '../../src/manifests/access.ts';
import { NO_METRICS } from '../../src/ports/metrics.ts';
import type { KubeObject } from '../../src/ports/objects.ts';
import { CONFIG_MAPS, NODES } from '../../src/ports/resources.ts';
import { testRandom } from '../../src/testbed/apiserver/test-support.ts';
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
  await world.end();
});

/** The whole program, as the daemon composes it; returns what it tells in Events about Machines. */
async function start(machineRemediation: 'incident' | 'off' = 'incident'): Promise<string[]> {
  const events: string[] = [];
  const event = ({ kind = '', metadata }: KubeObject, _type: string, reason: string, message: string): void => {
    if (kind === 'Machine') events.push(`${metadata.name} ${reason} ${message}`);
  };
  controller = composeController(
    {
      ...{ transport: world.controllers, clock: world.clock, random: testRandom(), registry: standardRegistry(), logger: QUIET },
      ...{ metrics: NO_METRICS, recorder: { event }, exit: quiet },
      planner: (sources) => new LivePlanner({ ...sources, namespace: NAMESPACE }),
    },
    {
      ...{ mode: 'enforce', ownNode: undefined, outOfService: true, staleAfterMs: 60_000, namespace: NAMESPACE, identity: 'here', concurrency: 8 },
      ...{ nodeLeaseNamespace: MEDIK8S_LEASE_NAMESPACE, machineRemediation, syncDeadlineMs: 10_000 },
    },
  );
  const starting = controller.start();
  await world.pass(5 * SECOND_MS);
  await starting;
  await world.pass(30 * SECOND_MS);
  return events;
}

async function ready(node: string, status: 'True' | 'Unknown'): Promise<void> {
  const lastTransitionTime = new Date(world.clock.wallMs()).toISOString().replace(/\.\d{3}Z$/, 'Z');
  const conditions = [{ type: 'Ready', status, lastTransitionTime }];
  await world.operator.mergePatch(NODES, node, { status: { conditions } }, { subresource: 'status' });
}

describe('machine remediation in the program', { timeout: 60_000 }, () => {
  it('switches nothing off while a storm policy of the configuration stands, and goes on when it is over', async () => {
    world = await ShellWorld.create({ nodes: ['n1', 'n2', 'n3'] });
    await world.operator.create(CONFIG_MAPS, { metadata: { name: 'fence-policy-max-unhealthy', namespace: NAMESPACE }, data: { max: '1' } });
    const events = await start();
    for (const node of ['n2', 'n3']) await ready(node, 'Unknown');
    await world.pass(10 * SECOND_MS);
    await world.ask('n1');
    await world.pass(MINUTE_MS);
    expect(events.join('\n')).toContain('machine-n1 RemediationBlocked Machine metal3/machine-n1: waits: max-unhealthy');
    expect(world.hardware('n1').offs).toBe(0);
    expect(await world.left('n1')).toEqual([REQUEST]);
    for (const node of ['n2', 'n3']) await ready(node, 'True');
    await world.pass(5 * MINUTE_MS);
    expect(world.hardware('n1')).toMatchObject({ offs: 1, isOn: true });
    expect(await world.left('n1')).toEqual([]);
  });

  it('switches off as many well nodes at once as the policies admit, though all are asked for in one moment and are Ready yet', async () => {
    const nodes = ['n1', 'n2', 'n3'];
    world = await ShellWorld.create({ nodes });
    await world.operator.create(CONFIG_MAPS, { metadata: { name: 'fence-policy-max-unhealthy', namespace: NAMESPACE }, data: { max: '1' } });
    const events = await start();
    await Promise.all(nodes.map((node) => world.ask(node)));
    const isOff = (node: string): boolean => !world.hardware(node).isOn;
    let most = 0;
    for (let second = 0; second < 40 * 60 && nodes.some((node) => world.hardware(node).offs === 0); second += 1) {
      await world.pass(SECOND_MS);
      most = Math.max(most, nodes.filter(isOff).length);
    }
    await world.pass(10 * MINUTE_MS);
    expect([most, nodes.map((node) => world.hardware(node).offs), nodes.filter(isOff)]).toEqual([1, [1, 1, 1], []]);
    expect(events.join('\n')).toMatch(/waits: max-unhealthy, 1 of 3 nodes are unhealthy \(0 of them silent\) beside this one, which is well/);
  });

  it('is not there where it is switched off', async () => {
    world = await ShellWorld.create();
    await start('off');
    await world.ask('n1');
    await world.pass(MINUTE_MS);
    expect(await world.left('n1')).toEqual([REQUEST]);
  });
});
