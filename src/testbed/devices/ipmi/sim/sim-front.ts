import { createSocket, type Socket } from 'node:dgram';

import type { BmcFaults } from '../../bmc/faults.ts';
import type { IpmiWire } from '../rmcp/ipmi-wire.ts';
import type { SessionTap } from '../rmcp/session-tap.ts';

export interface SimFrontOptions {
  host: string;
  /** 0 chooses one. */
  port: number;
  /** May be another after a restart of the simulator. */
  simPort: () => number;
  wire: IpmiWire;
  faults: () => BmcFaults;
  state: () => 'on' | 'off';
  /** One for each console. */
  tap: () => SessionTap;
}

interface Console {
  socket: Socket;
  tap: SessionTap;
}

export interface SimFront {
  host: string;
  port: number;
  close: () => void;
}

/** The simulator itself is reached from this machine only. */
export const SIM_HOST = '127.0.0.1';
const CONSOLES_MAX = 256;

/** Stands before ipmi_sim: passes datagrams both ways unchanged, listens in, and loses them where a fault says so. */
export async function startSimFront(options: SimFrontOptions): Promise<SimFront> {
  const { host, wire } = options;
  const family = host.includes(':') ? 'udp6' : 'udp4';
  const front = createSocket(family);
  const consoles = new Map<string, Console>();
  let isOpen = true;

  const admit = (key: string, address: string, port: number): Console => {
    const [oldest] = consoles;
    if (consoles.size >= CONSOLES_MAX && oldest !== undefined) {
      oldest[1].socket.close();
      consoles.delete(oldest[0]);
    }
    const tap = options.tap();
    const socket = createSocket('udp4');
    // The simulator is going away; its consoles hear nothing, as with a dead BMC.
    socket.on('error', () => undefined);
    socket.on('message', (datagram) => {
      tap.fromBmc(datagram);
      wire.carry(options.faults(), () => {
        if (isOpen) front.send(datagram, port, address);
      });
    });
    const known = { socket, tap };
    consoles.set(key, known);
    return known;
  };

  front.on('message', (datagram, { address, port }) => {
    if (!wire.lets(options.faults(), options.state())) return;
    const key = `${address} ${port}`;
    const { socket, tap } = consoles.get(key) ?? admit(key, address, port);
    tap.fromConsole(datagram);
    socket.send(datagram, options.simPort(), SIM_HOST);
  });
  await new Promise<void>((resolve, reject) => {
    front.once('error', reject);
    front.bind(options.port, host, resolve);
  });
  return {
    host,
    port: front.address().port,
    close: () => {
      isOpen = false;
      front.close();
      for (const { socket } of consoles.values()) socket.close();
    },
  };
}
