import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { compileCache } from '../testbed/compile-cache.ts';
import { programPath } from '../testbed/shipped/program.ts';

const folder = mkdtempSync(join(tmpdir(), 'nodefence-stopped-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('a controller that is stopped while it waits for the API server', { timeout: 60_000 }, () => {
  it('ends well, and blames nobody', async () => {
    let asked = 0;
    const server = createServer((request, response) => {
      const isVersion = request.url === '/version';
      if (!isVersion) asked += 1;
      response.writeHead(isVersion ? 200 : 503, { 'content-type': 'application/json' });
      response.end(isVersion ? JSON.stringify({ major: '1', minor: '36', gitVersion: 'v1.36.0' }) : '{}');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const kubeconfig = join(folder, 'kubeconfig');
    const { port } = server.address() as AddressInfo;
    writeFileSync(
      kubeconfig,
      `clusters: [{name: c, cluster: {server: "http://127.0.0.1:${port}"}}]\ncontexts: [{name: x, context: {cluster: c}}]\ncurrent-context: x\n`,
    );
    const env = { PATH: process.env['PATH'] ?? '', HOME: folder, ...compileCache() };
    const child = spawn(process.execPath, [programPath('main'), 'controller', '--kubeconfig', kubeconfig, '--http-address', '127.0.0.1:0'], {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const ended = once(child, 'close');
    await expect.poll(() => asked, { timeout: 30_000, interval: 50 }).toBeGreaterThan(10);
    child.kill('SIGTERM');
    const [code] = (await ended) as [number | null];
    server.closeAllConnections();
    server.close();
    expect(said).toContain('"message":"stopping"');
    expect(said).not.toContain('"level":"error"');
    expect(code).toBe(0);
  });
});
