import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { assetsOf } from '../../src/testbed/control-plane/assets.ts';
import type { ApiEvent } from '../../src/laws/trace.ts';
import { connect } from '../connection.ts';
import type { ApiRequest, ApiTransport } from '../../src/ports/api-transport.ts';
import { until } from '../scenarios/waiting.ts';
import { HAS_REAL_SERVER, NEEDS_REAL_SERVER, START_DEADLINE_MS } from './real-server.ts';

const TOKEN = 'token-of-the-operator';
const MANAGER_TOKEN = 'token-of-the-manager';
const PODS = '/api/v1/namespaces/default/pods';
const PATIENCE_MS = 60_000;
const folder = mkdtempSync(join(tmpdir(), 'nodefence-control-plane-'));

interface Served {
  child: ChildProcess;
  transport: ApiTransport;
  trace(): ApiEvent[];
}

/** Starts a drill process that serves an API, as the drill does. */
async function serve(program: 'api' | 'control-plane', more: object): Promise<Served> {
  const trace = join(folder, `${program}.jsonl`);
  const path = join(folder, `${program}.json`);
  const users = [
    { name: 'operator', groups: ['system:masters'], token: TOKEN },
    { name: 'manager', groups: ['system:masters'], token: MANAGER_TOKEN },
  ];
  writeFileSync(path, JSON.stringify({ users, trace, ...more }), { mode: 0o600 });
  const file = fileURLToPath(new URL(`../../src/testbed/processes/${program}.ts`, import.meta.url));
  const child = spawn(process.execPath, [file, path], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const { url, caPem } = JSON.parse(line) as { url: string; caPem: string };
  const lines = (): string[] => readFileSync(trace, 'utf8').split('\n').slice(0, -1);
  return {
    child,
    transport: connect({ server: url, caPem, token: TOKEN }),
    trace: () => lines().map((text) => JSON.parse(text) as ApiEvent),
  };
}

/** A pod's life, as the judge must see it. */
const REQUESTS: readonly Omit<ApiRequest, 'deadlineMs'>[] = [
  { method: 'POST', path: PODS, body: { metadata: { name: 'seen' }, spec: { containers: [{ name: 'c', image: 'i' }] } } },
  { method: 'GET', path: `${PODS}/seen` },
  { method: 'POST', path: `${PODS}/seen/binding`, body: { metadata: { name: 'seen' }, target: { kind: 'Node', name: 'n' } } },
  {
    method: 'PATCH',
    path: `${PODS}/seen/status`,
    contentType: 'application/merge-patch+json',
    body: { status: { phase: 'Running' } },
  },
  { method: 'PATCH', path: `${PODS}/absent`, contentType: 'application/merge-patch+json', body: { metadata: { labels: { a: 'b' } } } },
  { method: 'DELETE', path: `${PODS}/seen`, body: { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0 } },
  { method: 'DELETE', path: `${PODS}/seen` },
  { method: 'GET', path: '/api/v1/nodes' },
];

/** What the laws read of an event: no times, uids, or what servers fill in. */
function facts({ verb, resource, subresource, namespace, name, status, user, request, object }: ApiEvent): object {
  const stood = object as { kind?: string; metadata?: { name?: string }; spec?: { nodeName?: string }; status?: { phase?: string } } | undefined;
  const grace = (request as { gracePeriodSeconds?: number } | undefined)?.gracePeriodSeconds;
  const known = stood === undefined || verb === 'get' ? undefined : [stood.metadata?.name, stood.spec?.nodeName, stood.status?.phase];
  const isWrite = !['get', 'list', 'watch'].includes(verb);
  return { verb, resource, subresource, namespace, name, status, user, grace, known, isAsked: isWrite && request !== undefined };
}

async function storyTold(served: Served): Promise<object[]> {
  for (const request of REQUESTS) await served.transport.request({ ...request, deadlineMs: 10_000 });
  const told = (): ApiEvent[] => served.trace().filter(({ user, resource }) => user === 'operator' && ['pods', 'nodes'].includes(resource));
  await until('every request is told', async () => (told().length >= REQUESTS.length ? true : undefined), PATIENCE_MS);
  return told().map(facts);
}

/** Of every process of this machine. */
function commandLines(): string[] {
  return readdirSync('/proc').flatMap((name) => {
    try {
      return /^\d+$/.test(name) ? [readFileSync(`/proc/${name}/cmdline`, 'utf8')] : [];
    } catch {
      return [];
    }
  });
}

describe.runIf(HAS_REAL_SERVER)(`the real control plane as a process of the drill (${NEEDS_REAL_SERVER})`, { timeout: START_DEADLINE_MS * 2 }, () => {
  const place = join(folder, 'plane');
  let real: Served | undefined;

  afterAll(() => {
    real?.child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  });

  it('tells the judge the same story as the embedded server', async () => {
    real = await serve('control-plane', { assets: assetsOf(process.env), folder: place, controllerManagerUser: 'manager' });
    const embedded = await serve('api', {});
    try {
      await embedded.transport.request({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: 'default' } }, deadlineMs: 10_000 });
      expect(await storyTold(real)).toEqual(await storyTold(embedded));
    } finally {
      embedded.child.kill('SIGKILL');
    }
  });

  it('keeps tokens and keys in files that only their owner reads, and out of every command line', () => {
    const files = readdirSync(place).filter((name) => /key|tokens|kubeconfig/.test(name));
    expect(files).toEqual(['api.key', 'kubeconfig-controller-manager', 'service-account.key', 'tokens.csv']);
    expect(files.map((name) => statSync(join(place, name)).mode & 0o777)).toEqual([0o600, 0o600, 0o600, 0o600]);
    const exposed = commandLines().filter((line) => line.includes(TOKEN) || line.includes(MANAGER_TOKEN));
    expect(exposed).toEqual([]);
  });

  for (const how of ['silent', 'refuse'] as const) {
    it(`plays an outage (${how}) and serves on after it`, async () => {
      const server = real ?? expect.fail('it was not started');
      const version = { method: 'GET', path: '/version', deadlineMs: 1_000 } as const;
      server.child.stdin?.write(`${JSON.stringify({ command: 'pause', how })}\n`);
      const isGone = (): Promise<true | undefined> =>
        server.transport.request(version).then(
          () => undefined,
          () => true as const,
        );
      expect(await until('no request is answered', isGone, PATIENCE_MS)).toBe(true);
      server.child.stdin?.write('{"command":"resume"}\n');
      const isBack = async (): Promise<true | undefined> => ((await isGone()) === true ? undefined : true);
      expect(await until('requests are answered', isBack, START_DEADLINE_MS)).toBe(true);
    });
  }

  it('leaves no program behind when it is killed', async () => {
    const server = real ?? expect.fail('it was not started');
    const before = childrenOf(server.child.pid ?? 0);
    expect(before.length).toBeGreaterThanOrEqual(4);
    server.child.kill('SIGKILL');
    const left = async (): Promise<true | undefined> => (before.some(isRunning) ? undefined : true);
    expect(await until('all of them are gone', left, PATIENCE_MS)).toBe(true);
  });
});

function childrenOf(parent: number): number[] {
  return readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8').trim().split(' ').map(Number);
}

/** Dead ones that nobody has buried yet do not run. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
