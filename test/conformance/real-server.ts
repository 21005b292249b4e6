import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { Agent } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ControlPlane } from '../../src/testbed/control-plane/control-plane.ts';
import { SHORT_PACE } from '../../src/testbed/control-plane/commands.ts';
import type { ConformanceTarget } from './case.ts';
import { httpsTarget } from './https-target.ts';
import type { RunningServer } from './running-server.ts';

/** Starts etcd and kube-apiserver from a folder of binaries. No controllers: the cases are about the server alone. */
export async function startRealServer(assets: string): Promise<RunningServer> {
  const folder = mkdtempSync(join(tmpdir(), 'conformance-'));
  const tokens = { admin: randomUUID(), stranger: randomUUID(), nobody: randomUUID() };
  const users = [
    { name: 'admin', groups: ['system:masters'], token: tokens.admin },
    { name: 'stranger', groups: [], token: tokens.stranger },
  ];
  const plane = await ControlPlane.start({ assets, folder, users, pace: { ...SHORT_PACE, tolerationSeconds: 300 } });
  const agent = new Agent({ keepAlive: true });
  const target = httpsTarget({ url: plane.url, ca: plane.caPem, agent, tokens, compact: () => compact(plane.etcdUrl, target) });
  const version = await target.request({ method: 'GET', path: '/version', status: 200 });
  return {
    target,
    minor: Number.parseInt((version.body as { minor: string }).minor, 10),
    url: plane.url,
    caPem: plane.caPem,
    adminToken: tokens.admin,
    async stop() {
      agent.destroy();
      await plane.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Compacts etcd at the present revision by its JSON gateway, and writes that down where API servers do: they read it there. */
async function compact(etcdUrl: string, target: ConformanceTarget): Promise<void> {
  const list = await target.request({ method: 'GET', path: '/api/v1/namespaces', status: 200 });
  const revision = (list.body as { metadata: { resourceVersion: string } }).metadata.resourceVersion;
  const encoded = (text: string): string => Buffer.from(text).toString('base64');
  await post(new URL('/v3/kv/put', etcdUrl), { key: encoded('compact_rev_key'), value: encoded(revision) });
  await post(new URL('/v3/kv/compaction', etcdUrl), { revision, physical: true });
}

async function post(url: URL, body: object): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const message = request(url, { method: 'POST' }, (response) => {
      response.resume();
      response.on('end', () => {
        if (response.statusCode === 200) resolve();
        else reject(new Error(`POST ${url.pathname} to etcd: ${String(response.statusCode)}`));
      });
    });
    message.on('error', reject);
    message.end(JSON.stringify(body));
  });
}
