// Every second the heartbeats of so many daemons, over UDP, from a process of their own: `daemons.ts COUNT CONTROLLER-ADDRESS CONTROLLER-KEY`.
import { createHash } from 'node:crypto';
import type { Datagram } from '../../../src/domain/node-daemon/datagram.ts';
import { seal } from '../../../src/domain/node-daemon/seal.ts';
import { UdpSocket } from '../../../src/node/shell/datagram-socket.ts';
import { X25519Keys } from '../../../src/node/shell/exchange-keys.ts';

/** Told to the parent first. */
export interface DaemonsTold {
  address: string;
  daemons: { node: string; bootID: string; publicKey: string }[];
}

/** Told every second. */
export interface DaemonsSent {
  sent: number;
}

/** A second is sent in so many parts: daemons do not beat in step. */
const PARTS = 50;
const nothing = new Int32Array(new SharedArrayBuffer(4));

function bootIDOf(node: string): string {
  const digits = createHash('sha256').update(node).digest('hex');
  return [digits.slice(0, 8), digits.slice(8, 12), `4${digits.slice(13, 16)}`, `8${digits.slice(17, 20)}`, digits.slice(20, 32)].join('-');
}

async function run([count = '0', address = '', controllerKey = '']: readonly string[]): Promise<void> {
  const daemons = Array.from({ length: Number(count) }, (_, index) => {
    const node = `worker-${index}`;
    const keys = X25519Keys.generate(1);
    return { node, bootID: bootIDOf(node), publicKey: keys.publicKey, mac: keys.macWith(controllerKey) };
  });
  const socket = await UdpSocket.open({ listen: { host: '127.0.0.1', port: 0 } });
  let sent = 0;
  socket.receive(() => undefined);
  process.send?.({
    address: socket.address,
    daemons: daemons.map(({ node, bootID, publicKey }) => ({ node, bootID, publicKey })),
  } satisfies DaemonsTold);
  const began = performance.now();
  for (let part = 0; process.connected; part += 1) {
    for (let index = part % PARTS; index < daemons.length; index += PARTS) {
      const { node, bootID, mac } = daemons[index]!;
      const heartbeat: Datagram = { type: 'heartbeat', counter: Math.floor(performance.now() * 1_000), bootID, signs: 1, sender: node };
      socket.send(address, seal(heartbeat, mac));
      sent += 1;
    }
    if (part % PARTS === PARTS - 1) process.send?.({ sent } satisfies DaemonsSent);
    // Asleep, not waiting for datagrams: on a machine of its own it would cost the controller nothing to wake it for each grant.
    const restMs = began + ((part + 1) * 1_000) / PARTS - performance.now();
    if (restMs > 0) Atomics.wait(nothing, 0, 0, restMs);
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
  socket.close();
}

if (process.argv[1]?.endsWith('daemons.ts') === true) await run(process.argv.slice(2));
