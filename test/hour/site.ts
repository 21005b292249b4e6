import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { ClusterSession } from '../../src/drill/run/cluster-session.ts';
import { NODE_LEASE_NAMESPACE } from '../../src/ports/resources.ts';
import { programPath } from '../../src/testbed/shipped/program.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const NODES = ['worker-1', 'worker-2', 'worker-3'];
/** As the page writes them: of a machine that is somebody's own. */
const LOGIN = { username: 'fence', password: 'change-me' };
const addressOf = (index: number): string => `192.0.2.1${index + 1}`;
const fingerprintOf = (index: number): string => `${index + 1}b1f0c5a7d9e2846b0c1d2e3f405162738495a6b7c8d9e0f1a2b3c4d5e6f7081`;
const WORD_MS = 300_000;
const POLL_MS = 500;
/** Stands where an earlier commit is checked out: `nodefence` is the one of that commit there. */
const EARLIER = '.earlier';

export interface Answer {
  said: string;
  code: number;
  ms: number;
}

/** A cluster on this machine with a BMC for each node, a folder as a clone has it, and a shell in that. */
export class Site {
  readonly folder = mkdtempSync(join(tmpdir(), 'nodefence-hour-'));
  readonly #session: ClusterSession;
  readonly #terminals = new Map<string, { child: ChildProcess; said: () => string }>();
  #bmcs: ClusterSession['bmcs'] = [];
  #environment: NodeJS.ProcessEnv = {};

  constructor(api: 'embedded' | 'real') {
    const machines = NODES.map((node, index) => ({ node, systemUUID: `0000000${index + 1}-1111-4222-8333-444455556666`, credentials: LOGIN }));
    this.#session = new ClusterSession({ seed: 1, agent: 'redfish', api }, machines);
  }

  async start(): Promise<void> {
    for (const name of ['config', 'src', 'agents', 'package.json', 'node_modules']) symlinkSync(join(ROOT, name), join(this.folder, name));
    await this.#session.start();
    const { KUBECONFIG: _ambient, ...ambient } = process.env;
    const preface = join(this.folder, 'preface.sh');
    writeFileSync(
      preface,
      `program() { if [ -e ${EARLIER} ]; then echo src/main.ts; else echo "${programPath('main')}"; fi; }\nnodefence() { "${process.execPath}" "$(program)" "$@"; }\n`,
    );
    this.#environment = {
      ...ambient,
      BASH_ENV: preface,
      KUBECONFIG: this.#session.kubeconfig('operator'),
      NODEFENCE_HTTP_ADDRESS: '127.0.0.1:0',
      NODEFENCE_LOG_FORMAT: 'pretty',
      // The devices of a drill are on this machine, which a controller calls only when it is told so.
      NODEFENCE_DEVICE_ADDRESSES: '127.0.0.0/8',
      USER: 'you',
      LOGNAME: 'you',
      NO_COLOR: '1',
    };
    for (const name of ['default', 'kube-system', NODE_LEASE_NAMESPACE]) {
      // `kubectl create namespace` speaks protobuf, which the embedded server does not.
      const namespace = JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
      const made = await this.run(`echo '${namespace}' | kubectl create -f -`);
      if (made.code !== 0 && !made.said.includes('AlreadyExists')) throw new Error(made.said);
    }
    await this.#session.startWorld();
    this.#bmcs = NODES.map((node) => this.#session.member(node).bmc);
  }

  /** A file of the page, with the addresses and fingerprints of this hour's BMCs in the place of its own. */
  write(name: string, text: string): void {
    writeFileSync(join(this.folder, name), this.#here(text));
  }

  async run(command: string): Promise<Answer> {
    const startedAt = performance.now();
    const child = this.#shell(this.#here(command));
    const said = gathered(child);
    const code = await new Promise<number>((resolve) => {
      child.once('close', (ended) => resolve(ended ?? -1));
    });
    return { said: this.#there(said()), code, ms: performance.now() - startedAt };
  }

  /** A command that goes on in a terminal of its own; resolves when it has said this. */
  async begin(name: string, command: string, word: string): Promise<Answer> {
    const startedAt = performance.now();
    const child = this.#shell(command.replace('nodefence ', `exec "${process.execPath}" "$(program)" `));
    const said = gathered(child);
    this.#terminals.set(name, { child, said });
    await this.#until(
      `${name} says ${word}`,
      async () => said().includes(word) || child.exitCode !== null,
      () => said(),
    );
    return { said: this.#there(said()), code: child.exitCode ?? 0, ms: performance.now() - startedAt };
  }

  async end(name: string): Promise<void> {
    const terminal = this.#terminals.get(name);
    if (terminal === undefined) throw new Error(`there is no terminal ${name}`);
    this.#terminals.delete(name);
    if (terminal.child.exitCode !== null) return;
    const ended = new Promise((resolve) => terminal.child.once('close', resolve));
    terminal.child.kill('SIGINT');
    await ended;
  }

  /** What a terminal has said so far. */
  saidBy(name: string): string {
    return this.#there(this.#terminals.get(name)?.said() ?? '');
  }

  async happen(words: readonly string[]): Promise<void> {
    const [what = '', ...rest] = words;
    const [first = '', ...more] = rest;
    if (what === 'until') return this.#comes(rest.join(' '));
    if (what === 'end') return this.end(first);
    if (what === 'checkout') {
      this.#checkOut(first, more[0] ?? '');
      return;
    }
    const { child } = this.#session.member(first);
    if (what === 'panic') child.tell({ command: 'panic' });
    else if (what === 'faults') child.tell({ command: 'faults', faults: JSON.parse(more.join(' ')) as object });
    else if (what === 'machine') child.tell({ command: 'machine', line: { command: more[0] } });
    else if (what === 'power') child.tell({ command: 'power', state: more[0] });
    else throw new Error(`the page lets happen what nobody knows: ${words.join(' ')}`);
  }

  async stop(): Promise<void> {
    for (const name of [...this.#terminals.keys()]) await this.end(name);
    await this.#session.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** An earlier commit beside this one, with what is installed here. */
  #checkOut(name: string, commit: string): void {
    const folder = join(this.folder, name);
    mkdirSync(folder);
    const archive = execFileSync('git', ['archive', commit, 'config', 'src', 'agents', 'package.json'], { cwd: ROOT, maxBuffer: 2 ** 28 });
    execFileSync('tar', ['-x', '-C', folder], { input: archive });
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, EARLIER), '');
  }

  /** `COMMAND ~ PATTERN`: the command is repeated until it says so. */
  async #comes(text: string): Promise<void> {
    const [command = '', wanted = ''] = text.split(' ~ ');
    let last = '';
    const ask = async (): Promise<boolean> => {
      last = (await this.run(command)).said;
      return new RegExp(wanted.trim(), 'su').test(last);
    };
    await this.#until(text, ask, () => last);
  }

  async #until(what: string, ask: () => Promise<boolean>, otherwise: () => string): Promise<void> {
    for (const deadline = performance.now() + WORD_MS; !(await ask());) {
      if (performance.now() > deadline) throw new Error(`not within ${WORD_MS / 1000} s: ${what}; instead: ${otherwise()}`);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  #shell(command: string): ChildProcess {
    return spawn('bash', ['-c', command], { cwd: this.folder, env: this.#environment, stdio: ['ignore', 'pipe', 'pipe'] });
  }

  #here(text: string): string {
    return this.#bmcs.reduce(
      (page, { port, fingerprint }, index) =>
        page
          .replaceAll(`ip=${addressOf(index)}\n`, `ip=127.0.0.1\n    ipport=${port}\n`)
          .replaceAll(addressOf(index), `127.0.0.1:${port}`)
          .replaceAll(fingerprintOf(index), fingerprint),
      text,
    );
  }

  /** The other way round, and no path of this machine. */
  #there(said: string): string {
    const page = this.#bmcs.reduce(
      (text, { port, fingerprint }, index) =>
        text.replaceAll(`127.0.0.1:${port}`, `${addressOf(index)}:443`).replaceAll(fingerprint, fingerprintOf(index)),
      said,
    );
    return page.replaceAll(this.folder, '.').replaceAll(this.#session.folder.path, '~/.kube').replaceAll(hostname(), 'your-machine');
  }
}

function gathered(child: ChildProcess): () => string {
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (said += chunk.toString('utf8')));
  return () => said;
}
