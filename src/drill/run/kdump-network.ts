import { createSocket } from 'node:dgram';
import type { Socket } from 'node:dgram';
import { pid } from 'node:process';

const PORT = 7_410;
const FIRST_NODE = 100;
const STRANGER = 250;
/** Replicas that are ever started, those that replace others too, as far as they are told. */
const REPLICAS_MAX = 12;
/** As fence_kdump_send sends it. */
const MESSAGE = Uint8Array.of(0x40, 0x2a, 0x30, 0x1b, 1, 0, 0, 0);

/** Addresses of the loopback, which Linux has by the million: one for each replica, and one for the crash kernel of each node. */
export class KdumpNetwork {
  readonly #prefix = `127.${64 + (pid % 64)}.${(pid >> 6) % 256}`;
  readonly #nodes: readonly string[];

  constructor(nodes: readonly string[]) {
    this.#nodes = nodes;
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

function bound(address: string): Promise<Socket> {
  const socket = createSocket('udp4');
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.bind({ address, port: 0 }, () => resolve(socket));
  });
}
