import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { createServer, get } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createAuthority, fingerprintSha256 } from './certificates.ts';

const authority = createAuthority('drill authority');

async function statusOf(hosts: readonly string[], ca: string, lifetimeMs?: number): Promise<number | string> {
  const issued = authority.issue({ commonName: 'server', hosts, ...(lifetimeMs === undefined ? {} : { lifetimeMs }) });
  const server = createServer({ cert: issued.certificatePem, key: issued.keyPem }, (_, response) => response.end('yes'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    return await new Promise((resolve) => {
      get({ host: '127.0.0.1', port, ca, agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      }).on('error', (error: NodeJS.ErrnoException) => {
        resolve(error.code ?? error.message);
      });
    });
  } finally {
    server.close();
  }
}

describe('certificates', () => {
  it('lets a client that trusts the authority in', async () => {
    expect(await statusOf(['localhost', '127.0.0.1', '::1'], authority.certificatePem)).toBe(200);
  });

  it('is refused for an address that it does not name', async () => {
    expect(await statusOf(['192.0.2.1'], authority.certificatePem)).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
  });

  it('is refused by a client that trusts another authority of the same name', async () => {
    expect(await statusOf(['127.0.0.1'], createAuthority('drill authority').certificatePem)).not.toBe(200);
  });

  it('is refused once it has expired', async () => {
    expect(await statusOf(['127.0.0.1'], authority.certificatePem, -1000)).toBe('CERT_HAS_EXPIRED');
  });

  it('names its hosts and is signed by the authority', () => {
    const issued = authority.issue({ commonName: 'bmc-a', hosts: ['bmc-a.example', '10.0.0.1', 'fe80::1'] });
    const certificate = new X509Certificate(issued.certificatePem);
    expect(certificate.subject).toBe('CN=bmc-a');
    expect(certificate.subjectAltName).toBe('DNS:bmc-a.example, IP Address:10.0.0.1, IP Address:FE80:0:0:0:0:0:0:1');
    expect(certificate.verify(new X509Certificate(authority.certificatePem).publicKey)).toBe(true);
    expect(certificate.ca).toBe(false);
    expect(issued.fingerprintSha256).toBe(certificate.fingerprint256.replaceAll(':', '').toLowerCase());
    expect(fingerprintSha256(issued.certificatePem)).toBe(issued.fingerprintSha256);
  });
});
