import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import { Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { metricsText, NODE_METRICS } from './metrics-page.ts';
import type { ServedStatus } from './metrics-page.ts';
import { MetricsServer } from './metrics-server.ts';

const STATUS: ServedStatus = {
  node: 'worker-1',
  bootID: 'b',
  phase: 'isolated',
  keptForSeconds: -3.5,
  watchdog: { state: 'armed', feeds: 17, device: '/dev/watchdog0', identity: 'iTCO_wdt', timeoutSeconds: 10 },
  grantedSecondsAgo: 8.5,
  controllers: ['192.0.2.1:7411'],
  peers: [
    { node: 'worker-2', isAttested: true },
    { node: 'worker-3', isAttested: false },
  ],
  attestedSecondsAgo: 12,
  areGrantsEnded: false,
  checks: [{ name: 'storage', health: 'problem', sentence: '/data hangs', secondsAgo: 4 }],
  refusedDatagrams: { 'for"ged\n': 2 },
  problems: ['one', 'two'],
  datagrams: { sent: 5, failed: 1, overflowed: 0, received: 4, oversized: 0 },
};

describe('metrics of a node daemon', () => {
  let server: MetricsServer | undefined;
  afterEach(() => server?.close());

  it('say whether it is armed, kept up, fed and heard, what its checks found, and what was lost', () => {
    const lines = metricsText(STATUS).split('\n');
    for (const line of [
      'nodefence_node_watchdog{state="armed"} 1',
      'nodefence_node_watchdog{state="none"} 0',
      'nodefence_node_watchdog_feeds_total 17',
      'nodefence_node_phase{phase="isolated"} 1',
      'nodefence_node_phase{phase="kept"} 0',
      'nodefence_node_kept_seconds -3.5',
      'nodefence_node_grant_age_seconds 8.5',
      'nodefence_node_peers 1',
      'nodefence_node_check{check="storage",health="problem"} 1',
      'nodefence_node_datagrams_total{event="failed"} 1',
      String.raw`nodefence_node_datagrams_refused_total{reason="for\"ged\n"} 2`,
      'nodefence_node_problems 2',
    ])
      expect(lines).toContain(line);
    const names = NODE_METRICS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    const page = readFileSync(join(import.meta.dirname, '../../../docs/node-daemon.md'), 'utf8');
    expect(page.match(/(?<=^\| `)nodefence_node_\w+/gmu)).toEqual(names.map((name) => name));
    expect(lines.filter((line) => line.startsWith('# TYPE'))).toHaveLength(names.length);
  });

  it('leave out what is not known', () => {
    const { grantedSecondsAgo: _, ...unknown } = STATUS;
    expect(metricsText(unknown)).not.toMatch(/^nodefence_node_grant_age_seconds /m);
  });

  const failed: string[] = [];
  const served = (port = 0): Promise<MetricsServer> =>
    MetricsServer.listen(
      { host: '127.0.0.1', port },
      () => STATUS,
      ({ message }) => void failed.push(message),
    );

  it('are served on where somebody could not be accepted, which is told', async () => {
    const listen = vi.spyOn(Server.prototype, 'listen');
    server = await served();
    (listen.mock.contexts[0] as Server).emit('error', new Error('accept EMFILE'));
    listen.mockRestore();
    expect([failed, server.port > 0]).toEqual([['accept EMFILE'], true]);
  });

  it('are served at /metrics, and nothing else is', async () => {
    server = await served();
    const ask = (path: string): Promise<{ code: number | undefined; text: string }> => {
      const { promise, resolve, reject } = Promise.withResolvers<{ code: number | undefined; text: string }>();
      get({ host: '127.0.0.1', port: server?.port, path, agent: false }, (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => resolve({ code: response.statusCode, text }));
      }).on('error', reject);
      return promise;
    };
    expect(await ask('/metrics')).toEqual({ code: 200, text: metricsText(STATUS) });
    expect(await ask('/')).toMatchObject({ code: 404 });
    await expect(served(server.port)).rejects.toThrow('EADDRINUSE');
  });
});
