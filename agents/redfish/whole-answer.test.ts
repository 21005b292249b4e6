import { createServer, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';

import { afterEach, describe, expect, it } from 'vitest';

import { Oversize, wholeAnswer } from './whole-answer.ts';

const LIMIT = 4 * 1024 * 1024;
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** What comes of a GET that is answered so. */
async function got(answer: (response: ServerResponse) => void, signal = new AbortController().signal): Promise<string> {
  const server = createServer((_request, response) => answer(response));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const [, bytes] = await wholeAnswer(request({ port, host: '127.0.0.1', agent: false }), undefined, signal);
  return bytes.toString('utf8');
}

describe('an answer', () => {
  it.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('that is packed although nobody asked for that is unpacked (%s)', async (encoding, pack) => {
    expect(await got((response) => response.setHeader('content-encoding', encoding).end(pack('{"PowerState":"On"}')))).toBe('{"PowerState":"On"}');
    expect(await got((response) => response.setHeader('content-encoding', encoding).end())).toBe('');
    await expect(got((response) => response.setHeader('content-encoding', encoding).end('no such thing'))).rejects.toThrow();
    await expect(got((response) => response.setHeader('content-encoding', encoding).end(pack(Buffer.alloc(LIMIT + 1))))).rejects.toThrow(Oversize);
  });

  it('in words that nobody knows is left as it is', async () => {
    expect(await got((response) => response.setHeader('content-encoding', 'constructor').end('On'))).toBe('On');
  });

  it('is taken up to 4 MiB, in one piece or in many', async () => {
    expect(await got((response) => response.end(Buffer.alloc(LIMIT, 'x')))).toHaveLength(LIMIT);
    await expect(got((response) => response.end(Buffer.alloc(LIMIT + 1, 'x')))).rejects.toThrow(Oversize);
    const drip = (response: ServerResponse): void => {
      if (!response.destroyed) response.write(Buffer.alloc(65_536, 'x'), () => drip(response));
    };
    await expect(got(drip)).rejects.toThrow(Oversize);
  });

  it('that ends too soon is none', async () => {
    const cut = (response: ServerResponse): void => void response.writeHead(200, { 'content-length': '10' }).write('On', () => response.destroy());
    await expect(got(cut)).rejects.toThrow(/aborted|hang up|ECONNRESET/u);
  });

  it.each(['before it begins', 'in its middle'])('is not waited for when its call ends %s', async (when) => {
    const ending = new AbortController();
    const half = (response: ServerResponse): void => {
      if (when === 'in its middle') response.write('O');
      setTimeout(() => ending.abort(), 50);
    };
    await expect(got(half, ending.signal)).rejects.toThrow('given up');
  });
});
