import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { pause } from '../../src/drill/run/pause.ts';
import { CGROUP_ROOT, HOST_ADDRESS, NODE_ADDRESS, NODE_NAME, POD_RANGE } from './node-files.ts';

const OPEN_WITHIN_MS = 60_000;
const SHELL_MS = 60_000;
const END_MS = 10_000;
const GONE_LOOK_MS = 100;
const LAST_LINES = 12;
const CGROUPS = '/sys/fs/cgroup';
/** The node's own, in place of this computer's. */
const OWN_FOLDERS = ['/run', '/var/lib/nodefence', '/var/lib/cni', '/etc/cni', '/etc/kubernetes', '/etc/systemd/system', '/var/log'];

/** What a kubelet sets where it finds something else. */
const KERNEL = {
  'vm/overcommit_memory': 1,
  'vm/panic_on_oom': 0,
  'kernel/panic': 10,
  'kernel/panic_on_oops': 1,
  'kernel/keys/root_maxkeys': 1_000_000,
  'kernel/keys/root_maxbytes': 25_000_000,
};

export interface Said {
  code: number;
  out: string;
  err: string;
}

/**
 * A node without a machine of its own: processes, mounts, network and name of its own on this computer, under its kernel, as nodes of kind are. Everything
 * in it ends with its first process, and that with us.
 */
export class NodeSandbox {
  readonly #folder: string;
  readonly #holder: ChildProcess;
  readonly #first: string;
  readonly #logs: string[] = [];

  private constructor(folder: string, holder: ChildProcess, first: string) {
    this.#folder = folder;
    this.#holder = holder;
    this.#first = first;
  }

  /** `folder`: an empty one, for what its programs keep. */
  static async open(folder: string): Promise<NodeSandbox> {
    for (const path of cgroups()) mkdirSync(path, { recursive: true });
    mkdirSync(join(folder, 'kubelet'), { recursive: true });
    const namespaces = ['--mount', '--pid', '--net', '--uts', '--ipc', '--fork', '--kill-child', '--mount-proc'];
    const holder = spawn('unshare', [...namespaces, 'sh', '-e', '-c', firstProcess(folder)], { stdio: ['pipe', 'pipe', 'pipe'] });
    try {
      await isUp(holder);
      const first = execFileSync('ps', ['-o', 'pid=', '--ppid', String(holder.pid)], { encoding: 'utf8', timeout: SHELL_MS }).trim();
      plug(first);
      const node = new NodeSandbox(folder, holder, first);
      await node.sh(`ip addr add ${NODE_ADDRESS}/24 dev eth0; ip link set eth0 up; ip link set lo up; ip route add default via ${HOST_ADDRESS}`);
      execFileSync('ip', ['route', 'add', POD_RANGE, 'via', NODE_ADDRESS], { timeout: SHELL_MS });
      return node;
    } catch (error) {
      holder.kill('SIGKILL');
      throw error;
    }
  }

  /** The ends of its programs' logs, for an error. */
  get lastWords(): string {
    const end = (path: string): string => readFileSync(path, 'utf8').trim().split('\n').slice(-LAST_LINES).join('\n');
    return this.#logs.map((path) => `${path}:\n${end(path)}`).join('\n');
  }

  /** A program that runs until the node ends. */
  async start(name: string, words: readonly string[]): Promise<void> {
    const log = join(this.#folder, `${name}.log`);
    this.#logs.push(log);
    await this.sh(`nohup ${words.join(' ')} > ${log} 2>&1 &`);
  }

  /** stdout of a command in the node, which must succeed. */
  async sh(script: string, withinMs = SHELL_MS, input = ''): Promise<string> {
    const said = await this.run(script, withinMs, input);
    if (said.code !== 0) throw new Error(`${script.slice(0, 200)} ended with ${String(said.code)}: ${said.err}${said.out}`);
    return said.out.trim();
  }

  run(script: string, withinMs = SHELL_MS, input = ''): Promise<Said> {
    const words = ['-t', this.#first, '-m', '-p', '-n', '-u', '-i', '--', 'sh', '-c', script];
    const child = spawn('nsenter', words, { stdio: 'pipe', timeout: withinMs });
    const [out, err]: [Buffer[], Buffer[]] = [[], []];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    return new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code) => resolve({ code: code ?? -1, out: Buffer.concat(out).toString(), err: Buffer.concat(err).toString() }));
    });
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.#holder.once('exit', resolve));
    if (this.#holder.exitCode === null && this.#holder.signalCode === null) {
      this.#holder.kill('SIGKILL');
      await Promise.race([ended, pause(END_MS)]);
    }
    // Its processes die after their first one; an empty cgroup goes.
    const endsAtMs = performance.now() + END_MS;
    while (cgroups().some((path) => existsSync(path)) && performance.now() < endsAtMs) {
      removeCgroups();
      await pause(GONE_LOOK_MS);
    }
  }
}

/** Its first process: it ends when nobody holds its stdin any more. */
function firstProcess(folder: string): string {
  return [
    `hostname ${NODE_NAME}`,
    'mount --make-rprivate /',
    ...OWN_FOLDERS.map((path) => `mkdir -p ${path} && mount -t tmpfs tmpfs ${path}`),
    'mkdir -p /run/netns /etc/cni/net.d /var/lib/kubelet',
    `mount --bind ${join(folder, 'kubelet')} /var/lib/kubelet && mount --make-rshared /var/lib/kubelet`,
    // The kernel is this computer's, and a kubelet would change it: it is shown what it wants to see.
    'mkdir /run/kernel',
    ...Object.entries(KERNEL).map(([name, value], index) => {
      const file = `/run/kernel/${String(index)}`;
      return `echo ${String(value)} > ${file} && mount --bind ${file} /proc/sys/${name}`;
    }),
    'echo 1 > /proc/sys/net/ipv4/ip_forward',
    'echo up',
    'read -r _ || true',
  ].join('\n');
}

async function isUp(holder: ChildProcess): Promise<void> {
  const said: string[] = [];
  for (const stream of [holder.stdout, holder.stderr]) stream?.on('data', (chunk: Buffer) => said.push(chunk.toString()));
  const endsAtMs = performance.now() + OPEN_WITHIN_MS;
  while (!said.join('').includes('up\n')) {
    if (holder.exitCode !== null || performance.now() > endsAtMs) throw new Error(`the namespaces of the node were not made: ${said.join('')}`);
    await pause(50);
  }
}

/** A cable between this computer and the node; it goes with the node. */
function plug(first: string): void {
  const own = `nfk${first}`;
  const ip = (...words: string[]): void => void execFileSync('ip', words, { stdio: 'pipe', timeout: SHELL_MS });
  ip('link', 'add', own, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', first);
  ip('addr', 'add', `${HOST_ADDRESS}/24`, 'dev', own);
  ip('link', 'set', own, 'up');
}

/** The cgroup of the node, in every hierarchy of this computer. */
function cgroups(): string[] {
  const below = readdirSync(CGROUPS, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [join(CGROUPS, entry.name)] : []));
  const roots = isHierarchy(CGROUPS) ? [CGROUPS] : below.filter(isHierarchy);
  return roots.map((root) => join(root, CGROUP_ROOT));
}

function isHierarchy(path: string): boolean {
  return existsSync(join(path, 'cgroup.procs'));
}

function removeCgroups(): void {
  const remove = (path: string): void => {
    for (const entry of readdirSync(path, { withFileTypes: true })) if (entry.isDirectory()) remove(join(path, entry.name));
    try {
      rmdirSync(path);
    } catch {
      // A process of it still dies.
    }
  };
  for (const path of cgroups()) if (existsSync(path)) remove(path);
}
