import { createSocket } from 'node:dgram';
import type { Socket } from 'node:dgram';
import { once } from 'node:events';

import type { PowerAgent, Target } from '../../../src/ports/agents.ts';
import { rounded } from '../figures.ts';
import { median } from '../median.ts';
import { switchOnce } from './client.ts';
import type { Way } from './single.ts';

const HOST = '127.0.0.1';

/**
 * The datagrams that our off sends, each sent anew when the one before has been answered, and no answer read: what the PDU and the kernel take, which nobody
 * can do without who looks before he switches and reads afterwards. `warmUp`: so many are not measured.
 */
export async function barePduWay(
  name: string,
  agent: PowerAgent,
  target: Target,
  { count, warmUp }: { count: number; warmUp: number },
): Promise<Way> {
  const device = await connectedTo(Number(target.parameters['ipport']));
  try {
    const [off, on] = await recorded(agent, target, device);
    const samples: number[] = [];
    for (let round = 0; round < warmUp + count; round += 1) {
      const began = performance.now();
      for (const datagram of off) await answered(device, datagram);
      samples.push(performance.now() - began);
      for (const datagram of on) await answered(device, datagram);
    }
    return { name, offMs: rounded(median(samples.slice(warmUp))), count, ratio: 1 };
  } finally {
    device.close();
  }
}

async function connectedTo(port: number): Promise<Socket> {
  const socket = createSocket('udp4');
  socket.connect(port, HOST);
  await once(socket, 'connect');
  return socket;
}

async function answered(device: Socket, datagram: Buffer): Promise<Buffer> {
  const answer = once(device, 'message') as Promise<[Buffer]>;
  device.send(datagram);
  return (await answer)[0];
}

/** What one off sends, and one on, to a relay in front of the device. */
async function recorded(agent: PowerAgent, target: Target, device: Socket): Promise<[off: Buffer[], on: Buffer[]]> {
  const relay = createSocket('udp4');
  let seen: Buffer[] = [];
  relay.on('message', (datagram, { port, address }) => {
    seen.push(datagram);
    void answered(device, datagram).then((answer) => relay.send(answer, port, address));
  });
  relay.bind(0, HOST);
  await once(relay, 'listening');
  const ipport = String(relay.address().port);
  const relayed = { ...target, device: `${HOST}:${ipport}`, parameters: { ...target.parameters, ipport } };
  const sentFor = async (state: 'on' | 'off'): Promise<Buffer[]> => {
    seen = [];
    await switchOnce(agent, relayed, state);
    return seen;
  };
  try {
    await sentFor('on');
    return [await sentFor('off'), await sentFor('on')];
  } finally {
    relay.close();
  }
}
