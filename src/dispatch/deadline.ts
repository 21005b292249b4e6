import { AgentError } from '../ports/agents.ts';
import type { AgentErrorFacts } from '../ports/agents.ts';
import type { Clock } from '../ports/clock.ts';

/**
 * Runs `call` with a signal that is aborted after `deadlineMs` or with `parent`. Rejects with `AgentError` kind Timeout at the deadline even when
 * the call itself never settles, so that a dead device cannot hold up anything behind it.
 */
export function withDeadline<T>(
  clock: Clock,
  parent: AbortSignal,
  deadlineMs: number,
  facts: AgentErrorFacts,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    if (parent.aborted) {
      reject(parent.reason as Error);
      return;
    }
    const controller = new AbortController();
    const onParent = (): void => end(() => reject(parent.reason as Error), parent.reason);
    const cancel = clock.after(deadlineMs, () => {
      const late = new AgentError('Timeout', { ...facts, answered: `no complete answer within ${deadlineMs} ms` });
      end(() => reject(late), late);
    });
    let ended = false;
    const end = (settle: () => void, abortWith?: unknown): void => {
      if (ended) return;
      ended = true;
      cancel();
      parent.removeEventListener('abort', onParent);
      if (abortWith !== undefined) controller.abort(abortWith);
      settle();
    };
    parent.addEventListener('abort', onParent);
    call(controller.signal).then(
      (value) => end(() => resolve(value)),
      (error: unknown) => end(() => reject(error instanceof Error ? error : new Error(String(error)))),
    );
  });
}
