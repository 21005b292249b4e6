import type { Clock } from '../ports/clock.ts';

export interface LinkedAbort {
  /** Aborts when any of the sources does, with that source's reason. */
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
  /** Takes the listeners off the sources; must be called when the work is over. May be called any number of times. */
  release(): void;
}

export interface Deadline {
  clock: Pick<Clock, 'after'>;
  delayMs: number;
  /** Made only when the deadline passes. */
  reason: () => Error;
}

/**
 * One signal out of several and an optional deadline. AbortSignal.any leaves an entry on a process-lived source for every call
 * (nodejs/node 54614); this leaves nothing once released or aborted.
 */
export function linkedAbort(sources: readonly (AbortSignal | undefined)[], deadline?: Deadline): LinkedAbort {
  const controller = new AbortController();
  const undo: (() => void)[] = [];
  const release = (): void => {
    for (const step of undo.splice(0)) {
      step();
    }
  };
  const abort = (reason?: unknown): void => {
    release();
    controller.abort(reason);
  };
  for (const source of sources) {
    if (source === undefined) {
      continue;
    }
    if (source.aborted) {
      abort(source.reason);
      break;
    }
    const onAbort = (): void => {
      abort(source.reason);
    };
    source.addEventListener('abort', onAbort, { once: true });
    undo.push(() => {
      source.removeEventListener('abort', onAbort);
    });
  }
  if (deadline !== undefined && !controller.signal.aborted) {
    undo.push(
      deadline.clock.after(deadline.delayMs, () => {
        abort(deadline.reason());
      }),
    );
  }
  return { signal: controller.signal, abort, release };
}
