import { afterEach, describe, expect, it } from 'vitest';
import { NODE_FENCE_STOPS } from '../../src/ports/resources.ts';
import { Operator } from '../baremetal-host/operator.ts';
import { ShellWorld } from './shell-world.ts';
import type { Site } from './site.ts';
import { MINUTE_MS, SECOND_MS } from './world.ts';

const SLOW = 60_000;
let world: ShellWorld;

afterEach(async () => {
  await world.end();
  expect(world.broken).toEqual([]);
});

/** A person's stop that comes right after the look at stops by which this is decided: whoever looks again before the write finds it. */
function stopOnceLookedAt(site: Site, isAboutTo: () => Promise<boolean>): void {
  const { controllers } = site;
  const request = controllers.request.bind(controllers);
  let isStopped = false;
  controllers.request = async (asked) => {
    const answer = await request(asked);
    if (isStopped || asked.method !== 'GET' || !asked.path.endsWith('/nodefencestops') || !(await isAboutTo())) return answer;
    isStopped = true;
    await site.operator.create(NODE_FENCE_STOPS, { metadata: { name: 'wait' }, spec: { node: 'n', reason: 'look' } });
    return answer;
  };
}

const hasBegun = async (): Promise<boolean> => (await world.phase()) === 'Running' && ((await world.found())?.metadata.finalizers ?? []).length > 0;
const isHeldOff = async (): Promise<boolean> => !world.host.machine.isOn && (await world.holds()).length > 0;
const hasNoted = async (key: string): Promise<boolean> => (await isHeldOff()) && (await world.found())?.metadata.annotations?.[key] !== undefined;
const isTainted = async (): Promise<boolean> => (await world.node())?.spec.taints?.some(({ key }) => key.includes('out-of-service')) === true;

/** A host that goes off when its Node has been silent for long enough to be released at once. */
async function lateOff(): Promise<void> {
  const { machine } = world.host;
  machine.bmc = 'stuck-on';
  world.start();
  await world.request();
  await world.pass(30 * SECOND_MS);
  machine.bmc = 'well';
}

describe('a stop that comes between the decision and the write', { timeout: SLOW }, () => {
  it('keeps a host on: the annotation that holds it off is not set', async () => {
    world = await ShellWorld.create();
    world.start();
    stopOnceLookedAt(world.own, hasBegun);
    await world.request();
    await world.pass(MINUTE_MS);
    expect((await world.own.operator.list(NODE_FENCE_STOPS)).length).toBe(1);
    expect([await world.holds(), world.host.machine.offs]).toEqual([[], 0]);
  });

  it('keeps a host on whose Node is in another cluster, in whichever of both it stands', async () => {
    for (const where of ['own', 'workload'] as const) {
      world = await ShellWorld.create({ isFar: true });
      world.start();
      stopOnceLookedAt(world[where], hasBegun);
      await world.request();
      await world.pass(MINUTE_MS);
      expect((await world[where].operator.list(NODE_FENCE_STOPS)).length).toBe(1);
      expect([where, await world.holds(), world.host.machine.offs]).toEqual([where, [], 0]);
      await world.end();
    }
  });

  it('keeps the workload: the Node, here or in another cluster, is not tainted out of service', async () => {
    for (const isFar of [false, true]) {
      world = await ShellWorld.create({ minor: 28, isFar });
      await world.attach();
      await lateOff();
      stopOnceLookedAt(world.own, () => hasNoted('ha.k8s.io/metal3-remediation-release'));
      for (let second = 0; second < 120; second += 1) {
        await world.pass(SECOND_MS);
        expect(await isTainted()).toBe(false);
      }
      expect((await world.own.operator.list(NODE_FENCE_STOPS)).length).toBe(1);
      await world.end();
    }
  });

  it('keeps the Node, here or in another cluster', async () => {
    for (const isFar of [false, true]) {
      world = await ShellWorld.create({ isFar });
      await lateOff();
      stopOnceLookedAt(world.own, () => hasNoted('remediation.metal3.io/node-labels-backup'));
      const before = await world.node();
      await world.pass(2 * MINUTE_MS);
      expect((await world.own.operator.list(NODE_FENCE_STOPS)).length).toBe(1);
      expect((await world.node())?.metadata.uid).toBe(before?.metadata.uid);
      await world.end();
    }
  });

  it('keeps a Machine from its owner, who would replace it', async () => {
    world = await ShellWorld.create({ machine: new Operator({ bmc: 'stuck-on' }) });
    const { events } = world.start();
    await world.request({ strategy: { timeoutSeconds: 100, retryLimit: 1 } });
    const retries = async (): Promise<number> => (await world.found())?.status?.retryCount ?? 0;
    for (let second = 0; second < 300 && (await retries()) === 0; second += 1) await world.pass(SECOND_MS);
    const overMs = world.clock.monotonicMs() + 98 * SECOND_MS;
    stopOnceLookedAt(world.own, () => Promise.resolve(world.clock.monotonicMs() >= overMs));
    await world.pass(5 * MINUTE_MS);
    expect((await world.own.operator.list(NODE_FENCE_STOPS)).length).toBe(1);
    expect([await world.phase(), (await world.machine())?.status?.conditions ?? []]).toEqual(['Running', []]);
    await world.own.operator.remove(NODE_FENCE_STOPS, 'wait');
    await world.pass(5 * MINUTE_MS);
    expect(events.join()).toContain('RemediationExhausted');
  });
});
