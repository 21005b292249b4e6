import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

export interface ChildOptions {
  name: string;
  command: readonly string[];
  /** What it prints to stderr is kept here, and to stdout too when `ready` is false. */
  logFile: string;
  /** Wait for a line `{"ready":true,...}` on stdout. */
  ready: boolean;
  /** Added to our own environment. */
  environment?: Readonly<Record<string, string>>;
  /** In the place of what our own environment says. */
  overrides?: Readonly<Record<string, string>>;
}

/** A process of the drill. It ends with us: its stdin is a pipe of ours, and every drill process ends when that is closed. */
export class Child {
  readonly name: string;
  readonly pid: number;
  readonly #process: ChildProcess;
  readonly logFile: string;
  readonly #ended: Promise<void>;
  #hasEnded = false;

  private constructor(process: ChildProcess, options: ChildOptions) {
    this.#process = process;
    this.name = options.name;
    this.logFile = options.logFile;
    this.pid = process.pid ?? 0;
    this.#ended = new Promise((resolve) => {
      process.once('exit', () => {
        this.#hasEnded = true;
        resolve();
      });
    });
    process.stdin?.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }

  static spawn(options: ChildOptions): Child {
    const [program, ...rest] = options.command;
    if (program === undefined) throw new Error(`${options.name}: no command`);
    const log = openSync(options.logFile, 'a');
    const env = { ...options.environment, ...process.env, ...options.overrides };
    const started = spawn(program, rest, { stdio: ['pipe', options.ready ? 'pipe' : log, log], env });
    closeSync(log);
    return new Child(started, options);
  }

  /** Starts it; resolves with its ready line, or rejects with the end of its log. */
  static async start(options: ChildOptions & { readyDeadlineMs: number }): Promise<{ child: Child; ready: Readonly<Record<string, unknown>> }> {
    const child = Child.spawn(options);
    return { child, ready: options.ready ? await child.readyLine(options.readyDeadlineMs) : {} };
  }

  get running(): boolean {
    return !this.#hasEnded;
  }

  /** Null while it runs, and when a signal ended it. */
  get exitCode(): number | null {
    return this.#process.exitCode;
  }

  /** One line of JSON on its stdin. */
  tell(line: object): void {
    this.#process.stdin?.write(`${JSON.stringify(line)}\n`);
  }

  signal(signal: NodeJS.Signals): void {
    if (this.running) this.#process.kill(signal);
  }

  /** Stops it where it stands; the returned function lets it go on. It goes on too when the drill dies before: it could not end otherwise. */
  freeze(): () => void {
    const keeper = spawn('sh', ['-c', 'read -r _; kill -CONT "$1"', 'sh', String(this.pid)], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
    keeper.unref();
    this.signal('SIGSTOP');
    return () => {
      this.signal('SIGCONT');
      keeper.stdin.end();
    };
  }

  /** Resolves when it has ended, however that came. */
  end(): Promise<void> {
    return this.#ended;
  }

  /** Asks it to end, and kills it after `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    if (!this.running) return;
    this.#process.kill('SIGTERM');
    const timer = setTimeout(() => this.#process.kill('SIGKILL'), graceMs);
    await this.#ended;
    clearTimeout(timer);
    this.#process.stdin?.destroy();
  }

  log(): string {
    return readFileSync(this.logFile, 'utf8');
  }

  /** Its first line on stdout, which says that it is ready; rejects with the end of its log. */
  readyLine(deadlineMs: number): Promise<Readonly<Record<string, unknown>>> {
    const started = this.#process;
    return new Promise((resolve, reject) => {
      const { stdout } = started;
      if (stdout === null) throw new Error(`${this.name}: stdout is not a pipe`);
      const lines = createInterface({ input: stdout });
      const fail = (why: string): void => {
        clearTimeout(timer);
        started.kill('SIGKILL');
        reject(new Error(`${this.name} ${why}: ${this.log().trim().split('\n').slice(-8).join('\n')}`));
      };
      const timer = setTimeout(() => fail(`was not ready after ${deadlineMs} ms`), deadlineMs);
      started.once('error', (error) => fail(`could not be started (${error.message})`));
      const onExit = (code: number | null, signal: NodeJS.Signals | null): void => fail(`ended with ${code ?? signal ?? 'nothing'}`);
      started.once('exit', onExit);
      lines.once('line', (line) => {
        clearTimeout(timer);
        started.off('exit', onExit);
        resolve(JSON.parse(line) as Readonly<Record<string, unknown>>);
      });
    });
  }
}
