import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';

const BOOTED_MS = 120_000;
const STOPPED_MS = 60_000;
const LOOK_MS = 500;

export interface Ran {
  code: number;
  said: string;
}

/** A tree of Debian that was booted: its own systemd, processes, mounts; the network of this machine, on which the API server is. */
export class Machine {
  readonly #tree: string;
  #nspawn: ChildProcess | undefined;
  #leader = '';

  constructor(tree: string) {
    this.#tree = tree;
  }

  async boot(): Promise<string> {
    // Nothing is registered: this machine need not have a systemd that runs.
    const words = ['--directory', this.#tree, '--boot', '--register=no', '--keep-unit', '--console=pipe', '--resolv-conf=off'];
    const nspawn = spawn('systemd-nspawn', words, { stdio: ['ignore', 'ignore', 'inherit'] });
    this.#nspawn = nspawn;
    const state = await this.until(() => {
      if (nspawn.exitCode !== null) throw new Error(`systemd-nspawn ended with ${nspawn.exitCode}`);
      this.#leader = leaderOf(nspawn.pid ?? 0);
      const { said } = this.run('systemctl', 'is-system-running');
      return /^(running|degraded)/.test(said) ? said.trim() : undefined;
    }, BOOTED_MS);
    return `${state}, ${this.run('systemctl', '--version').said.split('\n')[0] ?? ''}`;
  }

  run(...command: readonly string[]): Ran {
    if (this.#leader === '') return { code: 1, said: 'it has not begun' };
    const words = ['--target', this.#leader, '--mount', '--uts', '--ipc', '--pid', '--cgroup', '--root', '--wd', '--', ...command];
    const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' };
    const { status, stdout, stderr } = spawnSync('nsenter', words, { encoding: 'utf8', env, timeout: STOPPED_MS });
    return { code: status ?? 1, said: `${stdout}${stderr}` };
  }

  must(...command: readonly string[]): string {
    const { code, said } = this.run(...command);
    if (code !== 0) throw new Error(`${command.join(' ')}: ${said.slice(-1_500)}`);
    return said;
  }

  /** What the units said so far. */
  journal(unit: string): string {
    return this.must('journalctl', '--no-pager', '--output=cat', '--unit', unit);
  }

  async until<T>(look: () => T | undefined, limitMs: number): Promise<T> {
    const endMs = performance.now() + limitMs;
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      if (performance.now() > endMs) throw new Error(`not within ${limitMs / 1_000} s`);
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  async powerOff(): Promise<void> {
    const nspawn = this.#nspawn;
    if (nspawn === undefined || nspawn.exitCode !== null) return;
    const ended = once(nspawn, 'exit');
    // As an administrator would; and for whoever does not hear it, the end of all its processes.
    nspawn.kill('SIGTERM');
    const timer = setTimeout(() => nspawn.kill('SIGKILL'), STOPPED_MS);
    await ended;
    clearTimeout(timer);
  }
}

/** The first process of the machine: the child of nspawn that is number 1 in there. */
function leaderOf(parent: number): string {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      if (new RegExp(`^PPid:\\s+${parent}$`, 'm').test(status) && /^NSpid:\s+\d+\s+1$/m.test(status)) return pid;
    } catch (error) {
      // A process may end while it is looked at.
      if (!['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
  return '';
}
