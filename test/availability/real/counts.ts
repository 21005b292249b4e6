import type { NodeFence } from '../../../src/ports/resources.ts';
import type { ApiEvent, TraceEvent } from '../../../src/laws/trace.ts';
import { CONTROLLER_USER } from '../../scenarios/witness.ts';

const TOO_MANY = 429;
const REFUSED = 400;

/** How often the device of a node accepted an off. */
export function offsOf(trace: readonly TraceEvent[], node: string): number {
  return trace.filter((event) => event.kind === 'device' && event.node === node && event.action === 'set' && event.want === 'off').length;
}

/** How often its power went off. */
export function outagesOf(trace: readonly TraceEvent[], node: string): number {
  return trace.filter((event) => event.kind === 'power' && event.node === node && event.state === 'off').length;
}

/** How often a fence became final that was not. */
export function fenceEnds(events: readonly ApiEvent[], name: string): number {
  const states = events
    .filter((event) => event.resource === 'nodefences.ha.k8s.io' && event.name === name && event.status < 300 && event.object !== undefined)
    .map(({ object }) => (object as NodeFence).status?.state);
  return states.filter((state, index) => state === 'final' && states[index - 1] !== 'final').length;
}

/** Refusals and failures that the API server answered to the controllers, by status; conflicts and what is not there are the ordinary course. */
export function statusesOf(events: readonly ApiEvent[]): string {
  const counts = new Map<number, number>();
  for (const { user, status } of events) {
    const isOurs = user === CONTROLLER_USER || status === 401;
    if (!isOurs || status < REFUSED || status === 404 || status === 409) continue;
    counts.set(status, (counts.get(status) ?? 0) + 1);
  }
  const sorted = [...counts].sort(([a], [b]) => a - b);
  return sorted.length === 0
    ? 'none'
    : sorted.map(([status, count]) => `${status} × ${status === TOO_MANY && count > 99 ? '100+' : count}`).join(', ');
}
