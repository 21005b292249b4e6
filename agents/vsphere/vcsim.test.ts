import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { AgentError, type PowerAgent, type Target } from '../../src/ports/agents.ts';
import { createAuthority } from '../../src/testbed/certificates.ts';
import { environmentOf, failureOf, powerAgentIn } from '../../src/testbed/devices/cloud/testing.ts';
import { freePorts } from '../../src/testbed/control-plane/free-port.ts';
import { vsphere } from './definition.ts';

/** VMware's own simulator, which nobody here wrote: in Go's folder, on the PATH, or named by this variable. */
const IN_GO = join(homedir(), 'go', 'bin', 'vcsim');
const VCSIM = process.env['NODEFENCE_VCSIM'] ?? (existsSync(IN_GO) ? IN_GO : 'vcsim');
const isThere = spawnSync(VCSIM, ['-h'], { stdio: 'ignore' }).error === undefined;
const LOGIN = { username: 'fence', password: 'a <password> & "more"' };

describe.skipIf(!isThere)('against vcsim (go install github.com/vmware/govmomi/vcsim@v0.46.0)', { timeout: 60_000 }, () => {
  const cleanUp: (() => unknown)[] = [];
  afterAll(async () => {
    for (const step of cleanUp.splice(0).reverse()) await step();
  });

  async function start(...more: string[]): Promise<{ agent: PowerAgent; target: (change?: Partial<Target>) => Target }> {
    const folder = mkdtempSync(join(tmpdir(), 'nodefence-vcsim-'));
    cleanUp.push(() => rmSync(folder, { recursive: true, force: true }));
    const authority = createAuthority('nodefence vcsim');
    const { certificatePem, keyPem } = authority.issue({ commonName: 'vcsim', hosts: ['127.0.0.1'] });
    writeFileSync(join(folder, 'certificate.pem'), certificatePem);
    writeFileSync(join(folder, 'key.pem'), keyPem);
    const [port = 0] = await freePorts('127.0.0.1', 1);
    const files = ['-tlscert', join(folder, 'certificate.pem'), '-tlskey', join(folder, 'key.pem'), '-E', join(folder, 'env')];
    writeFileSync(join(folder, 'env'), '');
    const child = spawn(VCSIM, ['-l', `127.0.0.1:${port}`, '-username', LOGIN.username, '-password', LOGIN.password, ...files, ...more], {
      stdio: 'ignore',
    });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    cleanUp.push(() => {
      child.kill('SIGKILL');
      return ended;
    });
    const agent = await powerAgentIn(vsphere, environmentOf({}));
    cleanUp.push(() => agent.close?.());
    const target = (change: Partial<Target> = {}): Target => ({
      plug: 'DC0_H0_VM0',
      device: `127.0.0.1:${port}`,
      parameters: { ip: '127.0.0.1', ipport: String(port), ca: authority.certificatePem, ...LOGIN },
      identity: { node: 'a' },
      signal: new AbortController().signal,
      deadlineMs: 5_000,
      beforeSend: () => undefined,
      ...change,
    });
    const deadline = performance.now() + 20_000;
    for (;;) {
      const found = await agent.list?.(target()).catch((error: unknown) => {
        if (error instanceof AgentError && error.kind === 'Unreachable' && performance.now() < deadline) return undefined;
        throw error;
      });
      if (found !== undefined) return { agent, target };
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  describe('as a vCenter', () => {
    let agent: PowerAgent;
    let target: (change?: Partial<Target>) => Target;
    let uuid = '';

    beforeAll(async () => {
      ({ agent, target } = await start());
      uuid = (await agent.list?.(target()))?.find(({ alias }) => alias === 'DC0_H0_VM0')?.plug ?? '';
    }, 60_000);

    it('finds the machine by its providerID, powers it off, reads it off, and powers it on', async () => {
      const of = (): Target => target({ plug: uuid, identity: { node: 'a', providerID: `vsphere://${uuid}`, systemUUID: uuid } });
      expect(await agent.read(of())).toMatchObject({ state: 'on', identity: 'verified' });
      expect(await agent.set(of(), 'off')).toMatchObject({ result: 'accepted' });
      await expect.poll(() => agent.read(of())).toMatchObject({ state: 'off' });
      await agent.set(of(), 'off');
      await expect.poll(async () => (await agent.read(of())).detail).toContain('VirtualMachine.powerOff ended in an error: InvalidPowerState');
      expect(await agent.read(of()), 'a second off').toMatchObject({ state: 'off' });
      expect(await agent.set(of(), 'on')).toMatchObject({ result: 'accepted' });
      await expect.poll(() => agent.read(of())).toMatchObject({ state: 'on' });
    });

    it.each(['DC0_H0_VM1', '/DC0/vm/DC0_H0_VM1'])('finds %s, and lists it with the others', async (plug) => {
      expect(await agent.read(target({ plug }))).toMatchObject({ state: 'on', identity: 'unverified' });
      expect(await agent.list?.(target())).toHaveLength(4);
    });

    it('is asked for the privileges of the session, which it always grants', async () => {
      expect(await agent.read(target({ isProbe: true }))).not.toHaveProperty('wouldRefuse');
    });

    it('tells apart what is another machine, what is not there, and who is not let in', async () => {
      const other = target({ identity: { node: 'a', systemUUID: '4c4c4544-0030-5210-8047-c6c04f5a4333' } });
      expect((await failureOf(agent.set(other, 'off'))).message).toContain('is another machine: its UUID is');
      expect((await failureOf(agent.read(target({ plug: '4c4c4544-0030-5210-8047-c6c04f5a4333' })))).kind).toBe('Misconfigured');
      const stranger = target({ parameters: { ...target().parameters, password: 'another password' } });
      const refused = await failureOf(agent.read(stranger));
      expect(refused).toMatchObject({ kind: 'Refused' });
      expect(refused.message).toContain('InvalidLogin');
    });
  });

  it('is an ESXi host as well', async () => {
    const { agent, target } = await start('-esx');
    const [first] = (await agent.list?.(target())) ?? [];
    const of = (): Target => target({ plug: first?.plug ?? '' });
    expect(await agent.read(of())).toMatchObject({ state: 'on' });
    await agent.set(of(), 'off');
    await expect.poll(() => agent.read(of())).toMatchObject({ state: 'off' });
  });
});
