import { randomBytes, randomInt } from 'node:crypto';

import type { Clock } from '../../../src/ports/clock.ts';
import type { AgentError, AgentErrorKind } from '../../../src/ports/agents.ts';
import type { AddressCheck } from '../../shared/address/address-check.ts';
import type { Call, CallTarget } from '../../shared/call.ts';
import { TransportUnfit } from '../line.ts';
import type { IpmiSettings } from '../parameters.ts';
import { capabilitiesQuestion, type Capabilities } from './capabilities.ts';
import { handshakeDatagram, handshakePayload, PAYLOAD } from './datagram.ts';
import { handshakeAnswer, openedSession, openSessionRequest, PRIVILEGE, rakp1, rakp3, roleByte, type HandshakeAnswer } from './handshake.ts';
import { isSameCode, rakp2Code, rakp3Code, SessionKeys, type Handshake } from './keys.ts';
import { failureOf, suiteRefused, type Step } from './login-failure.ts';
import { SUITES, type Suite } from './suites.ts';
import { describeSilence, UdpLink, type Silence } from './udp-link.ts';

const INVALID_CODE = 0x0f;

/** A session that is open, at the privilege USER or below. */
export interface LoggedIn {
  link: UdpLink;
  consoleID: number;
  systemID: number;
  keys: SessionKeys;
  /** Of RAKP 2, 16 bytes in the order of the wire; only whoever knows the password can have sent it. */
  guid: Buffer;
}

/** How long one sending waits for its answer: as configured, and longer once the BMC turned out to be slower. */
export interface Pace {
  waitMs: number;
  /** Of the BMC's address; absent: any may be called. */
  check?: AddressCheck;
}

/** The most that `ipmitool_timeout` can be. */
const SLOWEST_MS = 5_000;

/** A code is wrong in a login of which a step was repeated: it may be the code of another repetition, and says nothing of the password. */
class Doubt extends Error {
  override readonly name = 'Doubt';
  readonly failure: AgentError;
  constructor(failure: AgentError) {
    super(failure.message);
    this.failure = failure;
  }
}

/** Open Session and RAKP 1 to 4 (section 13.15). Rejects with `AgentError` or `TransportUnfit`; no socket is left then. */
export async function logIn(settings: IpmiSettings, suite: keyof typeof SUITES, call: Call<CallTarget>, clock: Clock, pace: Pace): Promise<LoggedIn> {
  for (;;) {
    const { waitMs } = pace;
    const link = await UdpLink.open(settings, call, clock, pace);
    try {
      return await new Login(settings, SUITES[suite], link, call).run();
    } catch (error) {
      link.close();
      if (!(error instanceof Doubt)) throw error;
      if (waitMs >= SLOWEST_MS) throw error.failure;
      pace.waitMs = SLOWEST_MS;
    }
  }
}

class Login {
  readonly #settings: IpmiSettings;
  readonly #suite: Suite;
  readonly #link: UdpLink;
  readonly #call: Call<CallTarget>;
  readonly #consoleID = randomInt(1, 0x1_0000_0000);
  /** What every BMC answers to strangers. */
  readonly #strangers: ReturnType<typeof capabilitiesQuestion>;
  #tag = randomInt(256);
  #capabilities: Capabilities | undefined;
  /** Each step was asked once, and nothing came but its answer. */
  #isSure = true;

  constructor(settings: IpmiSettings, suite: Suite, link: UdpLink, call: Call<CallTarget>) {
    this.#settings = settings;
    this.#suite = suite;
    this.#link = link;
    this.#call = call;
    this.#strangers = capabilitiesQuestion(PRIVILEGE[settings.privilege]);
  }

  async run(): Promise<LoggedIn> {
    const { privilege, username, password, kg } = this.#settings;
    const systemID = await this.#open();
    const consoleNonce = randomBytes(16);
    const role = roleByte(privilege);
    const name = Buffer.from(username);
    const answer2 = await this.#ask('RAKP 1', PAYLOAD.rakp1, PAYLOAD.rakp2, (tag) => rakp1(tag, systemID, consoleNonce, role, name));
    const { rest } = answer2;
    if (rest.length !== 32 + this.#suite.hashBytes) throw await this.#odd('RAKP 1', `RAKP 2 came with ${rest.length} bytes`);
    const handshake: Handshake = {
      suite: this.#suite,
      consoleID: this.#consoleID,
      systemID,
      consoleNonce,
      systemNonce: rest.subarray(0, 16),
      guid: rest.subarray(16, 32),
      role,
      username: name,
      password: Buffer.from(password),
      bmcKey: kg === undefined ? Buffer.from(password) : Buffer.from(kg, 'latin1'),
    };
    if (!isSameCode(rakp2Code(handshake), rest.subarray(32))) {
      // The BMC need not keep a place for a session that will not be.
      this.#link.send(handshakeDatagram(PAYLOAD.rakp3, rakp3((this.#tag + 1) & 0xff, INVALID_CODE, systemID, Buffer.alloc(0))));
      throw this.#refused('the password is wrong (or the BMC shows a code of RAKP 2 that is no work of it)');
    }
    const code3 = rakp3Code(handshake);
    const answer4 = await this.#ask('RAKP 3', PAYLOAD.rakp3, PAYLOAD.rakp4, (tag) => rakp3(tag, 0, systemID, code3));
    const keys = new SessionKeys(handshake);
    if (!isSameCode(keys.rakp4Code, answer4.rest)) throw this.#wrongKey();
    return { link: this.#link, consoleID: this.#consoleID, systemID, keys, guid: Buffer.from(handshake.guid) };
  }

  async #open(): Promise<number> {
    const { privilege } = this.#settings;
    const answer = await this.#ask('Open Session', PAYLOAD.openRequest, PAYLOAD.openResponse, (tag) =>
      openSessionRequest(tag, PRIVILEGE[privilege], this.#consoleID, this.#suite),
    );
    const systemID = openedSession(answer, this.#suite);
    if (systemID === 'other suite') {
      const { kind, answered, isUnfit } = suiteRefused(this.#settings, 'the BMC opened a session of another suite than asked for');
      throw await this.#failed(kind, answered, isUnfit);
    }
    if (systemID === undefined) throw await this.#odd('Open Session', 'the BMC did not say which session it opened');
    return systemID;
  }

  /** One step; the same bytes are sent again in silence, since BMCs tell repetitions by their tag. */
  async #ask(step: Step, request: number, response: number, build: (tag: number) => Buffer): Promise<HandshakeAnswer> {
    this.#tag = (this.#tag + 1) & 0xff;
    const tag = this.#tag;
    const datagram = handshakeDatagram(request, build(tag));
    const heard = await this.#link.ask(this.#call, {
      datagram: (sending) => {
        // One that is silent from the start is also asked what every BMC answers: is it there at all?
        if (sending > 1 && step === 'Open Session') this.#link.send(this.#strangers.datagram());
        return datagram;
      },
      accept: (received) => {
        this.#capabilities ??= this.#strangers.accept(received);
        return handshakeAnswer(handshakePayload(received, response), tag, this.#consoleID);
      },
    });
    if (heard.kind === 'ended') throw this.#call.endedError();
    if (heard.kind === 'silence') throw this.#silent(step, heard);
    this.#isSure &&= heard.isSure;
    const { status } = heard.value;
    if (status === 0) return heard.value;
    const { kind, answered, isUnfit } = failureOf(step, status, this.#settings);
    if (status === INVALID_CODE) throw this.#refused(answered);
    throw await this.#failed(kind, answered, isUnfit);
  }

  #silent(step: Step, silence: Silence): Error {
    if (step === 'Open Session' && this.#capabilities === undefined)
      return this.#call.error('Unreachable', describeSilence('no answer from the BMC', silence));
    const { timeoutSeconds } = this.#settings;
    const what = describeSilence(`the BMC stopped answering after ${step}`, silence);
    const user = step === 'RAKP 1' ? '; some do not answer an unknown user: check that the BMC knows the user' : '';
    const message = `${what}; where it is slow, raise ipmitool_timeout (now ${timeoutSeconds})${user}${this.#hint()}`;
    return this.#call.error('Unreachable', message);
  }

  #odd(step: Step, what: string): Promise<Error> {
    return this.#failed('Misconfigured', `the BMC does not speak RMCP+ as specified: asked ${step}, ${what}; set transport=ipmitool`, true);
  }

  #wrongKey(): Error {
    const { kg } = this.#settings;
    const what =
      kg === undefined
        ? 'the password is right, but the BMC has a key of its own: give kg'
        : 'the password is right, but kg is not the key of the BMC';
    return this.#refused(`${what} (its code of RAKP 4 is another)`);
  }

  /** What a wrong code says, where it says anything. */
  #refused(answered: string): Error {
    if (this.#isSure) return this.#call.error('Refused', answered);
    const { timeoutSeconds } = this.#settings;
    const message = `a step of the login reached the BMC more than once, or its answer us, so that nothing is concluded of the password; where the BMC is slow, raise ipmitool_timeout (now ${timeoutSeconds})`;
    return new Doubt(this.#call.error('Unreachable', message));
  }

  /** What the BMC told strangers; anybody could have said it, so that it only explains. */
  #hint(): string {
    const known = this.#capabilities;
    if (known === undefined) return '';
    if (!known.speaksIpmi2) return '; it says that it speaks no IPMI 2.0';
    return known.hasKey && this.#settings.kg === undefined ? '; it says that it has a key (Kg): give kg' : '';
  }

  /** The BMC is asked only now what it tells strangers: a login that succeeds needs none of it. */
  async #failed(kind: AgentErrorKind, answered: string, isUnfit: boolean): Promise<Error> {
    if (this.#capabilities === undefined) {
      const told = await this.#link.ask(this.#call, this.#strangers);
      if (told.kind === 'answer') this.#capabilities = told.value;
    }
    const failure = this.#call.error(kind, `${answered}${this.#hint()}`);
    return isUnfit ? new TransportUnfit(failure) : failure;
  }
}
