import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';

/** Reads process ids from stdin and kills them all when that ends, however its owner came to end. */
const SCRIPT = 'while read -r pid; do pids="$pids $pid"; done; for pid in $pids; do kill -9 "$pid" 2>/dev/null; done';

/** Ends programs that know nothing of us when we end, even by SIGKILL. */
export class Reaper {
  readonly #shell: ChildProcess;

  constructor() {
    // A session of its own: Ctrl-C in the terminal must not end it before its time.
    this.#shell = spawn('sh', ['-c', SCRIPT], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
    this.#shell.stdin?.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }

  watch(pid: number): void {
    this.#shell.stdin?.write(`${pid}\n`);
  }

  /** Everything was ended otherwise: nothing is killed any more. */
  release(): void {
    this.#shell.kill('SIGKILL');
  }
}
