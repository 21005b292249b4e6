import { spawn, type ChildProcess } from 'node:child_process';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { Agent } from 'node:https';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConformanceTarget } from './case.ts';
import { httpsTarget } from './https-target.ts';

export interface RealServer {
  target: ConformanceTarget;
  minor: number;
  stop(): Promise<void>;
}

const START_DEADLINE_MS = 60_000;

/** Starts etcd and kube-apiserver from a folder of binaries (the envtest convention) on free ports of the loopback. */
export async function startRealServer(binaries: string): Promise<RealServer> {
  const folder = mkdtempSync(join(tmpdir(), 'conformance-'));
  const [etcdPort, peerPort, apiPort] = await Promise.all([freePort(), freePort(), freePort()]);
  const tokens = { admin: randomUUID(), stranger: randomUUID(), nobody: randomUUID() };
  const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
  writeFileSync(join(folder, 'sa.key'), keys.privateKey.export({ type: 'pkcs1', format: 'pem' }), { mode: 0o600 });
  writeFileSync(join(folder, 'sa.pub'), keys.publicKey.export({ type: 'spki', format: 'pem' }));
  writeFileSync(join(folder, 'tokens.csv'), `${tokens.admin},admin,1,"system:masters"\n${tokens.stranger},stranger,2\n`, { mode: 0o600 });
  const etcdUrl = `http://127.0.0.1:${String(etcdPort)}`;
  const peerUrl = `http://127.0.0.1:${String(peerPort)}`;
  const run = (name: string, options: readonly string[]): ChildProcess => {
    const child = spawn(join(binaries, name), options, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
    const log = createWriteStream(join(folder, `${name}.log`));
    child.stdout.pipe(log, { end: false });
    child.stderr.pipe(log, { end: false });
    return child;
  };
  const etcd = run('etcd', [
    '--data-dir',
    'etcd',
    '--listen-client-urls',
    etcdUrl,
    '--advertise-client-urls',
    etcdUrl,
    '--listen-peer-urls',
    peerUrl,
    '--initial-advertise-peer-urls',
    peerUrl,
    '--initial-cluster',
    `default=${peerUrl}`,
    '--unsafe-no-fsync',
  ]);
  const api = run('kube-apiserver', [
    `--etcd-servers=${etcdUrl}`,
    '--cert-dir=certs',
    `--secure-port=${String(apiPort)}`,
    '--bind-address=127.0.0.1',
    '--service-account-key-file=sa.pub',
    '--service-account-signing-key-file=sa.key',
    '--service-account-issuer=https://conformance',
    '--token-auth-file=tokens.csv',
    '--authorization-mode=RBAC',
    '--service-cluster-ip-range=10.0.0.0/24',
    '--disable-admission-plugins=ServiceAccount',
  ]);
  const agent = new Agent({ keepAlive: true });
  const target = httpsTarget({ url: `https://127.0.0.1:${String(apiPort)}`, agent, tokens, compact: () => compact(etcdUrl, target) });
  const stop = async (): Promise<void> => {
    agent.destroy();
    await Promise.all([end(api), end(etcd)]);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    return { target, minor: await readyMinor(target, api, folder), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function readyMinor(target: ConformanceTarget, api: ChildProcess, folder: string): Promise<number> {
  const deadline = Date.now() + START_DEADLINE_MS;
  for (;;) {
    try {
      const ready = await target.request({ method: 'GET', path: '/readyz', status: 200 });
      if (ready.status === 200) break;
    } catch (error) {
      if (!(error instanceof Error) || !('code' in error)) throw error;
    }
    if (Date.now() > deadline || api.exitCode !== null)
      throw new Error(`kube-apiserver did not become ready: ${readFileSync(join(folder, 'kube-apiserver.log'), 'utf8').slice(-2000)}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  const version = await target.request({ method: 'GET', path: '/version', status: 200 });
  return Number.parseInt((version.body as { minor: string }).minor, 10);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 5_000);
  await once(child, 'exit');
  clearTimeout(timer);
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Compacts etcd at the present revision by its JSON gateway. */
async function compact(etcdUrl: string, target: ConformanceTarget): Promise<void> {
  const list = await target.request({ method: 'GET', path: '/api/v1/namespaces', status: 200 });
  const revision = (list.body as { metadata: { resourceVersion: string } }).metadata.resourceVersion;
  await new Promise<void>((resolve, reject) => {
    const message = request(new URL('/v3/kv/compaction', etcdUrl), { method: 'POST' }, (response) => {
      response.resume();
      response.on('end', () => {
        if (response.statusCode === 200) resolve();
        else reject(new Error(`compaction of etcd: ${String(response.statusCode)}`));
      });
    });
    message.on('error', reject);
    message.end(JSON.stringify({ revision, physical: true }));
  });
}
