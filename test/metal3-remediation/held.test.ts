import { afterEach, describe, expect, it } from 'vitest';
import { holdKeyOf } from '../../src/controllers/metal3-remediation/names.ts';
import { BARE_METAL_HOSTS } from '../../src/ports/metal3.ts';
import { NODE_FENCE_STOPS, NODES } from '../../src/ports/resources.ts';
import { Operator } from '../baremetal-host/operator.ts';
import { NAMESPACE, REMEDIATIONS, ShellWorld } from './shell-world.ts';
import type { Replica } from './shell-world.ts';
import { MINUTE_MS, SECOND_MS } from './world.ts';

let world: ShellWorld;

afterEach(async () => {
  await world.end();
  expect(world.broken).toEqual([]);
});

const STORM = { policy: 'max-concurrent', reason: 'max-concurrent', message: 'two are fenced already' } as const;
const PRESERVED = { policy: 'preservation', reason: 'preserved', message: 'preserved on request' } as const;
const retries = async (): Promise<number> => (await world.found())?.status?.retryCount ?? 0;

function storm(holds: ShellWorld['storm']): Promise<void> {
  world.storm = holds;
  return Promise.resolve();
}

/** Hosts of other remediations, held off or not. */
async function others(areHeld: boolean): Promise<void> {
  for (let number = 1; number <= 50; number += 1) {
    const name = `host-${number}`;
    if (areHeld) {
      const { metadata } = await world.own.operator.create(REMEDIATIONS, { metadata: { namespace: NAMESPACE, name }, spec: {} });
      const annotations = { [holdKeyOf(metadata.uid ?? '')]: '{"mode":"hard"}' };
      await world.own.operator.create(BARE_METAL_HOSTS, { metadata: { namespace: NAMESPACE, name, annotations }, spec: { online: true } });
    } else await world.own.operator.remove(BARE_METAL_HOSTS, name, { namespace: NAMESPACE });
  }
}

async function goOn(): Promise<void> {
  await world.own.operator.remove(NODE_FENCE_STOPS, 'wait');
}

async function paused(value: string | null): Promise<void> {
  const annotations = { 'cluster.x-k8s.io/paused': value };
  await world.own.operator.mergePatch(REMEDIATIONS, 'm', { metadata: { annotations } }, { namespace: NAMESPACE });
}

async function marked(key: string, value: string | null): Promise<void> {
  await world.own.operator.mergePatch(BARE_METAL_HOSTS, 'host', { metadata: { annotations: { [key]: value } } }, { namespace: NAMESPACE });
}

/** Its host is off, its release is through, and it is stopped before it lets the host come back. */
async function stoppedOnTheWayBack(replica: Replica, stop = stopIt): Promise<void> {
  for (let second = 0; second < 120 && world.host.machine.isOn; second += 1) await world.pass(SECOND_MS);
  const { fate } = replica;
  replica.fate = (write) => (write.includes('/baremetalhosts/') ? 'lost' : 'done');
  for (let second = 0; second < 120 && (await world.phase()) !== 'Waiting'; second += 1) await world.pass(SECOND_MS);
  await stop();
  replica.fate = fate;
  expect([await world.phase(), world.host.machine.isOn]).toEqual(['Waiting', false]);
}

async function stopIt(): Promise<void> {
  await world.own.operator.create(NODE_FENCE_STOPS, { metadata: { name: 'wait' }, spec: { node: 'n', reason: 'look' } });
}

describe('the time of a Metal3Remediation that is held', { timeout: 60_000 }, () => {
  it.each([
    ['a storm', () => storm([STORM]), () => storm([])],
    ['the preservation of its machine', () => storm([PRESERVED]), () => storm([])],
    ['as many others as may be power-cycled at once', () => others(true), () => others(false)],
  ])('does not run before its off: behind %s its host has as long as ever to be fit for one', async (_what, begin, end) => {
    world = await ShellWorld.create({ machine: new Operator({ isOn: false, bmc: 'stuck-off' }) });
    world.start();
    await begin();
    await world.request({ strategy: { timeoutSeconds: 100, retryLimit: 2 } });
    await world.pass(10 * MINUTE_MS);
    await end();
    await world.pass(MINUTE_MS);
    expect([await world.phase(), await retries()]).toEqual(['Running', 0]);
    await world.pass(MINUTE_MS);
    expect(await retries(), 'its time is over').toBe(1);
  });

  it('is not switched off while its machine is preserved, and let go all the same where that begins after its off', async () => {
    world = await ShellWorld.create();
    const { events, warnings } = world.start();
    await storm([PRESERVED]);
    await world.request();
    await world.pass(20 * MINUTE_MS);
    expect(world.host.machine.offs).toBe(0);
    expect(warnings.join()).toContain('waits: preserved, preserved on request');
    await storm([]);
    for (let second = 0; second < 120 && world.host.machine.isOn; second += 1) await world.pass(SECOND_MS);
    await storm([PRESERVED]);
    await world.pass(MINUTE_MS);
    expect(events.join()).toContain('NodeDeleted');
    await world.pass(2 * MINUTE_MS);
    expect(events.join()).toContain('RemediationFinished');
  });

  it('does not run while a person’s stop keeps it off: it is not power-cycled once more for that', async () => {
    world = await ShellWorld.create();
    const replica = world.start();
    await world.request({ strategy: { timeoutSeconds: 100, retryLimit: 2 } });
    await stoppedOnTheWayBack(replica);
    await world.pass(10 * MINUTE_MS);
    expect([await world.phase(), world.host.machine.isOn]).toEqual(['Waiting', false]);
    await goOn();
    await world.pass(MINUTE_MS + 30 * SECOND_MS);
    expect(replica.events.join()).toContain('RemediationFinished');
    expect([world.host.machine.offs, await retries(), world.host.machine.isOn]).toEqual([1, 0, true]);
  });

  it('does not run while it is paused: it is not power-cycled once more for that', async () => {
    world = await ShellWorld.create();
    const replica = world.start();
    await world.request({ strategy: { timeoutSeconds: 100, retryLimit: 2 } });
    await stoppedOnTheWayBack(replica, () => paused(''));
    await world.pass(20 * MINUTE_MS);
    expect([await world.phase(), world.host.machine.isOn]).toEqual(['Waiting', false]);
    await paused(null);
    await world.pass(MINUTE_MS + 30 * SECOND_MS);
    expect(replica.events.join()).toContain('RemediationFinished');
    expect([world.host.machine.offs, await retries(), world.host.machine.isOn]).toEqual([1, 0, true]);
  });

  it.each(['baremetalhost.metal3.io/paused', 'reboot.metal3.io/firmware'])(
    'does not run while a person keeps its host off by %s: it is not power-cycled again, nor its Machine replaced',
    async (mark) => {
      world = await ShellWorld.create();
      const replica = world.start();
      await world.request({ strategy: { timeoutSeconds: 100, retryLimit: 1 } });
      await stoppedOnTheWayBack(replica, () => marked(mark, ''));
      await world.pass(30 * MINUTE_MS);
      expect([await world.phase(), await retries(), world.host.machine.isOn]).toEqual(['Waiting', 0, false]);
      expect(replica.warnings.join()).toContain(`BareMetalHost host is waited for: `);
      await marked(mark, null);
      await world.pass(MINUTE_MS + 30 * SECOND_MS);
      expect(replica.events.join()).toContain('RemediationFinished');
      expect([world.host.machine.offs, await retries(), world.host.machine.isOn]).toEqual([1, 0, true]);
    },
  );

  it('runs when it is deleted while a person keeps its host off: nothing waits for the host for ever', async () => {
    world = await ShellWorld.create();
    const replica = world.start();
    await world.request({ strategy: { timeoutSeconds: 100 } });
    await stoppedOnTheWayBack(replica, () => marked('baremetalhost.metal3.io/paused', ''));
    await world.delete();
    await world.pass(5 * MINUTE_MS);
    expect([await world.found(), await world.holds()]).toEqual([undefined, []]);
  });

  it('does not run when it is deleted meanwhile: what was kept of its Node is put back', async () => {
    world = await ShellWorld.create();
    world.bootMs = 60_000;
    await world.site.operator.mergePatch(NODES, 'n', { metadata: { labels: { kept: 'yes' } } });
    const replica = world.start();
    await world.request({ strategy: { timeoutSeconds: 100 } });
    await stoppedOnTheWayBack(replica);
    await world.delete();
    await world.pass(10 * MINUTE_MS);
    expect([await world.node(), world.host.machine.isOn]).toEqual([undefined, false]);
    await goOn();
    await world.pass(4 * MINUTE_MS);
    expect([(await world.node())?.metadata.labels?.['kept'], await world.found()]).toEqual(['yes', undefined]);
  });
});
