import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { AgentError, type AgentContext, type PowerAgent, type Target } from '../../src/ports/agents.ts';
import {
  environmentOf,
  failureOf,
  JumpingClock,
  powerAgentIn,
  startCloudHarness,
  type CloudHarness,
} from '../../src/testbed/devices/cloud/testing.ts';
import { vcenterOf, vsphereCloud } from '../../src/testbed/devices/cloud/vsphere.ts';
import { vsphere } from './definition.ts';

describe('vsphere', () => {
  let cloud: CloudHarness;
  let agent: PowerAgent;
  const oddities = (odd: ReturnType<typeof vcenterOf>['oddities']): void => {
    vcenterOf(cloud.service).oddities = odd;
  };
  const read = (change: Partial<Target> = {}) => agent.read(cloud.target(change));

  beforeEach(async () => {
    cloud = await startCloudHarness(vsphereCloud);
    agent = await powerAgentIn(vsphere, environmentOf(cloud.service.variables));
  });

  afterEach(async () => {
    await agent.close?.();
    await cloud.service.close();
  });

  it('powers a machine off and on with nothing but the environment, in four requests besides polls', async () => {
    expect(await read()).toMatchObject({ state: 'on', detail: 'powerState=poweredOn, connectionState=connected', identity: 'verified' });
    expect(cloud.service.requests).toEqual(['RetrieveServiceContent', 'Login', 'FindAllByUuid', 'RetrievePropertiesEx']);
    const before = cloud.service.requests.length;
    expect(await agent.set(cloud.target(), 'off')).toEqual({ result: 'accepted', detail: 'PowerOffVM_Task is task-1' });
    await expect.poll(() => cloud.machines[0]?.state()).toBe('off');
    expect(await read()).toMatchObject({ state: 'off', identity: 'verified' });
    expect(await agent.set(cloud.target(), 'on')).toMatchObject({ result: 'accepted' });
    const polls = 1;
    expect(cloud.service.requests.length - before - polls).toBe(4);
    expect(cloud.service.instances[0]?.commands).toEqual([{ wanted: 'off' }, { wanted: 'on' }]);
    expect(cloud.machines[1]?.state(), 'the other machine').toBe('on');
  });

  it('never shuts a guest down, nor resets one: the hard power-off alone ends a guest that hangs', async () => {
    await agent.set(cloud.target(), 'off');
    expect(cloud.service.requests.filter((name) => /Shutdown|Reboot|Reset|Standby|Suspend/.test(name))).toEqual([]);
    expect(cloud.service.requests).toContain('PowerOffVM_Task');
  });

  it.each([
    ['poweredOn', 'on'],
    ['poweredOff', 'off'],
    ['suspended', 'unknown'],
    ['poweredoff', 'unknown'],
    ['off', 'unknown'],
    ['absent', 'unknown'],
    ['', 'unknown'],
  ])('reads powerState %j as %s', async (shows, state) => {
    cloud.service.setFaults({ shows });
    expect((await read()).state).toBe(state);
  });

  it('does not call a suspended machine off, as fence_vmware_rest does: resumed, it would write on', async () => {
    cloud.service.setFaults({ shows: 'suspended' });
    expect(await read()).toMatchObject({ state: 'unknown', detail: expect.stringContaining('resumed, it would write on') as string });
  });

  it.each(['disconnected', 'orphaned', 'inaccessible', 'invalid', 'peculiar'])(
    'does not believe the last known power of a machine that is %s',
    async (state) => {
      cloud.service.setFaults({ shows: 'poweredOff' });
      oddities({ connectionState: state });
      expect(await read()).toMatchObject({ state: 'unknown', detail: expect.stringContaining('its power is the last known') as string });
    },
  );

  it.each(['disconnected', 'notResponding'])('does not believe the power of a machine whose host is %s', async (state) => {
    cloud.service.setFaults({ shows: 'poweredOff' });
    oddities({ hostConnectionState: state });
    expect(await read()).toMatchObject({
      state: 'unknown',
      detail: expect.stringContaining(`host esx-1.example connectionState=${state}`) as string,
    });
  });

  it('does not call off what somebody is about to start: HA, DRS, a snapshot that is reverted to', async () => {
    cloud.service.setFaults({ shows: 'poweredOff' });
    for (const description of ['VirtualMachine.powerOn', 'Drm.ExecuteVmPowerOnLRO', 'vm.Snapshot.revert']) {
      for (const state of ['queued', 'running'] as const) {
        oddities({ task: { description, state } });
        expect(await read(), `${description} ${state}`).toMatchObject({ state: 'pending' });
      }
      oddities({ task: { description, state: 'success' } });
      expect(await read(), `${description} is over`).toMatchObject({ state: 'off' });
    }
    oddities({ task: { description: 'VirtualMachine.createSnapshot', state: 'running' } });
    expect(await read()).toMatchObject({ state: 'off', detail: expect.stringContaining('VirtualMachine.createSnapshot running') as string });
  });

  it('does not call off what HA lost with its host: it starts it elsewhere, and no task shows that', async () => {
    cloud.service.setFaults({ shows: 'poweredOff' });
    oddities({ isProtected: true });
    expect(await read()).toMatchObject({ state: 'pending', detail: expect.stringContaining('vSphere HA protects it') as string });
    // It reads off, and so the request changes nothing.
    cloud.service.setFaults({ failsOperation: true, shows: 'poweredOff' });
    expect(await agent.set(cloud.target(), 'off')).toMatchObject({ result: 'accepted' });
    expect(await read()).toMatchObject({ state: 'pending' });
  });

  it('calls off what it has powered off itself, though HA is late to let go of it', async () => {
    oddities({ isProtected: true });
    expect(await read()).toMatchObject({ state: 'on' });
    await agent.set(cloud.target(), 'off');
    await expect.poll(async () => (await read()).state).toBe('off');
  });

  it.each<[string, string[]]>([
    ['its state', ['info.state']],
    ['anything of it', ['info.state', 'info.descriptionId', 'info.error']],
  ])('does not call off what a task may be about to start that is shown without %s', async (_what, hidden) => {
    cloud.service.setFaults({ shows: 'poweredOff' });
    oddities({ task: { description: 'VirtualMachine.powerOn', state: 'queued' }, hidden });
    expect(await read()).toMatchObject({ state: 'pending', detail: expect.stringContaining('task-9002 is shown without its state') as string });
    expect(await agent.set(cloud.target(), 'off'), 'an off is sent all the same').toMatchObject({ result: 'accepted' });
  });

  it('looks at every page of what is shown: a task that is about to start the machine may stand on the last', async () => {
    cloud.service.setFaults({ shows: 'poweredOff' });
    oddities({ pageSize: 1, task: { description: 'VirtualMachine.powerOn', state: 'queued' } });
    expect(await read()).toMatchObject({ state: 'pending' });
    expect(cloud.service.requests.filter((name) => name === 'ContinueRetrievePropertiesEx')).toHaveLength(2);
  });

  it('believes nothing that is said of a machine which was not asked for', async () => {
    oddities({ showsOther: true });
    expect((await failureOf(read())).message).toContain('nothing was shown of vm-100');
  });

  it('is pending while the power-off is under way, also where it sticks', async () => {
    cloud.service.setFaults({ sticksInStopping: true });
    await agent.set(cloud.target(), 'off');
    expect(await read()).toMatchObject({ state: 'pending', detail: expect.stringContaining('task-1 VirtualMachine.powerOff running') as string });
  });

  it('tells in its own words that a task which was accepted ended in an error', async () => {
    cloud.service.setFaults({ failsOperation: true });
    expect(await agent.set(cloud.target(), 'off')).toMatchObject({ result: 'accepted' });
    expect(await read()).toMatchObject({
      state: 'on',
      detail: expect.stringContaining('ended in an error: GenericVmConfigFault: Failed to power off the virtual machine.') as string,
    });
  });

  it('takes a second off for what a read says, not for the InvalidPowerState that it is answered with', async () => {
    await agent.set(cloud.target(), 'off');
    await expect.poll(() => cloud.machines[0]?.state()).toBe('off');
    expect(await agent.set(cloud.target(), 'off')).toMatchObject({ result: 'accepted' });
    expect(await read()).toMatchObject({ state: 'off', detail: expect.stringContaining('InvalidPowerState') as string });
    cloud.service.setFaults({ failures: [{ request: 'PowerOffVM_Task', status: 500, code: 'InvalidPowerState', message: 'not in this state' }] });
    expect(await agent.set(cloud.target(), 'off')).toEqual({ result: 'unclear', detail: 'InvalidPowerState: not in this state' });
  });

  it('shows the question that a machine waits to be answered', async () => {
    oddities({ question: 'msg.disk.noBackEnd: cannot open the disk <x>' });
    expect((await read()).detail).toContain('it waits for an answer: msg.disk.noBackEnd: cannot open the disk <x>');
  });

  it('does not know the power that the user may not read', async () => {
    oddities({ hidden: ['runtime.powerState'] });
    expect(await read()).toMatchObject({
      state: 'unknown',
      detail: expect.stringContaining('Permission to perform this operation was denied') as string,
    });
  });

  describe('finds the machine', () => {
    it('by the UUID that its Node shows, in the other byte order', async () => {
      expect(cloud.uuids[0]).not.toBe(cloud.service.instances[0]?.id);
      const plug = cloud.uuids[0]?.toUpperCase() ?? '';
      expect(await read({ plug, identity: { node: 'a', systemUUID: cloud.uuids[0] } })).toMatchObject({ state: 'on', identity: 'verified' });
    });

    it.each(['a', 'DC0/vm/a', '/DC0/vm/a'])('by its name or its path, %s, verified by the UUID', async (plug) => {
      expect(await read({ plug })).toMatchObject({ state: 'on', identity: 'verified' });
      expect(await read({ plug: plug.replace(/a$/, 'b'), identity: { node: 'b', systemUUID: cloud.uuids[1] } })).toMatchObject({
        identity: 'verified',
      });
    });

    it('and refuses to choose among several of one name', async () => {
      oddities({ twin: 'name' });
      const error = await failureOf(read({ plug: 'a' }));
      expect(error.kind).toBe('Misconfigured');
      expect(error.message).toContain('2 machines are a (vm-100, vm-101): name one by its inventory path');
      expect(await read({ plug: 'DC0/vm/a' })).toMatchObject({ state: 'on', identity: 'verified' });
    });

    it('and refuses to choose among copies with one UUID', async () => {
      oddities({ twin: 'uuid' });
      expect((await failureOf(read())).message).toContain('(vm-100, vm-101)');
    });

    it('and refuses it as soon as a copy with its UUID stands beside it, also where it was found before: the node may run there', async () => {
      const clock = new JumpingClock();
      const patient = await vsphere.create({ clock, host: environmentOf(cloud.service.variables) } as unknown as AgentContext);
      if (patient.kind !== 'power') throw new Error('not a power agent');
      try {
        expect(await patient.read(cloud.target())).toMatchObject({ state: 'on', identity: 'verified' });
        oddities({ twin: 'uuid' });
        clock.aheadMs = 61_000;
        expect((await failureOf(patient.read(cloud.target()))).message).toContain('(vm-100, vm-101)');
        expect((await failureOf(patient.set(cloud.target(), 'off'))).message).toContain('(vm-100, vm-101)');
        expect(cloud.service.instances[0]?.commands).toEqual([]);
      } finally {
        await patient.close?.();
      }
    });

    it('with the older method where a service has no other', async () => {
      oddities({ hasNoFindAllByUuid: true });
      expect(await read()).toMatchObject({ state: 'on', identity: 'verified' });
    });

    it('again where it was registered anew, and has another id', async () => {
      await read();
      oddities({ isRegisteredAnew: true });
      expect(await read()).toMatchObject({ state: 'on', identity: 'verified' });
      expect(await agent.set(cloud.target(), 'off')).toMatchObject({ result: 'accepted' });
    });

    it.each(['11111111-2222-3333-4444-555555555555', 'nobody', 'DC0/vm/nobody'])('never takes %s, which is not there, for off', async (plug) => {
      const error = await failureOf(read({ plug, identity: { node: 'a' } }));
      expect(error.kind).toBe('Misconfigured');
      expect(error.message).toContain('what is not found is not off');
    });

    it('and lists all of them, page by page', async () => {
      expect(await agent.list?.(cloud.target())).toEqual([
        { plug: cloud.service.instances[0]?.id, alias: 'a', state: 'on' },
        { plug: cloud.service.instances[1]?.id, alias: 'b', state: 'on' },
      ]);
      expect(cloud.service.requests.at(-1)).toBe('DestroyView');
    });
  });

  describe('sends nothing to another machine', () => {
    it.each<[string, Partial<Target>]>([
      ['whose UUID is another', { identity: { node: 'a', systemUUID: '4c4c4544-0030-5210-8047-c6c04f5a4333' } }],
      ['whose providerID is another', { identity: { node: 'a', providerID: 'vsphere://4c4c4544-0030-5210-8047-c6c04f5a4333' } }],
      ['whose addresses are others, where no UUID tells', { identity: { node: 'a', addresses: ['10.1.1.1'] } }],
    ])('%s', async (_name, change) => {
      const error = await failureOf(agent.set(cloud.target(change), 'off'));
      expect(error.kind).toBe('Misconfigured');
      expect(error.message).toContain('is another machine');
      expect(cloud.service.instances[0]?.commands).toEqual([]);
    });

    it('that took the name of the one that was replaced', async () => {
      expect(await read({ plug: 'a' })).toMatchObject({ identity: 'verified' });
      cloud.service.setFaults({ isReplaced: true });
      expect((await failureOf(agent.set(cloud.target({ plug: 'a' }), 'off'))).message).toContain('vm-900 is another machine');
      expect(cloud.service.instances[0]?.commands).toEqual([]);
    });

    it('though addresses differ where the UUID is the same: what tools report of many interfaces is cut short', async () => {
      const identity = { node: 'a', systemUUID: cloud.uuids[0], addresses: ['10.1.1.1'] };
      expect(await read({ identity })).toMatchObject({ state: 'on', identity: 'verified' });
    });
  });

  describe('an ESXi host', () => {
    it.each([{}, { managedBy: '127.0.0.1' }])('is asked directly where no vCenter manages it: %j', async (host) => {
      oddities({ host });
      expect(await read()).toMatchObject({ state: 'on', identity: 'verified' });
      expect(await agent.set(cloud.target(), 'off')).toMatchObject({ result: 'accepted' });
    });

    it('of a vCenter proves nothing: HA may have started the machine on another one', async () => {
      oddities({ host: { managedBy: '192.0.2.5' } });
      cloud.service.setFaults({ shows: 'poweredOff' });
      const error = await failureOf(read());
      expect(error.kind).toBe('Misconfigured');
      expect(error.message).toContain('managed by vCenter 192.0.2.5: ask that one');
    });

    it('that does not show whether a vCenter manages it proves nothing either', async () => {
      oddities({ host: {}, hidden: ['summary.managementServerIp'] });
      expect((await failureOf(read())).message).toContain('does not show this user whether a vCenter manages it');
    });
  });

  describe('asks for its lease', () => {
    const lost = (): void => {
      throw new AgentError('NotSent', { device: 'cloud', plug: '', asked: 'off', answered: 'the lease is lost' });
    };

    it('in the turn of the send, and sends nothing without it', async () => {
      const error = await failureOf(agent.set(cloud.target({ beforeSend: lost }), 'off'));
      expect(error.kind).toBe('NotSent');
      expect(cloud.service.requests).not.toContain('PowerOffVM_Task');
    });

    it('again before a set that was too much comes again', async () => {
      cloud.service.setFaults({ failures: [{ request: 'PowerOffVM_Task', status: 429, code: '', message: 'busy', times: 1 }] });
      let asked = 0;
      const beforeSend = (): void => {
        asked += 1;
        if (asked === 2) lost();
      };
      expect((await failureOf(agent.set(cloud.target({ beforeSend }), 'off'))).kind).toBe('NotSent');
      expect(asked).toBe(2);
      expect(cloud.service.instances[0]?.commands).toEqual([]);
    });
  });

  describe('a refusal', () => {
    it('names the privilege that is missing, and is final', async () => {
      const message = 'Permission to perform this operation was denied.';
      cloud.service.setFaults({ failures: [{ request: 'PowerOffVM_Task', status: 500, code: 'NoPermission', message }] });
      const error = await failureOf(agent.set(cloud.target(), 'off'));
      expect(error.kind).toBe('Refused');
      expect(error.message).toContain(`NoPermission: ${message} (the user lacks VirtualMachine.Interact.PowerOff on vm-100)`);
    });

    it('for another task that has the machine is none for ever: it is sent again', async () => {
      cloud.service.setFaults({ failures: [{ request: 'PowerOffVM_Task', status: 500, code: 'TaskInProgress', message: 'busy', times: 2 }] });
      expect(await agent.set(cloud.target(), 'off')).toMatchObject({ result: 'accepted' });
      expect(cloud.service.requests.filter((name) => name === 'PowerOffVM_Task')).toHaveLength(3);
    });

    it('by a host that is away is no answer', async () => {
      cloud.service.setFaults({
        failures: [{ request: 'PowerOffVM_Task', status: 500, code: 'HostNotConnected', message: 'the host is disconnected' }],
      });
      expect(await failureOf(agent.set(cloud.target(), 'off'))).toMatchObject({ kind: 'Unreachable' });
    });

    it('is foretold to a probe, and costs nobody else a request', async () => {
      oddities({ lacks: ['VirtualMachine.Interact.PowerOff'] });
      expect(await read()).not.toHaveProperty('wouldRefuse');
      expect(cloud.service.requests).not.toContain('HasPrivilegeOnEntities');
      expect(await read({ isProbe: true })).toMatchObject({ wouldRefuse: 'fence@vsphere.local lacks VirtualMachine.Interact.PowerOff on vm-100' });
      oddities({});
      expect(await read({ isProbe: true })).not.toHaveProperty('wouldRefuse');
    });
  });

  it('is unclear where the proxy in front of the service answers a set, and sends it once', async () => {
    cloud.service.setFaults({ failures: [{ request: 'PowerOffVM_Task', status: 503, code: '', message: 'no endpoint' }] });
    expect(await agent.set(cloud.target(), 'off')).toEqual({
      result: 'unclear',
      detail: 'PowerOffVM_Task: HTTP 503: no answer of the vSphere API',
    });
    expect(cloud.service.requests.filter((name) => name === 'PowerOffVM_Task')).toHaveLength(1);
  });
});
