import { readdirSync, readFileSync } from 'node:fs';

/** A process as the kernel knows it: an id is given to another one day, an id with its start is not. */
interface Known {
  pid: number;
  startedAt: string;
}

/**
 * What a child has started: its process group, and those of its descendants that made a session of their own, as a program does that drives another
 * one through a terminal.
 */
export class ProcessTree {
  readonly #root: number | undefined;
  readonly #strays = new Map<number, Known>();

  /** `root`: the leader of a process group; undefined when nothing was started. */
  constructor(root: number | undefined) {
    this.#root = root;
  }

  /** Descendants that were seen once are signalled again later, also when their parent is gone by then. */
  kill(signal: 'SIGTERM' | 'SIGKILL'): void {
    if (this.#root === undefined) return;
    this.#look(this.#root);
    send(-this.#root, signal);
    for (const { pid, startedAt } of this.#strays.values()) if (startOf(pid) === startedAt) send(pid, signal);
  }

  #look(pid: number): void {
    for (const child of childrenOf(pid)) {
      const startedAt = startOf(child);
      if (startedAt === undefined) continue;
      this.#strays.set(child, { pid: child, startedAt });
      this.#look(child);
    }
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // Nobody is there any more, or it became somebody else's.
    if (!['ESRCH', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

function childrenOf(pid: number): number[] {
  return orGone([], () =>
    readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
    ),
  );
}

/** Clock ticks since boot at which it was started (proc(5), field 22); undefined when it is gone. */
function startOf(pid: number): string | undefined {
  // The name in parentheses may itself hold blanks and parentheses.
  return orGone(
    undefined,
    () =>
      readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')[19],
  );
}

function orGone<T>(otherwise: T, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) return otherwise;
    throw error;
  }
}
