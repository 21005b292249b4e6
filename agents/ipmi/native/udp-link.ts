import { createSocket, type Socket } from 'node:dgram';

import type { Clock } from '../../../src/ports/clock.ts';
import { AddressRefused, ANY_ADDRESS, checkedAddress, type AddressCheck } from '../../shared/address/address-check.ts';
import type { Call, CallTarget } from '../../shared/call.ts';
import type { IpmiSettings } from '../parameters.ts';

/** A request is sent three times in all. */
const SENDINGS = 3;

/** What became of one question. `isSure`: it was sent once, and nothing else came: the answer is to this very datagram, and the BMC saw no other. */
export type Heard<T> = { kind: 'answer'; value: T; isSure: boolean } | Silence | { kind: 'ended' };

export interface Silence {
  kind: 'silence';
  /** Datagrams that came and were no answer. */
  strays: number;
  /** What the network said, e.g. that nobody listens at the port. */
  trouble: string | undefined;
}

/** Silence in words: a BMC that says something else is another fault than one that says nothing. */
export function describeSilence(what: string, { strays, trouble }: Silence): string {
  const besides = [...(strays === 0 ? [] : [`${strays} datagrams came that are none`]), ...(trouble === undefined ? [] : [trouble])];
  return besides.length === 0 ? what : `${what} (${besides.join(', ')})`;
}

interface Question<T> {
  /** The datagram of the first, second, third sending; written in the same turn. A repetition may be left out with `undefined`. What it throws at the first goes to the caller. */
  datagram: (sending: number) => Buffer | undefined;
  /** The answer, if this datagram is it. Never throws. */
  accept: (datagram: Buffer) => T | undefined;
}

/** A UDP socket that hears one BMC only. One question at a time. */
export class UdpLink {
  #trouble: string | undefined;
  readonly #socket: Socket;
  readonly #clock: Clock;
  readonly #waitMs: number;
  #hear: (datagram: Buffer) => void = () => undefined;
  #giveUp: () => void = () => undefined;
  #isOpen = true;

  private constructor(socket: Socket, clock: Clock, waitMs: number) {
    this.#socket = socket;
    this.#clock = clock;
    this.#waitMs = waitMs;
    socket.on('message', (datagram) => this.#hear(datagram));
    socket.on('error', (error) => this.#note(error));
  }

  /** Looks the name up and binds the socket to the BMC's address. */
  static async open(
    { host, port, family }: IpmiSettings,
    call: Call<CallTarget>,
    clock: Clock,
    { waitMs, check = ANY_ADDRESS }: { waitMs: number; check?: AddressCheck },
  ): Promise<UdpLink> {
    const found = await call.within(
      checkedAddress(host, family, check).catch((error: unknown) => {
        if (error instanceof AddressRefused) throw call.error('Misconfigured', error.message);
        return (error as NodeJS.ErrnoException).code ?? 'error';
      }),
    );
    if (typeof found === 'string') throw call.error('Unreachable', `the name of the BMC does not resolve to such an address (${found})`);
    const socket = createSocket(found.family === 6 ? 'udp6' : 'udp4');
    const link = new UdpLink(socket, clock, waitMs);
    const connected = new Promise<string | undefined>((resolve) => {
      socket.once('error', (error) => resolve(error.message));
      socket.connect(port, found.address, (error?: unknown) => resolve(error instanceof Error ? error.message : undefined));
    });
    const failure = await call.within(connected).catch((error: unknown) => {
      link.close();
      throw error;
    });
    if (failure === undefined) return link;
    link.close();
    throw call.error('Unreachable', `no way to the BMC: ${failure}`);
  }

  /** Asks, again after each wait in silence, until the answer is heard, the last wait is over or the call ends. Another question, or `close`, ends it in silence. */
  async ask<T>(call: Call<CallTarget>, { datagram, accept }: Question<T>): Promise<Heard<T>> {
    if (call.ended !== undefined) return { kind: 'ended' };
    this.#giveUp();
    const first = datagram(1);
    if (first !== undefined) this.send(first);
    return new Promise((resolve) => {
      let sendings = 1;
      let leave = (): void => undefined;
      const finish = (heard: Heard<T>): void => {
        cancel();
        leave();
        this.#hear = () => undefined;
        this.#giveUp = () => undefined;
        resolve(heard);
      };
      let strays = 0;
      const silence = (): void => finish({ kind: 'silence', strays, trouble: this.#trouble });
      const again = (): void => {
        const next = sendings < SENDINGS ? datagram(sendings + 1) : undefined;
        if (next === undefined) {
          silence();
          return;
        }
        sendings += 1;
        this.send(next);
        cancel = this.#clock.after(this.#waitMs, again);
      };
      let cancel = this.#clock.after(this.#waitMs, again);
      this.#giveUp = silence;
      this.#hear = (heard) => {
        const value = accept(heard);
        if (value === undefined) strays += 1;
        else finish({ kind: 'answer', value, isSure: sendings === 1 && strays === 0 });
      };
      leave = call.whenEnded(() => finish({ kind: 'ended' }));
    });
  }

  /** Writes in this very turn: the socket is connected, so that no name is looked up. */
  send(datagram: Buffer): void {
    if (!this.#isOpen) return;
    this.#trouble = undefined;
    // Node keeps to itself what a write without a callback failed with.
    this.#socket.send(datagram, (error) => this.#note(error));
  }

  #note(error: NodeJS.ErrnoException | null): void {
    if (error !== null) this.#trouble = error.code ?? error.message;
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#giveUp();
    this.#socket.close();
  }
}
