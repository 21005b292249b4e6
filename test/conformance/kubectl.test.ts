import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { programPath } from '../../src/testbed/shipped/program.ts';

const CALL_MS = 30_000;
const TOKEN = 'kubectl-test-token';
/** Another kubectl than the one in PATH can be named by KUBECTL. */
const KUBECTL = process.env['KUBECTL'] ?? 'kubectl';
const OLDEST_MINOR = 30;
const isThere = clientMinor() >= OLDEST_MINOR;
const root = join(import.meta.dirname, '..', '..');

const NODE = `
apiVersion: v1
kind: Node
metadata: {name: node-a, labels: {kubernetes.io/hostname: node-a}}
spec: {providerID: "sim://node-a"}
status:
  nodeInfo: {kubeletVersion: v1.32.4, bootID: boot-1, systemUUID: uuid-1, osImage: Debian, kernelVersion: "6.1", containerRuntimeVersion: sim, machineID: "", kubeProxyVersion: "", operatingSystem: linux, architecture: amd64}
  conditions: [{type: Ready, status: "True", reason: KubeletReady, message: ok}]
  addresses: [{type: InternalIP, address: 10.0.0.1}]
  capacity: {cpu: 4, memory: 8Gi, pods: "110"}
---
apiVersion: v1
kind: Pod
metadata: {name: db-0}
spec: {nodeName: node-a, containers: [{name: db, image: postgres}]}
`;
const FENCE = 'apiVersion: ha.k8s.io/v1\nkind: NodeFence\nmetadata: {name: node-fence-node-a}\nspec: {node: node-a}\n';

function configMap(name: string, data: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: ${data}\n`;
}

interface Said {
  code: number;
  out: string;
  err: string;
}

describe.runIf(isThere)('kubectl against the embedded API server (needs kubectl 1.30 or newer)', { timeout: 60_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubectl-'));
  const environment = { PATH: process.env['PATH'] ?? '', HOME: folder, KUBECONFIG: join(folder, 'kubeconfig') };
  let server: ChildProcess;

  async function kubectl(words: string, input = ''): Promise<Said> {
    return await new Promise((resolve) => {
      const child = execFile(KUBECTL, splitWords(words), { env: environment, timeout: CALL_MS }, (error, out, err) => {
        resolve({ code: error === null ? 0 : 1, out, err });
      });
      child.stdin?.end(input);
    });
  }

  async function must(words: string, input = ''): Promise<string> {
    const said = await kubectl(words, input);
    expect(said, `kubectl ${words}`).toMatchObject({ code: 0 });
    return said.out;
  }

  beforeAll(async () => {
    const configuration = join(folder, 'api.json');
    writeFileSync(
      configuration,
      JSON.stringify({ users: [{ name: 'admin', groups: ['system:masters'], token: TOKEN }], trace: join(folder, 'trace.jsonl') }),
      { mode: 0o600 },
    );
    server = spawn(process.execPath, [programPath('testbed/processes/api'), configuration], { stdio: ['pipe', 'pipe', 'inherit'] });
    if (server.stdout === null) throw new Error('the API process has no stdout');
    const [line] = (await once(createInterface({ input: server.stdout }), 'line')) as [string];
    const { url, caPem } = JSON.parse(line) as { url: string; caPem: string };
    const cluster = { server: url, 'certificate-authority-data': Buffer.from(caPem).toString('base64') };
    const kubeconfig = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'drill', cluster }],
      users: [{ name: 'admin', user: { token: TOKEN } }],
      contexts: [{ name: 'drill', context: { cluster: 'drill', user: 'admin' } }],
      'current-context': 'drill',
    };
    writeFileSync(environment.KUBECONFIG, JSON.stringify(kubeconfig), { mode: 0o600 });
    await must('create -f -', NODE);
    await must(`apply -f ${join(root, 'config/crd/nodefences.yaml')}`);
    await must('apply -f -', FENCE);
  }, 60_000);

  afterAll(async () => {
    const ended = once(server, 'exit');
    server.stdin?.end();
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });

  it('prints nodes, pods and fences as people know them', async () => {
    expect(await must('get nodes -o wide')).toMatch(
      /NAME\s+STATUS\s+ROLES\s+AGE\s+VERSION\s+INTERNAL-IP.*\nnode-a\s+Ready\s+<none>\s+\d+s\s+v1\.32\.4\s+10\.0\.0\.1/,
    );
    expect(await must('get pods')).toMatch(/NAME\s+READY\s+STATUS\s+RESTARTS\s+AGE\ndb-0\s+0\/1\s+Pending\s+0\s+\d+s/);
    expect(await must('get nf')).toMatch(
      /NAME\s+NODE\s+STEP\s+STATUS\s+RETRIES\s+HOLD\s+OUTCOME\s+AGE\nnode-fence-node-a\s+node-a\s+isolation\s+new\s+0/,
    );
    expect(JSON.parse(await must('get node node-a -o json'))).toMatchObject({ kind: 'Node', status: { nodeInfo: { bootID: 'boot-1' } } });
    expect(await must('get node node-a -o yaml')).toContain('bootID: boot-1');
  });

  it('describes a node and a pod', async () => {
    expect(await must('describe node node-a')).toMatch(/Non-terminated Pods:\s+\(1 in total\)[^]*db-0/);
    expect(await must('describe pod db-0')).toMatch(/Node:\s+node-a/);
  });

  it('explains a field of a custom kind', async () => {
    expect(await must('explain nodefence.status.evidence')).toMatch(/KIND:\s+NodeFence[^]*FIELD: evidence <\[\]Object>[^]*grade\s+<string>/);
  });

  it('cordons, taints, labels and annotates a node, and takes it back', async () => {
    await must('cordon node-a');
    await must('taint node node-a example.com/x=y:NoExecute');
    await must('label node node-a a=b');
    await must('annotate node node-a c=d');
    expect(await must('get nodes')).toContain('Ready,SchedulingDisabled');
    expect(JSON.parse(await must('get node node-a -o json'))).toMatchObject({
      metadata: { labels: { a: 'b' }, annotations: { c: 'd' } },
      spec: { unschedulable: true },
    });
    await must('uncordon node-a');
    await must('taint node node-a example.com/x-');
    await must('label node node-a a-');
    await must('annotate node node-a c-');
    const node = JSON.parse(await must('get node node-a -o json')) as {
      metadata: { labels: object; annotations?: object };
      spec: { taints: { key: string }[] };
    };
    expect(node.metadata.labels).toEqual({ 'kubernetes.io/hostname': 'node-a' });
    expect(node.spec.taints.map((taint) => taint.key)).toEqual(['node.kubernetes.io/not-ready']);
  });

  it('applies on the client side: changes are merged and removed members go', async () => {
    await must('apply -f -', configMap('client', '{a: "1", b: "2"}'));
    await must('apply -f -', configMap('client', '{a: "3"}'));
    expect(JSON.parse(await must('get configmap client -o json'))).toMatchObject({ data: { a: '3' } });
    expect(await must('get configmap client -o jsonpath={.data.b}')).toBe('');
  });

  it('applies on the server side and is told of another manager', async () => {
    await must('apply --server-side -f -', configMap('server', '{a: "1"}'));
    const refused = await kubectl('apply --server-side --field-manager=other -f -', configMap('server', '{a: "2"}'));
    expect(refused.code).toBe(1);
    expect(refused.err).toContain('Apply failed with 1 conflict: conflict with "kubectl": .data.a');
    await must('apply --server-side --field-manager=other --force-conflicts -f -', configMap('server', '{a: "2"}'));
  });

  it('is refused a misspelt field, and a fence that the schema does not admit, in readable words', async () => {
    const misspelt = await kubectl('apply -f -', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: misspelt}\ndatum: {a: "1"}\n');
    expect(misspelt.err).toContain('strict decoding error: unknown field "datum"');
    const state = await kubectl(`patch nodefence node-fence-node-a --subresource=status --type=merge -p {"status":{"state":"broken"}}`);
    expect(state.err).toContain(
      'The NodeFence "node-fence-node-a" is invalid: status.state: Unsupported value: "broken": supported values: "new", "running"',
    );
    const type = await kubectl(`patch nodefence node-fence-node-a --type=merge -p {"spec":{"node":5}}`);
    expect(type.err).toContain('spec.node in body must be of type string: "integer"');
  });

  it('watches: rows come as things change', async () => {
    const child = spawn(KUBECTL, ['get', 'nodes', '-w'], { env: environment, stdio: ['ignore', 'pipe', 'ignore'] });
    const rows: string[] = [];
    const seen = new Promise<void>((resolve) => {
      createInterface({ input: child.stdout }).on('line', (line) => {
        rows.push(line);
        if (rows.length === 2) void kubectl('cordon node-a');
        if (line.includes('SchedulingDisabled')) resolve();
      });
    });
    await seen;
    const ended = once(child, 'exit');
    child.kill();
    await ended;
    await must('uncordon node-a');
    expect(rows[0]).toMatch(/^NAME\s+STATUS/);
  });

  it('deletes gracefully, by force, and collections', async () => {
    await must('delete pod db-0 --wait=false');
    expect(await must('get pods')).toContain('Terminating');
    await must('delete pod db-0 --force --grace-period=0');
    expect(await must('get pods -o name')).toBe('');
    await must('delete configmaps --all');
    await must('delete nodefence node-fence-node-a');
    expect(await must('get nodefences -o name')).toBe('');
  });

  it('leaves a trace of what was asked, without the token', () => {
    const trace = readFileSync(join(folder, 'trace.jsonl'), 'utf8');
    expect(trace).toContain('"verb":"patch","resource":"nodes"');
    expect(trace).not.toContain(TOKEN);
  });
});

/** Words divided by single blanks; none of the calls quotes one. */
function splitWords(words: string): string[] {
  return words.split(' ');
}

/** Older ones validate by OpenAPI v2 in protobuf, which the embedded server does not have. -1 without a kubectl. */
function clientMinor(): number {
  const said = spawnSync(KUBECTL, ['version', '--client', '-o', 'json'], {
    env: { PATH: process.env['PATH'] ?? '', HOME: tmpdir() },
    encoding: 'utf8',
  });
  if (said.status !== 0) return -1;
  const { clientVersion } = JSON.parse(said.stdout) as { clientVersion: { minor: string } };
  return Number.parseInt(clientVersion.minor, 10);
}
