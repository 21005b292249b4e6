import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { AgentError, type PowerAgent, type Target } from '../../src/ports/agents.ts';
import { engineOf, ovirtCloud } from '../../src/testbed/devices/cloud/ovirt.ts';
import { environmentOf, failureOf, powerAgentIn, startCloudHarness, type CloudHarness } from '../../src/testbed/devices/cloud/testing.ts';
import { ovirt } from './definition.ts';

describe('ovirt', () => {
  let cloud: CloudHarness;
  let agent: PowerAgent;
  const oddities = (odd: ReturnType<typeof engineOf>['oddities']): void => {
    engineOf(cloud.service).oddities = odd;
  };
  const read = (change: Partial<Target> = {}) => agent.read(cloud.target(change));
  const failing = (request: string, status: number, message: string, times?: number): void => {
    cloud.service.setFaults({ failures: [{ request, status, code: '', message, ...(times === undefined ? {} : { times }) }] });
  };

  beforeEach(async () => {
    cloud = await startCloudHarness(ovirtCloud);
    agent = await powerAgentIn(ovirt, environmentOf(cloud.service.variables));
  });

  afterEach(async () => {
    await agent.close?.();
    await cloud.service.close();
  });

  it('stops and starts a machine with nothing but the environment, in four requests besides polls', async () => {
    expect(await read()).toMatchObject({ state: 'on', detail: 'status=up', identity: 'verified' });
    expect(cloud.service.requests).toEqual(['POST token', 'GET vm']);
    const before = cloud.service.requests.length;
    expect(await agent.set(cloud.target(), 'off')).toEqual({ result: 'accepted', detail: 'stop: HTTP 200' });
    await expect.poll(() => cloud.machines[0]?.state()).toBe('off');
    expect(await read()).toMatchObject({ state: 'off', detail: 'status=down; stop_reason=nodefence: fence of node a', identity: 'verified' });
    expect(await agent.set(cloud.target(), 'on')).toMatchObject({ result: 'accepted' });
    expect(cloud.service.requests.slice(before)).toEqual(['GET vm', 'POST stop', 'GET vm', 'GET vm', 'POST start']);
    expect(cloud.service.instances[0]?.commands).toEqual([{ wanted: 'off' }, { wanted: 'on' }]);
    expect(cloud.machines[1]?.state(), 'the other machine').toBe('on');
  });

  it.each([
    ['up', 'on'],
    ['powering_up', 'on'],
    ['reboot_in_progress', 'on'],
    ['migrating', 'on'],
    ['paused', 'on'],
    ['down', 'off'],
    ['powering_down', 'pending'],
    ['wait_for_launch', 'pending'],
    ['saving_state', 'pending'],
    ['restoring_state', 'pending'],
    ['image_locked', 'pending'],
    ['suspended', 'unknown'],
    ['not_responding', 'unknown'],
    ['unknown', 'unknown'],
    ['unassigned', 'unknown'],
    ['Down', 'unknown'],
    ['constructor', 'unknown'],
    ['', 'unknown'],
    ['absent', 'unknown'],
  ])('reads status %j as %s', async (shows, state) => {
    cloud.service.setFaults({ shows });
    expect((await read()).state).toBe(state);
  });

  it('does not call off what the engine shows no status of, as fence_rhevm does: such as one with an illegal disk', async () => {
    cloud.service.setFaults({ shows: null });
    expect(await read()).toMatchObject({ state: 'unknown', detail: 'status=(none)' });
  });

  it('does not call a suspended machine off: resumed, it would write on', async () => {
    cloud.service.setFaults({ shows: 'suspended' });
    expect(await read()).toMatchObject({ state: 'unknown', detail: expect.stringContaining('resumed, it would write on') as string });
  });

  it('does not take "VM is not running", which the engine says of one whose host is lost, for off', async () => {
    cloud.service.setFaults({ shows: 'unknown' });
    expect(await agent.set(cloud.target(), 'off')).toEqual({
      result: 'unclear',
      detail: 'HTTP 409: Operation Failed: [Cannot stop VM. VM is not running.]',
    });
    expect(await read()).toMatchObject({
      state: 'unknown',
      detail:
        'status=unknown; its host is lost, and may run it still; stop was answered with HTTP 409: Operation Failed: [Cannot stop VM. VM is not running.]',
    });
  });

  it('tells of a highly available machine that it is one, with what was said when it was stopped', async () => {
    oddities({ isHighlyAvailable: true });
    await agent.set(cloud.target(), 'off');
    await expect.poll(async () => (await read()).detail).toBe('status=down; stop_reason=nodefence: fence of node a; highly available');
  });

  describe('of a machine with a lease', () => {
    beforeEach(() => cloud.service.setFaults({ shows: 'down' }));

    it.each(['up', 'non_operational', 'preparing_for_maintenance', 'maintenance', 'down'])(
      'believes a down where its host is %s',
      async (hostStatus) => {
        oddities({ hasLease: true, hostStatus });
        expect(await read()).toMatchObject({ state: 'off', detail: 'status=down' });
        expect(cloud.service.requests.at(-1)).toBe('GET hosts');
      },
    );

    it.each(['non_responsive', 'connecting', 'reboot', 'kdumping', 'unassigned', 'error', ''])(
      'believes no down while a host of its cluster is %j: each attempt to start it elsewhere leaves it down though it runs',
      async (hostStatus) => {
        oddities({ hasLease: true, hostStatus });
        expect(await read()).toMatchObject({
          state: 'unknown',
          detail: `status=down; it has a lease, and may run on still where the engine hears nothing: host host-1 status=${hostStatus}`,
        });
      },
    );

    it('believes no down where no host is shown, and tells a probe so before it matters', async () => {
      oddities({ hasLease: true, hostStatus: 'hidden' });
      expect(await read()).toMatchObject({ state: 'unknown', detail: expect.stringContaining('no host of its cluster is shown') as string });
      cloud.service.setFaults({});
      expect(await read()).not.toHaveProperty('wouldRefuse');
      expect(await read({ isProbe: true })).toMatchObject({ state: 'on', wouldRefuse: expect.stringContaining('role ReadOnlyAdmin') as string });
    });

    it('believes no down where hosts may not be seen', async () => {
      oddities({ hasLease: true });
      cloud.service.setFaults({ shows: 'down', failures: [{ request: 'GET hosts', status: 403, code: '', message: 'not authorized' }] });
      expect((await read()).state).toBe('unknown');
    });

    it('does not list a down machine as off', async () => {
      oddities({ hasLease: true });
      expect(await agent.list?.(cloud.target())).toContainEqual({ plug: cloud.uuids[0], alias: 'a', state: 'unknown' });
    });

    it('asks for hosts only then', async () => {
      await read();
      oddities({ hasLease: true });
      cloud.service.setFaults({});
      await read();
      expect(cloud.service.requests).not.toContain('GET hosts');
    });
  });

  describe('finds the machine', () => {
    it('by its name, verified by the id that its Node shows as the UUID', async () => {
      expect(await read({ plug: 'b', identity: { node: 'b', systemUUID: cloud.uuids[1]?.toUpperCase() } })).toMatchObject({
        state: 'on',
        identity: 'verified',
      });
      expect(cloud.service.requests.at(-1)).toBe('GET vms');
    });

    it('whose name alone is equal, among those that a search finds', async () => {
      oddities({ twin: 'near' });
      expect(await read({ plug: 'a' })).toMatchObject({ state: 'on', identity: 'verified' });
    });

    it('and refuses to choose among several of one name', async () => {
      oddities({ twin: 'same' });
      const error = await failureOf(read({ plug: 'a' }));
      expect([error.kind, error.message]).toEqual(['Misconfigured', expect.stringMatching(/2 machines are a \(ffffffff-.*: name one by its id/u)]);
    });

    it.each(['*', 'a*', 'a" or name="b', 'a or name=b', 'a b', ''])('and sends no search for %j', async (plug) => {
      const error = await failureOf(read({ plug }));
      expect([error.kind, error.message]).toEqual(['Misconfigured', expect.stringMatching(/plug is (?:missing|neither an id nor the name)/u)]);
      expect(cloud.service.requests).not.toContain('GET vms');
    });

    it.each(['11111111-2222-3333-4444-555555555555', 'nobody'])('never takes %s, which is not there, for off', async (plug) => {
      const error = await failureOf(read({ plug, identity: { node: 'a' } }));
      expect([error.kind, error.message]).toEqual(['Misconfigured', expect.stringContaining('what is not found is not off')]);
    });

    it('and believes nothing that is said of one which was not asked for', async () => {
      oddities({ showsOther: true });
      expect((await failureOf(read())).message).toContain(`asked for ${cloud.uuids[0] ?? ''}, and was shown ${cloud.uuids[1] ?? ''}`);
    });

    it('and lists all of them', async () => {
      expect(await agent.list?.(cloud.target())).toEqual([
        { plug: cloud.uuids[0], alias: 'a', state: 'on' },
        { plug: cloud.uuids[1], alias: 'b', state: 'on' },
      ]);
    });
  });

  describe('sends nothing to another machine', () => {
    it.each<[string, Partial<Target>]>([
      ['whose UUID is another', { identity: { node: 'a', systemUUID: '4c4c4544-0030-5210-8047-c6c04f5a4333' } }],
      ['whose providerID is another', { identity: { node: 'a', providerID: 'ovirt://4c4c4544-0030-5210-8047-c6c04f5a4333' } }],
    ])('%s', async (_name, change) => {
      const error = await failureOf(agent.set(cloud.target(change), 'off'));
      expect([error.kind, error.message]).toEqual(['Misconfigured', expect.stringContaining('is another machine')]);
      expect(cloud.service.instances[0]?.commands).toEqual([]);
    });

    it('that took the name of the one that was replaced', async () => {
      expect(await read({ plug: 'a' })).toMatchObject({ identity: 'verified' });
      cloud.service.setFaults({ isReplaced: true });
      expect((await failureOf(agent.set(cloud.target({ plug: 'a' }), 'off'))).message).toContain(
        'ffffffff-1111-4222-8333-444444444444 is another machine',
      );
      expect(cloud.service.instances[0]?.commands).toEqual([]);
    });
  });

  describe('asks for its lease', () => {
    const lost = (): void => {
      throw new AgentError('NotSent', { device: 'cloud', plug: '', asked: 'off', answered: 'the lease is lost' });
    };

    it('in the turn of the send, and sends nothing without it', async () => {
      expect((await failureOf(agent.set(cloud.target({ beforeSend: lost }), 'off'))).kind).toBe('NotSent');
      expect(cloud.service.requests).not.toContain('POST stop');
    });

    it('again before a stop that something else had held up comes again', async () => {
      failing('POST stop', 409, 'Cannot stop VM. Related operation is currently in progress. Please try again later.', 1);
      let asked = 0;
      const beforeSend = (): void => {
        asked += 1;
        if (asked === 2) lost();
      };
      expect((await failureOf(agent.set(cloud.target({ beforeSend }), 'off'))).kind).toBe('NotSent');
      expect([asked, cloud.service.instances[0]?.commands]).toEqual([2, []]);
    });

    it('again before a stop that needed a new token', async () => {
      await read();
      let asked = 0;
      const beforeSend = (): void => {
        asked += 1;
        if (asked === 1) cloud.service.setFaults({ forgetsTokens: true });
      };
      expect(await agent.set(cloud.target({ beforeSend }), 'off')).toMatchObject({ result: 'accepted' });
      expect(asked).toBe(2);
    });
  });

  describe('a set', () => {
    it('that something else holds up is sent again', async () => {
      failing('POST stop', 409, 'Cannot stop VM. Related operation is currently in progress. Please try again later.', 2);
      expect(await agent.set(cloud.target(), 'off')).toMatchObject({ result: 'accepted' });
      expect(cloud.service.requests.filter((name) => name === 'POST stop')).toHaveLength(3);
    });

    it('that the user may not make is refused for good, in the words of the engine', async () => {
      failing('POST stop', 403, 'User is not authorized to perform this action.');
      const error = await failureOf(agent.set(cloud.target(), 'off'));
      expect([error.kind, error.message]).toEqual([
        'Refused',
        expect.stringContaining('HTTP 403: Operation Failed: [User is not authorized to perform this action.] (fence@internal lacks a permission)'),
      ]);
    });

    it.each([
      [400, 'Network error during communication with the Host.'],
      [409, 'Cannot stop VM. VM is in saving/restoring state.'],
      [500, 'Internal Engine Error'],
      [503, 'Service Unavailable'],
    ])('that is answered with %d is unclear, sent once, and told by reads', async (status, message) => {
      failing('POST stop', status, message);
      expect(await agent.set(cloud.target(), 'off')).toMatchObject({ result: 'unclear', detail: expect.stringContaining(message) as string });
      expect(cloud.service.requests.filter((name) => name === 'POST stop')).toHaveLength(1);
      expect(await read()).toMatchObject({
        state: 'on',
        detail: expect.stringContaining(`stop was answered with HTTP ${status}: Operation Failed: [${message}]`) as string,
      });
    });

    it('that failed on its way is told until it is sent anew', async () => {
      cloud.service.setFaults({ failsOperation: true });
      expect(await agent.set(cloud.target(), 'off')).toMatchObject({ result: 'unclear' });
      expect((await read()).detail).toContain('Network error during communication with the Host.');
      cloud.service.setFaults({ ignoresSet: true });
      expect(await agent.set(cloud.target(), 'off')).toMatchObject({ result: 'accepted' });
      expect((await read()).detail).toBe('status=up; stop_reason=nodefence: fence of node a');
    });

    it('is pending while the machine stops, also where it sticks', async () => {
      cloud.service.setFaults({ sticksInStopping: true });
      await agent.set(cloud.target(), 'off');
      expect(await read()).toMatchObject({ state: 'pending', detail: expect.stringContaining('status=powering_down') as string });
    });
  });

  it('asks as the documentation does: version 4, in JSON, filtered by permissions unless it is told otherwise', async () => {
    await read();
    expect(engineOf(cloud.service).headers).toMatchObject({ version: '4', accept: 'application/json', filter: 'true' });
    await read({ parameters: { disable_http_filter: '1' } });
    expect(engineOf(cloud.service).headers).toMatchObject({ filter: 'false' });
  });

  describe('tells a probe', () => {
    it('which permit no role of the user has, and sends nothing for it', async () => {
      expect(await read({ isProbe: true })).not.toHaveProperty('wouldRefuse');
      oddities({ lacks: ['stop_vm'] });
      expect(await read({ isProbe: true, parameters: { disable_http_filter: 'yes' } })).toMatchObject({
        wouldRefuse: 'no role of fence@internal has the permit stop_vm on this machine',
      });
      expect(engineOf(cloud.service).headers, 'permissions of the user itself').toMatchObject({ filter: 'true' });
      expect(cloud.service.instances[0]?.commands).toEqual([]);
    });

    it('nothing where the engine does not tell', async () => {
      oddities({ lacks: 'unshown' });
      expect(await read({ isProbe: true })).not.toHaveProperty('wouldRefuse');
      failing('GET permissions', 403, 'not authorized');
      expect(await read({ isProbe: true })).not.toHaveProperty('wouldRefuse');
    });

    it('alone: nobody else pays for it', async () => {
      await read();
      await agent.set(cloud.target(), 'off');
      expect(cloud.service.requests).not.toContain('GET permissions');
    });
  });

  it('takes a new token once when the old one is not taken any more, and ends the last one when it is closed', async () => {
    await read();
    cloud.service.setFaults({ forgetsTokens: true });
    expect(await read()).toMatchObject({ state: 'on' });
    expect(cloud.service.requests.slice(2)).toEqual(['GET vm', 'POST token', 'GET vm']);
    await agent.close?.();
    expect(cloud.service.leftOpen().sessions).toBe(0);
  });

  it('gives an engine that has no tokens the password with each request', async () => {
    oddities({ hasNoTokens: true });
    expect(await agent.set(cloud.target(), 'off')).toMatchObject({ result: 'accepted' });
    expect(engineOf(cloud.service).headers['authorization']).toMatch(/^Basic /u);
    cloud.service.setFaults({ refusesLogin: true });
    const error = await failureOf(read());
    expect([error.kind, error.message]).toEqual(['Refused', expect.stringContaining('fence@internal is not let in')]);
  });

  it.each([
    ['GET vm', 302, '', 'Misconfigured', /it sends us elsewhere \(.*\), where no password goes/u],
    ['GET vm', 403, '', 'Refused', /HTTP 403: Operation Failed: \[said\]/u],
    ['GET vm', 500, '', 'Unreachable', /HTTP 500: Operation Failed: \[said\]/u],
    ['GET vm', 204, '', 'Unreachable', /no answer of the oVirt API/u],
    ['POST token', 400, 'server_error', 'Unreachable', /HTTP 400: server_error: said/u],
    ['POST token', 400, 'invalid_grant', 'Refused', /HTTP 400: invalid_grant: said/u],
    ['POST token', 200, 'x', 'Unreachable', /the login was answered without a token/u],
  ])('takes %s that is answered with %d %s for %s', async (request, status, code, kind, words) => {
    cloud.service.setFaults({ failures: [{ request, status, code, message: 'said' }] });
    const error = await failureOf(read());
    expect([error.kind, error.message]).toEqual([kind, expect.stringMatching(words)]);
  });

  it('asks again where the engine, or what is in front of it, is too busy', async () => {
    for (const [request, status] of [
      ['POST token', 503],
      ['GET vm', 429],
    ] as const) {
      cloud.service.setFaults({ failures: [{ request, status, code: '', message: 'busy', times: 1 }] });
      expect(await read()).toMatchObject({ state: 'on' });
    }
    expect(cloud.service.requests).toEqual(['POST token', 'POST token', 'GET vm', 'GET vm', 'GET vm']);
  });

  it('does not care for our clock, which may be wrong', async () => {
    cloud.service.setFaults({ aheadMs: 86_400_000 });
    expect(await agent.set(cloud.target(), 'off')).toMatchObject({ result: 'accepted' });
  });

  it.each([
    ['noise', /oVirt API/u],
    ['truncates', /aborted|ECONNRESET|hang up/u],
    ['stalls', /no complete answer within/u],
    ['isMute', /no complete answer within/u],
  ] as const)('reads nothing out of %s, with and without a token', async (fault, words) => {
    await read();
    cloud.service.setFaults({ [fault]: true });
    expect((await failureOf(read({ deadlineMs: 400 }))).message).toMatch(words);
    const other = await powerAgentIn(ovirt, environmentOf(cloud.service.variables));
    expect((await failureOf(other.read(cloud.target({ deadlineMs: 400 })))).kind).toMatch(/^(?:Unreachable|Timeout)$/u);
    cloud.service.setFaults({});
    await other.close?.();
  });

  it('holds no secret in any error', async () => {
    const { password } = engineOf(cloud.service);
    failing('POST token', 400, `the password ${password} is wrong`);
    const errors = [(await failureOf(read())).message];
    expect(errors[0]).toContain('the password *** is wrong');
    for (const fault of [{ refusesLogin: true }, { noise: true }, { truncates: true }, { stalls: true }] as const) {
      cloud.service.setFaults(fault);
      errors.push((await failureOf(read({ deadlineMs: 400 }))).message);
    }
    expect(errors.join('\n')).not.toContain(password);
  });
});
