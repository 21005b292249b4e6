import { readFileSync } from 'node:fs';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { actionsIn, eventsIn, lastStop } from './actions.ts';
import { openstack } from './definition.ts';
import { serverIn, shownBy } from './server.ts';
import { failureOf } from '../../src/testbed/devices/cloud/testing.ts';
import { startBench, type Bench } from '../../test/agents/openstack-emulated.ts';

let bench: Bench;
const id = (): string => bench.service.instances[0]?.id ?? '';

async function readState(): Promise<string> {
  return (await bench.agent.read(bench.target())).state;
}

/** The server is off, by somebody else's stop that its hypervisor carried out. */
async function stopped(): Promise<void> {
  bench.service.instances[0]?.stop();
  await expect.poll(() => bench.cloud.machines[0]?.state()).toBe('off');
  bench.service.nova.record(id(), 'stop', [{ event: 'compute_stop_instance', result: 'Success' }]);
}

beforeEach(async () => {
  bench = await startBench();
});

afterEach(() => bench.close());

describe('a server of OpenStack', () => {
  it.each([
    ['PAUSED', 'unknown'],
    ['SUSPENDED', 'unknown'],
    ['SHELVED', 'unknown'],
    ['SHELVED_OFFLOADED', 'unknown'],
    ['RESCUE', 'unknown'],
    ['VERIFY_RESIZE', 'unknown'],
    ['DELETED', 'unknown'],
    ['SOFT_DELETED', 'unknown'],
    ['UNKNOWN', 'unknown'],
    ['constructor', 'unknown'],
    ['', 'unknown'],
    ['absent', 'unknown'],
    ['ERROR', 'pending'],
    ['REBOOT', 'pending'],
    ['MIGRATING', 'pending'],
    ['BUILD', 'pending'],
  ])('that says %s is %s, whatever else it shows', async (shows, state) => {
    await stopped();
    bench.service.setFaults({ shows });
    expect(await readState()).toBe(state);
  });

  it.each([
    ['a task under way, such as a start', { 'OS-EXT-STS:task_state': 'powering-on' }, 'pending'],
    ['a task state that is not shown', { 'OS-EXT-STS:task_state': undefined }, 'unknown'],
    ['a power state that runs', { 'OS-EXT-STS:power_state': 1 }, 'unknown'],
    ['a power state of nothing', { 'OS-EXT-STS:power_state': 0 }, 'unknown'],
    ['a power state that is not shown', { 'OS-EXT-STS:power_state': undefined }, 'unknown'],
    ['a power state that is a text', { 'OS-EXT-STS:power_state': '4' }, 'unknown'],
    ['another state of the machine', { 'OS-EXT-STS:vm_state': 'active' }, 'unknown'],
  ])('that says SHUTOFF with %s is not off', async (_what, shown, state) => {
    await stopped();
    Object.assign(bench.service.oddities, { shown, hostStatus: 'UP' });
    expect(await readState()).toBe(state);
  });

  it.each(['UNKNOWN', 'DOWN', '', 'PECULIAR'])(
    'that is said to be off is unknown while its host_status is "%s": its state is a memory',
    async (hostStatus) => {
      await stopped();
      Object.assign(bench.service.oddities, { hostStatus });
      expect(await readState()).toBe('unknown');
    },
  );

  it.each(['UNKNOWN', 'DOWN'])('that is said to be on is unknown while its host_status is %s', async (hostStatus) => {
    Object.assign(bench.service.oddities, { hostStatus });
    expect(await readState()).toBe('unknown');
  });

  it('is off where its hypervisor answers, whoever stopped it', async () => {
    bench.cloud.machines[0]?.off('set');
    Object.assign(bench.service.oddities, { hostStatus: 'UP' });
    expect(await bench.agent.read(bench.target())).toMatchObject({
      state: 'off',
      detail: 'status=SHUTOFF vm_state=stopped task_state=null power_state=4 host_status=UP',
      identity: 'verified',
    });
  });

  it('that only shut itself down, so that nova has not taken note, is not off', async () => {
    Object.assign(bench.service.oddities, { shown: { 'OS-EXT-STS:power_state': 4 } });
    expect(await readState()).toBe('pending');
  });
});

describe('without host_status, a server that says SHUTOFF', () => {
  it.each([undefined, 'MAINTENANCE'])('is off by a stop that its own hypervisor carried out (host_status %s)', async (hostStatus) => {
    await stopped();
    Object.assign(bench.service.oddities, hostStatus === undefined ? {} : { hostStatus });
    expect(await readState()).toBe('off');
  });

  it('is not off where the last thing done to it is no stop', async () => {
    await stopped();
    bench.service.nova.record(id(), 'start', [{ event: 'compute_start_instance', result: 'Error' }]);
    expect(await bench.agent.read(bench.target())).toMatchObject({
      state: 'unknown',
      detail: expect.stringContaining('the last thing that nova did to it is start, not a stop') as string,
    });
  });

  it('is off where its disks were handled after the stop', async () => {
    await stopped();
    bench.service.nova.record(id(), 'detach_volume', []);
    bench.service.nova.record(id(), 'lock', []);
    expect(await readState()).toBe('off');
  });

  it('is pending until its hypervisor has said that the stop is done', async () => {
    bench.cloud.machines[0]?.off('set');
    bench.service.nova.record(id(), 'stop', []);
    expect(await readState()).toBe('pending');
  });

  it('is not off by a stop that failed', async () => {
    bench.cloud.machines[0]?.off('set');
    bench.service.nova.record(id(), 'stop', [{ event: 'compute_stop_instance', result: 'Error' }]);
    expect(await bench.agent.read(bench.target())).toMatchObject({ state: 'unknown', detail: expect.stringContaining('ended with Error') as string });
  });

  it('is not off by a stop of another hypervisor than the one that has it now', async () => {
    bench.cloud.machines[0]?.off('set');
    bench.service.nova.record(id(), 'stop', [{ event: 'compute_stop_instance', result: 'Success', hostId: 'a-former-one' }]);
    expect(await bench.agent.read(bench.target())).toMatchObject({
      state: 'unknown',
      detail: expect.stringContaining('by another hypervisor') as string,
    });
  });

  it('is not off where nobody shows what was done to it', async () => {
    await stopped();
    Object.assign(bench.service.oddities, { hidesActions: true });
    expect(await bench.agent.read(bench.target())).toMatchObject({
      state: 'unknown',
      detail: expect.stringMatching(/HTTP 403: forbidden: .*nobody says that its hypervisor stopped it/u) as string,
    });
  });

  it('is not off where the cloud is too old to show how the stop ended', async () => {
    await stopped();
    Object.assign(bench.service.oddities, { newest: 40 });
    expect(await bench.agent.read(bench.target())).toMatchObject({
      state: 'unknown',
      detail: expect.stringContaining('neither host_status nor') as string,
    });
  });

  it('is asked for once: what was believed is believed while it shows the same', async () => {
    await stopped();
    await readState();
    const before = bench.service.requests.length;
    expect(await readState()).toBe('off');
    expect(bench.service.requests.slice(before)).toEqual(['GET server']);
  });
});

describe('an evacuated server', () => {
  it.each([undefined, 'UP'])(
    'is not off within a day, though it was stopped since: its old hypervisor may run it on (host_status %s)',
    async (hostStatus) => {
      Object.assign(bench.service.oddities, hostStatus === undefined ? {} : { hostStatus });
      bench.service.nova.record(id(), 'evacuate', [{ event: 'compute_rebuild_instance', result: 'Success' }]);
      await stopped();
      expect(await bench.agent.read(bench.target())).toMatchObject({
        state: 'unknown',
        detail: expect.stringContaining('evacuated within the last 24 hours') as string,
      });
    },
  );

  it.each([
    [86_500_000, 'off'],
    [86_300_000, 'unknown'],
  ])('that was evacuated %i ms ago is %s: a fence may have been held for long', async (agoMs, state) => {
    bench.service.nova.record(id(), 'evacuate', [{ event: 'compute_rebuild_instance', result: 'Success' }], agoMs);
    await stopped();
    expect(await readState()).toBe(state);
  });

  it("is told by the cloud's clock, not by ours", async () => {
    bench.service.setFaults({ aheadMs: 90_000_000 });
    bench.service.nova.record(id(), 'evacuate', [{ event: 'compute_rebuild_instance', result: 'Success' }]);
    await stopped();
    expect(await readState()).toBe('unknown');
  });

  it('is not told where actions are hidden and its hypervisor answers', async () => {
    bench.cloud.machines[0]?.off('set');
    Object.assign(bench.service.oddities, { hostStatus: 'UP', hidesActions: true });
    expect(await bench.agent.read(bench.target())).toMatchObject({
      state: 'off',
      detail: expect.stringContaining('an evacuation could not be seen') as string,
    });
  });
});

describe('the machine of a server', () => {
  it('that is not found is never off, and the words say what to look for', async () => {
    const plug = '0f0e0d0c-1111-4222-8333-444444444444';
    const error = await failureOf(bench.agent.read(bench.target({ plug, identity: { node: 'a' } })));
    expect([error.kind, error.message]).toEqual([
      'Misconfigured',
      expect.stringMatching(/HTTP 404: itemNotFound: .*right project and region.*not known to be off/u),
    ]);
  });

  it('is that of its id, which is the UUID of its firmware', async () => {
    expect(await bench.agent.read(bench.target())).toMatchObject({ identity: 'verified' });
    const other = { ...bench.target().identity, systemUUID: '0f0e0d0c-1111-4222-8333-444444444444' };
    const error = await failureOf(bench.agent.read(bench.target({ identity: other })));
    expect([error.kind, error.message]).toEqual(['Misconfigured', expect.stringContaining('its UUID is')]);
  });

  it('is another one where the providerID names another server', async () => {
    const error = await failureOf(bench.agent.read(bench.target({ plug: bench.service.instances[1]?.id ?? '' })));
    expect([error.kind, error.message]).toEqual(['Misconfigured', expect.stringContaining("the node's providerID is openstack:///")]);
  });

  it('is told by its fixed addresses where its firmware has another UUID, as bare metal has', async () => {
    const identity = { ...bench.target().identity, systemUUID: '0f0e0d0c-1111-4222-8333-444444444444' };
    const parameters = { system_uuid: 'no' };
    expect(await bench.agent.read(bench.target({ identity, parameters }))).toMatchObject({ identity: 'verified' });
    const error = await failureOf(bench.agent.read(bench.target({ identity: { ...identity, addresses: ['203.0.113.7'] }, parameters })));
    expect(error.message).toContain('its addresses are 10.9.0.1');
  });

  it('is found by its name where no other bears it', async () => {
    const identity = { node: 'a', systemUUID: id() };
    expect(await bench.agent.read(bench.target({ plug: 'a', identity }))).toMatchObject({ state: 'on', identity: 'verified' });
    const missing = await failureOf(bench.agent.read(bench.target({ plug: '.', identity })));
    expect([missing.kind, missing.message]).toEqual([
      'Misconfigured',
      expect.stringContaining('no server of this project and region bears this name'),
    ]);
    Object.assign(bench.service.oddities, { name: 'a' });
    const double = await failureOf(bench.agent.read(bench.target({ plug: 'a', identity })));
    expect([double.kind, double.message]).toEqual(['Misconfigured', expect.stringContaining('2 servers bear this name; write the id')]);
  });
});

describe('recorded answers of nova', () => {
  const sample = (name: string): unknown => JSON.parse(readFileSync(new URL(`./fixtures/${name}.json`, import.meta.url), 'utf8')) as unknown;
  const serverOf = (name: string): unknown => (sample(name) as { server: unknown }).server;

  it.each([
    ['server-v2.1', 'on'],
    ['server-v2.16', 'on'],
    ['server-v2.98', 'on'],
    ['server-down-cell-v2.71', 'unknown'],
  ])('%s is %s', (name, state) => {
    const server = serverIn(serverOf(name));
    expect(server === undefined ? undefined : shownBy(server).state).toBe(state);
  });

  it('of actions and their events are read', () => {
    expect(lastStop(actionsIn(sample('actions-v2.58')) ?? [])).toMatchObject({ action: 'stop', startedAtMs: Date.parse('2018-04-25T01:26:28.793Z') });
    const project = '6f70656e737461636b20342065766572';
    const hostId = '2091634baaccdc4c5a1d57069c833e402921df696b7f970791b12ec6';
    expect(eventsIn(sample('action-v2.62'), project)).toEqual([{ event: 'compute_stop_instance', result: 'Success', isFinished: true, hostId }]);
    expect(eventsIn(sample('action-v2.62'), 'another')).toMatchObject([{ hostId: undefined }]);
    expect(eventsIn(sample('action-v2.51-non-admin'), project)).toMatchObject([{ result: 'Success' }]);
  });
});

describe('the providerID of OpenStack', () => {
  const uuid = '0E44cc9c-e052-415d-afbf-469b0d384170';
  it.each([
    [`openstack:///${uuid}`, { plug: uuid.toLowerCase(), parameters: {} }],
    [`openstack://RegionTwo/${uuid}`, { plug: uuid.toLowerCase(), parameters: { region: 'RegionTwo' } }],
    [`openstack://${uuid}`, undefined],
    [`openstack://a/b/${uuid}`, undefined],
    ['openstack:///worker-1', undefined],
  ])('%s is read', (providerID, address) => {
    expect(openstack.instanceOf?.(providerID)).toEqual(address);
  });
});
