import type { BmcFaults } from '../../bmc/faults.ts';
import type { Clock } from '../../../../ports/clock.ts';
import type { Random } from '../../../../ports/random.ts';
import {
  HIGHEST_PRIVILEGE,
  buildOpenResponse,
  buildRakp2,
  buildRakp4,
  failure,
  parseOpenRequest,
  parseRakp1,
  parseRakp3,
  STATUS,
  type Rakp1,
} from './handshake.ts';
import { hexByte } from './device-events.ts';
import { isSameCode, rakp2Code, rakp3Code, SessionKeys, type HandshakeSecrets } from './keys.ts';
import { buildUnsigned, PAYLOAD } from './packet.ts';
import { randomBytesOf, Sessions, type Session } from './sessions.ts';
import { SUITES } from './suites.ts';

export interface IpmiUser {
  password: string;
  /** The highest privilege level it may ask for. */
  privilege: number;
}

export interface LoginOptions {
  clock: Pick<Clock, 'monotonicMs'>;
  random: Random;
  users: Readonly<Record<string, IpmiUser>>;
  /** The BMC's key for "two-key logins"; absent: none is set. */
  kg?: string;
  /** Active sessions at one time. */
  sessionsMax: number;
  guid: () => Buffer;
  faults: () => Pick<BmcFaults, 'voidsRepeats' | 'opensSuite3' | 'ignoresStrangers'>;
  /** A login ended, one way or the other. */
  onLogin: (session: string, answer: string) => void;
}

const OF_SUITE_3 = { authentication: 1, integrity: 1, confidentiality: 1 };

/** Open Session and RAKP 1 to 4: who may come in, under which keys. */
export class Login {
  readonly sessions: Sessions;
  readonly #options: LoginOptions;
  readonly #users: Map<string, IpmiUser>;

  constructor(options: LoginOptions) {
    this.#options = options;
    this.#users = new Map(Object.entries(options.users));
    this.sessions = new Sessions(options.clock, options.random, options.sessionsMax);
  }

  /** The answer to one packet of a handshake; `undefined` when none is due. */
  answer(payloadType: number, payload: Buffer): Buffer | undefined {
    switch (payloadType) {
      case PAYLOAD.openRequest:
        return this.#open(payload);
      case PAYLOAD.rakp1:
        return this.#rakp1(payload);
      case PAYLOAD.rakp3:
        return this.#rakp3(payload);
      default:
        return undefined;
    }
  }

  /** Another password from now on; every session ends. */
  changePassword(username: string, password: string): void {
    const user = this.#users.get(username);
    if (user === undefined) throw new Error(`no user ${username}: there are ${[...this.#users.keys()].join(', ')}`);
    this.#users.set(username, { ...user, password });
    this.sessions.endAll();
  }

  #open(payload: Buffer): Buffer | undefined {
    const request = parseOpenRequest(payload);
    if (request === undefined) return undefined;
    const opened = this.#options.faults().opensSuite3 === true ? OF_SUITE_3 : request;
    const respond = (status: number, systemID: number): Buffer =>
      buildUnsigned(PAYLOAD.openResponse, buildOpenResponse({ ...request, ...opened }, status, systemID));
    const { authentication, integrity, confidentiality } = opened;
    const suite = SUITES.find(
      (each) => each.authentication === authentication && each.integrity === integrity && each.confidentiality === confidentiality,
    );
    if (suite === undefined) return respond(STATUS.noSuite, 0);
    if (request.privilege > HIGHEST_PRIVILEGE) return respond(STATUS.invalidRole, 0);
    const session = this.sessions.open(request.consoleID, suite, request.privilege === 0 ? HIGHEST_PRIVILEGE : request.privilege);
    return session === undefined ? respond(STATUS.noResources, 0) : respond(STATUS.ok, session.systemID);
  }

  #rakp1(payload: Buffer): Buffer | undefined {
    const request = parseRakp1(payload);
    if (request === undefined) return undefined;
    const session = this.sessions.find(request.systemID);
    const refuse = (status: number): Buffer => buildUnsigned(PAYLOAD.rakp2, failure(request.tag, status, session?.consoleID ?? 0));
    if (session === undefined || session.isActive) return refuse(STATUS.invalidSession);
    const user = this.#users.get(request.username);
    if (user === undefined && this.#options.faults().ignoresStrangers === true) return undefined;
    const role = request.roleByte & 0x0f;
    const status =
      role < 1 || role > 4 ? STATUS.invalidRole : user === undefined ? STATUS.unknownUser : role > user.privilege ? STATUS.roleTooHigh : STATUS.ok;
    if (status !== STATUS.ok || user === undefined) {
      this.#options.onLogin(session.name, hexByte(status));
      this.sessions.end(session);
      return refuse(status);
    }
    if (this.#options.faults().voidsRepeats === true && session.keys !== undefined) session.systemNonce = randomBytesOf(this.#options.random, 16);
    const secrets = this.#secrets(session, request, user);
    session.username = request.username;
    session.privilegeMax = Math.min(session.privilegeMax, role);
    session.privilege = Math.min(session.privilege, session.privilegeMax);
    session.expectedCode = rakp3Code(secrets);
    session.keys = new SessionKeys(secrets);
    const answer = buildRakp2(request.tag, session.consoleID, session.systemNonce, secrets.guid, rakp2Code(secrets));
    return buildUnsigned(PAYLOAD.rakp2, answer);
  }

  #secrets(session: Session, request: Rakp1, user: IpmiUser): HandshakeSecrets {
    const { kg } = this.#options;
    const { suite, consoleID, systemID, systemNonce } = session;
    const { roleByte, username } = request;
    const guid = this.#options.guid();
    const secrets = { suite, consoleID, systemID, consoleNonce: Buffer.from(request.consoleNonce), systemNonce, guid, roleByte, username };
    return { ...secrets, password: user.password, ...(kg === undefined ? {} : { kg }) };
  }

  #rakp3(payload: Buffer): Buffer | undefined {
    const request = parseRakp3(payload);
    const session = request === undefined ? undefined : this.sessions.find(request.systemID);
    if (request === undefined || session?.keys === undefined || session.expectedCode === undefined) return undefined;
    if (request.status !== STATUS.ok || !isSameCode(session.expectedCode, request.code)) {
      // A stranger's RAKP 3 must not end a session that is open.
      if (!session.isActive) {
        this.#options.onLogin(session.name, hexByte(request.status === STATUS.ok ? STATUS.wrongCode : request.status));
        this.sessions.end(session);
      }
      return request.status === STATUS.ok ? buildUnsigned(PAYLOAD.rakp4, failure(request.tag, STATUS.wrongCode, session.consoleID)) : undefined;
    }
    const wasActive = session.isActive;
    if (!this.sessions.activate(session)) return buildUnsigned(PAYLOAD.rakp4, failure(request.tag, STATUS.noResources, session.consoleID));
    this.sessions.touch(session);
    if (!wasActive) this.#options.onLogin(session.name, hexByte(STATUS.ok));
    return buildUnsigned(PAYLOAD.rakp4, buildRakp4(request.tag, session.consoleID, session.keys.finalCode));
  }
}
