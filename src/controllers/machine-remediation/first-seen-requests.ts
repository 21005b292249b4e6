import type { Clock } from '../../ports/clock.ts';
import { REQUEST } from './names.ts';
import type { MachineFacts } from './snapshot.ts';

/** Since when this process has seen the request on each Machine: later than it was written, never earlier. */
export class FirstSeenRequests {
  readonly #clock: Pick<Clock, 'wallMs'>;
  /** By uid. */
  readonly #sinceMs = new Map<string, number>();

  constructor(clock: Pick<Clock, 'wallMs'>) {
    this.#clock = clock;
  }

  /** Wall clock; `undefined`: it does not stand. */
  since({ uid, annotations }: Pick<MachineFacts, 'uid' | 'annotations'>): number | undefined {
    if (annotations[REQUEST] === undefined) {
      this.#sinceMs.delete(uid);
      return undefined;
    }
    const sinceMs = this.#sinceMs.get(uid) ?? this.#clock.wallMs();
    this.#sinceMs.set(uid, sinceMs);
    return sinceMs;
  }

  forget(uid: string): void {
    this.#sinceMs.delete(uid);
  }
}
