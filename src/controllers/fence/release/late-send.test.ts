import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { planOf } from '../../../domain/testing/model.ts';
import { ApiClient } from '../../../kube/client.ts';
import { HttpsTransport } from '../../../kube/https-transport.ts';
import { AgentError } from '../../../ports/agents.ts';
import { SystemClock } from '../../../runtime/system-clock.ts';
import { FenceHarness, leaseOf, nodeOf, provenStatus } from '../testing/harness.ts';
import { releaseOrder } from '../testing/release-order.ts';
import { release } from './release.ts';

const RENEWED = '2026-01-01T00:00:00.000000Z';
const STOPPED = new AgentError('NotSent', { device: '', plug: '', asked: 'release', answered: 'a stop stands' });
/** More than any client keeps sockets for. */
const HUNG = 400;

describe('a stop, while releases wait for a socket', () => {
  const clock = new SystemClock();
  let server: Server;
  let transport: HttpsTransport;
  let isStopped: boolean;
  /** Deletions that reached the server before and after the stop. */
  let deletions: { inTime: number; late: number };
  let hanging: ServerResponse[];

  beforeEach(async () => {
    isStopped = false;
    deletions = { inTime: 0, late: 0 };
    hanging = [];
    server = createServer(answer);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    transport = new HttpsTransport({
      clock,
      userAgent: 'test',
      server: {
        source: 'test',
        url: new URL(`http://127.0.0.1:${String((server.address() as AddressInfo).port)}`),
        authority: undefined,
        isVerified: false,
        serverName: undefined,
        headers: {},
        namespace: 'default',
        credential: { current: () => Promise.resolve({}), rejected: () => false },
      },
    });
  });

  afterEach(() => {
    transport.close();
    server.closeAllConnections();
    server.close();
  });

  /** Deletions hang, as behind a webhook whose backend was on the failed node. */
  function answer(request: IncomingMessage, response: ServerResponse): void {
    const url = request.url ?? '';
    if (request.method === 'DELETE') {
      deletions[isStopped ? 'late' : 'inTime'] += 1;
      if (!isStopped) {
        hanging.push(response);
        return;
      }
    }
    const fence = { metadata: { name: 'node-fence-a', uid: 'fence-1' } };
    const body = url.includes('/leases/') ? leaseOf(RENEWED) : url.includes('/nodefences/') ? fence : nodeOf();
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }

  function releasing(pods: number, mayGoOn: () => void): Promise<string> {
    const harness = new FenceHarness(clock);
    const dependencies = { ...harness.dependencies, cluster: new ApiClient({ transport, deadlineMs: 60_000 }) };
    harness.pods.items = Array.from({ length: pods }, (_pod, index) => ({
      metadata: { name: `web-${String(index)}`, namespace: 'web', uid: `uid-${String(index)}` },
      spec: { nodeName: 'a' },
      status: {},
    }));
    const order = releaseOrder(provenStatus(planOf({ release: 'delete-pods' })), { renewTime: RENEWED, mayGoOn });
    return release(dependencies, order).then(
      ({ message }) => message,
      (error: unknown) => String(error),
    );
  }

  it('lets no deletion reach the server any more', async () => {
    const mayGoOn = (): void => {
      if (isStopped) throw STOPPED;
    };
    const releases = Array.from({ length: HUNG / 20 }, () => releasing(20, mayGoOn));
    for (let tries = 0; tries < 200 && hanging.length < 16; tries += 1) await clock.sleep(10);
    let began = -1;
    // On a busy machine what has left may take its time to arrive.
    for (let tries = 0; tries < 20 && began !== deletions.inTime; tries += 1) {
      began = deletions.inTime;
      await clock.sleep(300);
    }
    expect(began, 'some wait').toBeLessThan(HUNG);
    isStopped = true;
    for (const response of hanging.splice(0)) response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    const ends = await Promise.all(releases);
    expect(deletions).toEqual({ inTime: began, late: 0 });
    expect(ends.join()).toMatch(/a stop stands|has not answered yet/u);
  });
});
