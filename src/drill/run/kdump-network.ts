import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import type { Socket } from 'node:dgram';

const PORT = 7_410;
const FIRST_NODE = 100;
const STRANGER = 250;
/** Its port is held as long as the network is used: drills run side by side. */
const HOLDER = 254;
const TRIES = 64;
/** Replicas that are ever started, those that replace others too, as far as they are told. */
const REPLICAS_MAX = 12;
/** As fence_kdump_send sends it. */
const MESSAGE = Uint8Array.of(0x40, 0x2a, 0x30, 0x1b, 1, 0, 0, 0);

/** Addresses of the loopback, which Linux has by the million: one for each replica, and one for the crash kernel of each node. */
export class KdumpNetwork {
  readonly #prefix: string;
  readonly #nodes: readonly string[];
  readonly #holder: Socket;

  private constructor(prefix: string, nodes: readonly string[], holder: Socket) {
    this.#prefix = prefix;
    this.#nodes = nodes;
    this.#holder = holder;
  }

  /** One that no other drill has. `draw`: a whole number below the given one. */
  static async reserve(nodes: readonly string[], draw: (below: number) => number = randomInt): Promise<KdumpNetwork> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const prefix = `127.${64 + draw(64)}.${draw(256)}`;
      const holder = await bound(`${prefix}.${HOLDER}`, PORT).catch(otherwise);
      if (holder !== undefined) return new KdumpNetwork(prefix, nodes, holder.unref());
    }
    throw new Error(`each of ${TRIES} networks of the loopback that were drawn is in use on UDP port ${PORT}`);
  }

  close(): void {
    this.#holder.close();
  }

  /** Where the replica of this number hears messages; it counts from 1. */
  listensAt(replica: number): string {
    return `${this.#prefix}.${replica}:${PORT}`;
  }

  addressOf(node: string): string {
    return `${this.#prefix}.${FIRST_NODE + this.#nodes.indexOf(node)}`;
  }

  /** An address that is no node's. */
  get stranger(): string {
    return `${this.#prefix}.${STRANGER}`;
  }

  /** Sends from an address to every replica, until it is closed. */
  async sender(from: string): Promise<{ send(): void; close(): void }> {
    const socket = await bound(from);
    return {
      send: () => {
        for (let replica = 1; replica <= REPLICAS_MAX; replica += 1) socket.send(MESSAGE, PORT, `${this.#prefix}.${replica}`, () => undefined);
      },
      close: () => void socket.close(),
    };
  }
}

function bound(address: string, port = 0): Promise<Socket> {
  const socket = createSocket('udp4');
  return new Promise((resolve, reject) => {
    socket.once('error', (error) => {
      socket.close();
      reject(error);
    });
    socket.bind({ address, port }, () => resolve(socket));
  });
}

/** Somebody else has it. */
function otherwise(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'EADDRINUSE') throw error;
}
