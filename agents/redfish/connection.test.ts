import { setImmediate } from 'node:timers/promises';
import { TLSSocket } from 'node:tls';

import { afterEach, describe, expect, it, vi } from 'vitest';

import { startBmcHarness, type BmcHarness } from '../../src/testbed/devices/bmc/bmc-harness.ts';
import { RESET_PATH } from '../../src/testbed/devices/bmc/tree.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { Call } from '../shared/call.ts';
import { Connection } from './connection.ts';
import type { Peer } from './kept-socket.ts';
import { parseSettings } from './parameters.ts';
import { Recollection } from './recollection.ts';
import { Authorities } from './socket.ts';

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function start(certificate: 'good' | 'plain', connecting?: Clock): Promise<{ bmc: BmcHarness; connection: Connection; call: Call }> {
  const bmc = await startBmcHarness({ certificate });
  const settings = parseSettings(bmc.parameters);
  if ('problems' in settings) throw new Error(settings.problems.join());
  const clock = new SystemClock();
  const connection = new Connection(settings, connecting ?? clock, new Authorities(), new Recollection(clock));
  const signal = new AbortController().signal;
  const call = new Call(
    clock,
    { plug: '', device: 'bmc', parameters: {}, identity: { node: 'a' }, signal, deadlineMs: 5_000, beforeSend: () => undefined },
    'test',
  );
  open.push(
    () => bmc.close(),
    () => connection.close(),
    () => call.release(),
  );
  return { bmc, connection, call };
}

/** What the socket had taken by the gate, and by the end of the same synchronous turn. */
interface Watched {
  isReady: boolean;
  before: number;
  after: number;
  pending: number;
  tls: string | null | undefined;
}

describe.each(['good', 'plain'] as const)('the gate of a change (%s)', (certificate) => {
  it.each(['a fresh connection', 'a kept connection'])('stands in the turn in which the bytes leave, on %s', async (kind) => {
    const { connection, call } = await start(certificate);
    if (kind === 'a kept connection') await connection.exchange(call, { method: 'GET', path: '/redfish/v1/' });
    const watched: Watched[] = [];
    const gate = ({ socket }: Peer): void => {
      const isReady = !socket.connecting && socket.writable;
      const tls = socket instanceof TLSSocket ? socket.getProtocol() : undefined;
      const seen: Watched = { isReady, before: socket.bytesWritten, after: -1, pending: -1, tls };
      watched.push(seen);
      // A microtask runs when the turn's own code has ended and before anything else can happen in the process.
      queueMicrotask(() => {
        seen.after = socket.bytesWritten;
        seen.pending = socket.writableLength;
      });
    };
    await connection.exchange(call, { method: 'POST', path: RESET_PATH, body: { ResetType: 'ForceOff' }, gate });
    expect(watched).toHaveLength(1);
    expect(watched[0]?.isReady).toBe(true);
    expect(watched[0]?.tls).toEqual(certificate === 'plain' ? undefined : expect.stringMatching(/^TLSv1/));
    expect(watched[0]?.after).toBeGreaterThan(watched[0]?.before ?? Infinity);
    expect(watched[0]?.pending).toBeLessThanOrEqual(watched[0]?.after ?? -1);
  });

  it('is not even reached by a call that is over', async () => {
    const { bmc, connection, call } = await start(certificate);
    await connection.exchange(call, { method: 'GET', path: '/redfish/v1/' });
    const over = new Call(new SystemClock(), { ...call.target, signal: AbortSignal.abort() }, 'test');
    const gate = vi.fn();
    const request = { method: 'POST' as const, path: RESET_PATH, body: { ResetType: 'ForceOff' }, gate };
    await expect(connection.exchange(over, request)).rejects.toMatchObject({ kind: 'ended', isSent: false });
    await connection.exchange(call, { method: 'GET', path: '/redfish/v1/' });
    expect(gate).not.toHaveBeenCalled();
    expect(bmc.device.requests).toEqual(['GET /redfish/v1', 'GET /redfish/v1']);
  });

  it('lets not one request through when it throws', async () => {
    const { bmc, connection, call } = await start(certificate);
    const request = {
      method: 'POST' as const,
      path: RESET_PATH,
      body: { ResetType: 'ForceOff' },
      gate: () => {
        throw new Error('no lease');
      },
    };
    await expect(connection.exchange(call, request)).rejects.toThrow('no lease');
    await connection.exchange(call, { method: 'GET', path: '/redfish/v1/' });
    expect(bmc.device.requests).toEqual(['GET /redfish/v1']);
  });
});

describe('a connection that is being made', () => {
  it('is there for the next call when its own is given up: no second handshake', async () => {
    const { bmc, connection, call } = await start('good');
    const givingWay = new AbortController();
    const probe = new Call(new SystemClock(), { ...call.target, signal: givingWay.signal, isProbe: true }, 'test');
    const given = expect(connection.exchange(probe, { method: 'GET', path: '/redfish/v1/Systems' })).rejects.toMatchObject({ kind: 'ended' });
    // The device has accepted it, and not said a word of TLS yet.
    while (bmc.server.connections() === 0) await setImmediate();
    givingWay.abort();
    expect((await connection.exchange(call, { method: 'GET', path: '/redfish/v1/' })).status).toBe(200);
    await given;
    expect([bmc.server.connections(), bmc.device.requests]).toEqual([1, ['GET /redfish/v1']]);
  });
});

describe('a connection that is made in the turn in which its call ends', () => {
  it('is there for the next call: no second handshake, and none that nobody closes', async () => {
    const ending = new AbortController();
    const clock = new SystemClock();
    // The handshake ends its timer first, and hands its connection over afterwards.
    const after = (delayMs: number, callback: () => void): (() => void) => {
      const cancel = clock.after(delayMs, callback);
      return () => {
        ending.abort();
        cancel();
      };
    };
    const whose = { monotonicMs: () => clock.monotonicMs(), after } as unknown as Clock;
    const { bmc, connection, call } = await start('good', whose);
    const ended = new Call(clock, { ...call.target, signal: ending.signal }, 'test');
    await expect(connection.exchange(ended, { method: 'GET', path: '/redfish/v1/Systems' })).rejects.toMatchObject({ kind: 'ended' });
    expect((await connection.exchange(call, { method: 'GET', path: '/redfish/v1/' })).status).toBe(200);
    expect([bmc.server.connections(), bmc.device.requests]).toEqual([1, ['GET /redfish/v1']]);
  });
});

describe('a connection', () => {
  it('carries one request at a time, whoever asks, and is made once', async () => {
    const { bmc, connection, call } = await start('plain');
    bmc.device.faults = { answerDelayMs: 50 };
    const paths = ['/redfish/v1/', '/redfish/v1/Systems', '/redfish/v1/Nowhere'];
    const answers = await Promise.all(paths.map((path) => connection.exchange(call, { method: 'GET', path })));
    expect(answers.map(({ status }) => status)).toEqual([200, 401, 401]);
    expect(bmc.server.connections()).toBe(1);
  });

  it('is made anew behind a request that was given up', async () => {
    const { bmc, connection, call } = await start('plain');
    bmc.device.faults = { isMute: true };
    const brief = new Call(new SystemClock(), { ...call.target, deadlineMs: 100 }, 'test');
    await expect(connection.exchange(brief, { method: 'GET', path: '/redfish/v1/' })).rejects.toMatchObject({ kind: 'ended', isSent: true });
    bmc.device.faults = {};
    expect((await connection.exchange(call, { method: 'GET', path: '/redfish/v1/' })).status).toBe(200);
    expect(bmc.server.connections()).toBe(2);
  });

  it('lets no path with a blank or a line of its own through', async () => {
    const { bmc, connection, call } = await start('plain');
    for (const path of ['/a b', '/a\r\nX-Evil: 1'])
      await expect(connection.exchange(call, { method: 'GET', path })).rejects.toMatchObject({ isSent: false });
    expect(bmc.device.requests).toEqual([]);
    expect((await connection.exchange(call, { method: 'GET', path: '/redfish/v1/' })).status).toBe(200);
    expect(bmc.server.connections(), 'what carried nothing is kept').toBe(1);
  });

  it('is never made through a proxy of the environment', async () => {
    const { bmc, connection, call } = await start('plain');
    open.push(() => vi.unstubAllEnvs());
    for (const name of ['http_proxy', 'HTTP_PROXY', 'https_proxy']) vi.stubEnv(name, 'http://127.0.0.1:9');
    expect((await connection.exchange(call, { method: 'GET', path: '/redfish/v1/' })).status).toBe(200);
    expect(bmc.device.requests).toHaveLength(1);
  });
});
