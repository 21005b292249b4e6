import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { AgentError } from '../../src/ports/agents.ts';
import { createAuthority } from '../../src/testbed/certificates.ts';
import { failureOf } from '../../src/testbed/devices/cloud/testing.ts';
import { startBench, type Bench } from '../../test/agents/openstack-emulated.ts';

let bench: Bench;
const machine = (): string | undefined => bench.cloud.machines[0]?.state();
const id = (): string => bench.service.instances[0]?.id ?? '';

beforeEach(async () => {
  bench = await startBench();
});

afterEach(() => bench.close());

describe('a stop of a server', () => {
  it('and its start cost four requests besides polls and a token', async () => {
    const { agent, target, service } = bench;
    expect(await agent.read(target())).toMatchObject({ state: 'on', identity: 'verified' });
    expect(service.requests).toEqual(['POST token', 'GET server']);
    expect(await agent.set(target(), 'off')).toMatchObject({ result: 'accepted', detail: expect.stringMatching(/^HTTP 202 req-/u) as string });
    await expect.poll(machine).toBe('off');
    const before = service.requests.length;
    expect(await agent.read(target())).toMatchObject({ state: 'off', identity: 'verified' });
    expect(service.requests.slice(before)).toEqual(['GET server', 'GET actions', 'GET action']);
    expect(await agent.set(target(), 'on')).toMatchObject({ result: 'accepted' });
    await expect.poll(machine).toBe('on');
    expect(await agent.read(target())).toMatchObject({ state: 'on' });
    expect(service.requests).toEqual([
      ...['POST token', 'GET server', 'GET server', 'POST os-stop'],
      ...['GET server', 'GET actions', 'GET action', 'GET server', 'POST os-start', 'GET server'],
    ]);
    expect(bench.cloud.machines[1]?.state(), 'the other machine').toBe('on');
  });

  it('that is stuck is pending for ever, and never off', async () => {
    bench.service.setFaults({ sticksInStopping: true });
    await bench.agent.set(bench.target(), 'off');
    expect(await bench.agent.read(bench.target())).toMatchObject({
      state: 'pending',
      detail: expect.stringContaining('task_state=powering-off') as string,
    });
  });

  it('that a lying cloud accepts and forgets leaves the server on', async () => {
    bench.service.setFaults({ ignoresSet: true });
    expect(await bench.agent.set(bench.target(), 'off')).toMatchObject({ result: 'accepted' });
    expect((await bench.agent.read(bench.target())).state).toBe('on');
  });

  it('that was accepted and failed is told in the words of its event', async () => {
    bench.service.setFaults({ failsOperation: true });
    expect(await bench.agent.set(bench.target(), 'off')).toMatchObject({ result: 'accepted' });
    const told = {
      state: 'on',
      detail: expect.stringMatching(/our os-stop was accepted and ended with Error \(compute_stop_instance, req-/u) as string,
    };
    expect(await bench.agent.read(bench.target())).toMatchObject(told);
    const before = bench.service.requests.length;
    expect(await bench.agent.read(bench.target())).toMatchObject(told);
    expect(bench.service.requests.slice(before), 'asked once').toEqual(['GET server']);
  });

  it('of a locked server is refused, and a probe says so before', async () => {
    Object.assign(bench.service.oddities, { isLocked: true });
    const error = await failureOf(bench.agent.set(bench.target(), 'off'));
    expect([error.kind, error.message]).toEqual(['Refused', expect.stringMatching(/HTTP 409: conflictingRequest: Instance \S+ is locked/u)]);
    expect((await bench.agent.read(bench.target({ isProbe: true }))).wouldRefuse).toContain('the server is locked');
  });

  it.each([
    ['it is stopped already', 'stopped'],
    ['a stop is under way', 'stopping'],
  ])('that is in conflict leaves it to reads what became of it: %s', async (_why, phase) => {
    if (phase === 'stopping') bench.service.setFaults({ stopMs: 60_000 });
    await bench.agent.set(bench.target(), 'off');
    await expect.poll(() => bench.service.instances[0]?.phase).toBe(phase);
    expect(await bench.agent.set(bench.target(), 'off')).toMatchObject({
      result: 'unclear',
      detail: expect.stringContaining("Cannot 'stop' instance") as string,
    });
    expect((await bench.agent.read(bench.target())).state).toBe(phase === 'stopped' ? 'off' : 'pending');
  });

  it.each([
    [403, 'forbidden', 'Refused'],
    [404, 'itemNotFound', 'Misconfigured'],
    [400, 'badRequest', 'Refused'],
  ])('that HTTP %d %s answers is %s, in the words of nova', async (status, code, kind) => {
    const message = "Policy doesn't allow os_compute_api:servers:stop to be performed.";
    bench.service.setFaults({ failures: [{ request: 'POST os-stop', status, code, message }] });
    const error = await failureOf(bench.agent.set(bench.target(), 'off'));
    expect([error.kind, error.message]).toEqual([kind, expect.stringContaining(`HTTP ${status}: ${code}: ${message}`)]);
  });

  it.each([500, 502, 503, 504])('that HTTP %d answers may have been done: it is not sent again, and reads decide', async (status) => {
    bench.service.setFaults({ failures: [{ request: 'POST os-stop', status, code: 'computeFault', message: 'The server has erred' }] });
    expect(await bench.agent.set(bench.target(), 'off')).toMatchObject({ result: 'unclear' });
    expect(bench.service.requests.filter((name) => name === 'POST os-stop')).toHaveLength(1);
  });

  it('whose answer does not come in time is not sent again', async () => {
    bench.service.setFaults({ setAnswerMs: 5_000 });
    expect((await failureOf(bench.agent.set(bench.target({ deadlineMs: 400 }), 'off'))).kind).toBe('Timeout');
    expect(bench.service.requests.filter((name) => name === 'POST os-stop')).toHaveLength(1);
  });

  it.each([429, 413])('that HTTP %d refuses for its rate is sent anew, and asks for the lease each time', async (status) => {
    bench.service.setFaults({ failures: [{ request: 'POST os-stop', status, code: 'overLimit', message: 'slow down', times: 1 }] });
    let asked = 0;
    const beforeSend = (): void => {
      asked += 1;
      if (asked === 2) throw new AgentError('NotSent', { device: '', plug: '', asked: 'off', answered: 'the lease is over' });
    };
    const error = await failureOf(bench.agent.set(bench.target({ beforeSend }), 'off'));
    expect([error.kind, asked, bench.service.instances[0]?.commands]).toEqual(['NotSent', 2, []]);
  });

  it('waits as long as the cloud asks for', async () => {
    bench.service.setFaults({ requestsPerSecond: 2 });
    expect(await bench.agent.set(bench.target({ deadlineMs: 20_000 }), 'off')).toMatchObject({ result: 'accepted' });
    expect(bench.service.instances[0]?.commands).toHaveLength(1);
  });

  it('is not sent where the lease is over', async () => {
    const beforeSend = (): void => {
      throw new AgentError('NotSent', { device: '', plug: '', asked: 'off', answered: 'the lease is over' });
    };
    expect((await failureOf(bench.agent.set(bench.target({ beforeSend }), 'off'))).kind).toBe('NotSent');
    expect(bench.service.instances[0]?.commands).toEqual([]);
  });

  it('goes to no server that was replaced meanwhile: an id is never given again', async () => {
    bench.service.setFaults({ isReplaced: true });
    expect((await failureOf(bench.agent.set(bench.target(), 'off'))).kind).toBe('Misconfigured');
    expect(bench.service.requests).not.toContain('POST os-stop');
  });

  it('by its name goes to the id that was read', async () => {
    await bench.agent.set(bench.target({ plug: 'a' }), 'off');
    await expect.poll(machine).toBe('off');
    expect(bench.cloud.machines[1]?.state()).toBe('on');
  });
});

describe('a token', () => {
  it('that is not taken any more in mid-fence is fetched anew, once', async () => {
    await bench.agent.read(bench.target());
    bench.service.setFaults({ forgetsTokens: true });
    expect(await bench.agent.set(bench.target(), 'off')).toMatchObject({ result: 'accepted' });
    expect(bench.service.requests.slice(2)).toEqual(['GET server', 'POST token', 'GET server', 'POST os-stop']);
  });

  it('is kept until a minute before its end, by the clock of the cloud', async () => {
    bench.service.setFaults({ aheadMs: -7_200_000 });
    await bench.agent.read(bench.target());
    await bench.agent.read(bench.target());
    expect(bench.service.requests).toEqual(['POST token', 'GET server', 'GET server']);
    Object.assign(bench.service.oddities, { tokenMs: 30_000 });
    bench.service.setFaults({ aheadMs: 7_200_000, forgetsTokens: true });
    await bench.agent.read(bench.target());
    await bench.agent.read(bench.target());
    expect(bench.service.requests.slice(3)).toEqual(['GET server', 'POST token', 'GET server', 'POST token', 'GET server']);
  });
});

describe('a microversion', () => {
  it.each([
    [16, ['POST token', 'GET server', 'GET version', 'GET server', 'GET actions'], 'off'],
    ['none', ['POST token', 'GET server', 'GET actions', 'GET action'], 'unknown'],
  ] as const)('that the cloud does not have is lowered to what it has: %s', async (newest, requests, state) => {
    bench.cloud.machines[0]?.off('set');
    bench.service.nova.record(id(), 'stop', [{ event: 'compute_stop_instance', result: 'Success' }]);
    Object.assign(bench.service.oddities, { newest, hostStatus: 'UP' });
    expect((await bench.agent.read(bench.target())).state).toBe(state);
    expect(bench.service.requests).toEqual(requests);
    const before = bench.service.requests.length;
    await bench.agent.read(bench.target());
    expect(bench.service.requests.slice(before), 'asked once').not.toContain('GET version');
  });
});

describe('a probe', () => {
  it.each([
    [['reader'], 'the role reader alone'],
    [['member', 'reader'], undefined],
    [['admin', 'member', 'reader'], undefined],
  ])('tells what the roles %j would be refused', async (roles, words) => {
    Object.assign(bench.service.oddities, { roles });
    const { wouldRefuse } = await bench.agent.read(bench.target({ isProbe: true }));
    expect(wouldRefuse).toEqual(words === undefined ? undefined : expect.stringContaining(words));
  });

  it('tells when the password ends', async () => {
    Object.assign(bench.service.oddities, { passwordExpiresAt: '2027-01-02T03:04:05.000000' });
    expect((await bench.agent.read(bench.target({ isProbe: true }))).credentialExpiresAt).toBe('2027-01-02T03:04:05.000Z');
  });
});

describe('the cloud', () => {
  it('lists its servers, and decides none that says it is off', async () => {
    bench.cloud.machines[1]?.off('set');
    const [first, second] = bench.service.instances.map((one) => one.id);
    expect(await bench.agent.list?.(bench.target())).toEqual([
      { plug: first, alias: 'a', state: 'on' },
      { plug: second, alias: 'b' },
    ]);
  });

  it('holds no secret in any error', async () => {
    const errors: string[] = [];
    for (const fault of [{ refusesLogin: true }, { noise: true }, { truncates: true }, { stalls: true }, { isMute: true }] as const) {
      bench.service.setFaults({ ...fault, forgetsTokens: true });
      errors.push((await failureOf(bench.agent.read(bench.target({ deadlineMs: 400 })))).message);
    }
    expect(errors).toHaveLength(5);
    expect(errors.join('\n')).not.toContain(bench.service.keystone.password);
  });

  it('is trusted by the certificates that its credentials bring along', async () => {
    const authority = createAuthority('a cloud');
    const secure = await startBench({ certificate: authority.issue({ commonName: 'cloud', hosts: ['127.0.0.1'] }) });
    const stranger = await failureOf(secure.agent.read(secure.target()));
    expect([stranger.kind, stranger.message]).toEqual(['Misconfigured', expect.stringContaining('not trusted')]);
    const variables = { ...secure.service.variables, OS_CACERT: '/ca.pem' };
    const agent = await secure.agentIn(variables, { '/ca.pem': authority.certificatePem });
    expect(await agent.read(secure.target())).toMatchObject({ state: 'on' });
    expect(await secure.agent.read(secure.target({ parameters: { ca: authority.certificatePem } }))).toMatchObject({ state: 'on' });
    const careless = await failureOf((await secure.agentIn({ ...secure.service.variables, OS_INSECURE: 'true' })).read(secure.target()));
    expect([careless.kind, careless.message]).toEqual(['Misconfigured', expect.stringContaining('the insecure flag of environment is not followed')]);
    expect(secure.service.requests).not.toContain('POST os-stop');
    const lost = await failureOf((await secure.agentIn(variables)).read(secure.target()));
    expect([lost.kind, lost.message]).toEqual(['Misconfigured', expect.stringContaining('there is no file /ca.pem')]);
    await secure.close();
  });
});
