import type { Clock } from '../../src/ports/clock.ts';
import type { Call } from '../shared/call.ts';
import type { ResourceView } from './resource-view.ts';
import type { Session } from './session.ts';

/** A read and the set that it allows follow each other at once; a machine is not exchanged behind an open connection in that time. */
const RECENT_MS = 10_000;

/** The last view of each plug: with it a set needs one request on a warm connection, its identity read over that very connection. */
export class RecentViews {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #session: Session;
  readonly #views = new Map<string, ResourceView>();

  constructor(clock: Pick<Clock, 'monotonicMs'>, session: Session) {
    this.#clock = clock;
    this.#session = session;
  }

  remember(call: Call, view: ResourceView): void {
    this.#views.set(keyOf(call), view);
  }

  /** Undefined when it is old, was unreadable, or was read by another session or over a connection that is gone. */
  find(call: Call): ResourceView | undefined {
    const view = this.#views.get(keyOf(call));
    if (view === undefined || view.resource === undefined || view.state === 'unknown') return undefined;
    const isSameSession = view.token === this.#session.token && !view.response.peer.socket.destroyed;
    return isSameSession && this.#clock.monotonicMs() - view.atMs <= RECENT_MS ? view : undefined;
  }

  forget(): void {
    this.#views.clear();
  }
}

function keyOf(call: Call): string {
  return JSON.stringify([call.target.plug, call.target.identity.systemUUID ?? '']);
}
