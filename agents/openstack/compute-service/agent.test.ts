import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { AgentError, type ActionAgent, type AgentContext, type Target } from '../../../src/ports/agents.ts';
import { SystemClock } from '../../../src/runtime/system-clock.ts';
import { HYPERVISOR } from '../../../src/testbed/devices/cloud/nova-services.ts';
import { environmentOf, failureOf } from '../../../src/testbed/devices/cloud/testing.ts';
import { startBench, type Bench } from '../../../test/agents/openstack-emulated.ts';
import { novaServiceDown, novaServiceUp } from './definition.ts';

let bench: Bench;
let down: ActionAgent;
let up: ActionAgent;

const target = (change: Partial<Target> = {}): Target => bench.target({ plug: HYPERVISOR, incident: '1234-uid/1', ...change });
const service = () => bench.service.nova.services.services[0];
const evacuations = (): number => bench.service.requests.filter((name) => name === 'POST evacuate').length;
const oddly = (oddities: object): unknown => Object.assign(bench.service.oddities, oddities);

async function action(definition: typeof novaServiceDown): Promise<ActionAgent> {
  const created = await definition.create({ clock: new SystemClock(), host: environmentOf(bench.service.variables) } as unknown as AgentContext);
  if (created.kind !== 'action') throw new Error('no action agent');
  return created;
}

beforeEach(async () => {
  bench = await startBench();
  oddly({ roles: ['admin'] });
  [down, up] = [await action(novaServiceDown), await action(novaServiceUp)];
});

afterEach(async () => {
  await Promise.all([down.close?.(), up.close?.()]);
  await bench.close();
});

describe('a hypervisor that was fenced', () => {
  it('is forced down, and its servers leave it', async () => {
    expect(await down.confirm(target())).toBe(false);
    expect(await down.run(target())).toEqual({
      result: 'accepted',
      detail: `nova-compute of ${HYPERVISOR} is forced down; 2 servers have left it`,
    });
    expect(service()).toMatchObject({ forced_down: true, status: 'disabled', disabled_reason: '[nodefence forced it down, fence 1234-uid/1]' });
    expect(await down.confirm(target())).toBe(true);
    expect(evacuations()).toBe(2);
  });

  it('is named as its Node where no plug is', async () => {
    await down.run(target({ plug: '', identity: { node: HYPERVISOR } }));
    expect(service()?.forced_down).toBe(true);
  });

  it('keeps its servers where something else evacuates them', async () => {
    const parameters = { evacuate: 'no' };
    expect((await down.run(target({ parameters }))).detail).toBe(`nova-compute of ${HYPERVISOR} is forced down`);
    expect([evacuations(), await down.confirm(target({ parameters })), await down.confirm(target())]).toEqual([0, true, false]);
  });

  it('has no server evacuated before Nova shows it as down', async () => {
    oddly({ forgetsChange: true });
    bench.service.nova.services.isAlive = true;
    const error = await failureOf(down.run(target()));
    expect([error.kind, error.message, evacuations()]).toEqual(['Unreachable', expect.stringContaining('is not down when it is read back'), 0]);
  });

  it('names the servers that do not leave it in time', async () => {
    oddly({ staysOn: true });
    const error = await failureOf(down.run(target({ deadlineMs: 900 })));
    expect([error.kind, error.message]).toEqual([
      'Timeout',
      expect.stringMatching(/2 of 2 servers are still on hypervisor-1: \S+ \(ACTIVE\), \S+ \(ACTIVE\)/u),
    ]);
  });

  it('names the servers that Nova moves in no such state, and does not wait for them', async () => {
    const id = bench.service.instances[1]?.id ?? '';
    oddly({ states: { [id]: { status: 'PAUSED', 'OS-EXT-STS:vm_state': 'paused' } } });
    expect((await down.run(target())).detail).toBe(
      `nova-compute of ${HYPERVISOR} is forced down; 1 server has left it; Nova moves none in such a state: ${id} (PAUSED)`,
    );
    expect(evacuations()).toBe(1);
  });

  it('that was forced down by somebody is evacuated, and is not ours to let up', async () => {
    Object.assign(service() ?? {}, { forced_down: true });
    expect((await down.run(target())).detail).toContain('was forced down already; 2 servers have left it');
    expect((await up.run(target())).detail).toContain('was forced down by somebody else; left alone');
    expect(service()).toMatchObject({ forced_down: true, status: 'enabled' });
  });

  it('is not touched where the lease is over', async () => {
    const beforeSend = (): void => {
      throw new AgentError('NotSent', { device: '', plug: '', asked: 'run', answered: 'the lease is over' });
    };
    expect((await failureOf(down.run(target({ beforeSend })))).kind).toBe('NotSent');
    expect([service()?.forced_down, evacuations()]).toEqual([false, 0]);
  });

  it('asks for the lease before each evacuation', async () => {
    let asked = 0;
    const beforeSend = (): void => {
      asked += 1;
      if (asked > 1) throw new AgentError('NotSent', { device: '', plug: '', asked: 'run', answered: 'the lease is over' });
    };
    expect((await failureOf(down.run(target({ beforeSend })))).kind).toBe('NotSent');
    expect(bench.service.nova.services.hosts.get(bench.service.instances[0]?.id ?? '')).toBe(HYPERVISOR);
  });

  it.each([
    ['a host that has no such service', { plug: 'nobody' }, {}, 'Misconfigured', '0 services nova-compute have the host nobody'],
    ['a user who is no admin', {}, { roles: ['member'] }, 'Refused', 'HTTP 403: forbidden'],
    ['a Nova that is too old', {}, { newest: 40 }, 'Misconfigured', 'compute services are set from 2.53 on'],
  ])('is not found by %s', async (_what, change, oddities, kind, words) => {
    oddly(oddities);
    const error = await failureOf(down.run(target(change)));
    expect([error.kind, error.message]).toEqual([kind, expect.stringContaining(words)]);
    expect(service()?.forced_down).toBe(false);
  });
});

describe('a hypervisor that runs again', () => {
  it('is let up as it was before', async () => {
    await down.run(target());
    expect(await up.confirm(target())).toBe(false);
    expect((await up.run(target())).detail).toBe(`nova-compute of ${HYPERVISOR} is not forced down any more`);
    expect(service()).toMatchObject({ forced_down: false, status: 'enabled', disabled_reason: null });
    expect(await up.confirm(target())).toBe(true);
  });

  it('keeps what somebody else had disabled it for', async () => {
    Object.assign(service() ?? {}, { status: 'disabled', disabled_reason: 'new disks on Monday' });
    await down.run(target());
    expect(service()?.disabled_reason).toBe('new disks on Monday [nodefence forced it down, fence 1234-uid/1]');
    await up.run(target());
    expect(service()).toMatchObject({ forced_down: false, status: 'disabled', disabled_reason: 'new disks on Monday' });
  });

  it('stays disabled where somebody else had disabled it without a reason', async () => {
    Object.assign(service() ?? {}, { status: 'disabled', disabled_reason: null });
    await down.run(target());
    await up.run(target());
    expect(service()).toMatchObject({ forced_down: false, status: 'disabled', disabled_reason: 'disabled without a reason' });
    expect(await up.confirm(target())).toBe(true);
  });

  it('is not let up by an answer alone', async () => {
    await down.run(target());
    oddly({ forgetsChange: true });
    expect((await failureOf(up.run(target()))).message).toContain('is still forced down when it is read back');
  });
});

describe('the parameters of both', () => {
  it('have the evacuation of one hypervisor wait for no other one', () => {
    const cloud = { auth_url: 'https://keystone.example.com/v3' };
    expect([novaServiceDown.deviceKey(cloud), novaServiceUp.deviceKey(cloud)], 'no queue').toEqual(['', '']);
  });

  it('are those of the cloud, how long servers may take, and whether they leave at all', () => {
    expect(novaServiceDown.runMaxMs?.({})).toBe(600_000);
    expect(novaServiceDown.runMaxMs?.({ wait: '30' })).toBe(30_000);
    const problems = novaServiceDown.check({ wait: '0', evacuate: 'perhaps', password: 'x' }, true).map(({ parameter }) => parameter);
    expect(problems.toSorted()).toEqual(['auth_url', 'evacuate', 'project_name', 'username', 'wait']);
    expect(novaServiceUp.check({}, true)).toEqual([]);
    expect(novaServiceUp.stepProblem?.('power-management', {})).toContain('it belongs into recovery');
    expect(novaServiceUp.stepProblem?.('recovery', {})).toBeUndefined();
    expect(novaServiceDown.plugProblem?.('a;b', {}, undefined)).toBeDefined();
  });
});
