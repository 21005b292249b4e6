import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serveHttps } from '../../src/testbed/apiserver/http-shell.ts';
import type { HttpShell } from '../../src/testbed/apiserver/http-shell.ts';
import { compileCache } from '../../src/testbed/compile-cache.ts';
import type { World } from './world.ts';
import { programPath } from '../../src/testbed/shipped/program.ts';

const MAIN = programPath('main');
const DEADLINE_MS = 120_000;

export interface Ended {
  code: number | string;
  stdout: string;
  stderr: string;
}

/** Where a person types: `nodefence` as a process of its own, over HTTPS, with this person's token and no other right. */
export class Terminal {
  readonly #shell: HttpShell;
  readonly #folder = mkdtempSync(join(tmpdir(), 'nodefence-terminal-'));
  readonly #kubeconfig: string;

  private constructor(shell: HttpShell, user: string, token: string) {
    this.#shell = shell;
    this.#kubeconfig = join(this.#folder, 'kubeconfig');
    const cluster = { server: shell.url, 'certificate-authority-data': Buffer.from(shell.caPem).toString('base64') };
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'scenario', cluster }],
      users: [{ name: user, user: { token } }],
      contexts: [{ name: 'scenario', context: { cluster: 'scenario', user } }],
      'current-context': 'scenario',
    };
    writeFileSync(this.#kubeconfig, JSON.stringify(config), { mode: 0o600 });
  }

  static async open(world: World, user: string, token: string): Promise<Terminal> {
    return new Terminal(await serveHttps({ server: world.server }), user, token);
  }

  /** `nodefence <words>`; ends by itself, or is ended by `until` with SIGINT once its output satisfies it. */
  nodefence(words: readonly string[], until?: (stdout: string) => boolean): Promise<Ended> {
    const { PATH = '', HOME = '' } = process.env;
    const child = spawn(process.execPath, [MAIN, ...words], {
      env: { PATH, HOME, ...compileCache(), NODEFENCE_KUBECONFIG: this.#kubeconfig },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: DEADLINE_MS,
      killSignal: 'SIGKILL',
    });
    const said = { stdout: '', stderr: '' };
    let isEnded = false;
    child.stdout.on('data', (chunk: Buffer) => {
      said.stdout += chunk.toString('utf8');
      if (isEnded || until?.(said.stdout) !== true) return;
      // A second one would not wait for it to end in order.
      isEnded = true;
      child.kill('SIGINT');
    });
    child.stderr.on('data', (chunk: Buffer) => {
      said.stderr += chunk.toString('utf8');
    });
    return new Promise((resolve) => {
      child.once('close', (code, signal) => resolve({ ...said, code: code ?? signal ?? 'nothing' }));
    });
  }

  async close(): Promise<void> {
    await this.#shell.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
