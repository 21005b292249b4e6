import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAuthority } from '../../src/testbed/certificates.ts';
import { Daemon } from './daemon.ts';
import { ServedWorld } from './served-world.ts';
import { CONTROLLER_USER } from './witness.ts';

let served: ServedWorld;

beforeAll(async () => {
  served = await ServedWorld.start();
});

afterAll(async () => {
  await served.end();
});

/** The daemon ends at once with exit code 1, says why in one line of its log, and prints nothing else. */
async function refusal(kubeconfig: string, flags: readonly string[] = []): Promise<string> {
  const daemon = new Daemon(kubeconfig, flags);
  try {
    expect(await daemon.exit()).toBe(1);
    expect(daemon.stdout).toBe('');
    expect(daemon.log.map(({ level, message }) => `${level}: ${message}`)).toEqual(['error: the controller cannot run']);
    return daemon.log[0]?.error ?? '';
  } finally {
    await daemon.kill();
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe.concurrent('nodefence controller with a kubeconfig that is wrong ends with 1 and one clear line', () => {
  it('the file is not there', { timeout: 60_000 }, async () => {
    const path = `${served.folder}/nowhere`;
    const words = await refusal(path);
    expect(words).toContain(path);
    expect(words).toContain('give the path of a readable file');
  });

  it('the file is no YAML', { timeout: 60_000 }, async () => {
    const path = served.file('broken', 'clusters: [{name: "a"\n  server: b');
    const words = await refusal(path);
    expect(words).toContain(`kubeconfig ${path}: is not YAML`);
    expect(words).toMatch(/line\W+2/);
  });

  it('the context is unknown', { timeout: 60_000 }, async () => {
    const words = await refusal(served.kubeconfig('context', CONTROLLER_USER), ['--context', 'production']);
    expect(words).toContain('there is no context "production"; name one of: scenario');
  });

  it('the CA is not the one that signed the server’s certificate', { timeout: 60_000 }, async () => {
    const caPem = createAuthority('another').certificatePem;
    const words = await refusal(served.kubeconfig('ca', CONTROLLER_USER, { caPem }));
    expect(words).toMatch(/certificate/);
    expect(words).toContain(new URL(served.shell.url).host);
  });

  it('no server listens there', { timeout: 60_000 }, async () => {
    const server = `https://127.0.0.1:${await freePort()}`;
    const words = await refusal(served.kubeconfig('down', CONTROLLER_USER, { server }));
    expect(words).toContain('ECONNREFUSED');
    expect(words).toContain(new URL(server).host);
  });

  it('the token is not known to the server', { timeout: 60_000 }, async () => {
    const words = await refusal(served.kubeconfig('token', CONTROLLER_USER, { token: 'not-the-right-one' }));
    expect(words).toContain('HTTP 401');
    expect(words).toContain('credentials of the kubeconfig');
    expect(words).not.toContain('not-the-right-one');
  });
});
