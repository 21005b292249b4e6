import type { Call, CallTarget } from '../../shared/call.ts';
import type { NoAnswer, RawAnswer } from '../line.ts';
import { securedDatagram, securedPacket } from './datagram.ts';
import type { LoggedIn } from './login.ts';
import { requestBytes, responseTo, type Request, type Response } from './message.ts';
import { describeSilence } from './udp-link.ts';

type Command = Omit<Request, 'sequence'>;

/**
 * Requests and responses within one session, one at a time. A response counts only if it is signed and encrypted with this session's keys, is
 * younger than all that came before (its session sequence number is higher: what is replayed, or overtaken, is not), and answers this very
 * request: rqSeq, network function, command, addresses and checksums. A question that found no answer ends the channel, so that none is ever
 * asked while the answer to another may be on its way.
 */
export class SecureChannel {
  readonly #session: LoggedIn;
  #rqSeq = 0;
  #sent = 0;
  #received = 0;
  #isUsable = true;

  constructor(session: LoggedIn) {
    this.#session = session;
  }

  get isUsable(): boolean {
    return this.#isUsable;
  }

  /** A request that changes nothing: each repetition is a packet of its own, with the same rqSeq. */
  async question(command: Command, call: Call<CallTarget>): Promise<RawAnswer | NoAnswer> {
    const request = this.#request(command);
    const bytes = requestBytes(request);
    return this.#ask(request, call, () => this.#packet(bytes));
  }

  /**
   * A request that changes the machine. It is repeated as the same packet, session sequence number and all: a BMC takes each number once
   * (section 6.12.13), so that it acts once at most, however many arrive. `beforeSend` is called before each; when it throws at a repetition,
   * none is sent any more.
   */
  async command(command: Command, call: Call<CallTarget>, beforeSend: () => void): Promise<RawAnswer | NoAnswer> {
    if (call.ended !== undefined) return { kind: 'ended', isSent: false };
    const request = this.#request(command);
    const packet = this.#packet(requestBytes(request));
    return this.#ask(request, call, (sending) => {
      if (sending > 1 && !isAllowed(beforeSend)) return undefined;
      if (sending === 1) beforeSend();
      return packet;
    });
  }

  #request(command: Command): Request {
    this.#rqSeq = (this.#rqSeq + 1) % 64;
    return { ...command, sequence: this.#rqSeq };
  }

  #packet(bytes: Buffer): Buffer {
    const { systemID, keys } = this.#session;
    this.#sent += 1;
    return securedDatagram(systemID, this.#sent, keys.encrypt(bytes), keys.codeBytes, (covered) => keys.sign(covered));
  }

  async #ask(request: Request, call: Call<CallTarget>, datagram: (sending: number) => Buffer | undefined): Promise<RawAnswer | NoAnswer> {
    const heard = await this.#session.link.ask(call, { datagram, accept: (received) => this.#response(request, received) });
    if (heard.kind === 'answer') return { kind: 'raw', ...heard.value };
    this.#isUsable = false;
    if (heard.kind === 'ended') return { kind: 'ended', isSent: true };
    return { kind: 'lost', why: describeSilence('the BMC did not answer', heard), isSent: true };
  }

  #response(request: Request, datagram: Buffer): Response | undefined {
    const { consoleID, keys } = this.#session;
    const packet = securedPacket(datagram, consoleID);
    if (packet === undefined || packet.sequence <= this.#received || !keys.isSigned(packet.trailed)) return undefined;
    this.#received = packet.sequence;
    const message = keys.decrypt(packet.payload);
    return message === undefined ? undefined : responseTo(request, message);
  }
}

function isAllowed(beforeSend: () => void): boolean {
  try {
    beforeSend();
    return true;
  } catch (error) {
    if (error instanceof Error) return false;
    throw error;
  }
}
