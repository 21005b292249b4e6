import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { compileCache } from '../testbed/compile-cache.ts';
import { programPath } from '../testbed/shipped/program.ts';

const folder = mkdtempSync(join(tmpdir(), 'nodefence-cannot-run-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('a controller that cannot run ends with 1, whatever it has opened already', { timeout: 60_000 }, async () => {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ major: '1', minor: '36', gitVersion: 'v1.36.0' }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(
    kubeconfig,
    `clusters: [{name: c, cluster: {server: "http://127.0.0.1:${port}"}}]\ncontexts: [{name: x, context: {cluster: c}}]\ncurrent-context: x\n`,
  );
  const taken = createSocket('udp4').bind(0, '127.0.0.1');
  await once(taken, 'listening');
  // The address on which it is to hear crash kernels is taken, when its pages are served already.
  const flags = ['--kubeconfig', kubeconfig, '--http-address', '127.0.0.1:0', '--kdump-address', `127.0.0.1:${taken.address().port}`];
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder, ...compileCache() };
  const child = spawn(process.execPath, [programPath('main'), 'controller', ...flags], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const ended = once(child, 'close');
  try {
    await expect.poll(() => said, { timeout: 30_000, interval: 50 }).toContain('the controller cannot run');
    const late = setTimeout(() => child.kill('SIGKILL'), 5_000);
    const [code] = (await ended) as [number | null];
    clearTimeout(late);
    expect(said).toContain('EADDRINUSE');
    expect(code).toBe(1);
  } finally {
    child.kill('SIGKILL');
    taken.close();
    server.closeAllConnections();
    server.close();
  }
});
