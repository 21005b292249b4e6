import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TraceEvent } from '../../laws/trace.ts';
import { countOverlaps } from '../../laws/writers.ts';
import { WorldApi } from '../cluster/api.ts';
import { isPodReady, isReady, WORLD_NODES, WORLD_PODS } from '../cluster/kinds.ts';
import { createScene, DEFAULT_SCENE } from '../cluster/scene.ts';
import { connect } from './connection.ts';

const DEADLINE_MS = 20_000;

let folder: string;
const children: ChildProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'world-'));
});

afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => ended(child, () => child.kill('SIGKILL'))));
  rmSync(folder, { recursive: true });
});

function ended(child: ChildProcess, end: () => void): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) {
      resolve();
      return;
    }
    child.once('exit', () => {
      resolve();
    });
    end();
  });
}

/** Starts a drill process and waits for its ready line. */
async function start(
  name: string,
  as: string,
  configuration: object,
): Promise<{ child: ChildProcess; ready: Record<string, string>; tell: (line: object) => void }> {
  const path = join(folder, `${as}.json`);
  writeFileSync(path, JSON.stringify({ ...configuration, trace: join(folder, `${as}.jsonl`) }), { mode: 0o600 });
  const program = fileURLToPath(new URL(`./${name}.ts`, import.meta.url));
  const child = spawn(process.execPath, [program, path], { stdio: ['pipe', 'pipe', 'inherit'] });
  children.push(child);
  const ready = await new Promise<Record<string, string>>((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', (line) => {
      resolve(JSON.parse(line) as Record<string, string>);
    });
    child.once('exit', (code) => {
      reject(new Error(`${name} ended with ${String(code)}`));
    });
  });
  return { child, ready, tell: (line) => child.stdin.write(`${JSON.stringify(line)}\n`) };
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + DEADLINE_MS;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`not within ${String(DEADLINE_MS)} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function trace(as: string): TraceEvent[] {
  const path = join(folder, `${as}.jsonl`);
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as TraceEvent);
}

const USERS = ['admin', 'manager', 'system:node:a', 'system:node:b'].map((name) => ({ name, groups: ['system:masters'], token: `token-${name}` }));

describe('machines and cluster controllers as processes', () => {
  it('run the workload over HTTPS, and move it when a machine is killed and out of service', { timeout: 60_000 }, async () => {
    const { ready } = await start('api', 'api', { users: USERS, authorization: 'always-allow' });
    const server = { server: ready['url'] ?? '', caPem: ready['caPem'] ?? '' };
    const admin = new WorldApi(connect({ ...server, token: 'token-admin' }));
    await createScene(admin, { ...DEFAULT_SCENE, replicas: 1 });
    await start('cluster-controllers', 'manager', { ...server, token: 'token-manager', options: { nodeGraceMs: 1_500, attachMs: 50, gcMs: 100 } });
    const machine = async (node: string): Promise<ChildProcess> => {
      const options = { renewMs: 200, startDelayMs: 50, writeMs: 20 };
      const configuration = { ...server, token: `token-system:node:${node}`, node, disk: join(folder, 'disk'), bootDelayMs: 50, options };
      const started = await start('machine', node, configuration);
      started.tell({ command: 'boot', bootID: randomUUID() });
      return started.child;
    };
    const place = { namespace: 'default', name: 'db-0' };
    const runsOn = async (node: string): Promise<boolean> => {
      const pod = await admin.get(WORLD_PODS, place);
      return pod?.spec.nodeName === node && isPodReady(pod);
    };
    const a = await machine('a');
    await until('db-0 runs on a', () => runsOn('a'));
    await until('counters are written', () => Promise.resolve(trace('a').filter(({ kind }) => kind === 'disk').length > 5));
    await machine('b');
    await ended(a, () => a.kill('SIGKILL'));
    await until('a is NotReady', async () => !isReady(await admin.get(WORLD_NODES, { name: 'a' })));
    await until('the kubelet of b is there', async () => isReady(await admin.get(WORLD_NODES, { name: 'b' })));
    const taints = [{ key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' }];
    await admin.patch(WORLD_NODES, { name: 'a' }, 'merge', { spec: { taints } });
    await until('db-0 runs on b', () => runsOn('b'));
    const events = [...trace('a'), ...trace('b')];
    const last = Math.max(...trace('a').map((event) => (event.kind === 'disk' ? event.counter : 0)));
    const first = trace('b').find((event) => event.kind === 'disk');
    expect(first?.kind === 'disk' && first.counter).toBe(last + 1);
    expect(countOverlaps(events)).toBe(0);
    expect(events.filter((event) => event.kind === 'node').map((event) => `${event.node} ${event.what}`)).toEqual([
      'a boot',
      'a kubelet-up',
      'a pod-start',
      'b boot',
      'b kubelet-up',
      'b pod-start',
    ]);
  });

  it('end when their stdin ends, and name what their configuration lacks', { timeout: 30_000 }, async () => {
    const server = { server: 'https://127.0.0.1:1', caPem: 'none', token: 't' };
    const { child } = await start('cluster-controllers', 'manager', server);
    await ended(child, () => child.stdin?.end());
    expect(child.exitCode).toBe(0);
    await expect(start('machine', 'a', server)).rejects.toThrow('machine ended with 1');
  });

  it(
    'an API server that refused connections was started anew: its roles and storages are read first, and what goes on from before is told so',
    { timeout: 30_000 },
    async () => {
      const user = { name: 'viewer', groups: [], token: 'token-viewer' };
      const { ready, tell } = await start('api', 'api', { users: [...USERS, user], authorization: 'always-allow' });
      const viewer = connect({ server: ready['url'] ?? '', caPem: ready['caPem'] ?? '', token: user.token });
      const nodes = (query = {}): Promise<{ status: number; body: unknown }> =>
        viewer.request({ method: 'GET', path: '/api/v1/nodes', query, deadlineMs: 5_000 }).catch(() => ({ status: 0, body: {} }));
      const { metadata } = (await nodes()).body as { metadata: { resourceVersion: string } };
      const seen: number[] = [];
      const answers = async (status: number): Promise<boolean> => {
        const now = (await nodes()).status;
        if (now !== seen.at(-1)) seen.push(now);
        return now === status;
      };
      tell({ command: 'pause', how: 'refuse' });
      await until('nobody answers', () => answers(0));
      tell({ command: 'resume' });
      await until('it answers', () => answers(200));
      expect(seen.slice(-4)).toEqual([0, 403, 429, 200]);
      tell({ command: 'pause' });
      tell({ command: 'resume' });
      expect((await nodes()).status).toBe(200);
      const ended = await new Promise<string>((resolve) => {
        viewer.watch(
          { path: '/api/v1/nodes', query: { resourceVersion: String(Number(metadata.resourceVersion) - 1) } },
          {
            onOpen: () => undefined,
            onEvent: ({ type, object }) => resolve(`${type} ${String((object as { code?: number }).code)}`),
            onEnd: () => resolve('end'),
          },
        );
      });
      expect(ended).toBe('ERROR 410');
    },
  );
});
