import { execFile, spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { HttpsTransport } from '../../src/kube/https-transport.ts';
import type { TraceEvent } from '../../src/laws/trace.ts';
import { CONTROLLER_ACCOUNT, NAMESPACE } from '../../src/manifests/access.ts';
import { minorOf } from '../../src/testbed/control-plane/assets.ts';
import { SHORT_LIVED } from '../../src/testbed/shipped/kubectl.ts';
import { programPath } from '../../src/testbed/shipped/program.ts';
import { connect } from '../connection.ts';
import { until } from '../scenarios/waiting.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const CALL_MS = 60_000;
/** Another kubectl than the one in PATH can be named by KUBECTL. */
export const KUBECTL = process.env['KUBECTL'] ?? 'kubectl';
const OPERATOR = 'operator';
/** `policy/v1` is there from here on. */
const POLICY_SINCE = 21;

export interface Said {
  code: number;
  out: string;
  err: string;
}

/** An API server as a process of its own, ours or a real one with its etcd, and kubectl as its administrator. */
export class Cluster {
  /** For files of one suite; removed with the cluster. */
  readonly folder = mkdtempSync(join(tmpdir(), 'nodefence-installation-'));
  readonly #trace = join(this.folder, 'trace.jsonl');
  readonly #tokens: Readonly<Record<string, string>>;
  #server: ChildProcess | undefined;
  #url = '';
  #caPem = '';

  constructor() {
    this.#tokens = { [OPERATOR]: randomBytes(18).toString('base64url') };
  }

  /** With `assets`, the folder of a real control plane's binaries, it is that one. */
  async start(assets?: string): Promise<void> {
    const users = [{ name: OPERATOR, groups: ['system:masters'], token: this.#tokens[OPERATOR] }];
    const place = assets === undefined ? { authorization: 'rbac' } : { assets, folder: join(this.folder, 'control-plane') };
    const configuration = this.file('api.json', JSON.stringify({ users, trace: this.#trace, ...place }));
    const program = programPath(`testbed/processes/${assets === undefined ? 'api' : 'control-plane'}`);
    const server = spawn(process.execPath, [program, configuration], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#server = server;
    const ended = once(server, 'exit').then(() => Promise.reject(new Error(`${program} ended before it served`)));
    const [line] = (await Promise.race([once(createInterface({ input: server.stdout }), 'line'), ended])) as [string];
    ended.catch(() => undefined);
    ({ url: this.#url, caPem: this.#caPem } = JSON.parse(line) as { url: string; caPem: string });
    // Both servers are bare: of the namespaces that every cluster has, this one is written to.
    await this.kubectl('create namespace kube-node-lease');
  }

  /** A kubeconfig of the controller's account, with a token of it as a pod has one; returns its path. */
  async controllerKubeconfig(): Promise<string> {
    const token = await this.must(`-n ${NAMESPACE} create token ${CONTROLLER_ACCOUNT}`);
    return this.#kubeconfig('kubeconfig-controller', token.trim());
  }

  file(name: string, text: string): string {
    const path = join(this.folder, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  }

  /** kubectl as the administrator; words divided by single blanks. */
  kubectl(words: string, input = ''): Promise<Said> {
    const kubeconfig = this.#kubeconfig('kubeconfig-operator', this.#tokens[OPERATOR] ?? '');
    const env = { PATH: process.env['PATH'] ?? '', HOME: this.folder, TMPDIR: this.folder, ...SHORT_LIVED };
    return new Promise((resolve) => {
      const child = execFile(KUBECTL, ['--kubeconfig', kubeconfig, ...words.split(' ')], { env, cwd: ROOT, timeout: CALL_MS }, (error, out, err) => {
        resolve({ code: error === null ? 0 : 1, out, err });
      });
      child.stdin?.end(input);
    });
  }

  /** As `kubectl`, and it must succeed; returns its output. */
  async must(words: string, input = ''): Promise<string> {
    const { code, out, err } = await this.kubectl(words, input);
    if (code !== 0) throw new Error(`kubectl ${words}: ${err}`);
    return out;
  }

  /** Waits until these kinds are served (`crd/NAME`, or `crd --all`): kubectl gives up on one that has no conditions yet. */
  async established(kinds: string): Promise<void> {
    const words = `wait --for=condition=Established --timeout=30s ${kinds}`;
    await until(`${kinds} are established`, async () => ((await this.kubectl(words)).code === 0 ? true : undefined), CALL_MS);
  }

  /** The administrator without kubectl: for what is asked again and again. */
  transport(): HttpsTransport {
    return connect({ server: this.#url, caPem: this.#caPem, token: this.#tokens[OPERATOR] ?? '' });
  }

  /** What was asked of the API server so far, by anybody. */
  trace(): TraceEvent[] {
    const lines = readFileSync(this.#trace, 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as TraceEvent);
  }

  async end(): Promise<void> {
    const server = this.#server;
    if (server?.exitCode === null) {
      const ended = once(server, 'exit');
      server.stdin?.end();
      await ended;
    }
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Of whoever can say who he is like this. */
  kubeconfigText(user: Readonly<Record<string, string>>): string {
    const cluster = { server: this.#url, 'certificate-authority-data': Buffer.from(this.#caPem).toString('base64') };
    const context = { name: 'here', context: { cluster: 'here', user: 'somebody' } };
    const users = [{ name: 'somebody', user }];
    const config = { apiVersion: 'v1', kind: 'Config', clusters: [{ name: 'here', cluster }], users, contexts: [context], 'current-context': 'here' };
    return JSON.stringify(config);
  }

  operatorKubeconfigText(): string {
    return this.kubeconfigText({ token: this.#tokens[OPERATOR] ?? '' });
  }

  #kubeconfig(name: string, token: string): string {
    return this.file(name, this.kubeconfigText({ token }));
  }
}

/** Folder with the overlays for this server. */
export function overlaysFor(assets?: string): string {
  return assets !== undefined && minorOf(assets) < POLICY_SINCE ? 'config/before-1.21' : 'config';
}

/** -1 without a kubectl. */
export function kubectlMinor(): number {
  const env = { PATH: process.env['PATH'] ?? '', HOME: tmpdir() };
  const said = spawnSync(KUBECTL, ['version', '--client', '-o', 'json'], { env, encoding: 'utf8' });
  if (said.status !== 0) return -1;
  return Number.parseInt((JSON.parse(said.stdout) as { clientVersion: { minor: string } }).clientVersion.minor, 10);
}
