import { createServer as createPlainServer, type ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { Socket, type AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ApiStatusError, TransportError, WatchEvent } from '../ports/api-transport.ts';
import { ManualClock } from '../runtime/manual-clock.ts';
import { createAuthority } from '../testbed/certificates.ts';
import { HttpsTransport } from './https-transport.ts';
import { serverConfigAt } from './testing/server-config.ts';

const REST_MS = 100;
const EVENT = '{"type":"ADDED","object":{}}\n';
const LARGE_EVENT = `{"type":"ADDED","object":{"text":"${'x'.repeat(200_000)}"}}\n`;
const ROUND_TRIPS = 5;

interface Watched {
  events: WatchEvent[];
  ends: (TransportError | ApiStatusError | undefined)[];
  /** What the server sends on it. */
  stream: ServerResponse;
  close: () => void;
}

describe.each(['http:', 'https:'] as const)('a watch over %s that may rest', (protocol) => {
  const authority = createAuthority('test');
  const streams = new Map<string, ServerResponse>();
  let server: ReturnType<typeof createPlainServer>;
  let clock: ManualClock;
  let transport: HttpsTransport;
  let restMs: number;
  let witness: Watched;

  beforeEach(async () => {
    const issued = authority.issue({ commonName: 'api', hosts: ['127.0.0.1'] });
    const listener = (request: { url?: string | undefined }, response: ServerResponse): void => {
      streams.set(request.url?.split('?')[0] ?? '', response.writeHead(200));
      response.flushHeaders();
    };
    server = protocol === 'http:' ? createPlainServer(listener) : createServer({ cert: issued.certificatePem, key: issued.keyPem }, listener);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    clock = new ManualClock();
    restMs = REST_MS;
    transport = new HttpsTransport({
      server: serverConfigAt(`${protocol}//127.0.0.1:${String((server.address() as AddressInfo).port)}`, authority.certificatePem),
      clock,
      userAgent: 'nodefence/test',
    });
    witness = await watch('/witness', false);
  });

  afterEach(async () => {
    transport.close();
    streams.clear();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  async function until(condition: () => boolean): Promise<void> {
    const untilMs = performance.now() + 5_000;
    while (!condition() && performance.now() < untilMs) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(condition()).toBe(true);
  }

  async function watch(path: string, mayRest: boolean): Promise<Watched> {
    const seen: Pick<Watched, 'events' | 'ends'> = { events: [], ends: [] };
    let isOpen = false;
    const close = transport.watch(
      { path, query: {}, ...(mayRest ? { restMs: () => restMs } : {}) },
      { onOpen: () => (isOpen = true), onEvent: (event) => seen.events.push(event), onEnd: (error) => seen.ends.push(error) },
    );
    await until(() => isOpen);
    return { ...seen, stream: streams.get(path) as ServerResponse, close };
  }

  const isResting = (): boolean => clock.pending > 0;

  /** What was sent before has arrived at this machine by then. */
  async function passTime(): Promise<void> {
    for (let trip = 0; trip < ROUND_TRIPS; trip += 1) {
      const count = witness.events.length;
      witness.stream.write(EVENT);
      await until(() => witness.events.length > count);
    }
  }

  it('passes the first event on at once, and those of the next moment together, in their order', async () => {
    const watched = await watch('/a', true);
    watched.stream.write(EVENT);
    await until(() => watched.events.length === 1 && isResting());
    for (let number = 0; number < 20; number += 1) watched.stream.write(`{"type":"MODIFIED","object":{"number":${String(number)}}}\n`);
    await passTime();
    expect(watched.events).toHaveLength(1);
    await clock.advance(REST_MS);
    await until(() => watched.events.length === 21);
    expect(watched.events.slice(1).map(({ object }) => object)).toEqual(Array.from({ length: 20 }, (_unused, number) => ({ number })));
    expect(watched.ends).toEqual([]);
  });

  it('leaves to the system what comes while it rests: the process wakes up for the first of it alone', async () => {
    const watched = await watch('/a', true);
    watched.stream.write(EVENT);
    await until(() => watched.events.length === 1 && isResting());
    const pushed = vi.spyOn(Readable.prototype, 'push');
    for (let number = 0; number < 20; number += 1) {
      watched.stream.write(EVENT);
      await passTime();
    }
    const port = (server.address() as AddressInfo).port;
    const takenAtRest = pushed.mock.contexts.filter((taker) => taker instanceof Socket && taker.remotePort === port && taker.isPaused());
    pushed.mockRestore();
    expect(takenAtRest.length).toBeLessThanOrEqual(1);
    await clock.advance(REST_MS);
    await until(() => watched.events.length === 21);
  });

  it('goes on after a moment in which nothing came', async () => {
    const watched = await watch('/a', true);
    watched.stream.write(EVENT);
    await until(isResting);
    await clock.advance(REST_MS);
    expect(isResting()).toBe(false);
    watched.stream.write(EVENT);
    await until(() => watched.events.length === 2);
  });

  it('is not told to rest, and does not', async () => {
    restMs = 0;
    const watched = await watch('/a', true);
    for (let count = 1; count <= ROUND_TRIPS; count += 1) {
      watched.stream.write(EVENT);
      await until(() => watched.events.length === count);
    }
    await passTime();
    expect(isResting()).toBe(false);
  });

  it('does not rest while so much comes that it is no single event', async () => {
    const watched = await watch('/a', true);
    watched.stream.write(EVENT);
    await until(isResting);
    watched.stream.write(LARGE_EVENT + LARGE_EVENT);
    await clock.advance(REST_MS);
    await until(() => watched.events.length === 3 || isResting());
    while (watched.events.length < 3) {
      await clock.advance(REST_MS);
      await passTime();
    }
    expect(watched.ends).toEqual([]);
  });

  it.each([
    ['ends in the ordinary way', (stream: ServerResponse): unknown => stream.end(EVENT), undefined, 2],
    ['ends in the middle of an event', (stream: ServerResponse): unknown => stream.end(`${EVENT}{"type":`), { kind: 'garbled' }, 2],
    ['breaks', (stream: ServerResponse): unknown => stream.socket?.destroy(), { kind: 'unreachable' }, 1],
  ])('notices after its rest that the stream %s, and tells what came before', async (_how, end, error, events) => {
    const watched = await watch('/a', true);
    watched.stream.write(EVENT);
    await until(() => watched.events.length === 1 && isResting());
    end(watched.stream);
    await passTime();
    await clock.advance(REST_MS);
    await until(() => watched.ends.length > 0);
    expect(watched.ends).toEqual([error === undefined ? undefined : expect.objectContaining(error)]);
    expect(watched.events).toHaveLength(events);
    expect(isResting()).toBe(false);
  });

  it('is closed while it rests, and nothing follows', async () => {
    const watched = await watch('/a', true);
    watched.stream.write(EVENT);
    await until(isResting);
    watched.stream.write(EVENT);
    watched.close();
    expect(isResting()).toBe(false);
    expect(watched.ends).toEqual([expect.objectContaining({ kind: 'aborted' })]);
    await clock.advance(REST_MS);
    await passTime();
    expect(watched.events).toHaveLength(1);
    await until(() => watched.stream.socket?.destroyed ?? true);
  });

  it('is read again together with others, and goes on when one of them is closed', async () => {
    const [one, other] = [await watch('/a', true), await watch('/b', true)];
    one.stream.write(EVENT);
    await until(isResting);
    await clock.advance(REST_MS / 2);
    other.stream.write(EVENT);
    await until(() => other.events.length === 1);
    await passTime();
    expect(clock.pending).toBe(1);
    one.close();
    other.stream.write(EVENT);
    await clock.advance(REST_MS / 2);
    await until(() => other.events.length === 2);
  });
});
