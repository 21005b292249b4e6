import type { Clock } from '../../../src/ports/clock.ts';
import { Call, type CallTarget } from '../../shared/call.ts';
import type { Control, ControlAnswer, GuidAnswer, Line, NoAnswer, RawAnswer, StatusAnswer } from '../line.ts';
import { chassisStatus } from '../chassis-status.ts';
import { describeCompletion, isRefusal } from '../completion.ts';
import type { IpmiSettings } from '../parameters.ts';
import { PRIVILEGE, fourBytes } from './handshake.ts';
import { logIn, type LoggedIn, type Pace } from './login.ts';
import { noPrivilege } from './login-failure.ts';
import { SecureChannel } from './secure-channel.ts';

const CHASSIS = 0x00;
const APPLICATION = 0x06;
const GET_CHASSIS_STATUS = 0x01;
const CHASSIS_CONTROL = 0x02;
const GET_DEVICE_GUID = 0x08;
const GET_SYSTEM_GUID = 0x37;
const SET_SESSION_PRIVILEGE = 0x3b;
const CLOSE_SESSION = 0x3c;
/** Table 28-4, in the words of ipmitool. */
const CONTROLS: Readonly<Record<Control, { number: number; words: string }>> = {
  off: { number: 0, words: 'Down/Off' },
  on: { number: 1, words: 'Up/On' },
  diag: { number: 4, words: 'Diag' },
};
/** A session has one BMC behind it for as long as it lasts; older than this, its GUID is read again before a set all the same. */
const IDENTITY_KEEPS_MS = 30_000;
/** A BMC closes a session in one round trip; a dead one is not waited for. */
const FAREWELL_MS = 500;

/** An RMCP+ session of our own. */
export class NativeLine implements Line {
  readonly identityKeepsMs = IDENTITY_KEEPS_MS;
  readonly #channel: SecureChannel;
  readonly #loggedIn: LoggedIn;
  readonly #device: string;
  #farewell: Promise<boolean> | undefined;
  readonly #clock: Clock;

  private constructor(loggedIn: LoggedIn, device: string, clock: Clock) {
    this.#loggedIn = loggedIn;
    this.#channel = new SecureChannel(loggedIn);
    this.#device = device;
    this.#clock = clock;
  }

  /** Logs in and takes up the privilege. Rejects with `AgentError` or `TransportUnfit`; no session and no socket is left then. */
  static async open(settings: IpmiSettings, call: Call<CallTarget>, clock: Clock, pace: Pace): Promise<NativeLine> {
    const { cipher } = settings;
    if (cipher !== '3' && cipher !== '17') throw call.error('Misconfigured', `cipher suite ${cipher} is spoken by ipmitool only`);
    const line = new NativeLine(await logIn(settings, cipher, call, clock, pace), call.target.device, clock);
    try {
      await line.#takeUp(settings, call);
    } catch (error) {
      line.kill();
      throw error;
    }
    return line;
  }

  get isUsable(): boolean {
    return this.#farewell === undefined && this.#channel.isUsable;
  }

  async status(call: Call<CallTarget>): Promise<StatusAnswer | NoAnswer> {
    const answer = await this.raw(CHASSIS, GET_CHASSIS_STATUS, [], call);
    return answer.kind === 'raw' ? chassisStatus(answer) : answer;
  }

  /** The machine's GUID: Get System GUID, else that of RAKP 2, which is the same by section 13.21; `allowsOwn`: else the BMC's own. */
  async guid(call: Call<CallTarget>, allowsOwn: boolean): Promise<GuidAnswer | NoAnswer> {
    const answer = await this.raw(APPLICATION, GET_SYSTEM_GUID, [], call);
    if (answer.kind !== 'raw') return answer;
    if (isGuid(answer)) return shownGuid(answer.data, 'Get System GUID');
    const said =
      answer.completion === 0
        ? `Get System GUID answered with ${answer.data.length} bytes of 16`
        : `Get System GUID failed: ${describeCompletion(answer.completion)}`;
    const { guid } = this.#loggedIn;
    if (guid.some((byte) => byte !== 0)) return shownGuid(guid, `RAKP 2; ${said}`);
    if (!allowsOwn) return { kind: 'none', detail: said };
    const own = await this.raw(APPLICATION, GET_DEVICE_GUID, [], call);
    if (own.kind !== 'raw') return own;
    return isGuid(own) ? shownGuid(own.data, 'Get Device GUID') : { kind: 'none', detail: said };
  }

  async control(control: Control, call: Call<CallTarget>, beforeSend: () => void): Promise<ControlAnswer | NoAnswer> {
    const { number, words } = CONTROLS[control];
    const answer = await this.#channel.command({ netFn: CHASSIS, command: CHASSIS_CONTROL, data: [number] }, call, beforeSend);
    if (answer.kind !== 'raw') return answer;
    const { completion } = answer;
    if (completion === 0) return { kind: 'accepted', detail: `Chassis Power Control: ${words}` };
    const detail = `Set Chassis Power Control to ${words} failed: ${describeCompletion(completion)}`;
    return { kind: isRefusal(completion) ? 'refused' : 'unclear', detail };
  }

  async raw(netFn: number, command: number, data: readonly number[], call: Call<CallTarget>): Promise<RawAnswer | NoAnswer> {
    return this.#channel.question({ netFn, command, data }, call);
  }

  /** No request after this; the BMC is told so, which also makes void what of ours may still be on its way. */
  kill(): void {
    this.#farewell ??= this.#close();
  }

  async end(): Promise<boolean> {
    this.kill();
    return (await this.#farewell) === true;
  }

  /** A session begins as USER (section 22.18). */
  async #takeUp({ privilege }: IpmiSettings, call: Call<CallTarget>): Promise<void> {
    if (PRIVILEGE[privilege] <= PRIVILEGE.user) return;
    const answer = await this.raw(APPLICATION, SET_SESSION_PRIVILEGE, [PRIVILEGE[privilege]], call);
    if (answer.kind === 'ended') throw call.endedError();
    if (answer.kind === 'lost') throw call.error('Unreachable', answer.why);
    if (answer.completion === 0) return;
    const message =
      answer.completion === 0x80 || answer.completion === 0x81
        ? 'the privilege is above the limit of user or channel'
        : describeCompletion(answer.completion);
    throw call.error('Refused', noPrivilege(privilege, `Set Session Privilege Level to ${privilege.toUpperCase()} failed: ${message}`));
  }

  async #close(): Promise<boolean> {
    const signal = new AbortController().signal;
    const call = new Call(this.#clock, { device: this.#device, plug: '', signal, deadlineMs: FAREWELL_MS }, 'close session');
    try {
      const data = [...fourBytes(this.#loggedIn.systemID)];
      const answer = await this.#channel.question({ netFn: APPLICATION, command: CLOSE_SESSION, data }, call);
      return answer.kind === 'raw' && answer.completion === 0;
    } finally {
      call.release();
      this.#loggedIn.link.close();
    }
  }
}

function isGuid({ completion, data }: RawAnswer): boolean {
  return completion === 0 && data.length === 16;
}

function shownGuid(bytes: Buffer, source: string): GuidAnswer {
  return { kind: 'guid', hexadecimal: bytes.toString('hex'), detail: source };
}
