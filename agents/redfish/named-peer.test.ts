import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { checkServerIdentity, createServer, TLSSocket } from 'node:tls';

import { afterEach, describe, expect, it, vi } from 'vitest';

import { createAuthority } from '../../src/testbed/certificates.ts';
import { connectNamed, nameProblem } from './named-peer.ts';

const authority = createAuthority('authority');
const NAMED = [['bmc.example'], ['*.example'], ['127.0.0.1'], ['127.0.0.1', 'bmc.example'], ['fe80::1'], []];
const ASKED = [
  'bmc.example',
  'BMC.example',
  'other.example',
  'bmc.example.',
  'subject.example',
  '127.0.0.1',
  '127.0.0.2',
  'fe80::1',
  'DNS:bmc.example',
];

describe('the names of a certificate', () => {
  it.each(NAMED.map((hosts) => [hosts]))('%j are judged as Node judges the whole certificate', (hosts) => {
    const certificate = new X509Certificate(authority.issue({ commonName: 'subject.example', hosts }).certificatePem);
    for (const host of ASKED)
      expect(nameProblem(host, certificate)?.message, host).toBe(checkServerIdentity(host, certificate.toLegacyObject())?.message);
  });

  it('are none where no certificate was shown', () => {
    for (const host of ASKED) expect(nameProblem(host, undefined), host).toBeInstanceOf(Error);
  });
});

describe('a connection', () => {
  const closing: (() => void)[] = [];
  afterEach(() => {
    vi.restoreAllMocks();
    for (const close of closing.splice(0)) close();
  });

  async function connectTo(hosts: readonly string[]) {
    const { certificatePem: cert, keyPem: key, fingerprintSha256 } = authority.issue({ commonName: 'bmc', hosts });
    const server = createServer({ cert, key }, (socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1');
    closing.push(() => server.close());
    await once(server, 'listening');
    const peer = connectNamed({ host: '127.0.0.1', port: (server.address() as AddressInfo).port, ca: authority.certificatePem });
    closing.push(() => peer.socket.destroy());
    return { ...peer, fingerprintSha256 };
  }

  it('is made where the address is named, shows the certificate, and has no chain taken apart', async () => {
    const takingApart = vi.spyOn(TLSSocket.prototype, 'getPeerCertificate');
    const { socket, certificate, fingerprintSha256 } = await connectTo(['127.0.0.1']);
    await once(socket, 'secureConnect');
    expect(socket.authorized).toBe(true);
    for (let asked = 0; asked < 2; asked += 1) expect(certificate()?.fingerprint256.replaceAll(':', '').toLowerCase()).toBe(fingerprintSha256);
    expect(takingApart).not.toHaveBeenCalled();
  });

  it('is refused where another one is named', async () => {
    const { socket } = await connectTo(['192.0.2.1']);
    await expect(once(socket, 'secureConnect')).rejects.toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
    expect(socket.destroyed).toBe(true);
  });
});
