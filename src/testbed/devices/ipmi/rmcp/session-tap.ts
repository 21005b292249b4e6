import { PAYLOAD, parsePacket, type SessionPacket } from './packet.ts';
import { parseOpenRequest, parseRakp1, parseRakp3, STATUS, type OpenRequest, type Rakp1 } from './handshake.ts';
import { SessionKeys } from './keys.ts';
import { parseMessage, type Message } from './message.ts';
import { SUITES, type CipherSuite } from './suites.ts';

/** What two sides said to each other, as one who knows the passwords hears it. */
export interface TapListener {
  onLogin: (session: string, answer: number) => void;
  onRequest: (session: string, request: Message) => void;
  onResponse: (session: string, request: Message, response: Message) => void;
}

interface Heard {
  name: string;
  suite: CipherSuite;
  consoleID: number;
  systemID: number;
  rakp1: Rakp1 | undefined;
  keys: SessionKeys | undefined;
  isActive: boolean;
  /** Requests without an answer yet, by their sequence number. */
  open: Map<number, Message>;
}

const SESSIONS_MAX = 16;

/** Listens to the datagrams between one console and a BMC and understands them. Never throws, whatever comes. */
export class SessionTap {
  readonly #passwords: Readonly<Record<string, string>>;
  readonly #listener: TapListener;
  readonly #nextName: () => string;
  readonly #sessions = new Map<number, Heard>();
  #opening: OpenRequest | undefined;

  constructor(passwords: Readonly<Record<string, string>>, nextName: () => string, listener: TapListener) {
    this.#passwords = passwords;
    this.#nextName = nextName;
    this.#listener = listener;
  }

  fromConsole(datagram: Buffer): void {
    const packet = parsePacket(datagram);
    if (packet?.kind !== 'session') return;
    if (packet.payloadType === PAYLOAD.openRequest) this.#opening = parseOpenRequest(packet.payload);
    if (packet.payloadType === PAYLOAD.rakp1) {
      const rakp1 = parseRakp1(packet.payload);
      const session = rakp1 === undefined ? undefined : this.#sessions.get(rakp1.systemID);
      if (session !== undefined) session.rakp1 = rakp1;
    }
    if (packet.payloadType === PAYLOAD.rakp3) this.#hearRakp3(packet.payload);
    if (packet.payloadType === PAYLOAD.message) this.#hearRequest(packet);
  }

  fromBmc(datagram: Buffer): void {
    const packet = parsePacket(datagram);
    if (packet?.kind !== 'session') return;
    const { payload } = packet;
    if (packet.payloadType === PAYLOAD.openResponse) this.#hearOpened(payload);
    if (packet.payloadType === PAYLOAD.rakp2) this.#hearRakp2(payload);
    if (packet.payloadType === PAYLOAD.rakp4) this.#hearRakp4(payload);
    if (packet.payloadType === PAYLOAD.message) this.#hearResponse(packet);
  }

  #hearOpened(payload: Buffer): void {
    const request = this.#opening;
    if (request === undefined || payload.length < 12 || payload[1] !== STATUS.ok) return;
    const suite = SUITES.find((each) => each.authentication === request.authentication && each.integrity === request.integrity);
    if (suite === undefined) return;
    const systemID = payload.readUInt32LE(8);
    const empty = { rakp1: undefined, keys: undefined, isActive: false, open: new Map<number, Message>() };
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size >= SESSIONS_MAX && oldest !== undefined) this.#sessions.delete(oldest);
    this.#sessions.set(systemID, { name: this.#nextName(), suite, consoleID: request.consoleID, systemID, ...empty });
  }

  #hearRakp2(payload: Buffer): void {
    const session = this.#handshake(payload);
    if (session === undefined) return;
    const { rakp1, suite, consoleID, systemID } = session;
    const status = payload.readUInt8(1);
    if (status !== STATUS.ok) this.#listener.onLogin(session.name, status);
    if (status !== STATUS.ok || rakp1 === undefined || payload.length < 40) return;
    const { roleByte, username, consoleNonce } = rakp1;
    const password = this.#passwords[username];
    if (password === undefined) return;
    const nonces = {
      consoleNonce: Buffer.from(consoleNonce),
      systemNonce: Buffer.from(payload.subarray(8, 24)),
      guid: Buffer.from(payload.subarray(24, 40)),
    };
    session.keys = new SessionKeys({ suite, consoleID, systemID, roleByte, username, password, ...nonces });
  }

  /** A console that finds the BMC's code wrong says so, and no answer follows: the password is not the same on both sides. */
  #hearRakp3(payload: Buffer): void {
    const rakp3 = parseRakp3(payload);
    const session = rakp3 === undefined ? undefined : this.#sessions.get(rakp3.systemID);
    if (rakp3 !== undefined && rakp3.status !== STATUS.ok && session?.isActive === false) this.#listener.onLogin(session.name, rakp3.status);
  }

  #hearRakp4(payload: Buffer): void {
    const session = this.#handshake(payload);
    if (session === undefined) return;
    const status = payload.readUInt8(1);
    session.isActive = status === STATUS.ok;
    this.#listener.onLogin(session.name, status);
  }

  /** The newest unfinished handshake of the console that an answer is for. */
  #handshake(payload: Buffer): Heard | undefined {
    if (payload.length < 8) return undefined;
    const consoleID = payload.readUInt32LE(4);
    return this.#newest((session) => session.consoleID === consoleID && !session.isActive);
  }

  #hearRequest(packet: SessionPacket): void {
    const session = this.#sessions.get(packet.sessionID);
    const request = session === undefined ? undefined : understood(session, packet);
    if (session === undefined || request === undefined) return;
    session.open.set(request.sequence, request);
    this.#listener.onRequest(session.name, request);
  }

  /** Consoles give every session the same ID: which one is meant, only its keys tell. */
  #hearResponse(packet: SessionPacket): void {
    for (const session of this.#sessions.values()) {
      if (session.consoleID !== packet.sessionID || !session.isActive) continue;
      const response = understood(session, packet);
      const request = response === undefined ? undefined : session.open.get(response.sequence);
      if (response === undefined || request?.command !== response.command) continue;
      session.open.delete(response.sequence);
      this.#listener.onResponse(session.name, request, response);
      return;
    }
  }

  #newest(isIt: (session: Heard) => boolean): Heard | undefined {
    return [...this.#sessions.values()].findLast(isIt);
  }
}

function understood(session: Heard, packet: SessionPacket): Message | undefined {
  const payload = session.keys?.open(packet);
  return payload === undefined ? undefined : parseMessage(payload);
}
