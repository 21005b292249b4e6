import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { AgentError } from '../../src/ports/agents.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { IpmiAgent } from './agent.ts';
import { areProgramsThere, PASSWORD, shellsOf, startSimulator, until, type Simulator } from './testing/ipmi-simulator.ts';

const GUID = 'a123456789abcdefa123456789000001';

describe.skipIf(!areProgramsThere)("against OpenIPMI's simulator", { timeout: 60_000 }, () => {
  let bmc: Simulator;
  const agent = new IpmiAgent(new SystemClock());

  beforeAll(async () => {
    bmc = await startSimulator(GUID);
  });
  afterEach(() => {
    for (const fault of ['lie', 'slow', 'fail_get', 'fail_set'] as const) bmc.fault(fault, undefined);
    bmc.turn('on');
  });
  afterAll(async () => {
    await agent.close();
    await bmc.dispose();
  });

  it('reads on, switches off, reads off, switches on, all in one shell', async () => {
    expect(await agent.read(bmc.target())).toMatchObject({ state: 'on', identity: 'unverified' });
    const shells = shellsOf(bmc.port);
    expect(shells).toHaveLength(1);
    expect(await agent.set(bmc.target(), 'off')).toEqual({ result: 'accepted', detail: 'Chassis Power Control: Down/Off' });
    expect(bmc.power()).toBe('off');
    expect(await agent.read(bmc.target())).toMatchObject({ state: 'off' });
    expect(await agent.set(bmc.target(), 'on')).toEqual({ result: 'accepted', detail: 'Chassis Power Control: Up/On' });
    expect(await agent.read(bmc.target())).toMatchObject({ state: 'on' });
    expect(shellsOf(bmc.port)).toEqual(shells);
  });

  it('calls the off accepted, and reads on, when the BMC lies', async () => {
    bmc.fault('lie', '');
    expect(await agent.set(bmc.target(), 'off')).toMatchObject({ result: 'accepted' });
    expect(await agent.read(bmc.target())).toMatchObject({ state: 'on' });
  });

  it('reads on until a slow BMC has acted', async () => {
    bmc.fault('slow', '1');
    expect(await agent.set(bmc.target(), 'off')).toMatchObject({ result: 'accepted' });
    expect(await agent.read(bmc.target())).toMatchObject({ state: 'on' });
    await until(async () => (await agent.read(bmc.target())).state === 'off');
    expect(bmc.power()).toBe('off');
  });

  it('reads unknown, with the words of the BMC, when it cannot tell', async () => {
    bmc.turn('off');
    bmc.fault('fail_get', '');
    const reading = await agent.read(bmc.target());
    expect(reading.state).toBe('unknown');
    expect(reading.detail).toContain('Get Chassis Power Status failed: ');
  });

  it('calls an off unclear that the BMC answers with an unspecified error', async () => {
    bmc.fault('fail_set', '');
    const outcome = await agent.set(bmc.target(), 'off');
    expect(outcome.result).toBe('unclear');
    expect(outcome.detail).toContain('Set Chassis Power Control to Down/Off failed: ');
    bmc.fault('fail_set', undefined);
    expect(await agent.read(bmc.target())).toMatchObject({ state: 'on' });
  });

  it('is refused, in the words of the BMC, what the privilege does not allow; nothing happens', async () => {
    const target = bmc.target({ parameters: { ...bmc.target().parameters, username: 'viewer', password: 'viewpw', privlvl: 'user' } });
    expect(await agent.read(target)).toMatchObject({ state: 'on' });
    const refusal = await agent.set(target, 'off').catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(AgentError);
    expect(refusal).toMatchObject({ kind: 'Refused' });
    expect((refusal as AgentError).message).toContain('Insufficient privilege level');
    expect((refusal as AgentError).message).toContain('privlvl');
    expect(bmc.power()).toBe('on');
  });

  it('does not call a refusal final when the machine is as wanted', async () => {
    bmc.turn('off');
    const target = bmc.target({ parameters: { ...bmc.target().parameters, username: 'viewer', password: 'viewpw', privlvl: 'user' } });
    expect(await agent.set(target, 'off')).toMatchObject({ result: 'unclear' });
  });

  it('needs no more than operator', async () => {
    const target = bmc.target({ parameters: { ...bmc.target().parameters, username: 'oper', password: 'operpw', privlvl: 'operator' } });
    expect(await agent.set(target, 'off')).toMatchObject({ result: 'accepted' });
    expect(bmc.power()).toBe('off');
  });

  it.each(['a1234567-89ab-cdef-a123-456789000001', '674523a1-ab89-efcd-a123-456789000001', '01000089-6745-23a1-efcd-ab89674523a1'])(
    'verifies the machine by its GUID, in whichever order its bytes are sent: %s',
    async (systemUUID) => {
      expect(await agent.read(bmc.target({ identity: { node: 'worker-1', systemUUID } }))).toMatchObject({ state: 'on', identity: 'verified' });
    },
  );

  it('neither reads nor switches another machine, and names both', async () => {
    const systemUUID = '4c4c4544-0030-5210-8047-c6c04f5a4333';
    const target = bmc.target({ identity: { node: 'worker-1', systemUUID } });
    for (const call of [agent.read(target), agent.set(target, 'off')]) {
      const error = await call.catch((reason: unknown) => reason);
      expect(error).toMatchObject({ kind: 'Misconfigured' });
      expect((error as AgentError).message).toContain(systemUUID);
      expect((error as AgentError).message).toContain('a1234567-89ab-cdef-a123-456789000001');
    }
    expect(bmc.power()).toBe('on');
  });

  it("lets an administrator pin the BMC's own GUID, which verifies no machine", async () => {
    const identity = { node: 'worker-1', systemUUID: '4c4c4544-0030-5210-8047-c6c04f5a4333' };
    const pinned = (guid: string) => bmc.target({ identity, parameters: { ...bmc.target().parameters, guid } });
    expect(await agent.read(pinned('a1234567-89ab-cdef-a123-456789000001'))).toMatchObject({ state: 'on', identity: 'unverified' });
    await expect(agent.set(pinned('a1234567-89ab-cdef-a123-456789000002'), 'off')).rejects.toMatchObject({ kind: 'Misconfigured' });
    expect(bmc.power()).toBe('on');
  });

  it('asks for the lease before it writes the off: nothing is sent when that throws, and the shell stays', async () => {
    await agent.read(bmc.target());
    const shells = shellsOf(bmc.port);
    const before = bmc.calls().filter((call) => call.startsWith('set ')).length;
    const beforeSend = () => {
      throw new AgentError('NotSent', { device: 'd', plug: '', asked: 'off', answered: 'the lease is not ours any more' });
    };
    await expect(agent.set(bmc.target({ beforeSend }), 'off')).rejects.toMatchObject({ kind: 'NotSent' });
    expect(await agent.read(bmc.target())).toMatchObject({ state: 'on' });
    expect(bmc.calls().filter((call) => call.startsWith('set '))).toHaveLength(before);
    expect(shellsOf(bmc.port)).toEqual(shells);
  });

  it('asks for the lease once, and never for a read', async () => {
    let asked = 0;
    const target = bmc.target({ beforeSend: () => (asked += 1) });
    await agent.read(target);
    expect(asked).toBe(0);
    await agent.set(target, 'off');
    expect(asked).toBe(1);
  });

  it('refuses a plug: a BMC has one machine', async () => {
    await expect(agent.read(bmc.target({ plug: '2' }))).rejects.toMatchObject({ kind: 'Misconfigured' });
  });

  it('says what is wrong with the parameters, and never shows a password', async () => {
    const error = await agent
      .read(bmc.target({ parameters: { ip: '-x', username: 'a', password: `${PASSWORD}${PASSWORD}` } }))
      .catch((reason: unknown) => reason);
    expect(error).toMatchObject({ kind: 'Misconfigured' });
    expect((error as AgentError).message).toMatch(/ip must be .*password must not be longer/);
    expect((error as AgentError).message).not.toContain(PASSWORD);
  });
});

describe.skipIf(!areProgramsThere)('a BMC whose GUID was never set', { timeout: 60_000 }, () => {
  it('is read and switched, with the identity unverified', async () => {
    const bmc = await startSimulator();
    const agent = new IpmiAgent(new SystemClock());
    try {
      const target = bmc.target({ identity: { node: 'worker-1', systemUUID: '4c4c4544-0030-5210-8047-c6c04f5a4333' } });
      const reading = await agent.read(target);
      expect(reading).toMatchObject({ state: 'on', identity: 'unverified' });
      expect(reading.detail).toBe('Chassis Power is on, identity: the BMC shows no usable GUID');
      expect(await agent.set(target, 'off')).toMatchObject({ result: 'accepted' });
      await expect(
        agent.read({ ...target, parameters: { ...target.parameters, guid: 'a1234567-89ab-cdef-a123-456789000001' } }),
      ).rejects.toMatchObject({
        kind: 'Misconfigured',
      });
    } finally {
      await agent.close();
      await bmc.dispose();
    }
  });
});
