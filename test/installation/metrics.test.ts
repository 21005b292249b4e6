import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { metricsServer } from '../../src/cli/metrics-option.ts';
import type { MetricsServer } from '../../src/http/metrics-server.ts';
import { OperationsServer } from '../../src/http/operations-server.ts';
import { isOnThisMachine } from '../../src/http/peer.ts';
import { TransportError } from '../../src/ports/api-transport.ts';
import type { ApiTransport } from '../../src/ports/api-transport.ts';
import type { Logger } from '../../src/ports/recorder.ts';
import { createAuthority, fingerprintSha256 } from '../../src/runtime/certificates.ts';
import { ManualClock } from '../../src/runtime/manual-clock.ts';
import { ApiServer } from '../../src/testbed/apiserver/server.ts';
import { testRandom } from '../../src/testbed/apiserver/test-support.ts';
import { inProcessTransport } from '../../src/testbed/apiserver/transport.ts';
import { boundToken } from '../../src/testbed/shipped/bound-token.ts';
import { sendShipped } from '../../src/testbed/shipped/send.ts';
import { NAMESPACE } from '../../src/manifests/access.ts';
import { until } from '../scenarios/waiting.ts';
import { CONTROLLER_USER } from '../scenarios/witness.ts';

const BODY = 'nodefence_leader 1\n';
const PROMETHEUS = 'prometheus';
const STRANGER = 'stranger';
const LOOK_MS = 31_000;
const scrape = (): Promise<{ contentType: string; body: string }> => Promise.resolve({ contentType: 'text/plain; version=0.0.4', body: BODY });

interface Answer {
  status: number;
  body: string;
  fingerprint: string;
}

describe('metrics over TLS, under the shipped rights', () => {
  let folder: string;
  let clock: ManualClock;
  let admin: ApiTransport;
  let controller: ApiTransport;
  let isAway: boolean;
  let asked: string[];
  let errors: string[];
  let served: MetricsServer | undefined;

  const logger: Logger = {
    debug: () => undefined,
    info: () => undefined,
    warn: () => undefined,
    error: (message, fields) => errors.push(`${message}: ${String(fields?.['error'])}`),
  };

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'nodefence-metrics-'));
    [clock, isAway, asked, errors] = [new ManualClock(), false, [], []];
    const users = [
      { name: 'admin', groups: ['system:masters'] },
      { name: CONTROLLER_USER, groups: [] },
    ];
    const api = new ApiServer({ clock, random: testRandom(), users, authorization: 'rbac' });
    admin = inProcessTransport(api, 'admin');
    const own = inProcessTransport(api, CONTROLLER_USER);
    controller = {
      ...own,
      request: (call) => {
        asked.push(call.path.split('/').at(-1) ?? '');
        return isAway ? Promise.reject(new TransportError('unreachable', 'no route')) : own.request(call);
      },
    };
    await sendShipped(admin, ['rbac']);
    for (const name of [PROMETHEUS, STRANGER])
      await create(`/api/v1/namespaces/${NAMESPACE}/serviceaccounts`, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } });
  });

  afterEach(() => {
    served?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function create(path: string, body: object): Promise<void> {
    const { status } = await admin.request({ method: 'POST', path, body, deadlineMs: 10_000 });
    expect(status).toBe(201);
  }

  /** As docs/metrics.md says it. */
  async function mayRead(account: string): Promise<void> {
    await create('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: `metrics-${account}` },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'nodefence-metrics-reader' },
      subjects: [{ kind: 'ServiceAccount', name: account, namespace: NAMESPACE }],
    });
  }

  async function serve(port = 0): Promise<MetricsServer> {
    const flags = { metricsAddress: { host: '127.0.0.1', port }, metricsCertificate: folder };
    served = metricsServer(flags, { transport: controller, clock, logger, scrape });
    if (served === undefined) throw new Error('nobody serves');
    await until('it listens, or says why not', () => Promise.resolve(served?.port !== undefined || errors.length > 0 ? true : undefined), 5_000);
    return served;
  }

  function get(token?: string, how: { path?: string; method?: string; maxVersion?: 'TLSv1.1' } = {}): Promise<Answer> {
    const { path = '/metrics', ...more } = how;
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    return new Promise((resolve, reject) => {
      const call = request({ host: '127.0.0.1', port: served?.port, path, headers, agent: false, rejectUnauthorized: false, ...more }, (response) => {
        if (!(response.socket instanceof TLSSocket)) throw new Error('no TLS');
        const { fingerprint256 } = response.socket.getPeerCertificate();
        let body = '';
        response.on('data', (chunk: Buffer) => (body += chunk.toString()));
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, body, fingerprint: fingerprint256.replaceAll(':', '').toLowerCase() });
        });
      });
      call.on('error', reject).end();
    });
  }

  const tokenOf = (account: string): Promise<string> => boundToken(admin, NAMESPACE, account);
  const statuses = async (...tokens: (string | undefined)[]): Promise<number[]> =>
    Promise.all(tokens.map(async (token) => (await get(token)).status));

  function writePair(name: string, keyOf = name): string {
    const authority = createAuthority(name);
    const pair = authority.issue({ commonName: name, hosts: [name] });
    const other = keyOf === name ? pair : authority.issue({ commonName: keyOf, hosts: [keyOf] });
    writeFileSync(join(folder, 'tls.crt'), pair.certificatePem);
    writeFileSync(join(folder, 'tls.key'), other.keyPem);
    return fingerprintSha256(pair.certificatePem);
  }

  it('are shown to an account that has the shipped role, and to no other', async () => {
    await sendShipped(admin, ['metrics']);
    await serve();
    const prometheus = await tokenOf(PROMETHEUS);
    await mayRead(PROMETHEUS);
    expect(await statuses(undefined, 'a-token-of-nobody', await tokenOf(STRANGER), prometheus)).toEqual([401, 401, 403, 200]);
    expect((await get(prometheus)).body).toBe(BODY);
    expect((await get(undefined, { path: '/other' })).status).toBe(401);
    expect((await get(prometheus, { path: '/other' })).status).toBe(404);
    expect((await get(prometheus, { method: 'POST' })).status).toBe(405);
  });

  it('are refused to everybody where the controller may not ask, which is so without config/metrics', async () => {
    await serve();
    expect(await get(await tokenOf(PROMETHEUS))).toMatchObject({ status: 503, body: expect.stringContaining('API server') as string });
  });

  it('ask the API server once a minute for each token, and stay there for who was let in while it is away', async () => {
    await sendShipped(admin, ['metrics']);
    await mayRead(PROMETHEUS);
    await serve();
    const [prometheus, stranger] = [await tokenOf(PROMETHEUS), await tokenOf(STRANGER)];
    expect(await statuses(prometheus)).toEqual([200]);
    expect(await statuses(prometheus)).toEqual([200]);
    expect(asked).toEqual(['tokenreviews', 'subjectaccessreviews']);
    await clock.advance(61_000);
    isAway = true;
    expect(await statuses(prometheus, stranger)).toEqual([200, 503]);
    await clock.advance(15 * 60_000);
    expect(await statuses(prometheus)).toEqual([503]);
  });

  it('ask the API server about no more than five unknown tokens a second', async () => {
    await sendShipped(admin, ['metrics']);
    await serve();
    const answers = await statuses(...Array.from({ length: 8 }, (_, index) => `guess-${index}`));
    expect(answers.sort()).toEqual([401, 401, 401, 401, 401, 429, 429, 429]);
    expect(asked.filter((kind) => kind === 'tokenreviews')).toHaveLength(5);
    await clock.advance(1_000);
    expect(await statuses('guess-9')).toEqual([401]);
  });

  it('speak TLS 1.2 or newer', async () => {
    await serve();
    await expect(get(undefined, { maxVersion: 'TLSv1.1' })).rejects.toThrow(/version|protocol/i);
    expect((await get()).status).toBe(401);
  });

  it('come with the certificate of the files, with the next one once it is there whole, and with one of their own without', async () => {
    const first = writePair('one');
    await serve();
    expect((await get()).fingerprint).toBe(first);
    writePair('two', 'three');
    await clock.advance(LOOK_MS);
    await until('the broken pair is told', () => Promise.resolve(errors.length > 0 ? true : undefined), 5_000);
    expect(errors[0]).toContain('tls.key is not the key of tls.crt; write both anew');
    expect((await get()).fingerprint).toBe(first);
    const second = writePair('two');
    await until('the new one is served', async () => (await clock.advance(LOOK_MS), (await get()).fingerprint === second ? true : undefined), 5_000);
    rmSync(join(folder, 'tls.crt'));
    rmSync(join(folder, 'tls.key'));
    await until('its own is served', async () => (await clock.advance(LOOK_MS), (await get()).fingerprint !== second ? true : undefined), 5_000);
  });

  it('wait for an address that somebody else has, and no fence waits for them', async () => {
    const other = new OperationsServer({ scrape, readiness: () => [], problems: () => [], clock: new ManualClock(), logger });
    const { port } = await other.listen({ host: '127.0.0.1', port: 0 });
    const server = await serve(port);
    expect(server.port).toBeUndefined();
    expect(errors[0]).toContain('metrics are not served: Error: listen EADDRINUSE');
    await server.start();
    expect(errors, 'told once, and not at each look').toHaveLength(1);
    await other.close();
    await until('it listens', async () => (await clock.advance(LOOK_MS), server.port), 5_000);
  });
});

/** Its own address by which others would come. */
const OUTER = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ internal, family }) => !internal && family === 'IPv4')?.address;

describe('the open port of the controller', () => {
  it('knows who comes from this machine', () => {
    const near = ['127.0.0.1', '127.8.9.10', '::1', '::ffff:127.0.0.1'];
    const far = ['10.0.0.1', '::ffff:10.0.0.1', '2001:db8::1', 'fe80::1', '127.0.0.1.example.com', '', undefined];
    expect([...near, ...far].filter(isOnThisMachine)).toEqual(near);
  });

  it.runIf(OUTER !== undefined)('tells others whether it is well, and nothing else (needs a network interface)', async () => {
    const readiness = (): { name: string; ok: boolean; detail: string }[] => [{ name: 'nodes', ok: false, detail: 'secrets of the API server' }];
    const logger: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
    const server = new OperationsServer({ scrape, readiness, problems: () => [], clock: new ManualClock(), logger });
    const { port } = await server.listen({ host: '::', port: 0 });
    const from = async (host: string, path: string): Promise<[number, string]> => {
      const response = await fetch(`http://${host}:${port}${path}`);
      return [response.status, await response.text()];
    };
    expect(await from(OUTER ?? '', '/readyz')).toEqual([503, 'not ok\n']);
    expect(await from(OUTER ?? '', '/healthz')).toEqual([200, 'ok\n']);
    expect(await from(OUTER ?? '', '/metrics')).toEqual([403, expect.stringContaining('--metrics-address')]);
    expect(await from('127.0.0.1', '/metrics')).toEqual([200, BODY]);
    for (const path of ['/problems', '/problems.json']) {
      expect(await from(OUTER ?? '', path)).toEqual([403, expect.stringContaining('nodefence problems')]);
      expect((await from('127.0.0.1', path))[0]).toBe(200);
    }
    expect((await from('127.0.0.1', '/readyz'))[1]).toContain('secrets of the API server');
    await server.close();
  });
});
