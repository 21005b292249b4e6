import type { BmcFaults } from '../../bmc/faults.ts';
import type { PowerBackend } from '../../bmc/power-backend.ts';
import type { DeviceEvent } from '../../../../laws/trace.ts';
import type { Clock } from '../../../../ports/clock.ts';
import type { Random } from '../../../../ports/random.ts';
import { guidBytes } from '../guid.ts';
import { PowerSwitch } from '../power-switch.ts';
import {
  authenticationCapabilities,
  chassisStatus,
  COMMANDS,
  commandName,
  COMPLETION,
  CONTROLS,
  deviceID,
  suiteList,
  type CommandName,
} from './commands.ts';
import { controlEvents, identityEvent, statusEvent, type Said } from './device-events.ts';
import { EventLog } from './event-log.ts';
import { fourBytes } from './handshake.ts';
import { Login, type IpmiUser } from './login.ts';
import { buildMessage, parseMessage, responseTo, type Message } from './message.ts';
import { buildPlain, buildPong, buildSigned, buildUnsigned, parsePacket, PAYLOAD, type SessionPacket } from './packet.ts';
import { randomBytesOf, type Session } from './sessions.ts';
import { SUITES, suiteRecords } from './suites.ts';

const BMC_ADDRESS = 0x20;
const SESSION_TIMEOUT_MS = 60_000;
const SESSIONS_MAX = 10;

export interface IpmiDeviceOptions {
  clock: Clock;
  random: Random;
  /** The machine that it really switches. */
  node: string;
  /** Its machine's UUID, as SMBIOS has it. */
  uuid: string;
  /** A BMC that knows no UUID of its machine says so, and shows zeros at the login. @default true */
  hasSystemGuid?: boolean;
  /** Its own UUID, where it shows one. */
  ownUuid?: string;
  users: Readonly<Record<string, IpmiUser>>;
  kg?: string;
  /** Active sessions at one time. @default 10 */
  sessionsMax?: number;
  backend: PowerBackend;
  faults?: BmcFaults;
  trace?: (event: DeviceEvent) => void;
  /** What goes out instead of the answer to a command in a session (completion code and data), after it was carried out; `undefined`: nothing. */
  amend?: (name: CommandName, answer: Buffer) => Buffer | undefined;
}

/**
 * A BMC that speaks IPMI 2.0 over RMCP+, as one function from datagram to datagram; time and chance come from outside. After "IPMI v2.0
 * Specification, revision 1.1" (Intel and others, 2013); section and table numbers in this folder are its.
 */
export class IpmiDevice {
  faults: BmcFaults;
  /** As the trace names it: `host:port`; known once a server listens. */
  name = '';
  readonly login: Login;
  readonly #options: IpmiDeviceOptions;
  readonly #power: PowerSwitch;
  readonly #guid: Buffer;
  readonly #events: EventLog;

  constructor(options: IpmiDeviceOptions) {
    this.#options = options;
    this.faults = options.faults ?? {};
    this.#guid = options.hasSystemGuid === false ? Buffer.alloc(16) : guidBytes(options.uuid);
    this.#events = new EventLog(options.clock);
    this.#power = new PowerSwitch(options.clock, options.backend);
    const { clock, random, users, kg, sessionsMax = SESSIONS_MAX } = options;
    this.login = new Login({
      clock,
      random,
      users,
      sessionsMax,
      guid: () => this.#shownGuid(),
      faults: () => this.faults,
      onLogin: (session, answer) => this.#record({ action: 'login', answer, session }),
      ...(kg === undefined ? {} : { kg }),
    });
  }

  /** `undefined`: it says nothing. Never throws, whatever comes. */
  handle(datagram: Buffer): Buffer | undefined {
    this.login.sessions.endUnused(this.faults.sessionTimeoutMs ?? SESSION_TIMEOUT_MS);
    const packet = parsePacket(datagram);
    switch (packet?.kind) {
      case undefined:
        return undefined;
      case 'ping':
        return buildPong(packet.tag);
      case 'plain':
        return this.#answerStranger(packet.payload, buildPlain);
      case 'session':
        if (packet.payloadType !== PAYLOAD.message) return this.login.answer(packet.payloadType, packet.payload);
        if (packet.sessionID !== 0) return this.#answerSession(packet);
        return this.#answerStranger(packet.payload, (answer) => buildUnsigned(PAYLOAD.message, answer));
    }
  }

  /** Discovery, before anybody has logged in: what needs no privilege, and nothing else. */
  #answerStranger(payload: Buffer, build: (answer: Buffer) => Buffer): Buffer | undefined {
    const request = parseMessage(payload);
    if (request === undefined || request.to !== BMC_ADDRESS) return undefined;
    const name = commandName(request.netFn, request.command);
    if (name === undefined || COMMANDS[name].privilege > 0) return undefined;
    return build(buildMessage(responseTo(request, this.#run(name, request, undefined))));
  }

  #answerSession(packet: SessionPacket): Buffer | undefined {
    const session = this.login.sessions.find(packet.sessionID);
    if (session?.isActive !== true || session.keys === undefined) return undefined;
    const payload = session.keys.open(packet);
    const request = payload === undefined ? undefined : parseMessage(payload);
    if (request === undefined || !session.window.admit(packet.sequence)) return undefined;
    this.login.sessions.touch(session);
    if (this.faults.isMute === true || request.to !== BMC_ADDRESS || request.netFn % 2 === 1) return undefined;
    const name = commandName(request.netFn, request.command);
    const isAllowed = name === undefined || COMMANDS[name].privilege <= session.privilege;
    const data = isAllowed ? this.#run(name, request, session) : this.#refuse(name, request, session, COMPLETION.privilegeTooLow);
    const { amend } = this.#options;
    const said = name === undefined || amend === undefined ? data : amend(name, data);
    if (said === undefined) return undefined;
    session.sent += 1;
    const { keys } = session;
    const encrypted = keys.encrypt(buildMessage(responseTo(request, said)), randomBytesOf(this.#options.random, 16));
    return buildSigned(session.consoleID, session.sent, encrypted, (covered) => keys.sign(covered));
  }

  /** Completion code and data of a response. */
  #run(name: CommandName | undefined, request: Message, session: Session | undefined): Buffer {
    const { data } = request;
    switch (name) {
      case 'authentication capabilities':
        return data.length < 2 ? code(COMPLETION.tooShort) : done(authenticationCapabilities(1, this.#options.kg !== undefined));
      case 'cipher suites':
        return data.length < 3 ? code(COMPLETION.tooShort) : done(suiteList(suiteRecords(SUITES), 1, data.readUInt8(2)));
      case 'system guid':
        if (this.#options.hasSystemGuid === false) return code(COMPLETION.invalidCommand);
        this.#record({ ...identityEvent(this.#shownGuid()), session: session?.name ?? 'no session' });
        return done(this.#shownGuid());
      case 'device guid':
        return this.#options.ownUuid === undefined ? code(COMPLETION.invalidCommand) : done(guidBytes(this.#options.ownUuid));
      case 'device id':
        return done(deviceID());
      case 'self test':
        return done(Buffer.from([0x55, 0x00]));
      case 'chassis capabilities':
        return done(Buffer.from([0x00, BMC_ADDRESS, BMC_ADDRESS, BMC_ADDRESS, BMC_ADDRESS, BMC_ADDRESS]));
      case 'chassis status':
        return this.#status(session);
      case 'chassis control':
        return this.#control(request, session);
      case 'session privilege':
        return session === undefined ? code(COMPLETION.privilegeTooLow) : changePrivilege(session, data);
      case 'close session':
        return session === undefined ? code(COMPLETION.privilegeTooLow) : this.#close(session, data);
      case 'event log info':
        return this.#events.info();
      case 'event log reservation':
        return this.#events.reserve();
      case 'event log entry':
        return this.#events.entry(data);
      case undefined:
        return code(COMPLETION.invalidCommand);
    }
  }

  #refuse(name: CommandName | undefined, request: Message, session: Session, completion: number): Buffer {
    if (name === 'chassis control') this.#recordSet(request.data[0] ?? -1, completion, session.name);
    return code(completion);
  }

  #status(session: Session | undefined): Buffer {
    const name = session?.name ?? 'no session';
    const shown = this.#power.shown(this.faults);
    const completion = this.faults.fails === 'get' ? COMPLETION.unspecified : COMPLETION.ok;
    this.#record({ ...statusEvent(completion, shown), session: name });
    return completion === COMPLETION.ok ? done(chassisStatus(shown)) : code(completion);
  }

  #control({ data }: Message, session: Session | undefined): Buffer {
    const number = (data[0] ?? 0xff) & 0x0f;
    const completion = this.#judge(data, number);
    this.#recordSet(number, completion, session?.name ?? 'no session');
    if (completion === COMPLETION.ok) {
      const turns = CONTROLS[number]?.turns ?? [];
      for (const event of turns.length === 0 ? (['diag'] as const) : turns) this.#events.add(event);
      this.#power.turn(turns, this.faults);
    }
    return code(completion);
  }

  #judge(data: Buffer, number: number): number {
    if (data.length < 1) return COMPLETION.tooShort;
    const control = CONTROLS[number];
    if (control === undefined) return COMPLETION.invalidField;
    if (this.faults.fails === 'set') return COMPLETION.unspecified;
    const state = this.#power.state();
    const needsOn = control.turns.length !== 1;
    if (needsOn && state === 'off') return COMPLETION.notInThisState;
    const isThere = control.turns.length === 1 && control.turns[0] === state;
    return isThere && this.faults.refusesWhenInState === true ? COMPLETION.notInThisState : COMPLETION.ok;
  }

  #recordSet(number: number, completion: number, session: string): void {
    for (const event of controlEvents(number, completion)) this.#record({ ...event, session });
  }

  #close(session: Session, data: Buffer): Buffer {
    if (data.length < 4) return code(COMPLETION.tooShort);
    if (!data.subarray(0, 4).equals(fourBytes(session.systemID))) return code(COMPLETION.privilegeTooLow);
    this.login.sessions.end(session);
    return code(COMPLETION.ok);
  }

  #shownGuid(): Buffer {
    return this.faults.wrongGuid === true ? Buffer.from(this.#guid.map((byte) => byte ^ 0xff)) : this.#guid;
  }

  #record(event: Said & Pick<DeviceEvent, 'session'>): void {
    const { trace, clock, node } = this.#options;
    trace?.({ at: clock.wallMs(), kind: 'device', device: this.name, plug: '', node, ...event });
  }
}

/** Section 22.18: 0 asks for the present level. */
function changePrivilege(session: Session, data: Buffer): Buffer {
  const wanted = data.length < 1 ? 0xff : data.readUInt8(0);
  if (wanted > 5 || wanted === 1) return code(COMPLETION.invalidField);
  if (wanted > session.privilegeMax) return code(0x81);
  if (wanted !== 0) session.privilege = wanted;
  return done(Buffer.from([session.privilege]));
}

function code(completion: number): Buffer {
  return Buffer.from([completion]);
}

function done(data: Buffer): Buffer {
  return Buffer.concat([code(COMPLETION.ok), data]);
}
