import { afterEach, describe, expect, it } from 'vitest';

import { AgentError } from '../../src/ports/agents.ts';
import type { MemoryMachine } from '../../src/testbed/devices/bmc/power-backend.ts';
import type { CloudFaults } from '../../src/testbed/devices/cloud/faults.ts';
import type { ComputeExtras } from '../../src/testbed/devices/cloud/gce-compute.ts';
import { NODE, PROVIDER_ID, startedIn, type Emulated } from '../../test/agents/gce-emulated.ts';
import { failureOf } from '../../src/testbed/devices/cloud/testing.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/u;
const open: Emulated[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const started = (extras?: ComputeExtras, faults?: CloudFaults): Promise<Emulated> => startedIn(open, extras, faults);

async function stopped(machine: MemoryMachine): Promise<void> {
  await expect.poll(() => machine.state(), { interval: 5 }).toBe('off');
}

function gate(allowed: number): { beforeSend: () => void; asked: () => number } {
  let asked = 0;
  return {
    asked: () => asked,
    beforeSend: () => {
      asked += 1;
      if (asked > allowed) throw new AgentError('NotSent', { device: '', plug: '', asked: '', answered: 'the lease is gone' });
    },
  };
}

describe('a stop', () => {
  it('skips the graceful shutdown, names its request, and is only accepted: the read decides', async () => {
    const { agent, cloud, machine, target } = await started();
    const outcome = await agent.set(target({ intent: 'off-1' }), 'off');
    expect(outcome.result).toBe('accepted');
    expect(outcome.detail).toBe('operation-0001 RUNNING');
    const [query] = cloud.queries;
    expect([...(query?.keys() ?? [])].sort()).toEqual(['noGracefulShutdown', 'requestId']);
    expect(query?.get('noGracefulShutdown')).toBe('true');
    expect(query?.get('requestId')).toMatch(UUID);
    await stopped(machine);
    expect(await agent.read(target())).toMatchObject({ state: 'off', detail: 'status=TERMINATED', identity: 'verified' });
  });

  it('discards local SSDs where the instance has any, for the cloud does not stop it otherwise', async () => {
    const { agent, cloud, machine, target } = await started({ hasLocalSsd: true });
    await agent.set(target(), 'off');
    await stopped(machine);
    expect(cloud.queries[0]?.get('discardLocalSsd')).toBe('true');
    expect((await agent.read(target())).state).toBe('off');
  });

  it('has the same request id for whoever goes on with the same intent, so that the cloud does it once', async () => {
    const { agent, cloud, target } = await started({}, { stopMs: 60_000 });
    await agent.set(target({ intent: 'off-1' }), 'off');
    await agent.set(target({ intent: 'off-1' }), 'off');
    expect(cloud.instances[0]?.commands).toEqual([{ wanted: 'off' }]);
    await agent.set(target({ intent: 'off-2' }), 'off');
    expect(new Set(cloud.queries.map((query) => query.get('requestId'))).size).toBe(2);
    expect(cloud.instances[0]?.commands).toHaveLength(2);
  });

  it('goes to the numeric id: an instance that is replaced after it was read is not hit', async () => {
    const { agent, cloud, machine, target } = await started();
    const replaces = { beforeSend: () => cloud.setFaults({ isReplaced: true }) };
    const error = await failureOf(agent.set(target({ ...replaces, identity: { node: NODE, providerID: PROVIDER_ID } }), 'off'));
    expect(error.kind).toBe('Misconfigured');
    expect(error.message).toContain('HTTP 404 notFound');
    expect(cloud.instances[0]?.commands).toEqual([]);
    expect(machine.state()).toBe('on');
  });

  it('is not sent to another machine', async () => {
    const { agent, cloud, target } = await started({}, { isReplaced: true });
    expect((await failureOf(agent.set(target(), 'off'))).kind).toBe('Misconfigured');
    expect(cloud.requests).not.toContain('POST stop');
  });

  it('is not sent when the lease is gone', async () => {
    const { agent, cloud, target } = await started();
    const { beforeSend, asked } = gate(0);
    expect((await failureOf(agent.set(target({ beforeSend }), 'off'))).kind).toBe('NotSent');
    expect(asked()).toBe(1);
    expect(cloud.requests).not.toContain('POST stop');
  });

  it('is sent again where the cloud refused it for its rate, and asks for the lease again', async () => {
    const failures = [{ request: 'POST stop', status: 403, code: 'rateLimitExceeded', message: 'Quota exceeded', times: 1 }];
    const { agent, machine, target } = await started({}, { failures });
    const { beforeSend, asked } = gate(2);
    expect((await agent.set(target({ beforeSend }), 'off')).result).toBe('accepted');
    expect(asked()).toBe(2);
    await stopped(machine);
  });

  it('is not sent again after its rate was refused when the lease is gone by then', async () => {
    const failures = [{ request: 'POST stop', status: 403, code: 'rateLimitExceeded', message: 'Quota exceeded' }];
    const { agent, cloud, machine, target } = await started({}, { failures });
    expect((await failureOf(agent.set(target({ beforeSend: gate(1).beforeSend }), 'off'))).kind).toBe('NotSent');
    expect(cloud.requests.filter((name) => name === 'POST stop')).toHaveLength(1);
    expect(machine.state()).toBe('on');
  });

  it('that is forbidden is refused in the words of the cloud, and sent once', async () => {
    const message = "Required 'compute.instances.stop' permission for 'projects/p/zones/z/instances/worker-1'";
    const { agent, cloud, target } = await started({}, { failures: [{ request: 'POST stop', status: 403, code: 'forbidden', message }] });
    const error = await failureOf(agent.set(target(), 'off'));
    expect(error.kind).toBe('Refused');
    expect(error.message).toContain(message);
    expect(cloud.requests.filter((name) => name === 'POST stop')).toHaveLength(1);
  });

  it('without a whole answer is unclear, and not repeated', async () => {
    const { agent, cloud, target } = await started();
    const cuts = { beforeSend: () => cloud.setFaults({ noise: true }) };
    expect(await agent.set(target(cuts), 'off')).toMatchObject({ result: 'unclear', detail: 'HTTP 200: what came is no operation' });
    expect(cloud.requests.filter((name) => name === 'POST stop')).toHaveLength(1);
  });
});

describe('the operation of a stop', () => {
  it('that ends in an error after it was accepted is told in its own words by every later read', async () => {
    const { agent, target } = await started({}, { failsOperation: true });
    expect((await agent.set(target(), 'off')).result).toBe('accepted');
    for (let read = 0; read < 2; read += 1) {
      const { state, detail } = await agent.read(target());
      expect(state).toBe('on');
      expect(detail).toBe("status=RUNNING, our stop operation-0001 ended with RESOURCE_NOT_READY: The resource 'instances/worker-1' is not ready");
    }
  });

  it('is asked for until it has ended, and no more', async () => {
    const { agent, cloud, machine, target } = await started();
    await agent.set(target(), 'off');
    await stopped(machine);
    for (let read = 0; read < 3; read += 1) await agent.read(target());
    expect(cloud.requests.filter((name) => name === 'GET operation')).toHaveLength(1);
  });

  it('that is under way keeps an instance from being off that says so already', async () => {
    const { agent, cloud, target } = await started({}, { stopMs: 60_000 });
    await agent.set(target(), 'off');
    cloud.setFaults({ stopMs: 60_000, shows: 'TERMINATED' });
    expect(await agent.read(target())).toMatchObject({ state: 'pending', detail: 'status=TERMINATED, our stop operation-0001 is under way' });
  });

  it('is of no weight where the account may not read it: the instance decides', async () => {
    const failures = [{ request: 'GET operation', status: 403, code: 'forbidden', message: "Required 'compute.zoneOperations.get' permission" }];
    const { agent, cloud, machine, target } = await started({}, { failures });
    await agent.set(target(), 'off');
    await stopped(machine);
    const { state, detail } = await agent.read(target());
    expect(state).toBe('off');
    expect(detail).toContain('cannot be read: HTTP 403 forbidden');
    await agent.read(target());
    expect(cloud.requests.filter((name) => name === 'GET operation')).toHaveLength(1);
  });

  it('that failed is forgotten with the next set', async () => {
    const { agent, cloud, machine, target } = await started({}, { failsOperation: true });
    await agent.set(target({ intent: 'off-1' }), 'off');
    await agent.read(target());
    cloud.setFaults({});
    await agent.set(target({ intent: 'off-2' }), 'off');
    await stopped(machine);
    expect(await agent.read(target())).toMatchObject({ state: 'off', detail: 'status=TERMINATED' });
  });
});

describe('a fence', () => {
  it('costs four requests besides polls: two reads of the identity, a stop and a start', async () => {
    const { agent, cloud, machine, target } = await started();
    await agent.read(target());
    const before = cloud.requests.length;
    await agent.set(target({ intent: 'off-1' }), 'off');
    await stopped(machine);
    await agent.set(target({ intent: 'on-1' }), 'on');
    expect(cloud.requests.slice(before).filter((name) => name !== 'GET operation')).toEqual([
      'GET instance',
      'POST stop',
      'GET instance',
      'POST start',
    ]);
    expect(cloud.requests.filter((name) => name === 'POST token')).toHaveLength(1);
    await expect.poll(() => machine.state()).toBe('on');
    expect((await agent.read(target())).state).toBe('on');
  });

  it.each(['before the read', 'right before the stop'])('goes on with a new token where the old one is not taken any more, %s', async (when) => {
    const { agent, cloud, machine, target } = await started();
    await agent.read(target());
    let isFirst = when === 'right before the stop';
    if (!isFirst) cloud.setFaults({ forgetsTokens: true });
    const beforeSend = (): void => {
      if (isFirst) cloud.setFaults({ forgetsTokens: true });
      isFirst = false;
    };
    expect((await agent.set(target({ beforeSend }), 'off')).result).toBe('accepted');
    await stopped(machine);
    expect(cloud.requests.filter((name) => name === 'POST token')).toHaveLength(2);
    expect(cloud.instances[0]?.commands).toEqual([{ wanted: 'off' }]);
  });

  it('is never believed by what the cloud accepted: one that ignores the stop reads on', async () => {
    const { agent, target } = await started({}, { ignoresSet: true });
    expect((await agent.set(target(), 'off')).result).toBe('accepted');
    expect((await agent.read(target())).state).toBe('on');
  });

  it('of an instance that is stuck in STOPPING is never off', async () => {
    const { agent, target } = await started({}, { sticksInStopping: true });
    await agent.set(target(), 'off');
    expect(await agent.read(target())).toMatchObject({ state: 'pending', detail: 'status=STOPPING, our stop operation-0001 is under way' });
  });

  it('leaves no connection open', async () => {
    const { agent, cloud, target } = await started();
    await agent.set(target(), 'off');
    expect(cloud.leftOpen().connections).toBeGreaterThan(0);
    await agent.close();
    await expect.poll(() => cloud.leftOpen().connections).toBe(0);
  });
});
