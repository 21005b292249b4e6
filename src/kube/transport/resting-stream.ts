import type { Socket } from 'node:net';
import type { Beat } from './beat.ts';

/** A turn that brought so much is no single event: the stream is read on, so that nothing piles up in the server. */
const BUSY_TURN_BYTES = 65_536;

/** Stops reading a socket for a moment after each turn that brought something. Nothing is lost: it lies in the socket meanwhile, its end too. */
export class RestingStream {
  readonly #socket: Socket;
  readonly #beat: Beat;
  readonly #restMs: () => number;
  #bytes = 0;
  #turn: NodeJS.Immediate | undefined;
  #leave: (() => void) | undefined;

  constructor(socket: Socket, beat: Beat, restMs: () => number) {
    this.#socket = socket;
    this.#beat = beat;
    this.#restMs = restMs;
  }

  /** After each chunk; the rest begins when all that this turn brings was read. */
  read(bytes: number): void {
    this.#bytes += bytes;
    this.#turn ??= setImmediate(() => {
      this.#turn = undefined;
      const isBusy = this.#bytes >= BUSY_TURN_BYTES;
      this.#bytes = 0;
      const restMs = isBusy ? 0 : this.#restMs();
      if (restMs > 0) this.#rest(restMs);
    });
  }

  /** The stream is over. */
  close(): void {
    clearImmediate(this.#turn);
    this.#leave?.();
    this.#leave = undefined;
  }

  #rest(restMs: number): void {
    this.#socket.pause();
    this.#leave = this.#beat.rest(restMs, () => {
      this.#leave = undefined;
      this.#socket.resume();
    });
  }
}
