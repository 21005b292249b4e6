import type { DatagramSocket } from '../../ports/node-daemon.ts';
import type { KernelView } from './kernel-view.ts';
import type { SeededRandom } from './seeded-random.ts';
import type { SimulatedProcess } from './simulated-process.ts';
import type { RangeMs } from './network.ts';

/** How datagrams fare. Shares are probabilities per datagram. */
export interface DatagramFaults {
  latencyMs: RangeMs;
  lostShare: number;
  doubledShare: number;
  lateShare: number;
  /** So much later those come; others overtake them. */
  lateMs: RangeMs;
}

interface End {
  process: SimulatedProcess;
  handle: (bytes: Uint8Array, from: string) => void;
}

const PORT = 7411;

/** UDP between the machines of a world. A host is cut off from another in one direction; what is under way then still arrives. */
export class Datagrams {
  readonly #kernel: Pick<KernelView, 'schedule'>;
  readonly #random: SeededRandom;
  readonly #faults: DatagramFaults;
  readonly #ends = new Map<string, End>();
  /** Each is undone by itself. */
  readonly #cuts = new Set<(from: string, to: string) => boolean>();

  constructor(kernel: Pick<KernelView, 'schedule'>, random: SeededRandom, faults: DatagramFaults) {
    this.#kernel = kernel;
    this.#random = random;
    this.#faults = faults;
  }

  /** One for each host: of the process that opened it last. */
  socket(host: string, process: SimulatedProcess): DatagramSocket {
    const address = `${host}:${PORT}`;
    return {
      address,
      send: (to, bytes) => {
        if (process.isDead || this.isCut(host, hostIn(to))) return;
        const copy = Uint8Array.from(bytes);
        for (const delayMs of this.#delays()) this.#kernel.schedule(delayMs, () => this.#arrive(to, copy, address));
      },
      receive: (handle) => void this.#ends.set(address, { process, handle }),
      close: () => {
        if (this.#ends.get(address)?.process === process) this.#ends.delete(address);
      },
    };
  }

  /** Loses what `isCut` names, until the function that is returned is called. */
  cut(isCut: (from: string, to: string) => boolean): () => void {
    this.#cuts.add(isCut);
    return () => void this.#cuts.delete(isCut);
  }

  isCut(from: string, to: string): boolean {
    return [...this.#cuts].some((isCut) => isCut(from, to));
  }

  #delays(): number[] {
    const { lostShare, doubledShare, lateShare, latencyMs, lateMs } = this.#faults;
    if (this.#random.chance(lostShare)) return [];
    const count = this.#random.chance(doubledShare) ? 2 : 1;
    return Array.from(
      { length: count },
      () => this.#random.between(...latencyMs) + (this.#random.chance(lateShare) ? this.#random.between(...lateMs) : 0),
    );
  }

  #arrive(to: string, bytes: Uint8Array, from: string): void {
    const end = this.#ends.get(to);
    end?.process.deliver(() => end.handle(bytes, from));
  }
}

function hostIn(address: string): string {
  return address.slice(0, address.lastIndexOf(':'));
}
