import { createServer, type AddressInfo, type Socket } from 'node:net';

import { afterEach, describe, expect, it } from 'vitest';

import type { Target } from '../../src/ports/agents.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { RedfishAgent } from './agent.ts';

const SYSTEM = '/redfish/v1/Systems/1';
const undo: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

function answer(power: string): string {
  const body = JSON.stringify({ '@odata.id': SYSTEM, PowerState: power });
  return `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** A device whose web server speaks byte by byte as `respond` says. */
async function start(respond: (socket: Socket, request: number) => void): Promise<{ agent: RedfishAgent; target: Target }> {
  const sockets = new Set<Socket>();
  let requests = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', () => respond(socket, (requests += 1)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const agent = new RedfishAgent(new SystemClock());
  undo.push(async () => {
    await agent.close();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  const parameters = { ip: '127.0.0.1', ipport: String(port), ssl: 'no', auth: 'basic', username: 'u', password: 'secret-word', systems_uri: SYSTEM };
  const target: Target = {
    plug: '',
    device: 'bmc',
    parameters,
    identity: { node: 'a' },
    signal: new AbortController().signal,
    deadlineMs: 30_000,
    beforeSend: () => undefined,
  };
  return { agent, target };
}

describe('an answer that nobody asked for', { timeout: 60_000 }, () => {
  it('is not taken for the answer to the next read when it comes behind another one', async () => {
    const { agent, target } = await start((socket, request) => {
      socket.write(request === 1 ? answer('On') + answer('Off') : answer('On'));
    });
    await agent.read(target).catch(() => undefined);
    expect(await agent.read(target)).toMatchObject({ state: 'on' });
  });

  it('is not taken for the answer to the next read when it comes while nothing is asked', async () => {
    let said: () => void = () => undefined;
    const isSaid = new Promise<void>((resolve) => (said = resolve));
    const { agent, target } = await start((socket, request) => {
      if (request > 1) setTimeout(() => socket.write(answer('On')), 100);
      else socket.write(answer('On'), () => setTimeout(() => socket.write(answer('Off'), () => setTimeout(said, 100)), 100));
    });
    expect(await agent.read(target)).toMatchObject({ state: 'on' });
    await isSaid;
    expect(await agent.read(target)).toMatchObject({ state: 'on' });
  });
});
