import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_TIMING, EMPTY_PLAN } from '../../src/domain/plan.ts';
import type { ApiRequest } from '../../src/ports/api-transport.ts';
import { NODE_FENCES } from '../../src/ports/resources.ts';
import { ServedWorld } from './served-world.ts';

/** Another kubectl than the one in PATH can be named by KUBECTL. */
const KUBECTL = process.env['KUBECTL'] ?? inPath('kubectl');
const FENCE = 'node-fence-a';
const PATH = `/apis/ha.k8s.io/v1/nodefences/${FENCE}`;

function inPath(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

let served: ServedWorld;

beforeAll(async () => {
  served = await ServedWorld.start();
  const { cluster } = served.world;
  const created = await cluster.create(NODE_FENCES, { metadata: { name: FENCE }, spec: { node: 'a' } });
  const status = {
    ...created.status,
    state: 'running' as const,
    step: 'isolation' as const,
    level: 1,
    incident: 1,
    epoch: 4,
    retries: 0,
    restarts: 0,
  };
  const lists = { jobs: [], journal: [], evidence: [], timeline: {}, conditions: [], history: [] };
  const frozen = { nodeUID: 'uid-of-a', plan: { ...EMPTY_PLAN, timing: DEFAULT_TIMING } };
  await cluster.replaceStatus(NODE_FENCES, { ...created, status: { ...status, ...lists, frozen } });
});

afterAll(async () => {
  await served.end();
});

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** kubectl as the operator runs it; what it caches and leaves behind goes into the test's folder. */
function kubectl(command: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const kubeconfig = served.kubeconfig('kubectl', 'operator');
  return new Promise((resolve) => {
    const env = { PATH: process.env['PATH'] ?? '', HOME: served.folder, TMPDIR: served.folder, ...environment };
    execFile(KUBECTL ?? 'kubectl', ['--kubeconfig', kubeconfig, ...command], { env, timeout: 20_000 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : typeof error.code === 'number' ? error.code : 1, stdout, stderr });
    });
  });
}

/** What kubectl sends for the same wish, and the server's words. */
async function refusalOf(request: Pick<ApiRequest, 'method' | 'path' | 'body'>): Promise<string> {
  const contentType = request.method === 'PATCH' ? { contentType: 'application/merge-patch+json' } : {};
  const response = await served.world.transport.request({ ...request, ...contentType, query: { fieldValidation: 'Strict' }, deadlineMs: 5_000 });
  expect(response.status).toBeGreaterThanOrEqual(400);
  expect(response.status).toBeLessThan(500);
  return (response.body as { message: string }).message;
}

async function stored(): Promise<unknown> {
  return (await served.world.cluster.get(NODE_FENCES, FENCE))?.status;
}

describe('a broken edit of a NodeFence is refused by its schema, in words, and changes nothing', () => {
  const edits: readonly { of: string; status: object; says: readonly string[] }[] = [
    { of: 'a state that does not exist', status: { state: 'finished' }, says: ['status.state', 'Unsupported value: "finished"', '"running"'] },
    { of: 'text where a number belongs', status: { retries: 'many' }, says: ['status.retries', 'must be of type integer: "string"'] },
    { of: 'a negative epoch', status: { epoch: -1 }, says: ['status.epoch', 'should be greater than or equal to 0'] },
    { of: 'a key that does not exist', status: { stat: 'done' }, says: ['unknown field "status.stat"'] },
  ];
  for (const { of, status, says } of edits) {
    it(`${of}, as a request`, async () => {
      const before = await stored();
      const message = await refusalOf({ method: 'PATCH', path: `${PATH}/status`, body: { status } });
      for (const words of says) expect(message).toContain(words);
      expect(await stored()).toEqual(before);
    });
  }

  it('a NodeFenceStop that stops nothing, as a request', async () => {
    const body = { apiVersion: 'ha.k8s.io/v1', kind: 'NodeFenceStop', metadata: { name: 'nothing' }, spec: { node: 'a' } };
    const message = await refusalOf({ method: 'POST', path: '/apis/ha.k8s.io/v1/nodefencestops', body });
    expect(message).toContain('spec.reason: Required value');
  });

  it.skipIf(KUBECTL === undefined)('by kubectl patch --subresource=status', { timeout: 30_000 }, async () => {
    const before = await stored();
    const patch = JSON.stringify({ status: { state: 'finished' } });
    const { code, stderr } = await kubectl(['patch', `nodefence/${FENCE}`, '--subresource=status', '--type=merge', '-p', patch]);
    expect(code).toBe(1);
    expect(stderr).toContain(`The NodeFence "${FENCE}" is invalid: status.state: Unsupported value: "finished"`);
    expect(await stored()).toEqual(before);
  });

  it.skipIf(KUBECTL === undefined)('by kubectl edit, whose editor is shown why', { timeout: 30_000 }, async () => {
    const editor = served.file('editor.sh', '#!/bin/sh\nsed -i "s/^  node: a$/  node: [a, b]/" "$1"\ncp "$1" "$KEPT"\n');
    const kept = `${served.folder}/kept.yaml`;
    const { code, stderr } = await kubectl(['edit', `nodefence/${FENCE}`], { KUBE_EDITOR: `sh ${editor}`, KEPT: kept });
    expect(code).toBe(1);
    expect(stderr).toContain('Edit cancelled, no valid changes were saved');
    expect(readFileSync(kept, 'utf8')).toMatch(/^# \* spec\.node: Invalid value: .*must be of type string/m);
    expect((await served.world.cluster.get(NODE_FENCES, FENCE))?.spec.node).toBe('a');
  });

  it.skipIf(KUBECTL === undefined)('and kubectl explain says what the field means', { timeout: 30_000 }, async () => {
    const { code, stdout } = await kubectl(['explain', 'nodefence.status.evidence']);
    expect(code).toBe(0);
    expect(stdout).toContain('KIND:       NodeFence');
    expect(stdout).toContain('grade');
  });

  it.skipIf(KUBECTL === undefined)('while kubectl get shows the fence as it is', { timeout: 30_000 }, async () => {
    const { stdout } = await kubectl(['get', 'nodefences']);
    expect(stdout).toMatch(/NODE +STEP +STATUS/);
    expect(stdout).toMatch(/a +isolation +running/);
  });
});
