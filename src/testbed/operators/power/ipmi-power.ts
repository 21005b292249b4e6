import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import type { Socket } from 'node:dgram';
import { SystemClock } from '../../../runtime/system-clock.ts';
import { COMMANDS } from '../../devices/ipmi/rmcp/commands.ts';
import type { CommandName } from '../../devices/ipmi/rmcp/commands.ts';
import { fourBytes } from '../../devices/ipmi/rmcp/handshake.ts';
import { isSameCode, rakp2Code, rakp3Code, SessionKeys } from '../../devices/ipmi/rmcp/keys.ts';
import { buildMessage, parseMessage } from '../../devices/ipmi/rmcp/message.ts';
import { buildSigned, buildUnsigned, parsePacket, PAYLOAD } from '../../devices/ipmi/rmcp/packet.ts';
import type { SessionPacket } from '../../devices/ipmi/rmcp/packet.ts';
import { SUITES } from '../../devices/ipmi/rmcp/suites.ts';
import type { BmcAddress, BmcClient } from './bmc-client.ts';

const CONSOLE_ID = 0x6e66_7462;
const ADMINISTRATOR = 4;
const RESEND_MS = 1_000;
const CONTROLS = { off: 0, on: 1 } as const;
/** The one that Debian's ipmi_sim knows too. */
const SUITE = 3;

/** IPMI 2.0 over LAN, in the test bed's own reading of it: one session for each command. */
export class IpmiPower implements BmcClient {
  readonly #address: BmcAddress;
  readonly #deadlineMs: number;

  constructor(address: BmcAddress, deadlineMs: number) {
    this.#address = address;
    this.#deadlineMs = deadlineMs;
  }

  async read(): Promise<'on' | 'off' | 'unknown'> {
    const data = await this.#command('chassis status', []);
    return ((data[1] ?? 0) & 1) === 1 ? 'on' : 'off';
  }

  async set(state: 'on' | 'off'): Promise<string> {
    await this.#command('chassis control', [CONTROLS[state]]);
    return '00';
  }

  async #command(name: CommandName, data: readonly number[]): Promise<Buffer> {
    const line = new Line(this.#address, this.#deadlineMs);
    try {
      const session = await Session.open(line, this.#address);
      await session.ask('session privilege', [ADMINISTRATOR]);
      const answer = await session.ask(name, data);
      await session.close();
      return answer;
    } finally {
      line.close();
    }
  }
}

/** One question at a time over UDP, sent again while nobody answers. */
class Line {
  readonly #socket: Socket = createSocket('udp4');
  readonly #clock = new SystemClock();
  readonly #address: BmcAddress;
  readonly #endsAtMs: number;

  constructor(address: BmcAddress, deadlineMs: number) {
    this.#address = address;
    this.#endsAtMs = this.#clock.monotonicMs() + deadlineMs;
  }

  close(): void {
    this.#socket.close();
  }

  /** What `take` makes of the first datagram that it knows for the answer. */
  ask<T>(datagram: Buffer, take: (packet: SessionPacket) => T | undefined): Promise<T> {
    const { host, port } = this.#address;
    return new Promise((resolve, reject) => {
      let cancel = (): void => undefined;
      const end = (settle: () => void): void => {
        cancel();
        this.#socket.removeAllListeners();
        settle();
      };
      const send = (): void => {
        if (this.#clock.monotonicMs() >= this.#endsAtMs) {
          end(() => reject(new Error(`${host}:${String(port)} does not answer`)));
          return;
        }
        this.#socket.send(datagram, port, host);
        cancel = this.#clock.after(RESEND_MS, send);
      };
      this.#socket.on('error', (error) => end(() => reject(error)));
      this.#socket.on('message', (bytes) => {
        const packet = parsePacket(bytes);
        const answer = packet?.kind === 'session' ? take(packet) : undefined;
        if (answer !== undefined) end(() => resolve(answer));
      });
      send();
    });
  }
}

class Session {
  readonly #line: Line;
  readonly #systemID: number;
  readonly #keys: SessionKeys;
  #sequence = 0;

  private constructor(line: Line, systemID: number, keys: SessionKeys) {
    this.#line = line;
    this.#systemID = systemID;
    this.#keys = keys;
  }

  /** Open Session, RAKP 1 to 4 (section 13). */
  static async open(line: Line, { username, password }: BmcAddress): Promise<Session> {
    const suite = SUITES.find(({ id }) => id === SUITE);
    if (suite === undefined) throw new Error(`no cipher suite ${String(SUITE)}`);
    const head = Buffer.from([0, ADMINISTRATOR, 0, 0]);
    const algorithms = [suite.authentication, suite.integrity, suite.confidentiality].map((number, kind) => [kind, 0, 0, 8, number, 0, 0, 0]);
    const opened = await step(line, PAYLOAD.openRequest, PAYLOAD.openResponse, [head, fourBytes(CONSOLE_ID), Buffer.from(algorithms.flat())]);
    const systemID = opened.readUInt32LE(8);
    const consoleNonce = randomBytes(16);
    const name = Buffer.from(username, 'latin1');
    const role = Buffer.from([ADMINISTRATOR, 0, 0, name.length]);
    const known = await step(line, PAYLOAD.rakp1, PAYLOAD.rakp2, [Buffer.alloc(4), fourBytes(systemID), consoleNonce, role, name]);
    const secrets = {
      ...{ suite, systemID, consoleNonce, username, password, consoleID: CONSOLE_ID, roleByte: ADMINISTRATOR },
      ...{ systemNonce: known.subarray(8, 24), guid: known.subarray(24, 40) },
    };
    if (!isSameCode(rakp2Code(secrets), known.subarray(40))) throw new Error('the BMC does not know the password');
    const final = await step(line, PAYLOAD.rakp3, PAYLOAD.rakp4, [Buffer.alloc(4), fourBytes(systemID), rakp3Code(secrets)]);
    const keys = new SessionKeys(secrets);
    if (!isSameCode(keys.finalCode, final.subarray(8))) throw new Error('the BMC has other keys');
    return new Session(line, systemID, keys);
  }

  async close(): Promise<void> {
    await this.ask('close session', [...fourBytes(this.#systemID)]);
  }

  /** Completion code and data. */
  async ask(name: CommandName, data: readonly number[]): Promise<Buffer> {
    this.#sequence += 1;
    const { netFn, command } = COMMANDS[name];
    const sequence = this.#sequence;
    const message = buildMessage({ to: 0x20, from: 0x81, netFn, toLun: 0, fromLun: 0, sequence, command, data: Buffer.from(data) });
    const datagram = buildSigned(this.#systemID, sequence, this.#keys.encrypt(message, randomBytes(16)), (covered) => this.#keys.sign(covered));
    const answer = await this.#line.ask(datagram, (packet) => {
      const payload = this.#keys.open(packet);
      const said = payload === undefined ? undefined : parseMessage(payload);
      return said?.sequence === sequence && said.command === command ? said.data : undefined;
    });
    if (answer[0] !== 0) throw new Error(`${name}: completion code ${(answer[0] ?? 0xff).toString(16)}`);
    return answer;
  }
}

/** One step of the handshake; every answer begins with a tag and a status. */
async function step(line: Line, type: number, answerType: number, parts: readonly Buffer[]): Promise<Buffer> {
  const payload = await line.ask(buildUnsigned(type, Buffer.concat(parts)), (packet) =>
    packet.payloadType === answerType && packet.payload[0] === 0 ? packet.payload : undefined,
  );
  if (payload[1] !== 0) throw new Error(`the BMC refuses the session with status ${String(payload[1])}`);
  return payload;
}
