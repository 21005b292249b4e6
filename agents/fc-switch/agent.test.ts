import { afterEach, describe, expect, it, vi } from 'vitest';

import { startSwitchServer } from '../../src/testbed/devices/ssh/switch-server.ts';
import { SwitchPorts, type SwitchFaults } from '../../src/testbed/devices/ssh/switch-ports.ts';
import { AgentError, type Parameters, type Target } from '../../src/ports/agents.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { FcSwitchAgent } from './agent.ts';
import { startSwitchWeb } from '../../src/testbed/devices/ssh/switch-web.ts';

const clock = new SystemClock();
const PASSWORD = "p4ss <&'word";
const KINDS = ['ssh', 'rest', 'nxapi'] as const;
type Kind = (typeof KINDS)[number];

interface Device {
  port: number;
  sessions(): number;
  connections(): number;
  close(): Promise<void>;
}

interface Scene {
  agent: FcSwitchAgent;
  ports: SwitchPorts;
  device: Device;
  plug: string;
  /** Requests or commands so far. */
  asked: readonly string[];
  target: (changes?: Partial<Target>, parameters?: Parameters) => Target;
}

const scenes: Scene[] = [];

afterEach(async () => {
  for (const { agent, device } of scenes.splice(0)) {
    await agent.close();
    await vi.waitFor(() => expect([device.sessions(), device.connections()]).toEqual([0, 0]), { timeout: 10_000 });
    await device.close();
  }
});

async function scene(kind: Kind, faults: SwitchFaults = {}): Promise<Scene> {
  const plug = kind === 'nxapi' ? 'fc1/7' : '7';
  const ports = new SwitchPorts(
    clock,
    [
      { name: plug, description: 'worker-1 hba0' },
      { name: kind === 'nxapi' ? 'fc1/17' : '17', description: 'worker-2 hba0' },
    ],
    faults,
  );
  const common = { clock, ports, username: 'fence', password: PASSWORD };
  const device =
    kind === 'ssh'
      ? await startSwitchServer({ ...common, kind: 'fos' })
      : await startSwitchWeb({ ...common, kind: kind === 'rest' ? 'fos' : 'nxapi' });
  const trust: Parameters = 'knownHosts' in device ? { known_hosts: device.knownHosts } : { ssl_fingerprint: device.fingerprint };
  const made: Scene = {
    agent: new FcSwitchAgent(clock),
    ports,
    device,
    plug,
    asked: 'typed' in device ? device.typed : device.requests,
    target: (changes = {}, parameters = {}) => ({
      plug,
      device: `127.0.0.1:${device.port}`,
      parameters: {
        transport: kind,
        ip: '127.0.0.1',
        ipport: String(device.port),
        username: 'fence',
        password: PASSWORD,
        ...trust,
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

describe.each(KINDS)('a Fibre Channel switch over %s', { timeout: 60_000 }, (kind) => {
  it('closes a port, reads it back, and opens it', async () => {
    const { agent, ports, plug, target } = await scene(kind);
    expect(await agent.read(target())).toMatchObject({ state: 'open', identity: 'verified' });
    expect(await agent.set(target(), 'closed')).toMatchObject({ result: 'accepted' });
    expect(ports.flows(plug)).toBe(false);
    expect(await agent.read(target())).toMatchObject({ state: 'closed', identity: 'verified' });
    await agent.set(target(), 'open');
    expect(await agent.read(target())).toMatchObject({ state: 'open' });
    expect(ports.commands.map(({ plug: named, wanted }) => `${named} ${wanted}`)).toEqual([`${plug} off`, `${plug} on`]);
  });

  it('changes nothing when the lease is lost in the turn of the change, and asks for it last', async () => {
    const { agent, ports, asked, target } = await scene(kind);
    let before: readonly string[] = [];
    const beforeSend = (): void => {
      before = [...asked];
      throw new AgentError('NotSent', { device: '', plug: '', asked: 'closed', answered: 'no lease' });
    };
    expect(await failure(agent.set(target({ beforeSend }), 'closed'))).toMatchObject({ kind: 'NotSent' });
    expect(before.length).toBeGreaterThan(0);
    expect(ports.commands).toEqual([]);
  });

  it('says what a switch that refuses says', async () => {
    const { agent, target } = await scene(kind, { refuses: true });
    const error = await failure(agent.set(target(), 'closed'));
    expect(error.kind).toBe('Refused');
    expect(error.message).toMatch(/permission denied/i);
  });

  it('does not touch the port of another machine', async () => {
    const { agent, ports, target } = await scene(kind, { describes: 'worker-10 hba0' });
    expect(await failure(agent.read(target()))).toMatchObject({ kind: 'Misconfigured' });
    expect(await failure(agent.set(target(), 'closed'))).toMatchObject({ kind: 'Misconfigured' });
    expect(ports.commands).toEqual([]);
  });

  it.each(['unknown', 'missing'] as const)('sends nothing after a state that is %s', async (shows) => {
    const { agent, ports, target } = await scene(kind, { shows });
    expect(await agent.read(target())).toMatchObject({ state: 'unknown' });
    expect(await failure(agent.set(target(), 'closed'))).toMatchObject({ kind: 'Unreachable' });
    expect(ports.commands).toEqual([]);
  });

  it('reads a port that is disabled and still on line as pending', async () => {
    const { agent, target } = await scene(kind, { shows: 'pending' });
    expect(await agent.read(target())).toMatchObject({ state: 'pending' });
  });

  it.each([['garbage'], ['truncated'], ['hangs']] as const)('does not believe an answer that is %s', async (wire) => {
    const { agent, target } = await scene(kind, { wire });
    const outcome = await agent.read(target({ deadlineMs: 3_000 })).then(
      ({ state }) => state,
      (error: unknown) => (error instanceof AgentError ? error.kind : String(error)),
    );
    expect(['unknown', 'Unreachable', 'Timeout']).toContain(outcome);
  });

  it('is refused with a wrong password', async () => {
    const { agent, target } = await scene(kind, { refusesLogin: true });
    expect(await failure(agent.read(target()))).toMatchObject({ kind: 'Refused' });
  });

  it('says that there is no such port, and takes no name for a command', async () => {
    const { agent, ports, asked, target } = await scene(kind);
    const plug = kind === 'nxapi' ? 'fc9/99' : '99';
    await expect(agent.set(target({ plug }), 'closed')).rejects.toBeInstanceOf(AgentError);
    for (const odd of ['7; reload', '7\nreload', '7 8', 'x'])
      expect(await failure(agent.read(target({ plug: odd })))).toMatchObject({ kind: 'Misconfigured' });
    expect(asked.join()).not.toContain('reload');
    expect(ports.commands).toEqual([]);
  });
});

describe.each(['rest', 'nxapi'] as const)('trust over %s', { timeout: 60_000 }, (kind) => {
  it('shows no password to a switch whose certificate it does not know', async () => {
    const { agent, asked, target } = await scene(kind);
    for (const trust of [{ ssl_fingerprint: 'ab'.repeat(32) }, { ssl_fingerprint: '' }]) {
      const error = await failure(agent.read(target({}, trust)));
      expect(error).toMatchObject({ kind: 'Misconfigured' });
      expect(error.message).toContain('not trusted');
    }
    expect(asked).toEqual([]);
  });
});

describe('a session of REST', { timeout: 60_000 }, () => {
  it('is ended after each call, also one that fails', async () => {
    const { agent, device, asked, target } = await scene('rest');
    await agent.read(target());
    await failure(agent.read(target({ plug: '99' })));
    expect(device.sessions()).toBe(0);
    expect(asked.filter((request) => request.endsWith('/rest/logout'))).toHaveLength(2);
  });

  it('is ended after a call that ran out of time', async () => {
    const { agent, device, target } = await scene('rest', { wire: 'hangs' });
    expect(await failure(agent.read(target({ deadlineMs: 1_500 })))).toMatchObject({ kind: 'Timeout' });
    expect(device.sessions()).toBe(0);
  });

  it('that is not to be had is the words of the switch', async () => {
    const { agent, target } = await scene('rest', { isFull: true });
    const error = await failure(agent.read(target()));
    expect(error).toMatchObject({ kind: 'Unreachable' });
    expect(error.message).toContain('Max limit for REST sessions reached');
  });
});

describe('a virtual fabric', { timeout: 60_000 }, () => {
  it('is named in every command', async () => {
    const { agent, ports, asked, target } = await scene('ssh');
    await agent.set(target({}, { vf_id: '10' }), 'closed');
    expect(asked.every((command) => command.startsWith('fosexec --fid 10 -cmd "'))).toBe(true);
    expect(ports.flows('7')).toBe(false);
  });
});
