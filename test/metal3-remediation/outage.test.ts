import { afterEach, describe, expect, it } from 'vitest';
import { ShellWorld } from './shell-world.ts';
import { MINUTE_MS, SECOND_MS } from './world.ts';

const OUTAGE_MS = 10 * MINUTE_MS;
let world: ShellWorld;

afterEach(async () => {
  await world.end();
  expect(world.broken).toEqual([]);
});

/** Power-cycled, and waited for; from then on nobody can hear whether its node is back. */
async function waitedForUnobserved(): Promise<{ events: string[] }> {
  world = await ShellWorld.create({ isFar: true });
  world.bootMs = OUTAGE_MS + MINUTE_MS;
  const { events } = world.start();
  await world.request({ strategy: { timeoutSeconds: 100, retryLimit: 2 } });
  for (let second = 0; second < 400 && (await world.phase()) !== 'Waiting'; second += 1) await world.pass(SECOND_MS);
  await world.pass(30 * SECOND_MS);
  expect([await world.phase(), world.host.machine.offs, world.host.machine.isOn]).toEqual(['Waiting', 1, true]);
  world.workload.isReachable = false;
  await world.pass(OUTAGE_MS);
  return { events };
}

describe('an outage of the cluster that the Node is in', { timeout: 60_000 }, () => {
  it('is no silence of the node: nothing is switched off again in it, and the machine is not given up', async () => {
    const { events } = await waitedForUnobserved();
    expect(world.host.machine.offs).toBe(1);
    expect(events.filter((event) => /RemediationRetried|RemediationExhausted/.test(event))).toEqual([]);
    expect((await world.found())?.status).toMatchObject({ phase: 'Waiting' });
  });

  it('gives the node its whole time behind it', async () => {
    const { events } = await waitedForUnobserved();
    world.workload.isReachable = true;
    await world.pass(90 * SECOND_MS);
    expect(events.join('\n')).toContain('RemediationFinished');
    expect([world.host.machine.offs, (await world.found())?.status?.retryCount ?? 0]).toEqual([1, 0]);
  });

  it('and no more than that: a node that is not back then is tried again', async () => {
    await waitedForUnobserved();
    world.isBroken = true;
    world.workload.isReachable = true;
    await world.pass(150 * SECOND_MS);
    expect((await world.found())?.status?.retryCount).toBe(1);
    expect(world.host.machine.offs).toBe(2);
  });

  it('is told on the remediation once, and only when it lasts: a call that fails now and then is tried again', async () => {
    world = await ShellWorld.create({ isFar: true });
    const { events } = world.start();
    const told = (): string[] => events.filter((event) => event.includes('RemediationBlocked') && event.includes('no way there'));
    await world.request();
    for (let time = 0; time < 5; time += 1) {
      world.workload.isReachable = false;
      await world.pass(20 * SECOND_MS);
      world.workload.isReachable = true;
      await world.pass(20 * SECOND_MS);
    }
    expect(told()).toEqual([]);
    world.workload.isReachable = false;
    await world.pass(OUTAGE_MS);
    expect(told()).toHaveLength(1);
  });
});

describe('a watch that is silent', { timeout: 60_000 }, () => {
  it.each(['/baremetalhosts', '/nodes', '/metal3remediations'])('of %s: nothing is written, until it is heard again', async (kind) => {
    world = await ShellWorld.create();
    world.bootMs = MINUTE_MS;
    const replica = world.start();
    await world.pass(2 * SECOND_MS);
    replica.leadership.isLeading = false;
    await world.request();
    await world.pass(5 * SECOND_MS);
    replica.isDeaf = (path) => path.endsWith(kind);
    await world.pass(5 * MINUTE_MS);
    replica.leadership.isLeading = true;
    replica.remediation.wake();
    await world.pass(2 * MINUTE_MS);
    expect([replica.writes, world.host.machine.offs]).toEqual([[], 0]);
    expect(replica.remediation.problems()).toEqual(['the watches of Metal3Remediation are stale: nothing is written until they deliver again']);
    replica.isDeaf = () => false;
    await world.pass(10 * MINUTE_MS);
    expect(world.host.machine.offs).toBe(1);
    expect(replica.remediation.problems()).toEqual([]);
  });
});
