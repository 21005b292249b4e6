import { afterEach, describe, expect, it, vi } from 'vitest';

import type { CliKind } from '../../src/testbed/devices/ssh/command-line.ts';
import { startSwitchServer, type SwitchServer, type SwitchServerOptions } from '../../src/testbed/devices/ssh/switch-server.ts';
import { SwitchPorts, type SwitchFaults } from '../../src/testbed/devices/ssh/switch-ports.ts';
import { AgentError, type Parameters, type Target } from '../../src/ports/agents.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { EthernetSwitchAgent } from './agent.ts';
import { ethernetSwitch } from './definition.ts';
import type { DialectName } from './dialects.ts';

const clock = new SystemClock();
const PASSWORD = "p4ss 'word";
const PLUGS: Readonly<Record<DialectName, string>> = {
  ios: 'GigabitEthernet1/0/7',
  nxos: 'Ethernet1/7',
  eos: 'Ethernet7',
  junos: 'ge-0/0/7',
};

interface Scene {
  agent: EthernetSwitchAgent;
  ports: SwitchPorts;
  server: SwitchServer;
  target: (changes?: Partial<Target>, parameters?: Parameters) => Target;
}

const scenes: Scene[] = [];

afterEach(async () => {
  for (const { agent, server } of scenes.splice(0)) {
    await agent.close();
    await vi.waitFor(() => expect([server.sessions(), server.connections()]).toEqual([0, 0]), { timeout: 10_000 });
    await server.close();
  }
});

async function scene(kind: DialectName, faults: SwitchFaults = {}, options: Partial<SwitchServerOptions> = {}): Promise<Scene> {
  const plug = PLUGS[kind];
  const ports = new SwitchPorts(
    clock,
    [
      { name: plug, description: 'worker-1 eth0' },
      { name: `${plug}1`, description: 'worker-2 eth0' },
    ],
    faults,
  );
  const server = await startSwitchServer({ clock, ports, kind: kind satisfies CliKind, username: 'fence', password: PASSWORD, ...options });
  const made: Scene = {
    agent: new EthernetSwitchAgent(clock),
    ports,
    server,
    target: (changes = {}, parameters = {}) => ({
      plug,
      device: `127.0.0.1:${server.port}`,
      parameters: {
        transport: 'ssh',
        dialect: kind,
        ip: '127.0.0.1',
        ipport: String(server.port),
        username: 'fence',
        password: PASSWORD,
        known_hosts: server.knownHosts,
        port_alias: '{node}',
        ...parameters,
      },
      identity: { node: 'worker-1' },
      signal: new AbortController().signal,
      deadlineMs: 30_000,
      beforeSend: () => undefined,
      ...changes,
    }),
  };
  scenes.push(made);
  return made;
}

async function failure(promise: Promise<unknown>): Promise<AgentError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof AgentError)) throw new Error(`no AgentError: ${String(error)}`);
  expect(error.message).not.toContain(PASSWORD);
  return error;
}

describe.each(Object.keys(PLUGS) as DialectName[])('the command line of %s', { timeout: 60_000 }, (kind) => {
  it('closes a port, reads it back, and opens it', async () => {
    const { agent, ports, server, target } = await scene(kind);
    expect(await agent.read(target())).toMatchObject({ state: 'open', identity: 'verified' });
    expect(await agent.set(target(), 'closed')).toMatchObject({ result: 'accepted' });
    expect(ports.flows(PLUGS[kind])).toBe(false);
    expect(await agent.read(target())).toMatchObject({ state: 'closed', identity: 'verified' });
    expect(await agent.set(target(), 'open')).toMatchObject({ result: 'accepted' });
    expect(await agent.read(target())).toMatchObject({ state: 'open' });
    expect(ports.flows(`${PLUGS[kind]}1`)).toBe(true);
    expect(ports.commands.map(({ wanted }) => wanted)).toEqual(['off', 'on']);
    expect([server.connections(), server.sessions()]).toEqual([1, 1]);
  });

  it('logs in by keyboard-interactive', async () => {
    const { agent, target } = await scene(kind, {}, { asks: 'keyboard-interactive' });
    expect(await agent.read(target())).toMatchObject({ state: 'open' });
  });

  it('changes nothing when the lease is lost in the turn of the change', async () => {
    const { agent, ports, target } = await scene(kind);
    const beforeSend = (): void => {
      throw new AgentError('NotSent', { device: '', plug: '', asked: 'closed', answered: 'no lease' });
    };
    expect(await failure(agent.set(target({ beforeSend }), 'closed'))).toMatchObject({ kind: 'NotSent' });
    expect(ports.commands).toEqual([]);
    expect(await agent.read(target())).toMatchObject({ state: 'open' });
  });

  it('asks before the line that changes, and after everything else', async () => {
    const { agent, server, target } = await scene(kind);
    let typed: readonly string[] = [];
    await agent.set(target({ beforeSend: () => (typed = [...server.typed]) }), 'closed');
    const change = kind === 'junos' ? 'commit' : 'shutdown';
    expect(typed).not.toContain(change);
    expect(server.typed.slice(typed.length)[0]).toBe(change);
  });

  it('says what a switch that refuses says', async () => {
    const { agent, ports, target } = await scene(kind, { refuses: true });
    expect(await agent.read(target())).toMatchObject({ state: 'open' });
    const error = await failure(agent.set(target(), 'closed'));
    expect(error.kind).toBe('Refused');
    expect(error.message).toMatch(/authorization failed|permission denied/i);
    expect(ports.flows(PLUGS[kind])).toBe(true);
    expect(await agent.read(target())).toMatchObject({ state: 'open' });
  });

  it.each([['garbage'], ['truncated'], ['hangs']] as const)('does not believe an answer that is %s', async (wire) => {
    const { agent, target } = await scene(kind, { wire });
    const outcome = await agent.read(target({ deadlineMs: 3_000 })).then(
      ({ state }) => state,
      (error: unknown) => (error instanceof AgentError ? error.kind : String(error)),
    );
    expect(['unknown', 'Unreachable', 'Timeout']).toContain(outcome);
  });

  it.each(['unknown', 'missing'] as const)('reads a state that is %s as unknown', async (shows) => {
    const { agent, target } = await scene(kind, { shows });
    expect(await agent.read(target())).toMatchObject({ state: 'unknown' });
  });

  it('does not touch the port of another machine', async () => {
    const { agent, ports, target } = await scene(kind, { describes: 'worker-10 eth0' });
    const error = await failure(agent.read(target()));
    expect(error).toMatchObject({ kind: 'Misconfigured' });
    expect(error.message).toContain('worker-10');
    expect(await failure(agent.set(target(), 'closed'))).toMatchObject({ kind: 'Misconfigured' });
    expect(ports.commands).toEqual([]);
  });

  it('says that a port does not exist', async () => {
    const { agent, ports, target } = await scene(kind);
    const plug = PLUGS[kind].replace('7', '99');
    expect(await failure(agent.read(target({ plug })))).toMatchObject({ kind: 'Refused' });
    expect(await failure(agent.set(target({ plug }, { port_alias: '' }), 'closed'))).toMatchObject({ kind: 'Refused' });
    expect(ports.commands).toEqual([]);
  });

  it('types nothing that is no name of a port', async () => {
    const { agent, server, target } = await scene(kind);
    for (const plug of ['1\nreload', 'Ethernet1 ; reload', 'Ethernet1|x', '7', '', 'Ethernet', 'Eth1 2']) {
      expect(await failure(agent.read(target({ plug })))).toMatchObject({ kind: 'Misconfigured' });
    }
    expect(server.typed.join()).not.toContain('reload');
  });

  it('is refused with a wrong password, once', async () => {
    const { agent, target } = await scene(kind, { refusesLogin: true });
    const error = await failure(agent.read(target()));
    expect(error).toMatchObject({ kind: 'Refused' });
    expect(error.message).toContain('refuses password of this account');
  });

  it('says that no session is left', async () => {
    const { agent, target } = await scene(kind, { isFull: true });
    const error = await failure(agent.read(target()));
    expect(error).toMatchObject({ kind: 'Unreachable' });
    expect(error.message).toContain('opens no session');
  });
});

describe('enable', { timeout: 60_000 }, () => {
  it('is typed where a change needs it, and its password is shown nowhere', async () => {
    const { agent, ports, target } = await scene('ios', {}, { enablePassword: 'f1fty tr0ub' });
    expect(await agent.read(target())).toMatchObject({ state: 'open' });
    await agent.set(target({}, { enable_password: 'f1fty tr0ub' }), 'closed');
    expect(ports.flows(PLUGS.ios)).toBe(false);
    expect(await agent.read(target({}, { enable_password: 'f1fty tr0ub' }))).toMatchObject({ state: 'closed' });
  });

  it('that is refused changes nothing', async () => {
    const { agent, ports, target } = await scene('ios', {}, { enablePassword: 'f1fty tr0ub' });
    const error = await failure(agent.set(target({}, { enable_password: 'some other' }), 'closed'));
    expect(error).toMatchObject({ kind: 'Refused' });
    expect(error.message).toContain('Bad secrets');
    expect(error.message).not.toContain('some other');
    expect(await failure(agent.set(target(), 'closed'))).toMatchObject({ kind: 'Refused' });
    expect(ports.commands).toEqual([]);
  });
});

describe('a wrong dialect', () => {
  it('of a switch whose prompt it does not know is told with the prompt that was seen', async () => {
    const { agent, target } = await scene('ios');
    const wrong = target({}, { dialect: 'junos' });
    await expect(agent.read(wrong)).rejects.toMatchObject({
      kind: 'Misconfigured',
      message: expect.stringMatching(/waits at ".*[>#]", which is no prompt of dialect junos/u) as string,
    });
  });

  it('of a switch whose prompt looks alike shows the prompt, and no state', async () => {
    const { agent, target } = await scene('junos');
    const reading = await agent.read(target({}, { dialect: 'ios' }));
    expect(reading).toMatchObject({ state: 'unknown', detail: expect.stringMatching(/asked at the prompt \S+ in dialect ios/u) as string });
  });
});

describe('an interface of the switch itself', () => {
  it.each(['nve1', 'Null0', 'mgmt0', 'Management1', 'Ma1', 'fxp0', 'em0', 'vme', 're0:mgmt-0', 'me0', 'MgmtEth0'])(
    'is never switched: %s',
    async (plug) => {
      expect(ethernetSwitch.plugProblem?.(plug, {}, undefined)).toContain('interface of the switch itself');
      const { agent, target, server } = await scene('nxos');
      for (const call of [() => agent.read(target({ plug })), () => agent.set(target({ plug }), 'closed')])
        await expect(call()).rejects.toMatchObject({ kind: 'Misconfigured' });
      expect(server.typed).toEqual([]);
    },
  );

  it.each(['Ethernet1/7', 'GigabitEthernet1/0/7', 'ge-0/0/7', 'Port-Channel7', 'xe-0/0/1', 'swp7', 'Te1/1/1', 'et-0/0/1'])('is not %s', (plug) => {
    expect(ethernetSwitch.plugProblem?.(plug, {}, undefined)).toBeUndefined();
  });
});
