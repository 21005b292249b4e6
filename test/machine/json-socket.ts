import { createConnection } from 'node:net';
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { pause } from '../../src/drill/run/pause.ts';

export type Answer = Readonly<Record<string, unknown>>;

const CONNECT_MS = 10_000;
const LOOK_MS = 50;

/** Lines of JSON over a socket of QEMU: one question at a time, events between the answers. */
export class JsonSocket {
  readonly #socket: Socket;
  readonly #hear: (event: Answer) => void;
  #waiting: { id: number; resolve: (answer: Answer) => void } | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #asked = 0;

  private constructor(socket: Socket, hear: (event: Answer) => void) {
    this.#socket = socket;
    this.#hear = hear;
    socket.on('error', () => undefined);
    createInterface({ input: socket }).on('line', (line) => this.#line(line));
  }

  /** `hear` is given every line that answers nothing. */
  static async connect(path: string, hear: (event: Answer) => void): Promise<JsonSocket> {
    const endsAtMs = performance.now() + CONNECT_MS;
    for (;;) {
      const socket = await connected(path);
      if (socket !== undefined) return new JsonSocket(socket, hear);
      if (performance.now() > endsAtMs) throw new Error(`nobody listens at ${path}`);
      await pause(LOOK_MS);
    }
  }

  /** Undefined: no answer in time. */
  ask(question: object, withinMs: number): Promise<Answer | undefined> {
    const asking = this.#turn.then(() => this.#ask(question, withinMs));
    this.#turn = asking;
    return asking;
  }

  close(): void {
    this.#socket.destroy();
  }

  async #ask(question: object, withinMs: number): Promise<Answer | undefined> {
    const { promise, resolve } = Promise.withResolvers<Answer | undefined>();
    const id = (this.#asked += 1);
    this.#waiting = { id, resolve };
    const timer = setTimeout(() => resolve(undefined), withinMs);
    this.#socket.write(`${JSON.stringify({ ...question, id })}\n`);
    const answer = await promise;
    clearTimeout(timer);
    this.#waiting = undefined;
    return answer;
  }

  #line(line: string): void {
    let heard: Answer;
    try {
      // A guest that was reset in the middle of a line leaves half of it.
      heard = JSON.parse(line.replaceAll('\u00ff', '')) as Answer;
    } catch {
      return;
    }
    if (this.#waiting !== undefined && heard['id'] === this.#waiting.id) this.#waiting.resolve(heard);
    else this.#hear(heard);
  }
}

function connected(path: string): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = createConnection(path, () => resolve(socket));
    socket.once('error', () => resolve(undefined));
  });
}
