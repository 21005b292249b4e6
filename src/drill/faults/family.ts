import { readdirSync, readFileSync } from 'node:fs';
import { pause } from '../run/pause.ts';

const POLL_MS = 50;

interface Relative {
  pid: number;
  /** Tells a process from a later one with the same number. */
  startedAt: string;
}

/** All descendants that a process has now, and which of them are left later. */
export class Family {
  readonly #members: readonly Relative[];

  constructor(pid: number) {
    this.#members = descendantsOf(pid);
  }

  get size(): number {
    return this.#members.length;
  }

  alive(): number {
    return this.#members.filter(({ pid, startedAt }) => statOf(pid)?.startedAt === startedAt).length;
  }

  /** Resolves with the time until the last one was gone, or undefined when some are left after `deadlineMs`. */
  async untilGone(deadlineMs: number): Promise<number | undefined> {
    const fromMs = performance.now();
    while (this.alive() > 0) {
      if (performance.now() - fromMs > deadlineMs) return undefined;
      await pause(POLL_MS);
    }
    return performance.now() - fromMs;
  }
}

function descendantsOf(ancestor: number): Relative[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const children = new Map<number, Relative[]>();
  for (const name of pids) {
    const stat = statOf(Number(name));
    if (stat === undefined) continue;
    children.set(stat.parent, [...(children.get(stat.parent) ?? []), { pid: Number(name), startedAt: stat.startedAt }]);
  }
  const collect = (pid: number): Relative[] => (children.get(pid) ?? []).flatMap((child) => [child, ...collect(child.pid)]);
  return collect(ancestor);
}

/** From proc(5): fields 3 (state), 4 (parent) and 22 (start time); undefined for a process that is gone, or dead and not yet collected. */
function statOf(pid: number): { parent: number; startedAt: string } | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return fields[0] === 'Z' ? undefined : { parent: Number(fields[1]), startedAt: fields[19] ?? '' };
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}
