import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { createAuthority } from '../certificates.ts';
import type { ApiEvent } from '../../laws/trace.ts';
import { AUDIT_POLICY } from './audit-policy.ts';
import { minorOf } from './assets.ts';
import { AuditReader } from './audit.ts';
import { RunningBinary } from './binary.ts';
import { API_SERVICE_ADDRESS, apiServerCommand, controllerManagerCommand, etcdCommand, SHORT_PACE } from './commands.ts';
import type { Features, Pace, Places } from './commands.ts';
import { freePorts } from './free-port.ts';
import { Reaper } from './reaper.ts';

/** A user of the real API server, known by a static token. */
export interface TokenUser {
  name: string;
  groups: readonly string[];
  token: string;
}

export interface ControlPlaneOptions extends Features {
  /** Address that it listens on; the loopback when absent. */
  host?: string;
  /** Folder with the binaries. */
  assets: string;
  /** Folder for data, logs, keys and tokens; made when absent, readable by its owner only. */
  folder: string;
  users: readonly TokenUser[];
  /** Of `users`: as whom kube-controller-manager speaks. None is started when absent. */
  controllerManagerUser?: string;
  pace?: Pace;
  /** Told of every request, from the audit log. */
  audit?: (event: ApiEvent) => void;
}

const LOOPBACK = '127.0.0.1';
const READY_DEADLINE_MS = 120_000;
const POLL_MS = 100;
const CALL_MS = 2_000;
/** Another process may take a port between our look and the start. */
const STARTS_MAX = 3;
const FILES: Places['files'] = {
  certificate: 'api.crt',
  key: 'api.key',
  serviceAccountKey: 'service-account.key',
  serviceAccountPublicKey: 'service-account.pub',
  tokens: 'tokens.csv',
  auditPolicy: 'audit-policy.json',
  managerKubeconfig: 'kubeconfig-controller-manager',
  authority: 'authority.crt',
};

/** A real etcd, kube-apiserver and kube-controller-manager, which end with this process. */
export class ControlPlane {
  readonly url: string;
  /** What clients must trust. */
  readonly caPem: string;
  readonly etcdUrl: string;
  readonly #options: ControlPlaneOptions;
  readonly #places: Places;
  readonly #pace: Pace;
  readonly #reaper = new Reaper();
  readonly #audit = new AuditReader();
  readonly #running = new Map<string, RunningBinary>();

  private constructor(options: ControlPlaneOptions, places: Places, caPem: string) {
    this.#options = options;
    this.#places = places;
    this.#pace = options.pace ?? SHORT_PACE;
    this.caPem = caPem;
    this.url = `https://${places.host}:${places.apiPort}`;
    this.etcdUrl = `http://${places.host}:${places.etcdPort}`;
  }

  /** Resolves when the API server and the controllers work; rejects with the log of the part that does not. */
  static async start(options: ControlPlaneOptions): Promise<ControlPlane> {
    mkdirSync(options.folder, { recursive: true, mode: 0o700 });
    const { host = LOOPBACK } = options;
    for (let tries = 1; ; tries += 1) {
      const [etcdPort = 0, etcdPeerPort = 0, apiPort = 0] = await freePorts(host, 3);
      const places: Places = { host, etcdPort, etcdPeerPort, apiPort, files: FILES };
      const plane = new ControlPlane(options, places, writeIdentity(options, places));
      try {
        await plane.#start();
        return plane;
      } catch (error) {
        await plane.stop();
        if (tries >= STARTS_MAX || !String(error).includes('address already in use')) throw error;
      }
    }
  }

  /** An outage: `silent` keeps connections and answers nothing until resumed; `refuse` closes them and the port. */
  async pause(how: 'silent' | 'refuse'): Promise<void> {
    const server = this.#running.get('kube-apiserver');
    if (how === 'silent') server?.signal('SIGSTOP');
    else await server?.kill();
  }

  async resume(): Promise<void> {
    const server = this.#running.get('kube-apiserver');
    if (server?.failure === undefined) server?.signal('SIGCONT');
    else await this.#startServer();
  }

  /** etcd ends at once, is away for so long, and comes back with what it held. */
  async restartStore(awayMs: number): Promise<void> {
    await this.#running.get('etcd')?.kill();
    await new Promise((resolve) => setTimeout(resolve, awayMs));
    this.#run('etcd', etcdCommand(this.#places));
    await this.#until('/readyz');
  }

  /** The API server ends and comes back, and etcd has forgotten what was before: watches that go on from there are answered 410. */
  async forgetHistory(): Promise<void> {
    await this.#running.get('kube-apiserver')?.kill();
    await compacted(this.etcdUrl);
    await this.#startServer();
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#running.values()].map((binary) => binary.kill()));
    this.#reaper.release();
  }

  async #start(): Promise<void> {
    this.#run('etcd', etcdCommand(this.#places));
    await this.#startServer();
    const { controllerManagerUser } = this.#options;
    if (controllerManagerUser === undefined) return;
    this.#run('kube-controller-manager', controllerManagerCommand(this.#places, this.#pace, minorOf(this.#options.assets), this.#options));
    // It serves nothing that could be asked: what it makes first tells that it works.
    await this.#until('/api/v1/namespaces/default/serviceaccounts/default', controllerManagerUser);
  }

  async #startServer(): Promise<void> {
    const { audit } = this.#options;
    const command = apiServerCommand(this.#places, this.#pace, { ...this.#options, isAudited: audit !== undefined });
    const onLine = (line: string): void => {
      const event = this.#audit.read(line);
      if (event !== undefined) audit?.(event);
    };
    this.#run('kube-apiserver', command, audit === undefined ? undefined : onLine);
    await this.#until('/readyz');
  }

  #run(name: RunningBinary['name'], command: readonly string[], onLine?: (line: string) => void): void {
    const { assets, folder } = this.#options;
    const common = { name, assets, folder, command, reaper: this.#reaper };
    this.#running.set(name, new RunningBinary(onLine === undefined ? common : { ...common, onLine }));
  }

  async #until(path: string, user?: string): Promise<void> {
    const token = this.#options.users.find(({ name }) => name === user)?.token;
    for (const deadline = performance.now() + READY_DEADLINE_MS; ;) {
      if ((await this.#status(path, token)) === 200) return;
      const broken = [...this.#running.values()].find(({ failure }) => failure !== undefined);
      if (broken !== undefined) throw new Error(`${broken.name} ${broken.failure ?? ''}:\n${broken.log()}`);
      if (performance.now() > deadline) throw new Error(`no answer to ${path} after ${READY_DEADLINE_MS / 1000} s:\n${this.#logs()}`);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  /** HTTP status of a GET; 0 without an answer. */
  #status(path: string, token: string | undefined): Promise<number> {
    return new Promise((resolve) => {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const call = request(new URL(path, this.url), { ca: this.caPem, agent: false, timeout: CALL_MS, headers }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      call.once('timeout', () => call.destroy());
      call.once('error', () => resolve(0));
      call.once('close', () => resolve(0));
      call.end();
    });
  }

  #logs(): string {
    return [...this.#running.values()].map((binary) => `${binary.name}:\n${binary.log()}`).join('\n');
  }
}

/** Everything before the newest revision is gone. */
async function compacted(etcdUrl: string): Promise<void> {
  const ask = async (path: string, body: object): Promise<{ header?: { revision?: string } }> => {
    const answer = await fetch(new URL(path, etcdUrl), { method: 'POST', body: JSON.stringify(body), signal: AbortSignal.timeout(CALL_MS) });
    if (!answer.ok) throw new Error(`etcd answers ${path} with ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as { header?: { revision?: string } };
  };
  const { header } = await ask('/v3/kv/range', { key: Buffer.from('/').toString('base64') });
  await ask('/v3/kv/compaction', { revision: header?.revision ?? '0', physical: true });
}

/** Writes keys, certificate, tokens and policy; returns the authority's certificate. Secrets are in files that only their owner reads. */
function writeIdentity({ folder, users, controllerManagerUser }: ControlPlaneOptions, { host, apiPort, files }: Places): string {
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text, { mode: 0o600 });
  const authority = createAuthority('nodefence drill API');
  const hosts = ['localhost', host, 'kubernetes.default.svc', API_SERVICE_ADDRESS];
  const { certificatePem, keyPem } = authority.issue({ commonName: 'kube-apiserver', hosts });
  write(files.authority, authority.certificatePem);
  write(files.certificate, certificatePem);
  write(files.key, keyPem);
  const keys = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  write(files.serviceAccountKey, keys.privateKey.export({ type: 'sec1', format: 'pem' }).toString());
  write(files.serviceAccountPublicKey, keys.publicKey.export({ type: 'spki', format: 'pem' }).toString());
  write(files.tokens, users.map(({ name, groups, token }) => `${token},${name},${name},"${groups.join(',')}"\n`).join(''));
  write(files.auditPolicy, JSON.stringify(AUDIT_POLICY));
  const manager = users.find(({ name }) => name === controllerManagerUser);
  if (manager !== undefined) write(files.managerKubeconfig, kubeconfig(`https://${host}:${apiPort}`, authority.certificatePem, manager));
  return authority.certificatePem;
}

function kubeconfig(server: string, caPem: string, { name, token }: TokenUser): string {
  const cluster = { server, 'certificate-authority-data': Buffer.from(caPem).toString('base64') };
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'drill', cluster }],
    users: [{ name, user: { token } }],
    contexts: [{ name: 'drill', context: { cluster: 'drill', user: name } }],
    'current-context': 'drill',
  });
}
