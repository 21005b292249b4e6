import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SHORT_LIVED } from '../../src/testbed/shipped/kubectl.ts';
import { CONTROLLER_USER } from '../scenarios/witness.ts';
import { until } from '../scenarios/waiting.ts';
import { HAS_REAL_SERVER, NEEDS_REAL_SERVER, RealServer, START_DEADLINE_MS } from './real-server.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Another kubectl than the one in PATH can be named by KUBECTL. */
const KUBECTL = process.env['KUBECTL'] ?? inPath('kubectl');
const CALL_MS = 60_000;
const FENCE = 'apiVersion: ha.k8s.io/v1\nkind: NodeFence\nmetadata: {name: node-fence-a}\nspec: {node: a}\n';

function inPath(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

interface Said {
  code: number;
  out: string;
  err: string;
}

describe.runIf(HAS_REAL_SERVER && KUBECTL !== undefined)(
  `the shipped manifests on a real API server (${NEEDS_REAL_SERVER}, and kubectl)`,
  { timeout: 3 * CALL_MS },
  () => {
    let server: RealServer;

    beforeAll(async () => {
      server = await RealServer.start();
    }, START_DEADLINE_MS);

    afterAll(async () => {
      await server.end();
    });

    function kubectl(words: readonly string[], input = ''): Promise<Said> {
      const kubeconfig = server.kubeconfig('operator');
      const env = { PATH: process.env['PATH'] ?? '', HOME: server.folder, TMPDIR: server.folder, ...SHORT_LIVED };
      return new Promise((resolve) => {
        const child = execFile(
          KUBECTL ?? 'kubectl',
          ['--kubeconfig', kubeconfig, ...words],
          { env, cwd: ROOT, timeout: CALL_MS },
          (error, out, err) => {
            resolve({ code: error === null ? 0 : 1, out, err });
          },
        );
        child.stdin?.end(input);
      });
    }

    async function must(words: readonly string[], input = ''): Promise<string> {
      const { code, out, err } = await kubectl(words, input);
      expect(code, `kubectl ${words.join(' ')}: ${err}`).toBe(0);
      return out;
    }

    it('are applied, and applied again without a change', async () => {
      await must(['apply', '-k', 'config/crd']);
      // kubectl gives up on a kind that has no conditions yet.
      const established = ['wait', '--for=condition=Established', '--timeout=30s', 'crd/nodefences.ha.k8s.io', 'crd/nodefencestops.ha.k8s.io'];
      await until('the kinds are established', async () => ((await kubectl(established)).code === 0 ? true : undefined), CALL_MS);
      await must(['apply', '-k', 'config/rbac']);
      const again = await must(['apply', '-k', 'config/crd']);
      expect(
        again
          .trim()
          .split('\n')
          .filter((line) => !line.endsWith('unchanged')),
      ).toEqual([]);
    });

    it('give a NodeFence a whole status, its columns and words for its fields', async () => {
      await until('the kind is served', async () => ((await kubectl(['apply', '-f', '-'], FENCE)).code === 0 ? true : undefined), CALL_MS);
      expect(await must(['get', 'nodefences'])).toMatch(/NODE +STEP +STATUS[^]*\ba +isolation +new\b/);
      const explained = async (): Promise<true | undefined> =>
        (await kubectl(['explain', 'nodefence.status.evidence'])).out.includes('grade') ? true : undefined;
      await until('kubectl explain knows the kind', explained, CALL_MS);
    });

    it('refuse a broken edit in words', async () => {
      const patch = JSON.stringify({ status: { state: 'finished' } });
      const { code, err } = await kubectl(['patch', 'nodefence/node-fence-a', '--subresource=status', '--type=merge', '-p', patch]);
      expect(code).toBe(1);
      expect(err).toContain('status.state: Unsupported value: "finished"');
    });

    for (const [verb, resource, answer] of [
      ['patch', 'nodes', 'yes'],
      ['delete', 'pods', 'yes'],
      ['delete', 'volumeattachments.storage.k8s.io', 'yes'],
      ['update', 'nodefences.ha.k8s.io/status', 'yes'],
      ['delete', 'nodes', 'no'],
      ['list', 'secrets', 'no'],
      ['create', 'pods', 'no'],
    ] as const) {
      it(`${answer === 'yes' ? 'let' : 'do not let'} the controller ${verb} ${resource} anywhere`, async () => {
        const [name = '', subresource] = resource.split('/');
        const asked = ['auth', 'can-i', verb, name, '--all-namespaces', `--as=${CONTROLLER_USER}`];
        const { out } = await kubectl([...asked, ...(subresource === undefined ? [] : [`--subresource=${subresource}`])]);
        expect(out.trim().split('\n').at(-1)).toBe(answer);
      });
    }
  },
);
