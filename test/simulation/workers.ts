import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setPriority } from 'node:os';
import type { SeedResult } from './seed-result.ts';

/** Parent to worker: run these seeds. Worker to parent: one message per seed. */
export interface Chunk {
  first: number;
  count: number;
}

export interface WorkersOptions {
  /** Program whose worker mode runs the seeds; it is started with `argument`. */
  program: string;
  argument: string;
  first: number;
  seeds: number;
  jobs: number;
  /** A worker that reports no seed for so long is taken for hung. */
  silenceMs: number;
  /** They leave the cores to whatever else wants them, and waits in real time. */
  isPolite?: boolean;
  onResult: (result: SeedResult) => void;
}

/** Few, so that the workers end at about the same time. */
const CHUNK_SEEDS = 10;
/** After whatever else computes, and not so far after it that a seed seems to hang. */
const LAST = 15;
/** A world makes much that does not live long, and many errors whose stacks nobody reads; a single seed that is run again shows them. */
const FAST = ['--max-semi-space-size=64', '--min-semi-space-size=32', '--stack-trace-limit=0'];

const NOTHING_KNOWN = {
  scenario: 'unknown',
  state: 'unknown',
  releases: 0,
  struck: 0,
  takeOvers: 0,
  checks: {},
  hash: '',
  events: 0,
  virtualMs: 0,
} as const;

/** Runs the seeds in plain processes of their own. A worker that dies or hangs counts as a violation of the seed it was at. */
export async function runInWorkers(options: WorkersOptions): Promise<void> {
  const queue = new ChunkQueue(options.first, options.seeds);
  const lanes = Math.max(1, Math.min(options.jobs, Math.ceil(options.seeds / CHUNK_SEEDS)));
  await Promise.all(Array.from({ length: lanes }, () => runLane(options, queue)));
}

class ChunkQueue {
  readonly #chunks: Chunk[] = [];

  constructor(first: number, seeds: number) {
    for (let offset = 0; offset < seeds; offset += CHUNK_SEEDS) {
      this.#chunks.push({ first: first + offset, count: Math.min(CHUNK_SEEDS, seeds - offset) });
    }
  }

  take(): Chunk | undefined {
    return this.#chunks.shift();
  }

  putBack(chunk: Chunk): void {
    this.#chunks.unshift(chunk);
  }
}

async function runLane(options: WorkersOptions, queue: ChunkQueue): Promise<void> {
  let worker: Worker | undefined;
  for (let chunk = queue.take(); chunk !== undefined; chunk = queue.take()) {
    worker ??= new Worker(options);
    const done = await worker.run(chunk);
    if (done < chunk.count) {
      options.onResult({ ...NOTHING_KNOWN, seed: chunk.first + done, violations: [`the worker process ${worker.ending} at this seed`] });
      queue.putBack({ first: chunk.first + done + 1, count: chunk.count - done - 1 });
      await worker.end();
      worker = undefined;
    }
  }
  await worker?.end();
}

class Worker {
  ending = 'ended';
  readonly #child: ChildProcess;
  readonly #options: WorkersOptions;

  constructor(options: WorkersOptions) {
    this.#options = options;
    this.#child = fork(options.program, [options.argument], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      execArgv: [...process.execArgv, ...FAST],
    });
    if (options.isPolite === true && this.#child.pid !== undefined) setPriority(this.#child.pid, LAST);
  }

  /** Resolves with the number of seeds that were reported. */
  run(chunk: Chunk): Promise<number> {
    if (chunk.count === 0) {
      return Promise.resolve(0);
    }
    return new Promise((resolve) => {
      let reported = 0;
      const settle = (): void => {
        clearTimeout(silence);
        this.#child.off('message', onMessage);
        this.#child.off('exit', onExit);
        resolve(reported);
      };
      const onExit = (code: number | null, signal: string | null): void => {
        this.ending = `ended with ${signal ?? `code ${String(code)}`}`;
        settle();
      };
      const silence = setTimeout(() => {
        this.ending = `said nothing for ${this.#options.silenceMs / 1000} s`;
        this.#child.kill('SIGKILL');
        settle();
      }, this.#options.silenceMs);
      const onMessage = (message: unknown): void => {
        silence.refresh();
        reported += 1;
        this.#options.onResult(message as SeedResult);
        if (reported === chunk.count) {
          settle();
        }
      };
      this.#child.on('message', onMessage);
      this.#child.on('exit', onExit);
      this.#child.send(chunk);
    });
  }

  /** Waits for it: what an ended process took of a core is counted as its parent's. */
  async end(): Promise<void> {
    this.#child.removeAllListeners();
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    if (this.#child.connected) this.#child.disconnect();
    await ended;
  }
}

/** The worker's side: runs what it is told, one seed after the other, until the parent is gone. */
export function serveAsWorker(runSeed: (seed: number) => Promise<SeedResult>): void {
  process.on('message', (chunk: Chunk) => {
    void (async () => {
      for (let seed = chunk.first; seed < chunk.first + chunk.count; seed++) {
        const began = process.cpuUsage();
        const result = await runSeed(seed);
        const { user, system } = process.cpuUsage(began);
        process.send?.({ ...result, cpuMs: (user + system) / 1_000 });
      }
    })();
  });
  process.on('disconnect', () => process.exit(0));
}
