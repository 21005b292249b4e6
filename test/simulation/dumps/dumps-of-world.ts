import type { DumpEvent, NodeEvent, PowerEvent } from '../../../src/laws/trace.ts';
import type { KdumpSocket } from '../../../src/ports/kdump.ts';
import { Datagrams } from '../../../src/testbed/simulation/datagrams.ts';
import type { Kernel } from '../../../src/testbed/simulation/kernel.ts';
import type { SimulatedProcess } from '../../../src/testbed/simulation/simulated-process.ts';
import type { Scenario } from '../scenario.ts';
import { addressOf, borneBy, STRANGER } from './dumps.ts';
import type { DumpDeed, Dumps, Forged } from './dumps.ts';

/** As fence_kdump_send of Debian sends it. */
const MESSAGE = Uint8Array.of(0x40, 0x2a, 0x30, 0x1b, 1, 0, 0, 0);
const MALFORMED = [Uint8Array.of(1), Uint8Array.of(0x1b, 0x30, 0x2a, 0x40, 0, 0, 0, 1), Uint8Array.of(0x40, 0x2a, 0x30, 0x1b, 2, 0, 0, 0)];
const PORT = 7411;

export interface DumpsOptions {
  kernel: Kernel;
  dumps: Dumps;
  nodes: readonly string[];
  victim: string;
  /** The hosts of the replicas, to which every crash kernel sends. */
  replicas: readonly [string, string];
  record: (event: DumpEvent) => void;
  /** The machine boots anew by itself. */
  reboot: (node: string) => void;
}

/** The crash kernels of all nodes, and people who forge their messages. */
export class DumpsOfWorld {
  readonly #options: DumpsOptions;
  readonly #datagrams: Datagrams;
  readonly #network: SimulatedProcess;
  /** What ends the crash kernel that runs on a node. */
  readonly #running = new Map<string, () => void>();
  #rebooting = 0;

  constructor(options: DumpsOptions) {
    const { kernel, dumps } = options;
    this.#options = options;
    this.#datagrams = new Datagrams(kernel, kernel.random('kdump messages'), dumps.datagrams);
    this.#network = kernel.spawn('crash-kernels');
  }

  /** Undefined: the world has none. */
  static of(
    { dumps, nodes, victim }: Pick<Scenario, 'dumps' | 'nodes' | 'victim'>,
    options: Pick<DumpsOptions, 'kernel' | 'replicas' | 'record' | 'reboot'>,
  ): DumpsOfWorld | undefined {
    return dumps && new DumpsOfWorld({ ...options, dumps, nodes, victim });
  }

  /** A machine is about to boot by itself. */
  get isPending(): boolean {
    return this.#rebooting > 0;
  }

  /** Where a controller process hears messages. */
  heardBy(host: string, process: SimulatedProcess): { socket: KdumpSocket } {
    const socket = this.#datagrams.socket(host, process);
    return {
      socket: {
        receive: (handle) =>
          socket.receive((bytes, from) => {
            const address = from.slice(0, from.lastIndexOf(':'));
            const node = this.#options.nodes.find((name) => addressOf(this.#options.nodes, name) === address);
            const isRight = bytes.length === MESSAGE.length && bytes.every((byte, index) => byte === MESSAGE[index]);
            if (node !== undefined && isRight) this.#options.record({ kind: 'dump', at: 0, node, session: process.name });
            handle(bytes, address);
          }),
        close: () => socket.close(),
      },
    };
  }

  /** Something happened to a machine. */
  saw(event: NodeEvent | PowerEvent): void {
    if (event.kind === 'node' && event.what === 'panic') this.#crash(event.node);
    if (event.kind === 'power' && (event.state === 'off' || event.cause === 'reset')) this.#running.get(event.node)?.();
  }

  schedule(): void {
    const { kernel, dumps } = this.#options;
    for (const deed of dumps.deeds) {
      kernel.schedule(deed.atMs, () => {
        kernel.trace(`deed ${JSON.stringify(deed)}`);
        const end = this.#begin(deed);
        kernel.schedule(deed.durationMs, end);
      });
    }
  }

  #begin(deed: DumpDeed): () => void {
    if (deed.what === 'deaf') return this.#datagrams.cut((_from, to) => to === this.#options.replicas[deed.replica]);
    let sent = 0;
    return this.#repeat(0, deed.everyMs, () => {
      const bytes = deed.isWellFormed ? MESSAGE : (MALFORMED[sent % MALFORMED.length] ?? MESSAGE);
      this.#send(this.#forgedFrom(deed.whose, sent), bytes);
      sent += 1;
    });
  }

  #forgedFrom(whose: Forged, sent: number): string {
    const { nodes } = this.#options;
    const borne = borneBy(whose, this.#options);
    const node = borne[sent % borne.length];
    return node === undefined ? STRANGER : addressOf(nodes, node);
  }

  #crash(node: string): void {
    const { kernel, dumps, nodes, reboot } = this.#options;
    if (dumps.kernel === 'mute') return;
    this.#running.get(node)?.();
    const stop = this.#repeat(dumps.bootMs, dumps.everyMs, () => this.#send(addressOf(nodes, node), MESSAGE));
    let isOver = false;
    const isRebooting = dumps.kernel === 'ends' && dumps.reboots;
    if (isRebooting) this.#rebooting += 1;
    const end = (): void => {
      if (isOver) return;
      isOver = true;
      stop();
      if (isRebooting) this.#rebooting -= 1;
    };
    this.#running.set(node, end);
    if (dumps.kernel === 'endless') return;
    kernel.schedule(dumps.bootMs + dumps.lastsMs, () => {
      if (isOver) return;
      end();
      kernel.trace(`the crash kernel of ${node} ${isRebooting ? 'reboots' : 'is silent'}`);
      if (isRebooting) reboot(node);
    });
  }

  #send(from: string, bytes: Uint8Array): void {
    const socket = this.#datagrams.socket(from, this.#network);
    for (const host of this.#options.replicas) socket.send(`${host}:${PORT}`, bytes);
  }

  #repeat(afterMs: number, everyMs: number, task: () => void): () => void {
    let isOver = false;
    const again = (delayMs: number): void => {
      this.#options.kernel.schedule(delayMs, () => {
        if (isOver) return;
        task();
        again(everyMs);
      });
    };
    again(afterMs);
    return () => {
      isOver = true;
    };
  }
}
