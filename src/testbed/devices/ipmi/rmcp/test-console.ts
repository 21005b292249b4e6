import { fourBytes } from './handshake.ts';
import { isSameCode, rakp2Code, rakp3Code, SessionKeys, type HandshakeSecrets } from './keys.ts';
import { buildMessage, parseMessage } from './message.ts';
import { buildSigned, buildUnsigned, parsePacket, PAYLOAD } from './packet.ts';
import { SUITES, type CipherSuite } from './suites.ts';

const CONSOLE_ID = 0xa0a2a3a4;

export interface TestConsoleOptions {
  username?: string;
  password?: string;
  kg?: string;
  /** @default 3 */
  suiteID?: number;
  /** Requested with the login. @default 4, administrator */
  privilege?: number;
}

/** A console of the other side, which can also do what no honest one does. One step at a time: the device is a function. */
export class TestConsole {
  readonly #handle: (datagram: Buffer) => Buffer | undefined;
  readonly #options: Required<Omit<TestConsoleOptions, 'kg'>> & Pick<TestConsoleOptions, 'kg'>;
  readonly #suite: CipherSuite;
  systemID = 0;
  keys: SessionKeys | undefined;
  sequence = 0;
  #messages = 0;

  constructor(handle: (datagram: Buffer) => Buffer | undefined, options: TestConsoleOptions = {}) {
    this.#handle = handle;
    this.#options = { username: 'admin', password: 'secret', suiteID: 3, privilege: 4, ...options };
    const suite = SUITES.find(({ id }) => id === this.#options.suiteID);
    if (suite === undefined) throw new Error(`no suite ${this.#options.suiteID}`);
    this.#suite = suite;
  }

  /** Status of the step that failed, 0 when the session is open. */
  logIn(): number {
    const { username, privilege } = this.#options;
    const opened = this.open();
    if (opened !== 0) return opened;
    const name = Buffer.from(username, 'latin1');
    const consoleNonce = Buffer.alloc(16, 7);
    const head = Buffer.concat([
      Buffer.from([0, 0, 0, 0]),
      fourBytes(this.systemID),
      consoleNonce,
      Buffer.from([privilege, 0, 0, name.length]),
      name,
    ]);
    const rakp2 = this.#ask(PAYLOAD.rakp1, head);
    if (rakp2 === undefined || rakp2[1] !== 0) return rakp2?.[1] ?? -1;
    const secrets = this.#secrets(consoleNonce, rakp2);
    if (!isSameCode(rakp2Code(secrets), rakp2.subarray(40))) return 0x0f;
    return this.finish(rakp3Code(secrets), secrets);
  }

  /** Open Session alone. */
  open(algorithms: readonly number[] = [this.#suite.authentication, this.#suite.integrity, this.#suite.confidentiality]): number {
    const records = algorithms.map((number, kind) => Buffer.from([kind, 0, 0, 8, number, 0, 0, 0]));
    const answer = this.#ask(PAYLOAD.openRequest, Buffer.concat([Buffer.from([0, 0, 0, 0]), fourBytes(CONSOLE_ID), ...records]));
    if (answer === undefined) return -1;
    if (answer[1] === 0) this.systemID = answer.readUInt32LE(8);
    return answer.readUInt8(1);
  }

  /** RAKP 3 with this code. */
  finish(code: Buffer, secrets?: HandshakeSecrets): number {
    const rakp4 = this.#ask(PAYLOAD.rakp3, Buffer.concat([Buffer.from([0, 0, 0, 0]), fourBytes(this.systemID), code]));
    if (rakp4 === undefined || rakp4[1] !== 0) return rakp4?.[1] ?? -1;
    if (secrets === undefined) return 0;
    this.keys = new SessionKeys(secrets);
    return isSameCode(this.keys.finalCode, rakp4.subarray(8)) ? 0 : 0x0f;
  }

  /** Completion code and data; `undefined`: no answer. */
  ask(netFn: number, command: number, data: readonly number[] = []): Buffer | undefined {
    return this.send(this.datagram(netFn, command, data));
  }

  send(datagram: Buffer): Buffer | undefined {
    const answer = this.#handle(datagram);
    const packet = answer === undefined ? undefined : parsePacket(answer);
    if (packet?.kind !== 'session') return undefined;
    const payload = this.keys?.open(packet);
    return payload === undefined ? undefined : parseMessage(payload)?.data;
  }

  /** The next request of this session, signed and encrypted. */
  datagram(netFn: number, command: number, data: readonly number[], sequence: number = (this.sequence += 1)): Buffer {
    const { keys } = this;
    if (keys === undefined) throw new Error('log in first');
    this.#messages = (this.#messages + 1) % 64;
    const message = { to: 0x20, from: 0x81, netFn, toLun: 0, fromLun: 0, sequence: this.#messages, command, data: Buffer.from(data) };
    return buildSigned(this.systemID, sequence, keys.encrypt(buildMessage(message), Buffer.alloc(16, 9)), (covered) => keys.sign(covered));
  }

  #secrets(consoleNonce: Buffer, rakp2: Buffer): HandshakeSecrets {
    const { username, password, privilege, kg } = this.#options;
    const nonces = { consoleNonce, systemNonce: rakp2.subarray(8, 24), guid: rakp2.subarray(24, 40) };
    const ids = { suite: this.#suite, consoleID: CONSOLE_ID, systemID: this.systemID };
    return { ...ids, ...nonces, roleByte: privilege, username, password, ...(kg === undefined ? {} : { kg }) };
  }

  #ask(payloadType: number, payload: Buffer): Buffer | undefined {
    const answer = this.#handle(buildUnsigned(payloadType, payload));
    const packet = answer === undefined ? undefined : parsePacket(answer);
    return packet?.kind === 'session' ? packet.payload : undefined;
  }
}
