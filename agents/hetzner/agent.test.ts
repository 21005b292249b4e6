import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { AgentError, type PowerAgent, type Target } from '../../src/ports/agents.ts';
import { hetznerCloud, hetznerOf } from '../../src/testbed/devices/cloud/hetzner.ts';
import { environmentOf, failureOf, powerAgentIn, startCloudHarness, type CloudHarness } from '../../src/testbed/devices/cloud/testing.ts';
import { hetzner } from './definition.ts';

let cloud: CloudHarness;
let agent: PowerAgent;
const others: PowerAgent[] = [];

async function agentIn(variables: Record<string, string>, files: Record<string, string> = {}): Promise<PowerAgent> {
  const created = await powerAgentIn(hetzner, environmentOf({ HCLOUD_ENDPOINT: `${cloud.service.url}/v1`, ...variables }, files));
  others.push(created);
  return created;
}

const target = (change: Partial<Target> = {}): Target => cloud.target(change);
const oddly = (oddities: object): unknown => Object.assign(hetznerOf(cloud.service).oddities, oddities);
const refusing = (status: number, code: string, times?: number): void =>
  cloud.service.setFaults({ failures: [{ request: 'POST poweroff', status, code, message: 'so it is', ...(times === undefined ? {} : { times }) }] });
const offs = (): number => cloud.service.requests.filter((name) => name === 'POST poweroff').length;

beforeEach(async () => {
  cloud = await startCloudHarness(hetznerCloud);
  agent = await agentIn(cloud.service.variables);
});

afterEach(async () => {
  for (const one of others.splice(0)) await one.close?.();
  await cloud.service.close();
});

describe('a server of Hetzner Cloud', () => {
  it('is powered off and on by what its providerID says, in four requests besides polls', async () => {
    expect(await agent.read(target())).toMatchObject({ state: 'on', detail: 'status=running locked=false', identity: 'verified' });
    expect(await agent.set(target(), 'off')).toMatchObject({ result: 'accepted', detail: 'HTTP 201, action 1' });
    await expect.poll(() => cloud.machines[0]?.state()).toBe('off');
    expect(await agent.read(target())).toMatchObject({ state: 'off', identity: 'verified' });
    expect(await agent.set(target(), 'on')).toMatchObject({ result: 'accepted' });
    expect(cloud.service.requests).toEqual(['GET server', 'GET server', 'POST poweroff', 'GET server', 'GET server', 'POST poweron']);
    expect(cloud.machines[1]?.state(), 'the other machine').toBe('on');
  });

  it.each([
    ['running', 'on'],
    ['off', 'off'],
    ['initializing', 'pending'],
    ['starting', 'pending'],
    ['stopping', 'pending'],
    ['deleting', 'pending'],
    ['rebuilding', 'pending'],
    ['migrating', 'pending'],
    ['unknown', 'unknown'],
    ['constructor', 'unknown'],
    ['Off', 'unknown'],
    ['', 'unknown'],
    ['absent', 'unknown'],
  ])('that says %s is %s', async (shows, state) => {
    cloud.service.setFaults({ shows });
    expect((await agent.read(target())).state).toBe(state);
  });

  it('is not off while an action is under way, which may start it', async () => {
    cloud.service.setFaults({ shows: 'off' });
    oddly({ isLocked: true });
    expect(await agent.read(target())).toMatchObject({ state: 'pending', detail: 'status=off locked=true' });
    oddly({ hidesLock: true });
    expect((await agent.read(target())).state).toBe('unknown');
  });

  it('that is not found is never off, and the words say what to look for', async () => {
    cloud.service.setFaults({ isReplaced: true });
    const error = await failureOf(agent.read(target()));
    expect([error.kind, error.message]).toEqual(['Misconfigured', expect.stringMatching(/not_found: .*it is no proof that it is off/u)]);
  });

  it('is another one where the providerID names another, or has another number than was asked for', async () => {
    const plug = cloud.service.instances[1]?.id ?? '';
    const error = await failureOf(agent.set(target({ plug }), 'off'));
    expect([error.kind, error.message]).toEqual([
      'Misconfigured',
      expect.stringContaining("another machine: the node's providerID is hcloud://42000001"),
    ]);
    oddly({ id: 7 });
    expect((await failureOf(agent.read(target()))).message).toContain('asked for server 42000001, and was shown 7');
    oddly({ id: '42000001' });
    expect((await failureOf(agent.read(target()))).message).toContain('an answer that is no server of Hetzner Cloud');
    expect(offs()).toBe(0);
  });

  it('is told by its addresses where the Node has no providerID', async () => {
    const identity = { node: 'a', addresses: ['10.9.0.1'] };
    expect(await agent.read(target({ identity }))).toMatchObject({ identity: 'unverified' });
    const error = await failureOf(agent.set(target({ identity: { node: 'a', addresses: ['198.51.100.1'] } }), 'off'));
    expect(error.message).toContain('its addresses are 10.9.0.1, 203.0.113.7');
  });

  it('whose Node has an address that the cloud does not know is told by its number', async () => {
    const identity = { ...target().identity, addresses: ['198.51.100.1'] };
    expect(await agent.read(target({ identity }))).toMatchObject({ identity: 'verified' });
  });

  it('is found by its name where no other bears it', async () => {
    expect(await agent.read(target({ plug: 'a' }))).toMatchObject({ state: 'on', identity: 'verified' });
    expect((await failureOf(agent.read(target({ plug: 'nobody' })))).message).toContain('no server of this project bears this name');
    oddly({ name: 'a' });
    expect((await failureOf(agent.read(target({ plug: 'a' })))).message).toContain('2 servers bear this name; write the number');
  });

  it.each(['', '-a', '../1', 'a b', '`reboot`'])('is not looked for by the plug "%s"', async (plug) => {
    expect((await failureOf(agent.read(target({ plug })))).kind).toBe('Misconfigured');
    expect(cloud.service.requests).toEqual([]);
  });

  it('is listed with its name and state', async () => {
    expect(await agent.list?.(target())).toEqual([
      { plug: '42000001', alias: 'a', state: 'on' },
      { plug: '42000002', alias: 'b', state: 'on' },
    ]);
  });
});

describe('a power-off', () => {
  it('that is stuck is pending for ever, and never off', async () => {
    cloud.service.setFaults({ sticksInStopping: true });
    await agent.set(target(), 'off');
    expect((await agent.read(target())).state).toBe('pending');
  });

  it('that a lying cloud accepts and forgets leaves the server on', async () => {
    cloud.service.setFaults({ ignoresSet: true });
    expect(await agent.set(target(), 'off')).toMatchObject({ result: 'accepted' });
    expect((await agent.read(target())).state).toBe('on');
  });

  it('that was accepted and failed is told in the words of its action, asked for once', async () => {
    cloud.service.setFaults({ failsOperation: true });
    await agent.set(target(), 'off');
    const told = 'status=running locked=false; the accepted poweroff ended in an error: action_failed: Action failed';
    expect((await agent.read(target())).detail).toBe(told);
    const before = cloud.service.requests.length;
    expect((await agent.read(target())).detail).toBe(told);
    expect(cloud.service.requests.slice(before)).toEqual(['GET server']);
  });

  it('of a token that may only read is refused, and the words say which token is needed', async () => {
    oddly({ isReadOnly: true });
    const error = await failureOf(agent.set(target(), 'off'));
    expect([error.kind, error.message]).toEqual([
      'Refused',
      expect.stringMatching(/HTTP 403: token_readonly: .*\(token: environment\): give a token with the permission to read and write/u),
    ]);
  });

  it.each([
    [423, 'locked'],
    [409, 'conflict'],
    [429, 'rate_limit_exceeded'],
  ])('that HTTP %d %s turns away was not begun: it is sent anew, and asks for the lease each time', async (status, code) => {
    refusing(status, code, 1);
    let asked = 0;
    const beforeSend = (): void => {
      asked += 1;
      if (asked === 2) throw new AgentError('NotSent', { device: '', plug: '', asked: 'off', answered: 'the lease is over' });
    };
    expect((await failureOf(agent.set(target({ beforeSend }), 'off'))).kind).toBe('NotSent');
    expect([asked, cloud.service.instances[0]?.commands]).toEqual([2, []]);
  });

  it('behind an action that does not end is told as such when its time is over', async () => {
    oddly({ isLocked: true });
    const error = await failureOf(agent.set(target({ deadlineMs: 600 }), 'off'));
    expect(['Timeout', 'Unreachable']).toContain(error.kind);
    expect(cloud.service.instances[0]?.commands).toEqual([]);
  });

  it.each([500, 502, 503, 504])('that HTTP %d answers may have been done: it is not sent again, and reads decide', async (status) => {
    refusing(status, 'service_error');
    expect(await agent.set(target(), 'off')).toMatchObject({ result: 'unclear' });
    expect(offs()).toBe(1);
  });

  it('whose answer does not come in time is not sent again', async () => {
    cloud.service.setFaults({ setAnswerMs: 5_000 });
    expect((await failureOf(agent.set(target({ deadlineMs: 400 }), 'off'))).kind).toBe('Timeout');
    expect(offs()).toBe(1);
  });

  it('is not sent where the lease is over', async () => {
    const beforeSend = (): void => {
      throw new AgentError('NotSent', { device: '', plug: '', asked: 'off', answered: 'the lease is over' });
    };
    expect((await failureOf(agent.set(target({ beforeSend }), 'off'))).kind).toBe('NotSent');
    expect(cloud.service.instances[0]?.commands).toEqual([]);
  });
});

describe('the token', () => {
  const token = (): string => hetznerOf(cloud.service).token;

  it('is that of the parameters first, then of the environment, then of a file', async () => {
    const wrong = await agentIn({ HCLOUD_TOKEN: 'wrong' });
    expect((await failureOf(wrong.read(target()))).message).toContain('HTTP 401: unauthorized: unable to authenticate (token: environment)');
    const given = { endpoint: `${cloud.service.url}/v1`, token: token() };
    expect((await wrong.read(target({ parameters: given }))).state).toBe('on');
    const filed = await agentIn({ HCLOUD_TOKEN_FILE: '/var/run/token' }, { '/var/run/token': `${token()}\n` });
    expect((await filed.read(target())).state).toBe('on');
  });

  it('that nobody has is told with all places where it was looked for', async () => {
    const none = await agentIn({});
    expect((await failureOf(none.read(target()))).message).toContain(
      'tried parameters (no token), environment (HCLOUD_TOKEN is not set), token file (HCLOUD_TOKEN_FILE is not set)',
    );
    const empty = await agentIn({ HCLOUD_TOKEN_FILE: '/var/run/token' });
    expect((await failureOf(empty.read(target()))).message).toContain('file /var/run/token of HCLOUD_TOKEN_FILE has no token');
  });

  it('of this process goes to no host that a ConfigMap names', async () => {
    const error = await failureOf(agent.read(target({ parameters: { endpoint: `${cloud.service.url}/v1` } })));
    expect(error.message).toMatch(/environment \(not given to 127\.0\.0\.1:\d+, which the configuration names\)/u);
    expect(cloud.service.requests).toEqual([]);
  });

  it('that was changed in its file in mid-fence is read anew', async () => {
    const files = { '/var/run/token': token() };
    const filed = await agentIn({ HCLOUD_TOKEN_FILE: '/var/run/token' }, files);
    await filed.read(target());
    cloud.service.setFaults({ forgetsTokens: true });
    files['/var/run/token'] = token();
    expect(await filed.set(target(), 'off')).toMatchObject({ result: 'accepted' });
    expect(cloud.service.requests).toEqual(['GET server', 'GET server', 'GET server', 'POST poweroff']);
  });

  it('that was changed is read anew by each of the calls that are under way: none is refused because another one has found it first', async () => {
    const files = { '/var/run/token': token() };
    const filed = await agentIn({ HCLOUD_TOKEN_FILE: '/var/run/token' }, files);
    await filed.read(target());
    cloud.service.setFaults({ forgetsTokens: true });
    files['/var/run/token'] = token();
    const readings = await Promise.all(Array.from({ length: 8 }, () => filed.read(target())));
    expect(readings.map(({ state }) => state)).toEqual(Array.from({ length: 8 }, () => 'on'));
  });

  it('stands in no error', async () => {
    const errors: string[] = [];
    for (const fault of [{ refusesLogin: true }, { noise: true }, { truncates: true }, { stalls: true }, { isMute: true }] as const) {
      cloud.service.setFaults(fault);
      errors.push((await failureOf(agent.read(target({ deadlineMs: 400 })))).message);
    }
    expect(errors.filter((message) => message.includes(token()))).toEqual([]);
  });
});

describe('the providerID of Hetzner Cloud', () => {
  it.each([
    ['hcloud://42', { plug: '42', parameters: {} }],
    ['hcloud://0', undefined],
    ['hcloud:///42', undefined],
    ['hcloud://bm-42', undefined],
    ['hrobot://42', undefined],
  ])('%s is read', (providerID, address) => {
    expect(hetzner.instanceOf?.(providerID)).toEqual(address);
  });
});
