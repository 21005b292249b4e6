import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { readFileSync } from 'node:fs';

import { shellsOf } from '../../agents/ipmi/testing/ipmi-simulator.ts';
import type { BmcFaults } from '../../src/testbed/devices/bmc/faults.ts';
import { MemoryMachine, type PowerBackend } from '../../src/testbed/devices/bmc/power-backend.ts';
import { IpmiDevice, type IpmiDeviceOptions } from '../../src/testbed/devices/ipmi/rmcp/ipmi-device.ts';
import { PRIVILEGE } from '../../src/testbed/devices/ipmi/rmcp/sessions.ts';
import type { DeviceEvent } from '../../src/laws/trace.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { SystemRandom } from '../../src/runtime/system-random.ts';
import type { Behaviour, FaultProfile, DeviceFixture } from './fault-profile.ts';

const UUID = '4c4c4544-0030-5210-8047-c6c04f5a4333';
const PASSWORD = 'of-the_matrix-nr-19!';
const LATE_MS = 6_000;

/** Type of the payload (table 13-16). */
const RAKP_2 = 0x13;

const RESTART_AFTER_MS = 30;
const STARTS_FOR_MS = 60_000;

/** A BMC that restarts when it is told off, forgets its sessions, and shows off until it has found out about its machine. */
class RestartingBmc implements PowerBackend {
  readonly #machine: PowerBackend;
  #restart: () => void = () => undefined;
  #showsOffUntilMs = Number.NEGATIVE_INFINITY;

  constructor(machine: PowerBackend) {
    this.#machine = machine;
  }

  set onRestart(restart: () => void) {
    this.#restart = restart;
  }

  state(): 'on' | 'off' {
    return performance.now() < this.#showsOffUntilMs ? 'off' : this.#machine.state();
  }

  on(cause: Parameters<PowerBackend['on']>[0]): void {
    this.#machine.on(cause);
  }

  off(): void {
    setTimeout(() => {
      this.#showsOffUntilMs = performance.now() + STARTS_FOR_MS;
      this.#restart();
    }, RESTART_AFTER_MS);
  }
}

type Amend = NonNullable<IpmiDeviceOptions['amend']>;

const FAULTS: Readonly<Partial<Record<Behaviour, BmcFaults>>> = {
  slow: { offDelayMs: 8_000, onDelayMs: 8_000 },
  'accepts-and-lies': { ignoresReset: true },
  'state-unknown': { fails: 'get' },
  'flips-back-on': { restoresAfterMs: 500 },
  'wrong-machine': { wrongGuid: true },
  'late-after-deadline': { offDelayMs: LATE_MS, onDelayMs: LATE_MS },
};

/** What is said instead of the power status. */
const INSTEAD: Readonly<Partial<Record<Behaviour, Buffer | 'nothing'>>> = {
  'hangs-mid-answer': 'nothing',
  'state-null': Buffer.from([0x00]),
  'rate-limited': Buffer.from([0xc0]),
};

/** A BMC ends what is silent for 60 s; here sooner, since these tests are in a hurry. */
const SESSION_TIMEOUT_MS = 7_000;

/** What IPMI cannot show, whoever speaks it. */
export const IPMI_CANNOT: FaultProfile['cannot'] = {
  'wrong-certificate': 'RMCP+ knows passwords and keys, no certificates',
  'state-pending': 'the chassis status has one power bit: on or off',
  'one-plug-stuck': 'a BMC switches one machine',
};

/** An emulated BMC of ours on a port of its own, as odd as its behaviour says. */
export async function spawnIpmiBmc(
  behaviour: Behaviour,
  isOn: boolean,
  parameters: Readonly<Record<string, string>>,
  odd: { faults?: BmcFaults; rakp2DelayMs?: number } = {},
): Promise<DeviceFixture> {
  const clock = new SystemClock();
  const machine = new MemoryMachine(isOn ? 'on' : 'off');
  const events: DeviceEvent[] = [];
  let asked = '';
  const amend: Amend = (name, answer) => {
    asked = name;
    const instead = name === 'chassis status' ? INSTEAD[behaviour] : undefined;
    return instead === 'nothing' ? undefined : (instead ?? answer);
  };
  const restarting = new RestartingBmc(machine);
  const device = new IpmiDevice({
    clock,
    random: new SystemRandom(),
    node: 'a',
    uuid: UUID,
    users: { fence: { password: PASSWORD, privilege: behaviour === 'refuses' ? PRIVILEGE.user : PRIVILEGE.administrator } },
    ...(behaviour === 'session-limit' ? { sessionsMax: 0 } : {}),
    backend: behaviour === 'restarts' ? restarting : machine,
    faults: { sessionTimeoutMs: SESSION_TIMEOUT_MS, ...FAULTS[behaviour], ...odd.faults },
    trace: (event) => events.push(event),
    amend,
  });
  restarting.onRestart = () => {
    for (const session of device.login.sessions.active) device.login.sessions.end(session);
  };
  const respond = (datagram: Buffer): { answer: Buffer | undefined; delayMs: number } => {
    asked = '';
    const answer = device.handle(datagram);
    if (answer === undefined) return { answer, delayMs: 0 };
    if (behaviour === 'garbage') return { answer: garbageLike(answer), delayMs: 0 };
    if (behaviour === 'truncated' && asked === 'chassis status') return { answer: answer.subarray(0, answer.length / 2), delayMs: 0 };
    if (behaviour === 'slow' && asked.startsWith('chassis')) return { answer, delayMs: 2_000 };
    if (behaviour === 'late-after-deadline' && asked === 'chassis control') return { answer, delayMs: LATE_MS };
    return { answer, delayMs: answer[5] === RAKP_2 ? (odd.rakp2DelayMs ?? 0) : 0 };
  };
  const server = await serve(respond);
  if (behaviour === 'unreachable') await server.close();
  return {
    parameters: {
      ip: '127.0.0.1',
      ipport: String(server.port),
      username: 'fence',
      password: behaviour === 'wrong-credentials' ? 'not-of-the_matrix' : PASSWORD,
      ...(behaviour === 'refuses' ? { privlvl: 'user' } : {}),
      ...parameters,
    },
    plugs: [''],
    identity: { node: 'a', systemUUID: UUID },
    flows: () => machine.state() === 'on',
    commands: () => events.filter(({ action }) => action === 'set').map(({ want }) => ({ plug: '', wanted: want ?? 'other' })),
    leftOpen: () => {
      // An ipmitool that hangs can only be killed: its session is the BMC's to end. One of our own is closed.
      if (parameters['transport'] === 'ipmitool') device.login.sessions.endUnused(SESSION_TIMEOUT_MS);
      return {
        sessions: device.login.sessions.active.length,
        connections: socketsTo(server.port),
        processes: shellsOf(server.port).length,
      };
    },
    close: server.close,
  };
}

async function serve(respond: (datagram: Buffer) => { answer: Buffer | undefined; delayMs: number }) {
  const socket = createSocket('udp4');
  let isOpen = true;
  socket.on('message', (datagram, from) => {
    const { answer, delayMs } = respond(datagram);
    const send = (): void => {
      if (isOpen && answer !== undefined) socket.send(answer, from.port, from.address);
    };
    if (delayMs === 0) send();
    else setTimeout(send, delayMs).unref();
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return {
    port: socket.address().port,
    close: async (): Promise<void> => {
      if (!isOpen) return;
      isOpen = false;
      await new Promise<void>((resolve) => socket.close(() => resolve()));
    },
  };
}

/** The header of an answer, and noise behind it. */
function garbageLike(answer: Buffer): Buffer {
  return Buffer.concat([answer.subarray(0, 5), randomBytes(answer.length - 5)]);
}

/** Sockets of this machine that are connected to the port: ours, for a server's own has no other end. */
function socketsTo(port: number): number {
  const end = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return readFileSync('/proc/net/udp', 'utf8')
    .split('\n')
    .filter((line) => line.trim().split(/\s+/)[2] === end).length;
}
