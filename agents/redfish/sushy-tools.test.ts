import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, describe, expect, it } from 'vitest';

import { createAuthority } from '../../src/testbed/certificates.ts';
import { AgentError, type Target } from '../../src/ports/agents.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { RedfishAgent } from './agent.ts';

/** The Redfish emulator of OpenStack, which nobody here wrote: `pip install sushy-tools`, on the PATH or named by this variable. */
const EMULATOR = process.env['NODEFENCE_SUSHY_EMULATOR'] ?? 'sushy-emulator';
const isThere = spawnSync(EMULATOR, ['--help'], { stdio: 'ignore' }).status === 0;
const UUID = 'c7a5fdbd-cdaf-9455-926a-d65c16db1809';

const cleanUp: (() => Promise<void> | void)[] = [];
afterAll(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function start(): Promise<{ agent: RedfishAgent; target: (systemUUID?: string) => Target }> {
  const folder = mkdtempSync(join(tmpdir(), 'nodefence-sushy-'));
  cleanUp.push(() => rmSync(folder, { recursive: true, force: true }));
  const authority = createAuthority('nodefence sushy');
  const { certificatePem, keyPem } = authority.issue({ commonName: 'bmc', hosts: ['127.0.0.1'] });
  writeFileSync(join(folder, 'certificate.pem'), certificatePem);
  writeFileSync(join(folder, 'key.pem'), keyPem);
  const port = await freePort();
  const lines = [
    'SUSHY_EMULATOR_LISTEN_IP = "127.0.0.1"',
    `SUSHY_EMULATOR_LISTEN_PORT = ${port}`,
    `SUSHY_EMULATOR_SSL_CERT = ${JSON.stringify(join(folder, 'certificate.pem'))}`,
    `SUSHY_EMULATOR_SSL_KEY = ${JSON.stringify(join(folder, 'key.pem'))}`,
    'SUSHY_EMULATOR_FAKE_DRIVER = True',
    `SUSHY_EMULATOR_STATE_DIR = ${JSON.stringify(folder)}`,
    `SUSHY_EMULATOR_FAKE_SYSTEMS = [{"uuid": "${UUID}", "name": "a", "power_state": "On", "external_notifier": False, "nics": []}]`,
  ];
  writeFileSync(join(folder, 'sushy.conf'), lines.join('\n'));
  const child = spawn(EMULATOR, ['--config', join(folder, 'sushy.conf')], { stdio: 'ignore' });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  cleanUp.push(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  const agent = new RedfishAgent(new SystemClock());
  cleanUp.push(() => agent.close());
  const target = (systemUUID = UUID): Target => ({
    plug: '',
    device: `127.0.0.1:${port}`,
    parameters: { ip: '127.0.0.1', ipport: String(port), username: 'admin', password: 'unused here', ca: authority.certificatePem },
    identity: { node: 'a', systemUUID },
    signal: new AbortController().signal,
    deadlineMs: 5_000,
    beforeSend: () => undefined,
  });
  await until(async () => {
    try {
      await agent.read(target());
      return true;
    } catch (error) {
      if (error instanceof AgentError && error.kind === 'Unreachable') return false;
      throw error;
    }
  });
  return { agent, target };
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error('it did not come to this in 20 s');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

describe.skipIf(!isThere)('against sushy-tools', () => {
  it('identifies the machine, switches it off, waits for Off to be read, and switches it on', { timeout: 60_000 }, async () => {
    const { agent, target } = await start();
    expect(await agent.read(target())).toMatchObject({ state: 'on', identity: 'verified' });
    await expect(agent.set(target('4c4c4544-0030-5210-8047-c6c04f5a4333'), 'off')).rejects.toMatchObject({ kind: 'Misconfigured' });
    expect((await agent.set(target(), 'off')).result).toBe('accepted');
    // It answers 204 at once and acts 1 to 11 s later: the very reason why an accepted set proves nothing.
    await until(async () => (await agent.read(target())).state === 'off');
    // Its Chassis is a fixed text: it stays a witness, and the words say what an admin may do.
    expect((await agent.read(target())).witness).toMatchObject({
      state: 'on',
      waiver: expect.stringMatching(/sushy-tools.*chassis_witness=no/u) as string,
    });
    await agent.set(target(), 'on');
    await until(async () => (await agent.read(target())).state === 'on');
  });
});
