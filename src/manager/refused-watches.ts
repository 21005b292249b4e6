import { watchedBy } from './self-check/installed.ts';
import { ApiStatusError } from '../ports/api-transport.ts';
import type { Clock } from '../ports/clock.ts';
import type { Lister } from '../ports/cluster.ts';
import type { KubeObject } from '../ports/objects.ts';

/** As a reflector shows it. */
export interface Watched {
  name: string;
  lister: Pick<Lister<KubeObject>, 'synced'>;
  lastError: Error | undefined;
}

export interface RefusedWatchesParts {
  clock: Pick<Clock, 'after'>;
  watches: () => readonly Watched[];
  namespace: string;
  /** These words, and no others, stand for this topic in `nodefence status`. */
  say: (topic: string, words: readonly string[]) => void;
}

/** A watch that is refused for a moment, while an API server comes up, is synced by then. */
const TELL_MS = 30_000;
const TOPIC = 'watches';

/** What the API server does not let the controllers watch that run beside the one that fences: they wait for it, and nothing else of them says so. */
export class RefusedWatches {
  readonly #parts: RefusedWatchesParts;
  #cancel = (): void => undefined;

  constructor(parts: RefusedWatchesParts) {
    this.#parts = parts;
  }

  start(): void {
    const { clock, watches, namespace, say } = this.#parts;
    this.#cancel = clock.after(TELL_MS, () => {
      say(TOPIC, refusedIn(watches(), namespace));
      this.start();
    });
  }

  close(): void {
    this.#cancel();
  }
}

/** One sentence each; several watches of a kind are one. */
function refusedIn(watches: readonly Watched[], namespace: string): string[] {
  const words = watches.flatMap(({ name, lister, lastError }) => {
    const isRefused = lastError instanceof ApiStatusError && (lastError.status === 401 || lastError.status === 403);
    if (lister.synced || !isRefused) return [];
    const by = watchedBy(name, namespace);
    const mend = by === undefined ? '' : ` (mend it: ${by})`;
    return [`${name} can not be watched, and what is decided from them waits: ${lastError.message}${mend}`];
  });
  return [...new Set(words)].sort();
}
