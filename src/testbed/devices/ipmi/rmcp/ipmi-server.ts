import { createSocket } from 'node:dgram';

import type { PowerBackend } from '../../bmc/power-backend.ts';
import type { IpmiDevice } from './ipmi-device.ts';
import type { IpmiWire } from './ipmi-wire.ts';

export interface IpmiServerOptions {
  host?: string;
  /** 0 chooses one. */
  port?: number;
  wire: IpmiWire;
  backend: PowerBackend;
}

export interface IpmiServer {
  host: string;
  port: number;
  close: () => Promise<void>;
}

/** Serves a device over UDP, on an address that becomes the device's name unless it has one. */
export async function startIpmiServer(device: IpmiDevice, options: IpmiServerOptions): Promise<IpmiServer> {
  const host = options.host ?? '127.0.0.1';
  const { wire, backend } = options;
  const family = host.includes(':') ? 6 : 4;
  // Whoever is answered is known by address: Node would look each up as a name, and answer a turn later.
  const socket = createSocket({ type: `udp${family}`, lookup: (address, _options, found) => found(null, address, family) });
  let isOpen = true;
  socket.on('message', (datagram, from) => {
    if (!wire.lets(device.faults, backend.state())) return;
    const answer = device.handle(datagram);
    if (answer === undefined) return;
    wire.carry(device.faults, () => {
      if (isOpen) socket.send(answer, from.port, from.address);
    });
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.bind(options.port ?? 0, host, resolve);
  });
  const { port } = socket.address();
  if (device.name === '') device.name = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  return {
    host,
    port,
    close: () =>
      new Promise<void>((resolve) => {
        isOpen = false;
        socket.close(() => resolve());
      }),
  };
}
