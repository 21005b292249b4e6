/** How many calls may wait for one device; more are refused, so that one dead device cannot gather the whole fleet's calls. */
const WAITING_MAX = 256;

interface Queue {
  last: Promise<void>;
  waiting: number;
  /** Of the call under way, when it gives way to every other. */
  yields?: AbortController;
}

/** One device, one queue: calls to the same BMC, PDU or switch never overlap; different devices run in parallel. */
export class DeviceQueues {
  readonly #tails = new Map<string, Queue>();

  /** Runs `call` after every earlier call of the same `device`, whatever became of those. An empty key does not queue. */
  async run<T>(device: string, call: () => Promise<T>): Promise<T> {
    if (device === '') return call();
    const queue: Queue = this.#tails.get(device) ?? { last: Promise.resolve(), waiting: 0 };
    if (queue.waiting >= WAITING_MAX) throw new Error(`more than ${WAITING_MAX} calls wait for device ${device}`);
    this.#tails.set(device, queue);
    queue.yields?.abort(new Error(`device ${device} is wanted by a fence`));
    queue.waiting += 1;
    const before = queue.last;
    let release = (): void => undefined;
    queue.last = new Promise<void>((resolve) => {
      release = resolve;
    });
    await before;
    try {
      return await call();
    } finally {
      queue.waiting -= 1;
      if (queue.waiting === 0) this.#tails.delete(device);
      release();
    }
  }

  /**
   * Runs `call` only when nothing else is asked of the device, and gives way: its signal is aborted as soon as another call wants the device. Resolves
   * undefined when it was not run, or gave way.
   */
  async runIdle<T>(device: string, call: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
    const yields = new AbortController();
    if (device === '') return call(yields.signal);
    if (this.#tails.has(device)) return undefined;
    try {
      const result = this.run(device, () => call(yields.signal));
      const queue = this.#tails.get(device);
      if (queue !== undefined) queue.yields = yields;
      return await result;
    } catch (error) {
      if (yields.signal.aborted) return undefined;
      throw error;
    } finally {
      const queue = this.#tails.get(device);
      if (queue?.yields === yields) delete queue.yields;
    }
  }

  /** Devices with a call under way or waiting. */
  get busy(): number {
    return this.#tails.size;
  }
}
