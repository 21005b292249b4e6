import { afterEach, describe, expect, it } from 'vitest';
import { decideByFence } from '../../src/controllers/metal3-remediation/by-fence.ts';
import { NODE_FENCE_STOPS } from '../../src/ports/resources.ts';
import { Operator } from '../baremetal-host/operator.ts';
import { ShellWorld } from './shell-world.ts';
import { MINUTE_MS, node, remediation, SECOND_MS, World } from './world.ts';

const STOP = { reason: 'stop', message: 'the stop wait is active: look', isStop: true } as const;
const SHORT = { strategy: { timeoutSeconds: 100, retryLimit: 1 } };
const SLOW = { timeout: 60_000 };
let world: ShellWorld | undefined;

afterEach(async () => {
  await world?.end();
  expect(world?.broken ?? []).toEqual([]);
  world = undefined;
});

async function stop(where: ShellWorld): Promise<void> {
  await where.own.operator.create(NODE_FENCE_STOPS, { metadata: { name: 'wait' }, spec: { node: 'n', reason: 'look' } });
}

async function goOn(where: ShellWorld): Promise<void> {
  await where.own.operator.remove(NODE_FENCE_STOPS, 'wait');
}

describe('a person’s stop between the request of an off and its proof', SLOW, () => {
  it('keeps a host off whose off can not be proven: it is let on when the stop is gone', () => {
    const pure = new World();
    while (pure.operator.offs === 0) if (pure.step(1) === 0) pure.pass(5 * SECOND_MS);
    pure.pass(MINUTE_MS);
    pure.node = node({ lifeSeenMs: pure.nowMs });
    pure.holds = [STOP];
    pure.run(30 * MINUTE_MS);
    expect([pure.operator.isOn, pure.operator.offs, pure.own.retryCount]).toEqual([false, 1, 0]);
    expect([...pure.problems].join()).toContain('LeftOff: BareMetalHost host stays off: stop, the stop wait is active: look');
    pure.holds = [];
    pure.run(10 * MINUTE_MS);
    expect([pure.operator.isOn, pure.own.finalizers]).toEqual([true, []]);
  });

  it('and a pause, which says as loudly what stays off', () => {
    const pure = new World();
    while (pure.operator.offs === 0) if (pure.step(1) === 0) pure.pass(5 * SECOND_MS);
    pure.remediation = { ...pure.own, isPaused: true };
    pure.run(10 * MINUTE_MS);
    expect(pure.operator.isOn).toBe(false);
    expect([...pure.problems].at(-1)).toContain('LeftOff: it is paused, and BareMetalHost host is held off');
  });

  it('uses up no retry, and hands no Machine to its owner', async () => {
    world = await ShellWorld.create({ machine: new Operator({ bmc: 'stuck-on' }) });
    const { events } = world.start();
    await world.request(SHORT);
    for (let second = 0; second < 60 && (await world.holds()).length === 0; second += 1) await world.pass(SECOND_MS);
    await stop(world);
    await world.pass(20 * MINUTE_MS);
    expect([await world.phase(), (await world.found())?.status?.retryCount ?? 0]).toEqual(['Running', 0]);
    expect(events.join()).not.toContain('RemediationExhausted');
    await goOn(world);
    await world.pass(MINUTE_MS);
    expect((await world.found())?.status?.retryCount ?? 0, 'it has the time that it had left').toBe(0);
    await world.pass(5 * MINUTE_MS);
    expect(events.join()).toContain('RemediationExhausted');
  });
});

describe('a person’s stop of a node that is waited for', SLOW, () => {
  it('uses up no retry, and hands no Machine to its owner', async () => {
    world = await ShellWorld.create();
    world.isBroken = true;
    const { events } = world.start();
    await world.request({ strategy: { timeoutSeconds: 100, retryLimit: 1 } });
    for (let second = 0; second < 400 && !(world.host.machine.ons > 0 && (await world.phase()) === 'Waiting'); second += 1)
      await world.pass(SECOND_MS);
    await stop(world);
    await world.pass(20 * MINUTE_MS);
    expect([await world.phase(), (await world.found())?.status?.retryCount ?? 0]).toEqual(['Waiting', 0]);
    await goOn(world);
    await world.pass(20 * MINUTE_MS);
    expect(events.join()).toContain('RemediationExhausted');
  });
});

describe('a person’s stop of a node whose cluster can not be asked any more', SLOW, () => {
  it('keeps its host off, as long as it stands', async () => {
    world = await ShellWorld.create({ isFar: true });
    const { warnings } = world.start();
    await world.request({ strategy: { timeoutSeconds: 100 } });
    for (let second = 0; second < 60 && world.host.machine.isOn; second += 1) await world.pass(SECOND_MS);
    world.workload.isReachable = false;
    await stop(world);
    await world.pass(10 * MINUTE_MS);
    expect([world.host.machine.isOn, (await world.holds()).length]).toEqual([false, 1]);
    expect(warnings.join()).toContain('LeftOff: BareMetalHost host stays off');
    await goOn(world);
    await world.pass(6 * MINUTE_MS);
    expect([world.host.machine.isOn, await world.holds()]).toEqual([true, []]);
  });
});

describe('a person’s stop of a node that agents of nodefence fence', SLOW, () => {
  it.each(['Running', 'Waiting'] as const)('leaves the NodeFence that failed, and the Machine, as they are: %s', (phase) => {
    const pure = new World({ remediation: remediation({ phase, retryCount: 1, finalizers: ['metal3remediation.infrastructure.cluster.x-k8s.io'] }) });
    const failed = {
      name: 'node-fence-n',
      uid: 'uid-f',
      owner: 'it',
      requestedByUID: 'uid-r',
      isDeleting: false,
      isFinal: true,
      isOffSent: true,
      isOff: false,
      isStuck: false,
    };
    const kindsOf = (): string[] => decideByFence(pure.snapshot(), { ...failed, outcome: 'failed', seenMs: 0 }).actions.map(({ kind }) => kind);
    expect(kindsOf()).toEqual(['withdraw-fence', 'machine-conditions', 'annotate', 'status']);
    pure.holds = [STOP];
    expect(kindsOf()).toEqual([]);
  });
});
