import type { CallTarget } from '../../call.ts';

/** What a call needs; 30 s, since tests share their machine. */
export function testTarget(changes: Partial<CallTarget> = {}): CallTarget {
  return { device: 'switch', plug: '', signal: new AbortController().signal, deadlineMs: 30_000, ...changes };
}
