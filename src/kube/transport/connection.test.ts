import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SystemClock } from '../../runtime/system-clock.ts';
import { createAuthority } from '../../testbed/certificates.ts';
import { StoredCredential } from '../credentials/stored-credential.ts';
import { InlineText } from '../credentials/text-source.ts';
import { HttpsTransport } from '../https-transport.ts';

describe('the server is asked for, and must show itself,', () => {
  const authority = createAuthority('test');
  let server: Server;

  beforeAll(async () => {
    const { certificatePem: cert, keyPem: key } = authority.issue({ commonName: 'api', hosts: ['localhost', 'api.test', '127.0.0.1'] });
    server = createServer({ cert, key }, ({ socket }, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify((socket as TLSSocket).servername));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });

  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  async function asked(host: string, serverName?: string): Promise<unknown> {
    const transport = new HttpsTransport({
      server: {
        source: 'test',
        url: new URL(`https://${host}:${(server.address() as AddressInfo).port}`),
        authority: new InlineText(authority.certificatePem),
        isVerified: true,
        serverName,
        credential: new StoredCredential({ token: new InlineText('secret') }),
        headers: {},
        namespace: 'default',
      },
      clock: new SystemClock(),
      userAgent: 'nodefence/test',
    });
    try {
      return (await transport.request({ method: 'GET', path: '/', deadlineMs: 5_000 })).body;
    } finally {
      transport.close();
    }
  }

  it.each([
    ['its host name', 'localhost', undefined, 'localhost'],
    ['no name where it has an address only', '127.0.0.1', undefined, false],
    ['the name that the kubeconfig gives it', '127.0.0.1', 'api.test', 'api.test'],
  ])('by %s', async (_name, host, serverName, expected) => {
    expect(await asked(host, serverName)).toBe(expected);
  });

  it('and is refused where its certificate is of another', async () => {
    await expect(asked('127.0.0.1', 'other.test')).rejects.toThrow('other.test');
  });
});
