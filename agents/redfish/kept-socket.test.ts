import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';

import { afterEach, describe, expect, it } from 'vitest';

import { ManualClock } from '../../src/runtime/manual-clock.ts';
import { KeptSocket } from './kept-socket.ts';
import { parseSettings } from './parameters.ts';
import { Recollection } from './recollection.ts';
import { Authorities } from './socket.ts';

const servers: Server[] = [];
const sockets = new Set<Socket>();
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers.splice(0)) server.close();
});

async function start(ssl = 'no'): Promise<{ kept: KeptSocket; clock: ManualClock; far: () => Socket; accepted: readonly Socket[] }> {
  const accepted: Socket[] = [];
  const server = createServer((socket) => {
    accepted.push(socket);
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const settings = parseSettings({ ip: '127.0.0.1', ipport: String(port), ssl, username: 'u', password: 'p' });
  if ('problems' in settings) throw new Error(settings.problems.join());
  const clock = new ManualClock();
  const kept = new KeptSocket({ settings, clock, authorities: new Authorities(), recollection: new Recollection(clock) });
  const far = (): Socket => {
    const last = accepted.at(-1);
    if (last === undefined) throw new Error('nobody connected');
    return last;
  };
  return { kept, clock, far, accepted };
}

describe('a connection that was given back', () => {
  it('is taken once, and again when it is given back again', async () => {
    const { kept, clock } = await start();
    const peer = await kept.open(false);
    expect(kept.take()).toBeUndefined();
    kept.giveBack(peer, undefined);
    await clock.advance(3_600_000);
    expect(kept.take()).toBe(peer);
    expect(kept.take()).toBeUndefined();
    kept.giveBack(peer, undefined);
    kept.close();
    expect(peer.socket.destroyed).toBe(true);
  });

  it('is closed where it was in use when all was to be closed, and the next one is not', async () => {
    const { kept } = await start();
    const first = await kept.open(false);
    kept.close();
    expect(first.socket.destroyed).toBe(false);
    kept.giveBack(first, undefined);
    expect([first.socket.destroyed, kept.take()]).toEqual([true, undefined]);
    const next = await kept.open(false);
    kept.giveBack(next, undefined);
    expect([next.socket.destroyed, kept.take()]).toEqual([false, next]);
  });

  it('is closed a second before the device closes it by its own word', async () => {
    const { kept, clock } = await start();
    const peer = await kept.open(false);
    kept.giveBack(peer, 'timeout=5, max=100');
    await clock.advance(3_999);
    expect(kept.take()).toBe(peer);
    kept.giveBack(peer, 'timeout=5, max=99');
    await clock.advance(4_000);
    expect(kept.take()).toBeUndefined();
    expect(peer.socket.destroyed).toBe(true);
  });

  it.each([
    ['said something that nobody asked for', (socket: Socket) => void socket.write('HTTP/1.1 200 OK\r\n\r\n')],
    ['closed it', (socket: Socket) => void socket.end()],
    ['broke it off', (socket: Socket) => void socket.resetAndDestroy()],
  ])('is not taken where the device %s', async (_name, act) => {
    const { kept, far } = await start();
    const peer = await kept.open(false);
    kept.giveBack(peer, undefined);
    act(far());
    await expect.poll(() => peer.socket.destroyed).toBe(true);
    expect(kept.take()).toBeUndefined();
  });

  it('or that is being made, and was left, is there for the next one, who uses it', async () => {
    const { kept } = await start();
    const opening = kept.open(true);
    kept.leave();
    expect(await kept.open(false)).toBe(await opening);
    expect(kept.take()).toBeUndefined();
  });

  it('or that is being made, was left, and comes to nothing, is made anew for the next one', async () => {
    const { kept, clock, accepted } = await start('yes');
    const begun = expect(kept.open(true)).rejects.toThrow('no connection with TLS within');
    await expect.poll(() => accepted.length).toBe(1);
    kept.leave();
    const next = expect(kept.open(false)).rejects.toThrow('given up');
    await clock.advance(5_000);
    await begun;
    await expect.poll(() => accepted.length).toBe(2);
    kept.close();
    await next;
  });

  it('or that was made while nobody waited for it is kept, and watched, as any other', async () => {
    const { kept, far } = await start();
    const opening = kept.open(true);
    kept.leave();
    const peer = await opening;
    expect([kept.take(), kept.take()]).toEqual([peer, undefined]);
    kept.giveBack(peer, undefined);
    far().write('x');
    await expect.poll(() => peer.socket.destroyed).toBe(true);
  });

  it('is not the one that was left where the device is to show its certificate, nor one that was closed', async () => {
    const { kept } = await start();
    const resumed = expect(kept.open(false)).rejects.toThrow('given up');
    kept.leave();
    const whole = kept.open(true);
    await resumed;
    kept.giveBack(await whole, undefined);
    kept.close();
    const left = expect(kept.open(false)).rejects.toThrow('given up');
    kept.leave();
    kept.close();
    await left;
    expect(kept.take()).toBeUndefined();
  });

  it('says nothing of one that is being made, which is given up alone', async () => {
    const { kept } = await start();
    const opening = kept.open(false);
    kept.abandon();
    await expect(opening).rejects.toThrow('given up');
  });
});
