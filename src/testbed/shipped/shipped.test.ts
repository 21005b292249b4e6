import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MANIFEST_FILES, OPTIONAL_FILES } from '../../manifests/installation.ts';
import { OVERLAYS } from '../../manifests/overlays.ts';
import type { KubeObject } from '../../ports/objects.ts';
import { serveHttps } from '../apiserver/http-shell.ts';
import type { HttpShell } from '../apiserver/http-shell.ts';
import { ApiServer } from '../apiserver/server.ts';
import { testClock, testRandom } from '../apiserver/test-support.ts';
import { inProcessTransport } from '../apiserver/transport.ts';
import { readYaml } from '../apiserver/yaml-body.ts';
import { connect } from '../processes/connection.ts';
import type { ApiTransport } from '../../ports/api-transport.ts';
import { boundToken } from './bound-token.ts';
import { hasKubectl, Kubectl } from './kubectl.ts';
import { shippedIn, verbFor } from './manifests.ts';
import { sendShipped } from './send.ts';

const TOKEN = 'token-of-admin';
const FENCES = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/nodefences.ha.k8s.io';
const ROLE = '/apis/rbac.authorization.k8s.io/v1/clusterroles/nodefence-controller';
const HOME = mkdtempSync(join(tmpdir(), 'nodefence-shipped-'));
const HAS_KUBECTL = await hasKubectl(HOME);

function inMemory(folder: string): KubeObject[] {
  const files = [...MANIFEST_FILES, ...OPTIONAL_FILES].filter(({ path }) => path.startsWith(`${folder}/`) && !path.endsWith('kustomization.yaml'));
  return files.flatMap(({ objects }) => objects as KubeObject[]);
}

async function found(transport: ApiTransport, path: string): Promise<Record<string, unknown>> {
  const { status, body } = await transport.request({ method: 'GET', path, deadlineMs: 10_000 });
  expect(status).toBe(200);
  return body as Record<string, unknown>;
}

afterAll(() => {
  rmSync(HOME, { recursive: true, force: true });
});

describe('the shipped files', () => {
  it.each(['crd', 'rbac', ...OVERLAYS.filter((name) => !['preservation-own', 'network-policies-egress'].includes(name))])(
    'of config/%s are those in memory, read as kubectl reads them',
    (folder) => {
      const objects = shippedIn(folder);
      expect(objects.map(({ text }) => readYaml(text))).toEqual(inMemory(folder));
      expect(objects.map(({ kind, name }) => `${kind} ${name}`)).toEqual(
        inMemory(folder).map(({ kind = '', metadata }) => `${kind} ${metadata.name}`),
      );
    },
  );

  it('of a folder that names another one come with those of the other', () => {
    expect(shippedIn('preservation-own')).toEqual(expect.arrayContaining([...shippedIn('preservation-observe')]));
  });

  it('are applied, but definitions that others may have brought are created', () => {
    expect(['crd', 'rbac', 'machine-crd', 'remediation-proposed-crd'].map(verbFor)).toEqual(['apply', 'apply', 'create', 'create']);
  });
});

describe('what ships', () => {
  let shell: HttpShell;
  let server: ApiServer;
  let overHttps: ApiTransport;

  beforeAll(async () => {
    const users = [{ name: 'admin', groups: ['system:masters'], token: TOKEN }];
    server = new ApiServer({ clock: testClock(), random: testRandom(), users, authorization: 'rbac' });
    shell = await serveHttps({ server });
    overHttps = connect({ server: shell.url, caPem: shell.caPem, token: TOKEN });
  });

  afterAll(async () => {
    await shell.close();
  });

  it('is sent as YAML, in one process and over HTTPS, and is the same object in the end', async () => {
    const other = new ApiServer({
      clock: testClock(),
      random: testRandom(),
      users: [{ name: 'admin', groups: ['system:masters'] }],
      authorization: 'rbac',
    });
    const within = inProcessTransport(other, 'admin');
    for (const transport of [within, overHttps]) await sendShipped(transport, ['crd', 'rbac']);
    for (const path of [FENCES, ROLE]) {
      const [one, two] = [await found(within, path), await found(overHttps, path)];
      expect({ ...one, metadata: undefined, status: undefined }).toEqual({ ...two, metadata: undefined, status: undefined });
    }
    expect(JSON.stringify(await found(overHttps, FENCES))).toContain('"enum":["on","off","reboot"');
  });

  it('is let stand where it is there already', async () => {
    const all = (): Promise<unknown[]> => Promise.all([FENCES, ROLE].map((path) => found(overHttps, path)));
    await sendShipped(overHttps, ['crd', 'rbac']);
    const before = await all();
    await sendShipped(overHttps, ['crd', 'rbac']);
    expect(await all()).toEqual(before);
  });

  it('gives the controller a token of its own account, under its roles', async () => {
    await sendShipped(overHttps, ['crd', 'rbac']);
    const token = await boundToken(overHttps, 'nodefence-system', 'nodefence-controller');
    const controller = connect({ server: shell.url, caPem: shell.caPem, token });
    const status = async (path: string): Promise<number> => (await controller.request({ method: 'GET', path, deadlineMs: 10_000 })).status;
    expect(await status('/apis/ha.k8s.io/v1/nodefences')).toBe(200);
    expect(await status('/api/v1/secrets')).toBe(403);
    await expect(boundToken(overHttps, 'nodefence-system', 'stranger')).rejects.toThrow('no token for ServiceAccount stranger: 404');
  });

  it.runIf(HAS_KUBECTL)('is applied by kubectl, and created where others may have it (needs kubectl 1.30)', { timeout: 120_000 }, async () => {
    const cluster = { server: shell.url, 'certificate-authority-data': Buffer.from(shell.caPem).toString('base64') };
    const contexts = [{ name: 'here', context: { cluster: 'here', user: 'admin' } }];
    const users = [{ name: 'admin', user: { token: TOKEN } }];
    const config = { apiVersion: 'v1', kind: 'Config', clusters: [{ name: 'here', cluster }], users, contexts, 'current-context': 'here' };
    mkdirSync(HOME, { recursive: true });
    const path = join(HOME, 'kubeconfig');
    writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
    const kubectl = new Kubectl(path, HOME);
    await kubectl.install(['crd', 'rbac', 'machine-crd']);
    // What is there is no failure of `create`; anything else is one.
    await kubectl.install(['machine-crd']);
    await expect(kubectl.install(['nowhere'])).rejects.toThrow('kubectl apply -k config/nowhere');
    expect(JSON.stringify(await found(overHttps, FENCES))).toContain('"enum":["on","off","reboot"');
  });
});
