import { LIMITS } from '../../src/domain/node-fence.ts';
import type { NodeFenceStatus } from '../../src/domain/node-fence.ts';
import type { ApiEvent } from '../../src/laws/trace.ts';
import { CONTROLLER_USER } from './api.ts';
import type { ToldEvent } from './controller-program.ts';

const FENCES = 'nodefences.ha.k8s.io';
/** Of one fence; 1.5 MiB is what etcd takes. */
const FENCE_CHARACTERS_MAX = 120_000;
/** Writes of one fence's status within a window: a run has an intent and a result, and each change of a hold is one. */
const WRITES_MAX = 90;
const WRITES_WINDOW_MS = 60_000;
/** The same Event of the same object by one process: a new leader tells what stands once more. */
const EVENTS_MAX = 20;
/** One for each retry, on every level, off and on: a device that fails them all comes to half as many. */
const FAILURES_MAX = 40;
const EVENTS_WINDOW_MS = 600_000;

const MOST_BY_REASON: Readonly<Record<string, number>> = { MethodFailed: FAILURES_MAX };

/** A count that begins anew with each window. */
interface Window {
  fromMs: number;
  count: number;
}

/** Nothing grows without an end: not the objects that we write, not how often we write them, not what we tell. Each method returns what is broken, in words. */
export class Bounds {
  readonly #writes = new Map<string, Window>();
  readonly #events = new Map<string, Window>();
  readonly #lines = new Map<string, string[]>();

  /** Everything that was said, by process, for the law that secrets stay where they are. */
  get texts(): Record<string, string> {
    return Object.fromEntries([...this.#lines].map(([process, lines]) => [`what ${process} says`, lines.join('\n')]));
  }

  /** A request was answered. */
  wrote(event: ApiEvent, nowMs: number): string | undefined {
    const isOurs = event.user === CONTROLLER_USER && event.resource === FENCES && event.status < 300;
    if (!isOurs || event.object === undefined || (event.verb !== 'update' && event.verb !== 'patch')) {
      return undefined;
    }
    const name = event.name ?? '';
    const status = (event.object as { status?: Partial<NodeFenceStatus> }).status ?? {};
    for (const list of ['journal', 'evidence', 'history', 'conditions'] as const) {
      const length = status[list]?.length ?? 0;
      if (length > LIMITS[list]) return `${name} has ${length} entries in ${list}, at most ${LIMITS[list]} are allowed`;
    }
    if (counted(this.#writes, name, WRITES_WINDOW_MS, nowMs) === WRITES_MAX) {
      return `${name} was written ${WRITES_MAX} times within ${WRITES_WINDOW_MS / 1000} s, the last: ${status.state ?? '-'}, ${status.message ?? '-'}`;
    }
    // Whole objects are measured only where the journal is long enough for them to be large.
    const isLong = (status.journal?.length ?? 0) === LIMITS.journal;
    const characters = isLong ? JSON.stringify(event.object).length : 0;
    return characters > FENCE_CHARACTERS_MAX ? `${name} has ${characters} characters` : undefined;
  }

  /** A process wrote a line of its log, or an Event. */
  said(process: string, said: ToldEvent | string, nowMs: number): string | undefined {
    const lines = this.#lines.get(process) ?? [];
    this.#lines.set(process, lines);
    if (typeof said === 'string') {
      lines.push(said);
      return undefined;
    }
    lines.push(said.message);
    const most = MOST_BY_REASON[said.reason] ?? EVENTS_MAX;
    return counted(this.#events, `${process} ${said.about} ${said.reason}`, EVENTS_WINDOW_MS, nowMs) === most
      ? `Event ${said.reason} of ${said.about} came ${most} times within ${EVENTS_WINDOW_MS / 1000} s, the last: ${said.message}`
      : undefined;
  }
}

function counted(windows: Map<string, Window>, key: string, windowMs: number, nowMs: number): number {
  const window = windows.get(key);
  if (window === undefined || nowMs - window.fromMs > windowMs) {
    windows.set(key, { fromMs: nowMs, count: 1 });
    return 1;
  }
  window.count += 1;
  return window.count;
}
