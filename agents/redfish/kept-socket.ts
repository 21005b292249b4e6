import type { Socket } from 'node:net';

import { openSocket, type Ways } from './socket.ts';

/** Between two signs of life on a connection that nobody uses. */
const SIGN_OF_LIFE_MS = 60_000;
/** A device that says how long it keeps a connection may have begun to close it so long before. */
const CLOSING_MS = 1_000;

/** Who is at the other end of a request. */
export interface Peer {
  socket: Socket;
  /** SHA-256 of its certificate, taken when the connection was made; undefined without TLS. A socket no longer tells it once it is closed. */
  fingerprint: string | undefined;
  /** When that certificate ends (RFC 3339); undefined without TLS. */
  certificateExpiresAt: string | undefined;
}

/** The one connection to a device, trusted before use. Whoever takes it gives it back, or closes it. */
export class KeptSocket {
  readonly #ways: Omit<Ways, 'isWhole'>;
  #kept: { peer: Peer; untilMs: number; onData: () => void } | undefined;
  /** Whose user has not given it back. Another one that is given back was closed meanwhile. */
  #lent: Peer | undefined;
  /** The one that was made last, until it is given back. */
  #made: Peer | undefined;
  /** One that is being made. `isLeft`: nobody waits for it now. */
  #opening: { peer: Promise<Peer>; isWhole: boolean; isLeft: boolean; isGivenUp: boolean; giveUp: () => void } | undefined;

  constructor(ways: Omit<Ways, 'isWhole'>) {
    this.#ways = ways;
  }

  /** One that was given back is there. */
  get isKept(): boolean {
    return this.#kept?.peer.socket.writable === true && this.#ways.clock.monotonicMs() < this.#kept.untilMs;
  }

  /** The one that was given back, as long as the device keeps it. */
  take(): Peer | undefined {
    const kept = this.#kept;
    this.#kept = undefined;
    if (kept === undefined || !kept.peer.socket.writable) return undefined;
    const { socket } = kept.peer;
    socket.off('data', kept.onData);
    if (this.#ways.clock.monotonicMs() >= kept.untilMs) {
      socket.destroy();
      return undefined;
    }
    this.#lent = kept.peer;
    return kept.peer;
  }

  /**
   * A new one, or the one that is being made already, and a new one where that comes to nothing: whoever began it began sooner. `isWhole`: the device is to
   * show its certificate, whatever is known of it. Rejects where it is not reached, not trusted or not there in time.
   */
  open(isWhole: boolean): Promise<Peer> {
    const begun = this.#opening;
    if (begun !== undefined && (begun.isWhole || !isWhole)) {
      begun.isLeft = false;
      return begun.peer.catch((error: unknown) => {
        if (begun.isGivenUp) throw error;
        return this.#begin(isWhole);
      });
    }
    this.abandon();
    return this.#begin(isWhole);
  }

  /** `keepAlive`: the device's own header of that name. */
  giveBack(peer: Peer, keepAlive: string | undefined): void {
    if (this.#made === peer) this.#made = undefined;
    if (this.#lent === peer) this.#lent = undefined;
    else peer.socket.destroy();
    if (!peer.socket.writable) return;
    const seconds = /^timeout=(\d+)/.exec(keepAlive ?? '')?.[1];
    const untilMs = seconds === undefined ? Number.POSITIVE_INFINITY : this.#ways.clock.monotonicMs() + Number(seconds) * 1_000 - CLOSING_MS;
    // Nothing was asked: it would be taken for the answer to what is asked next.
    const onData = (): void => void peer.socket.destroy();
    peer.socket.on('data', onData);
    this.#kept = { peer, untilMs, onData };
  }

  /** Gives up a connection that is being made. */
  abandon(): void {
    if (this.#opening === undefined) return;
    this.#opening.isGivenUp = true;
    this.#opening.giveUp();
  }

  /** Whoever waits for a connection that is being made goes away: it is there for the next one, who would have to begin anew. */
  leave(): void {
    if (this.#opening !== undefined) this.#opening.isLeft = true;
  }

  /** Whoever asked for a new one got none: where it was made in that very turn all the same, it is there for the next. */
  giveBackMade(): void {
    if (this.#made !== undefined) this.giveBack(this.#made, undefined);
  }

  /** The one that is in use is closed when it is given back: its user may have the whole answer, and Node says a moment later that the connection is free. */
  close(): void {
    this.abandon();
    this.take()?.socket.destroy();
    this.#lent = undefined;
  }

  #begin(isWhole: boolean): Promise<Peer> {
    const { promise, resolve, reject } = Promise.withResolvers<Peer>();
    // Who has left hears nothing of it.
    promise.catch(() => undefined);
    this.#made = undefined;
    const opening = { peer: promise, isWhole, isLeft: false, isGivenUp: false, giveUp: (): void => undefined };
    this.#opening = opening;
    opening.giveUp = openSocket({ ...this.#ways, isWhole }, (error, socket, certificate) => {
      if (this.#opening === opening) this.#opening = undefined;
      if (error !== undefined) {
        reject(error);
        return;
      }
      // What breaks while nobody uses it is noticed by its next user.
      socket.on('error', () => undefined);
      socket.setKeepAlive(true, SIGN_OF_LIFE_MS);
      const peer = { socket, fingerprint: certificate?.fingerprint, certificateExpiresAt: certificate?.expiresAt };
      this.#lent = peer;
      this.#made = peer;
      if (opening.isLeft) this.giveBack(peer, undefined);
      resolve(peer);
    });
    return promise;
  }
}
