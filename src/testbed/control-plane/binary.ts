import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Binary } from './assets.ts';
import type { Reaper } from './reaper.ts';

export interface BinaryOptions {
  name: Binary;
  /** Folder of the program, and the folder in which it runs and logs. */
  assets: string;
  folder: string;
  command: readonly string[];
  reaper: Reaper;
  /** Told of each line on stdout; it goes to the log when absent. */
  onLine?: (line: string) => void;
}

const LOG_LINES = 12;
/** Dozens of tests start a control plane of their own, and collecting garbage is a tenth of what one costs. */
const SHORT_LIFE = { GOGC: '400' };

/** One running program of the control plane. */
export class RunningBinary {
  readonly name: Binary;
  readonly #process: ChildProcess;
  readonly #log: string;
  readonly #ended: Promise<void>;
  readonly #toldAll: Promise<void>;
  #failure: string | undefined;

  constructor({ name, assets, folder, command, reaper, onLine }: BinaryOptions) {
    this.name = name;
    this.#log = join(folder, `${name}.log`);
    const log = openSync(this.#log, 'a', 0o600);
    this.#process = spawn(join(assets, name), command, {
      cwd: folder,
      env: { ...process.env, ...SHORT_LIFE },
      stdio: ['ignore', onLine === undefined ? log : 'pipe', log],
    });
    closeSync(log);
    this.#ended = new Promise((resolve) => {
      this.#process.once('error', (error) => {
        this.#failure = error.message;
        resolve();
      });
      this.#process.once('exit', (code, signal) => {
        this.#failure = `ended with ${code ?? signal ?? 'nothing'}`;
        resolve();
      });
    });
    this.#toldAll = onLine === undefined ? Promise.resolve() : this.#tell(onLine);
    if (this.#process.pid !== undefined) reaper.watch(this.#process.pid);
  }

  /** Why it does not run; `undefined` while it does. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** The last lines of its log. */
  log(): string {
    return readFileSync(this.#log, 'utf8').trimEnd().split('\n').slice(-LOG_LINES).join('\n');
  }

  signal(signal: NodeJS.Signals): void {
    if (this.#failure === undefined) this.#process.kill(signal);
  }

  /** Ends it at once: nothing that it would still write is worth waiting for. Resolves when all its lines were told. */
  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.#ended;
    await this.#toldAll;
  }

  #tell(onLine: (line: string) => void): Promise<void> {
    const { stdout } = this.#process;
    if (stdout === null) return Promise.resolve();
    const lines = createInterface({ input: stdout });
    lines.on('line', onLine);
    return new Promise((resolve) => lines.once('close', () => resolve()));
  }
}
