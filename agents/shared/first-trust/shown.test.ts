import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type SecureVersion } from 'node:tls';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { DeviceAddresses } from '../../../src/domain/addresses/device-addresses.ts';
import { AgentError, type AgentContext } from '../../../src/ports/agents.ts';
import { createAuthority, fingerprintSha256 } from '../../../src/runtime/certificates.ts';
import { SystemClock } from '../../../src/runtime/system-clock.ts';
import { redfish } from '../../redfish/definition.ts';
import { standardRegistry } from '../../registry.ts';
import { isSshdThere, startOpenSshd, type OpenSshd } from '../ssh/testing/open-sshd.ts';
import { parseKnownHosts, fingerprintOf } from '../ssh/host-trust.ts';

const registry = standardRegistry();
const clock = new SystemClock();
const signal = (): AbortSignal => new AbortController().signal;
const issued = createAuthority('nobody’s').issue({ commonName: 'bmc', hosts: ['127.0.0.1'] });

/** A TLS server that counts what is said to it behind the greeting. */
async function served<T>(
  versions: { minVersion?: SecureVersion; maxVersion?: SecureVersion },
  work: (port: string, said: () => number) => Promise<T>,
): Promise<T> {
  let said = 0;
  const server = createServer({ cert: issued.certificatePem, key: issued.keyPem, ciphers: 'DEFAULT@SECLEVEL=0', ...versions }, (socket) => {
    socket.on('data', (chunk: Buffer) => (said += chunk.length));
    socket.on('error', () => undefined);
  });
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await work(String((server.address() as AddressInfo).port), () => said);
  } finally {
    server.close();
  }
}

describe('What a device shows to somebody who does not log in', () => {
  const parameters = (ipport: string, more: Record<string, string> = {}) => ({ ip: '127.0.0.1', ipport, trust_on_first_use: 'yes', ...more });

  it.each(['redfish', 'vsphere', 'ovirt', 'proxmox'])('is its certificate, whoever signed it; nothing else is said to it: %s', async (agent) => {
    await served({}, async (port, said) => {
      const first = registry.find(agent)?.firstTrust?.(parameters(port));
      expect(first?.parameter).toBe('ssl_fingerprint');
      expect(await first?.show({ clock }, signal())).toBe(fingerprintSha256(issued.certificatePem).replaceAll(':', '').toLowerCase());
      expect(said()).toBe(0);
    });
  });

  it('is asked at admitted addresses only', async () => {
    await served({}, async (port) => {
      await expect(redfish.firstTrust?.(parameters(port))?.show({ clock, addresses: new DeviceAddresses() }, signal())).rejects.toThrow(
        'the machine of the controller',
      );
    });
  });

  it('is given up when the probe is', async () => {
    const aborted = AbortSignal.abort(new Error('somebody wants the device'));
    await served({}, async (port) => {
      await expect(redfish.firstTrust?.(parameters(port))?.show({ clock }, aborted)).rejects.toThrow('given up');
    });
  });

  describe.skipIf(!isSshdThere)('by SSH', () => {
    let sshd: OpenSshd;
    beforeAll(async () => (sshd = await startOpenSshd()), 60_000);
    afterAll(() => sshd.stop());

    it.each<[string, Record<string, string>]>([
      ['ethernet-switch', { transport: 'ssh', dialect: 'eos' }],
      ['storage', {}],
      ['scsi', {}],
      ['ceph', { via: 'exec' }],
    ])('is its host key: %s', { timeout: 60_000 }, async (agent, more) => {
      const first = registry.find(agent)?.firstTrust?.(parameters(String(sshd.port), more));
      const known = parseKnownHosts(sshd.knownHosts.ed25519);
      if ('problem' in known) throw new Error(known.problem);
      expect(first?.parameter).toBe('host_key_fingerprint');
      expect(await first?.show({ clock }, signal())).toBe(fingerprintOf(Buffer.from(known.entries[0]?.key ?? '', 'base64')));
    });
  });
});

describe('An old BMC', () => {
  async function failure(more: Record<string, string>): Promise<string> {
    return served({ minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1' }, async (ipport, said) => {
      const agent = await redfish.create({ clock, cluster: {} as AgentContext['cluster'] });
      if (agent.kind !== 'power') throw new Error('no power agent');
      const login = { ip: '127.0.0.1', ipport, ssl_insecure: 'yes', username: 'u', password: 'p', ...more };
      const target = {
        plug: '',
        device: 'd',
        parameters: login,
        identity: { node: 'a' },
        signal: signal(),
        deadlineMs: 2_000,
        beforeSend: () => undefined,
      };
      const error: unknown = await agent.read(target).catch((reason: unknown) => reason);
      await agent.close?.();
      if (!(error instanceof AgentError)) throw error;
      return said() > 0 ? 'it was spoken to' : error.kind;
    });
  }

  it('that has no TLS but 1.1 is spoken to where ssl_min_version says so, and not otherwise', async () => {
    expect(await failure({})).toBe('Unreachable');
    expect(await failure({ ssl_min_version: '1.1' })).toBe('it was spoken to');
  });
});
