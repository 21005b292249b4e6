import { afterEach, describe, expect, it } from 'vitest';

import { Dispatcher } from '../../src/dispatch/dispatcher.ts';
import { jobOf } from '../../src/dispatch/testing/job.ts';
import type { PlanMethod } from '../../src/domain/plan.ts';
import { DEFAULT_TIMING } from '../../src/domain/plan.ts';
import type { AgentHarness, HarnessOptions } from '../../src/testbed/devices/bmc/bmc-harness.ts';
import { AgentHarnesses, HARNESS_UUID } from '../../src/testbed/devices/bmc/bmc-harness.ts';
import { SYSTEM_PATH } from '../../src/testbed/devices/bmc/tree.ts';
import type { DeviceResponse } from '../../src/testbed/devices/bmc/redfish-device.ts';
import type { Cluster } from '../../src/ports/cluster.ts';
import type { Job } from '../../src/ports/jobs.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { RedfishAgent } from './agent.ts';
import { redfish } from './definition.ts';

const MANAGER_PATH = '/redfish/v1/Managers/BMC';
const MANAGER = {
  [MANAGER_PATH]: { '@odata.id': MANAGER_PATH, Status: { State: 'Enabled' }, DateTime: '', LastResetTime: '' },
};
const clock = new SystemClock();
const context: ConstructorParameters<typeof Dispatcher>[1] = { cluster: {} as Cluster, clock };
const harnesses = new AgentHarnesses((ownClock) => new RedfishAgent(ownClock));
const dispatchers: Dispatcher[] = [];
afterEach(async () => {
  for (const dispatcher of dispatchers.splice(0)) await dispatcher.close();
  await harnesses.closeAll();
});

const METHOD: PlanMethod = {
  name: 'bmc',
  agent: 'redfish',
  kind: 'power',
  action: 'off',
  device: '',
  plug: '',
  parameters: {},
  deviceMaxLatencyMs: 1_000,
};

async function started(
  options: HarnessOptions,
  parameters: Record<string, string> = {},
): Promise<{ bmc: AgentHarness<RedfishAgent>; off: (more?: Partial<Job>, by?: Dispatcher) => ReturnType<Dispatcher['run']> }> {
  const bmc = await harnesses.start(options, parameters);
  const dispatcher = new Dispatcher({ find: () => redfish, names: () => ['redfish'] }, context);
  dispatchers.push(dispatcher);
  const job = (more: Partial<Job>): Job =>
    jobOf({ ...METHOD, device: `127.0.0.1:${bmc.server.port}` }, 'off', {
      intentAtMs: clock.monotonicMs(),
      identity: { node: 'a', systemUUID: HARNESS_UUID },
      timing: { ...DEFAULT_TIMING, offStableMs: 600, powerTimeoutMs: 3_000 },
      parametersOf: () => Promise.resolve(bmc.target().parameters),
      ...more,
    });
  return { bmc, off: (more = {}, by = dispatcher) => by.run(job(more)) };
}

describe.each([
  ['whose Manager tells when it started', { extra: MANAGER }],
  ['without a Manager', {}],
] as const)('a BMC %s that restarts before it carries out an off', (_which, options) => {
  it('is not believed while it shows its default Off, and is told again', async () => {
    const { bmc, off } = await started({ ...options, faults: { restartsOnOff: 1_500 } });
    const first = await off();
    expect(first).toMatchObject({ result: 'failed', edge: 'off', offSent: true, restarted: ['bmc'] });
    expect(first.message).toContain('the device restarted');
    expect(first.evidence).toBeUndefined();
    const second = await off({ restartedSince: () => true });
    expect(second, 'the BMC that starts drops the second off too, and then shows On').toMatchObject({ result: 'timeout' });
    expect(second.evidence).toBeUndefined();
    expect(bmc.machine.state()).toBe('on');
    const third = await off({ restartedSince: () => true });
    expect(third).toMatchObject({ result: 'succeeded', evidence: { identity: 'verified' } });
    expect(bmc.machine.state()).toBe('off');
  });

  it('has its Off believed after bmc_boot_time at the earliest where On is never seen', async () => {
    const { bmc, off } = await started({ ...options, state: 'off' }, { bmc_boot_time: '2' });
    const beganAtMs = clock.monotonicMs();
    expect(await off({ restartedSince: () => true })).toMatchObject({ result: 'succeeded' });
    expect(clock.monotonicMs() - beganAtMs).toBeGreaterThanOrEqual(2_000);
    expect(bmc.device.commands).toHaveLength(1);
  });
});

it('believes no Off of a BMC that has only just started, and asks a BMC that behaves for nothing more', async () => {
  const young = await started({ extra: MANAGER, state: 'off', faults: { upMs: 1_000 } }, { bmc_boot_time: '3' });
  const beganAtMs = clock.monotonicMs();
  expect(await young.off()).toMatchObject({ result: 'succeeded' });
  expect(clock.monotonicMs() - beganAtMs, 'until it is up for bmc_boot_time').toBeGreaterThanOrEqual(1_900);

  const { bmc, off } = await started({ extra: MANAGER });
  expect(await off()).toMatchObject({ result: 'succeeded' });
  expect(bmc.device.requests.filter((request) => request.endsWith(MANAGER_PATH))).toEqual([]);
});

it('follows a BMC that closes each connection by the LastResetTime of its Manager, and takes none of them for a restart', async () => {
  const { bmc, off } = await started({ extra: MANAGER, faults: { closesConnections: true } });
  expect(await off()).toMatchObject({ result: 'succeeded' });
  const again = await started({ extra: MANAGER, faults: { closesConnections: true, restartsOnOff: 60_000 } });
  expect(await again.off()).toMatchObject({ result: 'failed', restarted: ['bmc'] });
  expect(bmc.device.accounts.createdSessions).toBe(1);
});

type Bmc = AgentHarness<RedfishAgent>;

/** The next answer for the machine is another one, once. */
function answerOnce(bmc: Bmc, amend: (answer: DeviceResponse) => DeviceResponse): void {
  const handle = bmc.device.handle.bind(bmc.device);
  bmc.device.handle = (request) => {
    const answer = handle(request);
    if (request.path !== SYSTEM_PATH || answer === undefined) return answer;
    bmc.device.handle = handle;
    return amend(answer);
  };
}

describe('between the off and the last read', () => {
  it.each<[string, RegExp, Record<string, string>, (bmc: Bmc) => void]>([
    ['a session that ends', /it ended the session/u, {}, (bmc) => bmc.device.accounts.endAll()],
    ['a connection that is cut', /it closed the connection|ECONNRESET|socket hang up/u, { auth: 'basic' }, (bmc) => bmc.server.cut()],
    ['an answer 503', /it answered HTTP 503/u, { auth: 'basic' }, (bmc) => answerOnce(bmc, () => ({ status: 503, headers: {}, body: {} }))],
    [
      'a clock that goes back',
      /its clock went back/u,
      { auth: 'basic' },
      (bmc) => answerOnce(bmc, (answer) => ({ ...answer, headers: { ...answer.headers, Date: 'Thu, 01 Jan 1970 00:00:40 GMT' } })),
    ],
  ])('%s is taken for a restart', async (_what, cause, parameters, happen) => {
    const { bmc, off } = await started({}, parameters);
    const ended = off();
    await expect.poll(() => bmc.machine.state()).toBe('off');
    happen(bmc);
    const report = await ended;
    expect(report).toMatchObject({ result: 'failed', restarted: ['bmc'] });
    expect(report.message).toMatch(cause);
  });

  it('a connection that is cut is none where the Manager shows the LastResetTime that it showed before', async () => {
    const { bmc, off } = await started({ extra: MANAGER }, { auth: 'basic' });
    await bmc.agent.read(bmc.target());
    bmc.server.cut();
    await bmc.agent.read(bmc.target());
    const probed = new Dispatcher({ find: () => ({ ...redfish, create: () => Promise.resolve(bmc.agent) }), names: () => ['redfish'] }, context);
    dispatchers.push(probed);
    const ended = off({}, probed);
    await expect.poll(() => bmc.machine.state()).toBe('off');
    bmc.server.cut();
    expect(await ended).toMatchObject({ result: 'succeeded' });
  });
});
