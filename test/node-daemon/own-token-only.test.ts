// On a real API server: which tokens a node's daemon gets by what config/node-daemon-token installs, and that the command which renews them works by it.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpsTransport } from '../../src/kube/https-transport.ts';
import { writeToken } from '../../src/node/shell/own-token.ts';
import { call, CAN_BE_GUARDED, GuardedPlane, NAMESPACE, NO_DAEMONS, UNKNOWN_DAEMON } from './guarded-plane.ts';
import type { Answer } from './guarded-plane.ts';
import { programPath } from '../../src/testbed/shipped/program.ts';

const MAIN = programPath('main');
const WEEK_SECONDS = 7 * 24 * 3_600;
const ACCOUNTS = `/api/v1/namespaces/${NAMESPACE}/serviceaccounts`;
const OWN = { apiVersion: 'v1', kind: 'Node', name: 'worker-1' };

describe.runIf(CAN_BE_GUARDED)("the token of a node's daemon on a real API server (needs a real control plane)", { timeout: 60_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'nodefence-own-token-'));
  const file = join(folder, 'state', 'token');
  const kubeconfig = join(folder, 'kubeconfig');
  let plane: GuardedPlane;
  let first: string;
  let node: HttpsTransport;
  let pod: HttpsTransport;
  let unbound: HttpsTransport;
  let unknown: HttpsTransport;

  const ask = async (boundObjectRef: object | undefined, as = node, expirationSeconds = WEEK_SECONDS, account = 'nodefence-node'): Promise<Answer> =>
    call(as, 'POST', `${ACCOUNTS}/${account}/token`, {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds, ...(boundObjectRef === undefined ? {} : { boundObjectRef }) },
    });
  const renew = (name: string): { status: number | null; stdout: string; stderr: string } => {
    const words = [MAIN, 'node', 'renew-token', '--node-name', name, '--kubeconfig', kubeconfig, '--file', file];
    return spawnSync(process.execPath, words, { encoding: 'utf8', timeout: 30_000 });
  };

  beforeAll(async () => {
    plane = await GuardedPlane.start(['crd', 'node-daemon', 'node-daemon-token'], [UNKNOWN_DAEMON, ...NO_DAEMONS]);
    first = await plane.tokenFor('Node', 'worker-1');
    node = plane.as(first);
    pod = plane.as(await plane.tokenFor('Pod', 'worker-1'));
    unbound = plane.as(await plane.tokenFor());
    unknown = plane.as(UNKNOWN_DAEMON.token);
    await plane.until(async () => (await ask(OWN)).status === 201, 'the shipped rights take no effect');
    await plane.until(async () => (await ask(OWN, unbound)).body.message?.includes('own Node only') === true, 'the shipped policy takes no effect');
    writeFileSync(kubeconfig, plane.kubeconfigWith(file));
  }, 150_000);

  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await plane.stop();
  });

  it('is renewed by the command, for the same node, in a file that root alone reads; the new one is good for the next', async () => {
    const tokens = new Set<string>([first]);
    writeToken(file, first);
    for (let renewal = 1; renewal <= 2; renewal += 1) {
      const { status, stdout, stderr } = renew('worker-1');
      expect({ status, stderr, said: stdout.slice(0, stdout.indexOf(' until ')) }).toEqual({
        status: 0,
        stderr: '',
        said: `${file} holds a token of Node worker-1 that is good`,
      });
      tokens.add(readFileSync(file, 'utf8'));
    }
    expect(tokens.size).toBe(3);
    expect([statSync(file).mode & 0o777, readdirSync(join(folder, 'state'))]).toEqual([0o600, ['token']]);
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'nodefence-node-worker-1' } };
    const written = await call(plane.as(readFileSync(file, 'utf8')), 'POST', `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases`, lease);
    expect(written.status).toBe(201);
  });

  it('stands as it was where another node is asked for, and no token is said', () => {
    writeToken(file, first);
    const { status, stdout, stderr } = renew('worker-2');
    expect([status, stdout, readFileSync(file, 'utf8')]).toEqual([1, '', first]);
    expect(stderr).toMatch(/the token of Node worker-2 was not renewed.*own Node only.*is config\/node-daemon-token installed/);
    expect(stderr).not.toContain(first);
  });

  it.each<[string, string, () => Promise<Answer>]>([
    ['another node', 'its own Node only', async () => ask({ ...OWN, name: 'worker-2' })],
    ['no node', 'its own Node only', async () => ask(undefined)],
    ['a pod on its node', 'its own Node only', async () => ask({ apiVersion: 'v1', kind: 'Pod', name: 'daemon-worker-1' })],
    ['a pod that is called as its node', 'its own Node only', async () => ask({ apiVersion: 'v1', kind: 'Pod', name: 'worker-1' })],
    ['its node, by a token that is bound to none', 'its own Node only', async () => ask(OWN, unbound)],
    ['a node without a name, by a token that is bound to none', 'its own Node only', async () => ask({ ...OWN, name: '' }, unbound)],
    ['its node, by a token of which nothing is known', 'its own Node only', async () => ask(OWN, unknown)],
    ['its node, by a token that ends with a pod', 'a daemon in a pod gets no token', async () => ask(OWN, pod)],
    ['longer than a week', 'no token for longer than', async () => ask(OWN, node, WEEK_SECONDS + 1)],
    ['another account', 'cannot create resource "serviceaccounts/token"', async () => ask(OWN, node, WEEK_SECONDS, 'default')],
  ])('is refused for %s', async (_what, expected, attempt) => {
    const { status, body } = await attempt();
    expect([status, body.message]).toEqual([403, expect.stringContaining(expected)]);
  });

  it('is given by an administrator for any node', async () => {
    expect((await ask({ ...OWN, name: 'worker-2' }, plane.admin)).status).toBe(201);
  });

  it.each(NO_DAEMONS)('is given for any node by another account that may: $name', async ({ token }) => {
    expect((await ask({ ...OWN, name: 'worker-2' }, plane.as(token))).status).toBe(201);
  });
});
