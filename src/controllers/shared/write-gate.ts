import type { Clock } from '../../ports/clock.ts';
import type { Lister } from '../../ports/cluster.ts';
import type { Leadership } from '../../ports/leadership.ts';
import type { KubeObject } from '../../ports/objects.ts';

/** For one write to an API server; as the client gives up. */
export const WRITE_DEADLINE_MS = 5_000;
/** A watch sends something about every minute, and is opened anew when it does not. */
export const SILENT_AFTER_MS = 90_000;

export interface WriteGateParts {
  clock: Pick<Clock, 'monotonicMs'>;
  leadership: Pick<Leadership, 'isLeading' | 'mayBegin'>;
  /** false: nothing is written at all. */
  enforce: () => boolean;
  /** Those from which it is decided. One that was never synced has told nothing, and is not counted. */
  watches: () => readonly Pick<Lister<KubeObject>, 'synced' | 'freshAtMs'>[];
}

/** May a controller write now? Only the leader, until it is told to stop, and from what its watches show now, not minutes ago. */
export class WriteGate {
  readonly #parts: WriteGateParts;
  #isClosed = false;

  constructor(parts: WriteGateParts) {
    this.#parts = parts;
  }

  /** What is decided and not sent by now is not sent. */
  close(): void {
    this.#isClosed = true;
  }

  get isSilent(): boolean {
    const { clock, watches } = this.#parts;
    return watches().some(({ synced, freshAtMs }) => synced && clock.monotonicMs() - freshAtMs > SILENT_AFTER_MS);
  }

  mayWrite(): boolean {
    const { leadership, enforce } = this.#parts;
    return enforce() && !this.#isClosed && !this.isSilent && leadership.isLeading && leadership.mayBegin(WRITE_DEADLINE_MS);
  }

  /** As a problem, while it stands. `whose`: of the watches. */
  silence(whose: string): string[] {
    return this.isSilent ? [`the watches of ${whose} are stale: nothing is written until they deliver again`] : [];
  }
}
