import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { AgentError, type PowerAgent, type Target } from '../../src/ports/agents.ts';
import { proxmoxCloud, pveOf } from '../../src/testbed/devices/cloud/proxmox.ts';
import { environmentOf, failureOf, powerAgentIn, startCloudHarness, type CloudHarness } from '../../src/testbed/devices/cloud/testing.ts';
import { proxmox } from './definition.ts';

describe('proxmox', () => {
  let cloud: CloudHarness;
  let agent: PowerAgent;
  const oddities = (odd: ReturnType<typeof pveOf>['oddities']): void => {
    pveOf(cloud.service).oddities = odd;
  };
  const read = (change: Partial<Target> = {}) => agent.read(cloud.target(change));
  const stopped = (): void => cloud.machines[0]?.off('set');

  beforeEach(async () => {
    cloud = await startCloudHarness(proxmoxCloud);
    agent = await powerAgentIn(proxmox, environmentOf(cloud.service.variables));
  });

  afterEach(async () => {
    await agent.close?.();
    await cloud.service.close();
  });

  it('stops and starts a machine with nothing but the environment, in four requests besides polls', async () => {
    expect(await read()).toMatchObject({ state: 'on', detail: 'status=running qmpstatus=running', identity: 'verified' });
    expect([...cloud.service.requests].sort()).toEqual(['GET cluster/resources', 'GET cluster/status', 'GET config', 'GET current']);
    const before = cloud.service.requests.length;
    expect(await agent.set(cloud.target(), 'off')).toMatchObject({
      result: 'accepted',
      detail: expect.stringMatching(/^stop is UPID:pve1:/) as string,
    });
    expect(await agent.set(cloud.target(), 'on')).toMatchObject({ result: 'accepted' });
    expect(cloud.service.requests.slice(before)).toEqual(['GET config', 'POST stop', 'GET config', 'POST start']);
    expect(pveOf(cloud.service).forms).toEqual(['stop overrule-shutdown=1', 'start']);
    expect(cloud.machines[1]?.state(), 'the other machine').toBe('on');
  });

  it('reads a machine off once its process is gone', async () => {
    await agent.set(cloud.target(), 'off');
    await expect.poll(() => cloud.machines[0]?.state()).toBe('off');
    expect(await read()).toMatchObject({ state: 'off', detail: 'status=stopped qmpstatus=stopped', identity: 'verified' });
  });

  it('never shuts a guest down, nor resets one', async () => {
    await agent.set(cloud.target(), 'off');
    await agent.set(cloud.target(), 'on');
    expect(cloud.service.requests.filter((name) => name.startsWith('POST'))).toEqual(['POST stop', 'POST start']);
  });

  describe('reads', () => {
    it.each([
      ['running running', 'on'],
      ['running paused', 'on'],
      ['running io-error', 'on'],
      ['running prelaunch', 'pending'],
      ['running inmigrate', 'pending'],
      ['running peculiar', 'unknown'],
      ['running constructor', 'unknown'],
      ['stopped stopped', 'off'],
      ['stopped running', 'unknown'],
      ['Stopped stopped', 'unknown'],
      ['unknown', 'unknown'],
      ['', 'unknown'],
      ['absent', 'unknown'],
    ])('a machine with the states %s as %s', async (shows, state) => {
      cloud.service.setFaults({ shows });
      expect((await read()).state).toBe(state);
    });

    it('a process that is there all the same as unknown', async () => {
      oddities({ hidden: ['qmpstatus'] });
      stopped();
      expect((await read()).state).toBe('unknown');
    });

    it.each(['backup', 'snapshot', 'rollback', 'migrate', 'suspending', 'clone'])(
      'a stopped machine that is locked by %s as pending: what has it in hand may start it',
      async (lock) => {
        stopped();
        oddities({ lock });
        expect(await read()).toMatchObject({ state: 'pending', detail: expect.stringContaining(`lock=${lock}; something has it in hand`) as string });
      },
    );

    it.each([{ lock: 'suspended' }, { vmstate: 'local:vm-100-state-suspend' }])(
      'a machine whose memory is kept on a disk as unknown, and starts none: %j',
      async (odd) => {
        stopped();
        oddities(odd);
        expect(await read()).toMatchObject({ state: 'unknown', detail: expect.stringContaining('started, it would write on') as string });
        const error = await failureOf(agent.set(cloud.target(), 'on'));
        expect([error.kind, error.message]).toEqual(['Refused', expect.stringContaining('its memory is kept')]);
        expect(pveOf(cloud.service).forms).toEqual([]);
      },
    );

    it('nothing of a stopped machine whose host shows no list of tasks: one of them may be about to start it', async () => {
      stopped();
      oddities({ hidesTasks: true });
      const error = await failureOf(read());
      expect([error.kind, error.message]).toEqual(['Unreachable', expect.stringContaining('no list of its tasks')]);
    });

    it.each(['qmstart', 'hastart', 'qmrollback', 'vzdump', 'qmigrate'])(
      'a stopped machine as pending while %s runs, which may start it',
      async (runs) => {
        stopped();
        oddities({ runs });
        expect(await read()).toMatchObject({ state: 'pending', detail: expect.stringContaining(`${runs} runs`) as string });
        oddities({ runs: 'vncproxy' });
        expect(await read()).toMatchObject({ state: 'off' });
      },
    );

    it('nothing of a host that the cluster does not see: the machine may run there', async () => {
      stopped();
      oddities({ offline: ['pve1'] });
      expect(await read()).toMatchObject({ state: 'unknown', detail: expect.stringContaining('host pve1 is offline') as string });
      expect(cloud.service.requests).not.toContain('GET current');
    });

    it('nothing that a host without quorum says: the machine may have been started elsewhere', async () => {
      stopped();
      oddities({ hasNoQuorum: true });
      expect(await read()).toMatchObject({ state: 'unknown', detail: expect.stringContaining('has no quorum') as string });
    });

    it('a host on its own, which has no quorum to lose', async () => {
      stopped();
      oddities({ isAlone: true });
      expect(await read()).toMatchObject({ state: 'off', identity: 'verified' });
    });

    it('a machine that moved to another host between two requests', async () => {
      oddities({ moves: true });
      expect(await read()).toMatchObject({ state: 'on', identity: 'verified' });
      oddities({ host: 'pve1' });
      await read();
      oddities({ host: 'pve2' });
      expect(await agent.set(cloud.target(), 'off')).toMatchObject({ result: 'accepted', detail: expect.stringContaining('UPID:pve2:') as string });
    });
  });

  describe('with HA', () => {
    it('stops a machine through HA, which then leaves it stopped, and starts it through HA', async () => {
      const ha = { state: 'started', requested: 'started', roundMs: 50 };
      oddities({ ha });
      expect(await read()).toMatchObject({ state: 'on', detail: expect.stringContaining('HA: started') as string });
      expect(await agent.set(cloud.target(), 'off')).toMatchObject({ detail: expect.stringContaining(':hastop:') as string });
      expect(pveOf(cloud.service).forms).toEqual(['stop']);
      await expect.poll(async () => (await read()).state).toBe('off');
      expect(ha).toMatchObject({ state: 'stopped', requested: 'stopped' });
      expect(await read()).toMatchObject({ detail: expect.stringContaining('asked of HA: stopped') as string });
      await agent.set(cloud.target(), 'on');
      await expect.poll(() => cloud.machines[0]?.state()).toBe('on');
      expect(ha).toMatchObject({ state: 'started', requested: 'started' });
    });

    it.each([
      ['started', 'pending'],
      ['request_stop', 'pending'],
      ['request_start', 'pending'],
      ['recovery', 'pending'],
      ['fence', 'pending'],
      ['error', 'unknown'],
      ['freeze', 'unknown'],
      ['peculiar', 'unknown'],
      [null, 'unknown'],
    ])('does not call a machine off that HA has as %s', async (state, read_) => {
      stopped();
      oddities({ ha: { state, requested: 'stopped' } });
      expect((await read()).state).toBe(read_);
    });

    it.each(['started', 'enabled', undefined])(
      'does not call a machine off that HA is asked to start (%s): its state lags behind',
      async (requested) => {
        stopped();
        oddities({ ha: { state: 'stopped', ...(requested === undefined ? {} : { requested }) } });
        expect(await read()).toMatchObject({ state: 'pending', detail: expect.stringContaining('and may start it') as string });
      },
    );

    it('starts again what it was asked to start, whatever stop came in between: no such machine is read off', async () => {
      stopped();
      oddities({ ha: { state: 'stopped', requested: 'started', roundMs: 500 } });
      expect((await read()).state).toBe('pending');
      expect(await agent.set(cloud.target(), 'off')).toMatchObject({ result: 'accepted' });
      expect((await read()).state).not.toBe('off');
      await expect.poll(() => cloud.machines[0]?.state()).toBe('on');
    });

    it('does not call a machine off where what HA was asked for may not be read', async () => {
      stopped();
      pveOf(cloud.service).oddities = { ha: { state: 'stopped', requested: 'stopped' } };
      cloud.service.setFaults({ failures: [{ request: 'GET ha', status: 403, code: '', message: 'Permission check failed (/, Sys.Audit)' }] });
      expect(await read()).toMatchObject({ state: 'unknown', detail: expect.stringContaining('Permission check failed (/, Sys.Audit)') as string });
    });

    it('does not call a machine off of which nothing is said of HA', async () => {
      stopped();
      oddities({ hidden: ['ha'] });
      expect(await read()).toMatchObject({ state: 'unknown', detail: expect.stringContaining('nothing was said of HA') as string });
    });

    it('tells a probe that HA would stop nothing, in state error', async () => {
      oddities({ ha: { state: 'error' } });
      expect((await read({ isProbe: true })).wouldRefuse).toContain('in state error, in which it stops and starts nothing');
    });
  });

  describe('a stop', () => {
    it('is sent again without a parameter that the version does not know, and asks for the lease anew', async () => {
      oddities({ hasNoOverrule: true });
      let asked = 0;
      expect(await agent.set(cloud.target({ beforeSend: () => void (asked += 1) }), 'off')).toMatchObject({ result: 'accepted' });
      expect([pveOf(cloud.service).forms, asked]).toEqual([['stop overrule-shutdown=1', 'stop'], 2]);
    });

    it('that HA has to do, unknown to the list, is sent again without what HA does not take', async () => {
      await read();
      oddities({ ha: { state: 'started' } });
      expect(await agent.set(cloud.target(), 'off')).toMatchObject({ detail: expect.stringContaining(':hastop:') as string });
    });

    it.each(['fence@pve', 'root@pam'])('of a machine that is being backed up passes by its lock only as root: %s', async (username) => {
      oddities({ lock: 'backup', exit: 'VM is locked (backup)' });
      const parameters = { endpoint: cloud.service.url, username, password: pveOf(cloud.service).password };
      await agent.set(cloud.target({ parameters }), 'off');
      const isRoot = username === 'root@pam';
      await expect.poll(() => cloud.machines[0]?.state()).toBe(isRoot ? 'off' : 'on');
      expect(pveOf(cloud.service).forms[0]?.includes('skiplock=1')).toBe(isRoot);
    });

    it('that was accepted and failed is told in its own words', async () => {
      oddities({ lock: 'snapshot', exit: 'VM is locked (snapshot)' });
      expect(await agent.set(cloud.target(), 'off')).toMatchObject({ result: 'accepted' });
      expect(await read()).toMatchObject({
        state: 'on',
        detail: expect.stringContaining('the accepted off ended in an error: VM is locked (snapshot)') as string,
      });
    });

    it('asks for the lease in the turn of each send, and sends nothing where that throws', async () => {
      const lost = (): void => {
        throw new AgentError('NotSent', { device: 'cloud', plug: '', asked: 'off', answered: 'the lease is lost' });
      };
      expect((await failureOf(agent.set(cloud.target({ beforeSend: lost }), 'off'))).kind).toBe('NotSent');
      cloud.service.setFaults({ failures: [{ request: 'POST stop', status: 429, code: '', message: 'slow down', times: 1 }] });
      let asked = 0;
      const beforeSend = (): void => {
        asked += 1;
        if (asked === 2) lost();
      };
      expect((await failureOf(agent.set(cloud.target({ beforeSend }), 'off'))).kind).toBe('NotSent');
      expect([asked, pveOf(cloud.service).forms, cloud.machines[0]?.state()]).toEqual([2, [], 'on']);
    });

    it('that is refused names the privilege that is missing', async () => {
      oddities({ lacks: ['VM.PowerMgmt /vms/100'] });
      const error = await failureOf(agent.set(cloud.target(), 'off'));
      expect([error.kind, error.message]).toEqual([
        'Refused',
        expect.stringContaining('Permission check failed (/vms/100, VM.PowerMgmt) (fence@pve!nodefence)'),
      ]);
    });

    it.each([500, 596, 599])('that HTTP %d answers is left to reads', async (status) => {
      cloud.service.setFaults({ failures: [{ request: 'POST stop', status, code: '', message: 'Connection timed out' }] });
      expect(await agent.set(cloud.target(), 'off')).toEqual({ result: 'unclear', detail: `stop: HTTP ${status}: Connection timed out` });
      expect(cloud.service.requests.filter((name) => name === 'POST stop')).toHaveLength(1);
    });

    it('that could not be handed to the host is no answer', async () => {
      await read();
      cloud.service.setFaults({ failures: [{ request: 'POST stop', status: 595, code: '', message: 'No route to host' }] });
      expect(await failureOf(agent.set(cloud.target(), 'off'))).toMatchObject({ kind: 'Unreachable' });
    });
  });

  it.each([595, 596, 599])('cannot reach a machine whose host the front does not reach: HTTP %d', async (proxyStatus) => {
    stopped();
    oddities({ proxyStatus });
    const error = await failureOf(read());
    expect([error.kind, error.message]).toEqual(['Unreachable', expect.stringContaining(`HTTP ${proxyStatus}: `)]);
  });

  it('has the words of a failure from the status line, where older versions have them alone', async () => {
    oddities({ lacks: ['Sys.Audit /'], isSilent: true });
    const error = await failureOf(read());
    expect([error.kind, error.message]).toEqual(['Refused', expect.stringContaining('Permission check failed (/, Sys.Audit)')]);
  });

  it('tells a probe which privileges are missing, and costs nobody else a request', async () => {
    expect((await read({ isProbe: true })).wouldRefuse).toBeUndefined();
    oddities({ lacks: ['VM.PowerMgmt /vms/100', 'Sys.Audit /nodes/pve1'] });
    expect((await read({ isProbe: true })).wouldRefuse).toMatch(
      /^fence@pve!nodefence lacks VM\.PowerMgmt on \/vms\/100 and Sys\.Audit on \/nodes\/pve1/,
    );
    const before = cloud.service.requests.length;
    expect((await read()).wouldRefuse).toBeUndefined();
    expect(cloud.service.requests.slice(before)).not.toContain('GET access/permissions');
  });

  describe('finds the machine', () => {
    it('by its name', async () => {
      expect(await read({ plug: 'a' })).toMatchObject({ state: 'on', identity: 'verified' });
    });

    it('by its name, and switches none that was given another one since it was looked at', async () => {
      expect(await read({ plug: 'a' })).toMatchObject({ state: 'on' });
      oddities({ renamed: 'b2' });
      expect((await failureOf(agent.set(cloud.target({ plug: 'a' }), 'off'))).message).toContain('100 has another name now: b2');
      expect(pveOf(cloud.service).forms).toEqual([]);
    });

    it('by the UUID that its providerID names', async () => {
      const uuid = cloud.uuids[0] ?? '';
      const identity = { node: 'a', providerID: `proxmox://${uuid}` };
      expect(await read({ plug: uuid, identity })).toMatchObject({ state: 'on', identity: 'verified' });
      expect(await agent.set(cloud.target({ plug: uuid, identity }), 'off')).toMatchObject({ result: 'accepted' });
      await expect.poll(() => cloud.machines[0]?.state()).toBe('off');
      expect(cloud.machines[1]?.state()).toBe('on');
    });

    it.each([
      ['name', 'a'],
      ['uuid', ''],
    ] as const)('and refuses to choose among two of one %s', async (twin, name) => {
      oddities({ twin });
      const error = await failureOf(read({ plug: name === '' ? (cloud.uuids[0] ?? '') : name, identity: { node: 'a' } }));
      expect([error.kind, error.message]).toEqual(['Refused', expect.stringMatching(/2 machines are .* \(100, 101\): name one by its number/)]);
    });

    it('and never takes a copy of one UUID for the machine that it cannot look at', async () => {
      const identity = { node: 'a', systemUUID: cloud.uuids[0] ?? '' };
      cloud.machines[1]?.off('set');
      oddities({ twin: 'uuid', offline: ['pve1'] });
      const error = await failureOf(read({ plug: cloud.uuids[0] ?? '', identity }));
      expect([error.kind, error.message]).toEqual(['Unreachable', expect.stringMatching(/101 has the UUID .* \(hidden: 100 on pve1\)/)]);
    });

    it('by a UUID that it has seen at one machine alone, where others are hidden later', async () => {
      const [uuid = ''] = cloud.uuids;
      const identity = { node: 'a', systemUUID: uuid };
      expect(await read({ plug: uuid, identity })).toMatchObject({ state: 'on', identity: 'verified' });
      oddities({ offline: ['pve2'] });
      expect(await read({ plug: uuid, identity })).toMatchObject({ state: 'on', identity: 'verified' });
    });

    it.each(['999', 'nobody', '11111111-2222-3333-4444-555555555555'])('and never takes %s, which is not there, for off', async (plug) => {
      const error = await failureOf(read({ plug, identity: { node: 'a' } }));
      expect([error.kind, error.message]).toEqual(['Misconfigured', expect.stringContaining('what is not found is not off')]);
    });

    it('and takes no template and no container for one', async () => {
      oddities({ isTemplate: true });
      expect((await failureOf(read())).message).toContain('is a template');
      oddities({ isContainer: true });
      expect((await failureOf(read())).message).toContain('is a container (lxc), which shares the kernel of its host');
    });

    it('and lists all of them', async () => {
      expect(await agent.list?.(cloud.target())).toEqual([
        { plug: '100', alias: 'a' },
        { plug: '101', alias: 'b' },
      ]);
    });
  });

  describe('sends nothing to another machine', () => {
    it('that has the number of the one that was there before', async () => {
      await read();
      cloud.service.setFaults({ isReplaced: true });
      const error = await failureOf(agent.set(cloud.target(), 'off'));
      expect([error.kind, error.message]).toEqual(['Misconfigured', expect.stringContaining('100 is another machine: its UUID is ffffffff')]);
      expect(pveOf(cloud.service).forms).toEqual([]);
    });

    it('than the one that the providerID names', async () => {
      const error = await failureOf(agent.set(cloud.target({ plug: '101' }), 'off'));
      expect([error.kind, error.message]).toEqual(['Misconfigured', expect.stringContaining("the node's providerID is proxmox://emulated/100")]);
      expect(cloud.service.instances[1]?.commands).toEqual([]);
    });

    it('and verifies none by its number alone: numbers are given again', async () => {
      oddities({ smbios: 'manufacturer=x' });
      expect(await read()).toMatchObject({ state: 'on', identity: 'unverified' });
    });

    it('whose UUID will be another after its next start: what waits is not looked at', async () => {
      await read();
      expect(cloud.service.requests).toContain('GET config');
      expect(cloud.service.requests).not.toContain('GET config as it will be');
    });
  });
});
