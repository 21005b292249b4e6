import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { AgentError, type PowerAgent, type Target } from '../../src/ports/agents.ts';
import { createAuthority } from '../../src/testbed/certificates.ts';
import { freePorts } from '../../src/testbed/control-plane/free-port.ts';
import { environmentOf, failureOf, powerAgentIn } from '../../src/testbed/devices/cloud/testing.ts';
import { proxmox } from './definition.ts';

/** A fake of Proxmox VE that nobody here wrote and that checks each request by the published API schema; on the PATH, or named by this variable. */
const FAKEPVE = process.env['NODEFENCE_FAKEPVE'] ?? 'fakepve';
const isThere = spawnSync(FAKEPVE, ['--version'], { stdio: 'ignore' }).status === 0;
const UUIDS = ['11111111-2222-4333-8444-555555555501', '11111111-2222-4333-8444-555555555502', '11111111-2222-4333-8444-555555555503'];
const PASSWORD = 'a & "long" password';

describe.skipIf(!isThere)('against fakepve (pip install fakepve==0.5.0)', { timeout: 60_000 }, () => {
  const cleanUp: (() => unknown)[] = [];
  let agent: PowerAgent;
  let endpoint = '';
  let ca = '';

  const target = (index: number, change: Partial<Target> = {}): Target => ({
    plug: String(100 + index),
    device: endpoint,
    parameters: { endpoint, ca, username: 'root@pam', password: PASSWORD },
    identity: { node: 'a', providerID: `proxmox://region/${100 + index}`, systemUUID: UUIDS[index] ?? '' },
    signal: new AbortController().signal,
    deadlineMs: 5_000,
    beforeSend: () => undefined,
    ...change,
  });

  beforeAll(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'nodefence-fakepve-'));
    cleanUp.push(() => rmSync(folder, { recursive: true, force: true }));
    const authority = createAuthority('nodefence fakepve');
    const { certificatePem, keyPem } = authority.issue({ commonName: 'fakepve', hosts: ['127.0.0.1'] });
    ca = authority.certificatePem;
    const guests = UUIDS.map((uuid, index) => ({
      vmid: 100 + index,
      name: `worker-${index}`,
      status: 'running',
      stop_secs: 1,
      start_secs: 1,
      config: { smbios1: `uuid=${uuid}` },
      ...(index === 1 ? { ha_state: 'started' } : {}),
      ...(index === 2 ? { status: 'stopped', lock: 'backup' } : {}),
    }));
    const files = {
      'guests.json': JSON.stringify({ guests: [...guests, { vmid: 200, name: 'box', type: 'lxc' }] }),
      'c.pem': certificatePem,
      'k.pem': keyPem,
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const [port = 0] = await freePorts('127.0.0.1', 1);
    endpoint = `https://127.0.0.1:${port}`;
    const words = ['--host', '127.0.0.1', '--port', String(port), '--cert', join(folder, 'c.pem'), '--key', join(folder, 'k.pem')];
    const child = spawn(FAKEPVE, [join(folder, 'guests.json'), ...words, '--user', 'root@pam', '--password', PASSWORD, '--time-scale', '0.2'], {
      stdio: 'ignore',
    });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    cleanUp.push(() => {
      child.kill('SIGKILL');
      return ended;
    });
    agent = await powerAgentIn(proxmox, environmentOf({}));
    cleanUp.push(() => agent.close?.());
    const deadline = performance.now() + 20_000;
    for (;;) {
      const found = await agent.list?.(target(0)).catch((error: unknown) => {
        if (error instanceof AgentError && error.kind === 'Unreachable' && performance.now() < deadline) return undefined;
        throw error;
      });
      if (found !== undefined) break;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }, 60_000);

  afterAll(async () => {
    for (const step of cleanUp.splice(0).reverse()) await step();
  });

  it('identifies the machine, stops it, reads it off, and starts it', async () => {
    expect(await agent.read(target(0))).toMatchObject({ state: 'on', identity: 'verified', detail: 'status=running qmpstatus=running' });
    expect(await agent.set(target(0), 'off')).toMatchObject({ result: 'accepted', detail: expect.stringContaining(':qmstop:100:') as string });
    await expect.poll(async () => (await agent.read(target(0))).state, { timeout: 10_000 }).toBe('off');
    expect(await agent.set(target(0), 'on')).toMatchObject({ result: 'accepted' });
    await expect.poll(async () => (await agent.read(target(0))).state, { timeout: 10_000 }).toBe('on');
  });

  it('finds it by its name and by the UUID of its firmware', async () => {
    expect(await agent.read(target(0, { plug: 'worker-0' }))).toMatchObject({ state: 'on', identity: 'verified' });
    const identity = { node: 'a', providerID: `proxmox://${UUIDS[0]}` };
    expect(await agent.read(target(0, { plug: UUIDS[0] ?? '', identity }))).toMatchObject({ state: 'on', identity: 'verified' });
  });

  it('stops through HA what HA has, and calls it not off while HA is asked for it: this fake always shows that', async () => {
    expect(await agent.set(target(1), 'off')).toMatchObject({ result: 'accepted', detail: expect.stringContaining(':hastop:101:') as string });
    await expect.poll(async () => (await agent.read(target(1))).detail, { timeout: 15_000 }).toContain('HA: stopped; HA is asked for started');
    expect(await agent.read(target(1))).toMatchObject({ state: 'pending' });
  });

  it('does not call off what a backup has in hand', async () => {
    expect(await agent.read(target(2))).toMatchObject({ state: 'pending', detail: expect.stringContaining('lock=backup') as string });
  });

  it('sends nothing to another machine, and takes no container', async () => {
    const other = target(0, { identity: { node: 'b', systemUUID: UUIDS[1] ?? '' } });
    expect((await failureOf(agent.set(other, 'off'))).message).toContain('is another machine: its UUID is');
    expect((await failureOf(agent.read(target(0, { plug: '200' })))).message).toContain('is a container');
  });

  it('lets a probe see that nothing is missing, and tells who is not let in', async () => {
    expect((await agent.read(target(0, { isProbe: true }))).wouldRefuse).toBeUndefined();
    const stranger = target(0, { parameters: { endpoint, ca, username: 'root@pam', password: 'wrong' } });
    expect(await failureOf(agent.read(stranger))).toMatchObject({
      kind: 'Misconfigured',
      message: expect.stringContaining('authentication failure') as string,
    });
  });
});
