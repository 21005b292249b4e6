/** How many calls may wait for one device; more are refused, so that one dead device cannot gather the whole fleet's calls. */
const WAITING_MAX = 256;

/** One device, one queue: calls to the same BMC, PDU or switch never overlap; different devices run in parallel (design 4). */
export class DeviceQueues {
  private readonly tails = new Map<string, { last: Promise<void>; waiting: number }>();

  /** Runs `call` after every earlier call of the same `device`, whatever became of those. An empty key does not queue. */
  async run<T>(device: string, call: () => Promise<T>): Promise<T> {
    if (device === '') return call();
    const queue = this.tails.get(device) ?? { last: Promise.resolve(), waiting: 0 };
    if (queue.waiting >= WAITING_MAX) throw new Error(`more than ${WAITING_MAX} calls wait for device ${device}`);
    this.tails.set(device, queue);
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
      if (queue.waiting === 0) this.tails.delete(device);
      release();
    }
  }

  /** Devices with a call under way or waiting. */
  get busy(): number {
    return this.tails.size;
  }
}
