import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';

import { SystemClock } from '../../../src/runtime/system-clock.ts';
import { Call } from '../call.ts';
import { WebClient, type WebAnswer } from './web-client.ts';

const SECRET = 'tok-0123456789';
const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** What a server answers that tells everybody what it was asked with. */
async function echoed(status: number): Promise<WebAnswer> {
  const server = createServer((request, response) => {
    const words = `refused: ${request.headers.authorization ?? ''}`;
    response.writeHead(status, words).end(JSON.stringify({ error: { code: 'no', message: words }, token: SECRET }));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const clock = new SystemClock();
  const client = new WebClient({ ca: undefined, fingerprint: undefined, insecure: false, connectTimeoutMs: 1_000 }, { clock });
  const call = new Call(clock, { device: 'd', plug: '1', signal: new AbortController().signal, deadlineMs: 5_000 }, 'read');
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    return await client.exchange(call, { method: 'GET', url, headers: { Authorization: `Bearer ${SECRET}` }, secrets: [SECRET, 'no', undefined] });
  } finally {
    call.release();
    client.close();
  }
}

describe('an answer that shows what it was asked with', () => {
  it.each([400, 401, 403, 500])('of HTTP %s is a refusal, out of which every secret is struck, and nothing else', async (status) => {
    const answer = await echoed(status);
    expect(JSON.stringify(answer)).not.toContain(SECRET);
    expect(answer).toMatchObject({ reason: 'refused: Bearer ***', body: { error: { code: 'no', message: 'refused: Bearer ***' } } });
  });

  it('of HTTP 200 stays as it is: it may be the token that was asked for', async () => {
    expect((await echoed(200)).body).toMatchObject({ token: SECRET });
  });
});
