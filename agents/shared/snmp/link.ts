import snmp from 'net-snmp';

import type { Clock } from '../../../src/ports/clock.ts';
import type { AddressCheck } from '../address/address-check.ts';
import { failureOf, type Answer } from './answer.ts';
import { mendDes } from './des.ts';
import { DeviceSocket } from './device-socket.ts';
import { headerOf, REPORT } from './header.ts';
import type { AuthenticationProtocol, PrivacyProtocol, SnmpSettings, User } from './settings.ts';

/** Sending again and giving up is done here, by our clock; the library's own timers never fire. */
const LIBRARY_TIMEOUT_MS = 3_600_000;
/** The library keeps every key that it ever made of a password, and an engine's name may be anybody's. */
const CACHED_KEYS_MAX = 1_000;

const AUTHENTICATION: Readonly<Record<AuthenticationProtocol, snmp.AuthProtocols>> = {
  MD5: snmp.AuthProtocols.md5,
  SHA: snmp.AuthProtocols.sha,
  'SHA-224': snmp.AuthProtocols.sha224,
  'SHA-256': snmp.AuthProtocols.sha256,
  'SHA-384': snmp.AuthProtocols.sha384,
  'SHA-512': snmp.AuthProtocols.sha512,
};
const PRIVACY: Readonly<Record<PrivacyProtocol, snmp.PrivProtocols>> = {
  DES: snmp.PrivProtocols.des,
  AES: snmp.PrivProtocols.aes,
  'AES-256': snmp.PrivProtocols.aes256b,
  'AES-256-C': snmp.PrivProtocols.aes256r,
};
const VERSION_NUMBERS = { 1: 0, '2c': 1, 3: 3 } as const;

type Done<T> = (error: Error | null, value?: T) => void;

/** One session over one socket to one device. Of no use once `isLost`. */
export class Link {
  readonly #settings: SnmpSettings;
  #socket: DeviceSocket | undefined;
  #session: snmp.Session | undefined;
  /** SNMP 3: the engine that has proven to know our key, in hexadecimal digits. */
  #engineId: string | undefined;
  #lastEngineId = '';
  #fail: ((answer: Answer<never>) => void) | undefined;
  /** The device has answered over this link; for SNMP 3 its engine and clock are known. */
  isInStep = false;
  isLost = false;
  /** What came besides answers, last of it: `3 datagrams that are no SNMP`. */
  oddity = '';

  private constructor(settings: SnmpSettings) {
    this.#settings = settings;
  }

  static async open(settings: SnmpSettings, check: AddressCheck): Promise<Link> {
    const link = new Link(settings);
    const watcher = {
      accepts: (datagram: Buffer): boolean => link.#accepts(datagram),
      onUnreadable: () => (link.oddity = 'an SNMP message that cannot be read'),
      onFailure: (error: Error) => link.#fail?.(failureOf(error)),
    };
    link.#socket = await DeviceSocket.open(settings, watcher, check);
    boundCachedKeys();
    link.#session = sessionOver(link.#socket, settings);
    link.#session.on('error', () => (link.oddity = 'an SNMP message that cannot be read'));
    return link;
  }

  /** Sends a read, again after each `tryMs` without an answer, `tries` times. `undefined`: silence. */
  read<T>(
    clock: Clock,
    patienceMs: number,
    signal: AbortSignal,
    send: (session: snmp.Session, done: Done<T>) => void,
  ): Promise<Answer<T> | undefined> {
    const session = this.#live();
    return new Promise((resolve) => {
      let isOver = false;
      let cancel = (): void => undefined;
      const cancelPatience = clock.after(patienceMs, () => finish(undefined));
      const finish = (answer: Answer<T> | undefined): void => {
        if (isOver) return;
        isOver = true;
        cancel();
        cancelPatience();
        signal.removeEventListener('abort', onAbort);
        this.#fail = undefined;
        this.#settle(answer, session);
        resolve(answer);
      };
      const onAbort = (): void => finish(undefined);
      const onAnswer: Done<T> = (error, value) => {
        if (error !== null) finish(failureOf(error));
        else if (value === undefined) finish({ kind: 'broken', isCredential: false, message: 'an answer without values' });
        else finish({ kind: 'value', value });
      };
      const attempt = (): void => {
        if (isOver) return;
        cancel = clock.after(this.#settings.tryMs, attempt);
        send(session, onAnswer);
      };
      this.#fail = finish;
      signal.addEventListener('abort', onAbort, { once: true });
      if (signal.aborted) finish(undefined);
      attempt();
    });
  }

  /**
   * Sends one SET, once. `beforeSend` is called right before its datagram is written, in the same turn; what it throws is thrown here, and
   * nothing has left. `undefined`: no answer within `patienceMs`, or the call ended.
   */
  async write(
    clock: Clock,
    patienceMs: number,
    signal: AbortSignal,
    varbinds: snmp.Varbind[],
    beforeSend: () => void,
  ): Promise<Answer<true> | undefined> {
    const session = this.#live();
    const socket = this.#socket;
    let sent = 0;
    let refusal: unknown;
    let finish: (answer: Answer<true> | undefined) => void = () => undefined;
    const answered = new Promise<Answer<true> | undefined>((resolve) => (finish = resolve));
    const gate = (): void => {
      try {
        beforeSend();
      } catch (error) {
        refusal = error;
        throw error;
      }
      sent += 1;
    };
    const onAnswer = (error: Error | null): void => finish(error === null ? { kind: 'value', value: true } : failureOf(error));
    socket?.guarded(gate, () => session.set(varbinds, onAnswer));
    if (refusal !== undefined) throw refusal instanceof Error ? refusal : new Error('the lease check failed');
    // A session in step writes at once; a report by which it would send again must not move it to do so.
    if (sent === 0) return { kind: 'failed', message: 'the request could not be sent' };
    const release = socket?.hold(new Error('a SET is sent once'));
    const cancel = clock.after(patienceMs, () => finish(undefined));
    const onAbort = (): void => finish(undefined);
    signal.addEventListener('abort', onAbort, { once: true });
    this.#fail = finish;
    try {
      const answer = await answered;
      this.#settle(answer, session);
      return answer;
    } finally {
      this.#fail = undefined;
      cancel();
      signal.removeEventListener('abort', onAbort);
      release?.();
    }
  }

  close(): void {
    this.isLost = true;
    this.#session?.close();
    forgetKeys(this.#settings);
  }

  #live(): snmp.Session {
    if (this.#session === undefined || this.isLost) throw new Error('the session is closed');
    return this.#session;
  }

  /** Takes what is still waited for off the session: a late answer to it is nobody's. */
  #settle(answer: Answer<unknown> | undefined, session: snmp.Session): void {
    // Looking for one through their large numbers costs the library more than an encoding, also where none is left.
    if (!('reqCount' in session) || session.reqCount !== 0) session.cancelRequests(new Error('over'));
    if (answer?.kind === 'value' || answer?.kind === 'status') {
      this.isInStep = true;
      this.#engineId = this.#lastEngineId;
    }
  }

  #accepts(datagram: Buffer): boolean {
    const { security } = this.#settings;
    const header = headerOf(datagram);
    if (header === undefined) return this.#drop(`${datagram.length} bytes that are no SNMP message`);
    if (header.version !== VERSION_NUMBERS[security.version]) return this.#drop('an answer by another version of SNMP');
    if (security.version !== '3') return true;
    if (header.pdu === REPORT) return this.#acceptsReport(header.engineId);
    // The library checks what the message claims to be protected by, so a message that claims less is dropped here.
    if (security.authentication !== undefined && !header.isAuthenticated) return this.#drop('an answer without a signature');
    if (security.privacy !== undefined && !header.isPrivate) return this.#drop('an answer that is not encrypted');
    if (this.#engineId !== undefined && header.engineId !== this.#engineId) return this.#drop('an answer of another engine');
    this.#lastEngineId = header.engineId;
    return true;
  }

  #acceptsReport(engineId: string): boolean {
    if (this.#engineId === undefined || engineId === this.#engineId) return true;
    this.#fail?.({ kind: 'broken', isCredential: false, message: 'another engine answers at this address' });
    return false;
  }

  #drop(why: string): false {
    this.oddity = why;
    return false;
  }
}

/** The library keeps the key that it made of a password under the password itself, for as long as the process lives. */
function forgetKeys({ security }: SnmpSettings): void {
  if (security.version !== '3') return;
  const passwords = [security.authentication?.password, security.privacy?.password].filter((password) => password !== undefined);
  const cached = snmp.Authentication.authToKeyCache;
  for (const name of Object.keys(cached)) if (passwords.some((password) => name.includes(password))) Reflect.deleteProperty(cached, name);
}

function boundCachedKeys(): void {
  const cached = snmp.Authentication.authToKeyCache;
  const names = Object.keys(cached);
  if (names.length > CACHED_KEYS_MAX) for (const name of names) Reflect.deleteProperty(cached, name);
}

function sessionOver(socket: DeviceSocket, { security, port }: SnmpSettings): snmp.Session {
  const shared = {
    port,
    retries: 0,
    timeout: LIBRARY_TIMEOUT_MS,
    reportOidMismatchErrors: true,
    backwardsGetNexts: false,
    dgramModule: socket.module,
  };
  if (security.version !== '3') {
    return snmp.createSession('', security.community, { ...shared, version: security.version === '1' ? snmp.Version1 : snmp.Version2c });
  }
  return snmp.createV3Session('', userOf(security), { ...shared, context: security.context });
}

function userOf({ name, authentication, privacy }: User): snmp.User {
  if (authentication === undefined) return { name, level: snmp.SecurityLevel.noAuthNoPriv };
  const keys = { authProtocol: AUTHENTICATION[authentication.protocol], authKey: authentication.password };
  if (privacy === undefined) return { name, level: snmp.SecurityLevel.authNoPriv, ...keys };
  if (privacy.protocol === 'DES') mendDes();
  return { name, level: snmp.SecurityLevel.authPriv, ...keys, privProtocol: PRIVACY[privacy.protocol], privKey: privacy.password };
}
