import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ApiResponse } from '../ports/api-transport.ts';
import { SystemClock } from '../runtime/system-clock.ts';
import { createAuthority, type CertificateAuthority } from '../testbed/certificates.ts';
import { StoredCredential } from './credentials/stored-credential.ts';
import { FileText } from './credentials/text-source.ts';
import { HttpsTransport } from './https-transport.ts';
import type { ServerConfig } from './kubeconfig/server-config.ts';
import { serverConfigAt } from './testing/server-config.ts';

const clock = new SystemClock();

describe('credentials in files that are exchanged', () => {
  let authority: CertificateAuthority;
  let server: Server;
  let handler: (request: IncomingMessage) => void = () => undefined;
  let transport: HttpsTransport;
  let sockets: Set<unknown>;
  let directory: string;

  beforeAll(async () => {
    authority = createAuthority('test');
    const issued = authority.issue({ commonName: 'api', hosts: ['127.0.0.1'] });
    const options = { cert: issued.certificatePem, key: issued.keyPem, ca: authority.certificatePem, requestCert: true, rejectUnauthorized: false };
    server = createServer(options, (request, response: ServerResponse) => {
      sockets.add(request.socket);
      handler(request);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    directory = await mkdtemp(join(tmpdir(), 'nodefence-'));
  });

  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await rm(directory, { recursive: true });
  });

  beforeEach(() => {
    sockets = new Set();
    handler = () => undefined;
  });

  afterEach(() => {
    transport.close();
  });

  function build(parts: Partial<ServerConfig>, more: { idleMs?: number } = {}): HttpsTransport {
    const config: ServerConfig = serverConfigAt(`https://127.0.0.1:${(server.address() as AddressInfo).port}`, authority.certificatePem, parts);
    return new HttpsTransport({ server: config, clock, userAgent: 'nodefence/test', ...more });
  }

  const get = (): Promise<ApiResponse> => transport.request({ method: 'GET', path: '/x', deadlineMs: 5_000 });

  it('shows the token that it has while the file of it is empty, and the next one as soon as it stands there', async () => {
    const file = join(directory, 'emptied-token');
    await writeFile(file, 'old');
    const seen: (string | undefined)[] = [];
    handler = (request) => {
      seen.push(request.headers.authorization);
    };
    const token = new FileText(file, 'token', { clock });
    transport = build({ credential: new StoredCredential({ token }) });
    await get();
    token.expire();
    await writeFile(file, '\n');
    await get();
    await writeFile(file, 'new');
    await get();
    expect(seen).toEqual(['Bearer old', 'Bearer old', 'Bearer new']);
  });

  it('trusts whom it has trusted, and nobody else, while the file of the authority is empty or no certificate', async () => {
    const file = join(directory, 'ca.crt');
    await writeFile(file, authority.certificatePem);
    const source = new FileText(file, 'ca.crt', { clock });
    transport = build({ authority: source }, { idleMs: 1 });
    expect((await get()).status).toBe(200);
    for (const text of ['', '\n', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n']) {
      source.expire();
      await writeFile(file, text);
      await clock.sleep(20);
      expect((await get()).status).toBe(200);
    }
    await writeFile(file, createAuthority('another').certificatePem);
    await clock.sleep(20);
    await expect(get()).rejects.toMatchObject({ kind: 'unreachable' });
    expect(sockets.size).toBe(4);
  });

  it('trusts nobody where the file of the authority was empty from the start', async () => {
    const file = join(directory, 'empty.crt');
    await writeFile(file, '');
    transport = build({ authority: new FileText(file, 'ca.crt', { clock }) });
    await expect(get()).rejects.toThrow('ca.crt: ');
    await writeFile(file, 'garbage');
    await expect(get()).rejects.toThrow(/the authority or the client certificate cannot be used: /);
    await writeFile(file, authority.certificatePem);
    expect((await get()).status).toBe(200);
  });

  it('goes on with the client certificate that it has while the new one stands beside the old key, and takes the new one once both do', async () => {
    const names: string[] = [];
    handler = (request) => {
      names.push(request.socket instanceof TLSSocket ? String(request.socket.getPeerCertificate().subject.CN) : 'no TLS');
    };
    const [certificateFile, keyFile] = [join(directory, 'tls.crt'), join(directory, 'tls.key')];
    const [first, second] = ['first', 'second'].map((commonName) => authority.issue({ commonName, hosts: [] }));
    await writeFile(certificateFile, first?.certificatePem ?? '');
    await writeFile(keyFile, first?.keyPem ?? '');
    const files = { certificate: new FileText(certificateFile, 'tls.crt', { clock }), key: new FileText(keyFile, 'tls.key', { clock }) };
    const credential = new StoredCredential(files);
    transport = build({ credential });
    await get();
    credential.rejected();
    await writeFile(certificateFile, second?.certificatePem ?? '');
    await get();
    await writeFile(keyFile, second?.keyPem ?? '');
    await get();
    expect(names).toEqual(['first', 'first', 'second']);
  });

  it('reads an exchanged authority at once when the server shows a certificate that it does not trust', async () => {
    const file = join(directory, 'renewed.crt');
    await writeFile(file, createAuthority('before').certificatePem);
    transport = build({ authority: new FileText(file, 'ca.crt', { clock }) });
    await expect(get()).rejects.toMatchObject({ kind: 'unreachable' });
    await writeFile(file, authority.certificatePem);
    expect((await get()).status).toBe(200);
  });
});
