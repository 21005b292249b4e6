import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { rounded } from '../figures.ts';

/** proc(5): of `utime` and `stime`; Linux has 100 of them a second on every architecture that Node runs on. */
const TICK_MS = 10;
const KB_PER_MB = 1024;

/** A program that reads the cluster, from its start, and what it takes of the machine. */
export class Reader {
  readonly startedAtMs = performance.now();
  readonly #process: ChildProcess;
  readonly #log: string;
  readonly #ended: Promise<void>;
  #isRunning = true;

  /** `program`: what is started with `command`; default: this Node. */
  constructor(command: readonly string[], environment: Readonly<Record<string, string>>, log: string, program = process.execPath) {
    this.#log = log;
    const file = openSync(log, 'w', 0o600);
    this.#process = spawn(program, command, { env: { ...process.env, ...environment }, stdio: ['ignore', file, file] });
    closeSync(file);
    this.#ended = new Promise((resolve) => {
      this.#process.once('exit', () => {
        this.#isRunning = false;
        resolve();
      });
    });
  }

  /** Milliseconds since 1970. */
  get startedWallMs(): number {
    return performance.timeOrigin + this.startedAtMs;
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  log(): string {
    return readFileSync(this.#log, 'utf8');
  }

  /** Milliseconds from the start until `isReady`; throws when the program ends before, or after `deadlineMs`. */
  async untilReady(isReady: (reader: Reader) => Promise<boolean>, deadlineMs: number): Promise<number> {
    while (!(await isReady(this))) {
      if (!this.#isRunning || performance.now() - this.startedAtMs > deadlineMs) {
        throw new Error(`not ready after ${Math.round(performance.now() - this.startedAtMs)} ms: ${this.log().slice(-2_000)}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return Math.round(performance.now() - this.startedAtMs);
  }

  /** Of all its threads, user and kernel. */
  cpuMs(): number {
    const [user = 0, system = 0] = this.#times();
    return user + system;
  }

  /** Of the processes that it started and that have ended. */
  childrenCpuMs(): number {
    const [, , user = 0, system = 0] = this.#times();
    return user + system;
  }

  #times(): number[] {
    if (!this.#isRunning) throw new Error(`the program has ended: ${this.log().slice(-2_000)}`);
    const fields = readFileSync(`/proc/${this.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return fields.slice(11, 15).map((ticks) => Number(ticks) * TICK_MS);
  }

  memory(): { rssMb: number; peakMb: number } {
    const status = readFileSync(`/proc/${this.pid}/status`, 'utf8');
    const of = (field: string): number => rounded(Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1]) / KB_PER_MB);
    return { rssMb: of('VmRSS'), peakMb: of('VmHWM') };
  }

  async end(): Promise<void> {
    if (this.#isRunning) this.#process.kill('SIGTERM');
    await this.#ended;
  }
}
