import type { Clock } from '../../ports/clock.ts';
import { ApiFailure } from './failure.ts';
import type { User } from './request.ts';

/** How long a server that was started anew lacks something. */
export interface StartUp {
  /** It has read no roles and no bindings: whoever is not of system:masters is denied everything, 403. */
  rolesMs: number;
  /** Its storages are not read: what is asked of objects is answered 429, to be asked again in a second. */
  storagesMs: number;
}

const MASTERS = 'system:masters';
/** A real server says this much in both cases. */
const RETRY_AFTER_SECONDS = 1;

/** API Priority and Fairness has no share left: answered in words of HTTP, not as a `Status`. */
export class NoShare extends Error {
  override readonly name = 'NoShare';
  readonly retryAfterSeconds = RETRY_AFTER_SECONDS;

  constructor() {
    super('Too many requests, please try again later.\n');
  }
}

/** What a real server answers for a while whatever it is asked; as seen on Kubernetes 1.36 (test/availability/real). system:masters are spared all of it: they are the hands of whoever plays. */
export class Troubles {
  readonly #clock: Clock;
  #rolesReadAtMs = Number.NEGATIVE_INFINITY;
  #storagesReadAtMs = Number.NEGATIVE_INFINITY;
  readonly #throttled: ((user: User) => boolean)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The server was started a moment ago. */
  startUp({ rolesMs, storagesMs }: StartUp): void {
    const nowMs = this.#clock.monotonicMs();
    this.#rolesReadAtMs = nowMs + rolesMs;
    this.#storagesReadAtMs = nowMs + storagesMs;
  }

  /** From now on there is no share for these users; returns what ends that. */
  throttle(isThrottled: (user: User) => boolean): () => void {
    this.#throttled.push(isThrottled);
    return () => {
      this.#throttled.splice(this.#throttled.indexOf(isThrottled), 1);
    };
  }

  /** Before anything else is looked at. */
  checkShare(user: User): void {
    if (isStruck(user) && this.#throttled.some((isThrottled) => isThrottled(user))) throw new NoShare();
  }

  /** No role is known yet. */
  deniesAll(user: User): boolean {
    return isStruck(user) && this.#clock.monotonicMs() < this.#rolesReadAtMs;
  }

  checkStorages(user: User): void {
    if (!isStruck(user) || this.#clock.monotonicMs() >= this.#storagesReadAtMs) return;
    throw new ApiFailure(429, 'TooManyRequests', 'storage is (re)initializing', { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }
}

function isStruck({ groups }: User): boolean {
  return !groups.includes(MASTERS);
}
