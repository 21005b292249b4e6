import type { Lease } from '../../../ports/objects.ts';
import type { Candidate } from './decision.ts';

/** One Lease with an annotation for each replica that stands for election; nobody holds it. */
export const CANDIDATES_LEASE = 'nodefence-candidates';
const PREFIX = 'candidate.nodefence.ha.k8s.io/';
/** How often a candidate says so. */
export const ANNOUNCE_MS = 30_000;
/** Three announcements missed: it is gone. */
const ALIVE_MS = 3 * ANNOUNCE_MS;
/** After this its annotation is removed by whoever announces himself next. */
const FORGOTTEN_MS = 600_000;
/** Whoever else can write the Lease: no more than this is read. */
const CANDIDATES_MAX = 32;

interface Observation {
  value: string;
  sinceMs: number;
}

/** What was heard of the other replicas, and when, on our own clock: an announcement that does not change any more is none. */
export class Candidates {
  readonly #ownKey: string;
  readonly #observations = new Map<string, Observation>();

  constructor(ownId: string) {
    this.#ownKey = PREFIX + ownId;
  }

  see(lease: Lease | undefined, nowMs: number): void {
    const entries = Object.entries(lease?.metadata.annotations ?? {}).filter(([key]) => key.startsWith(PREFIX) && key !== this.#ownKey);
    const known = new Map(entries.slice(0, CANDIDATES_MAX));
    for (const key of [...this.#observations.keys()]) if (!known.has(key)) this.#observations.delete(key);
    for (const [key, value] of known) if (this.#observations.get(key)?.value !== value) this.#observations.set(key, { value, sinceMs: nowMs });
  }

  at(nowMs: number): Candidate[] {
    return [...this.#observations].flatMap(([key, { value, sinceMs }]) => {
      const said = read(value);
      return said === undefined ? [] : [{ ...said, id: key.slice(PREFIX.length), isAlive: nowMs - sinceMs <= ALIVE_MS }];
    });
  }

  /** The annotations of our next announcement, with `null` for whoever is long gone. */
  announcement(said: { node: string | undefined; mode: Candidate['mode']; count: number }, nowMs: number): Record<string, string | null> {
    const gone = [...this.#observations].filter(([, { sinceMs }]) => nowMs - sinceMs > FORGOTTEN_MS).map(([key]) => [key, null] as const);
    return { ...Object.fromEntries(gone), [this.#ownKey]: JSON.stringify(said) };
  }

  /** Takes our own announcement back. */
  farewell(): Record<string, null> {
    return { [this.#ownKey]: null };
  }
}

/** What another process wrote; `undefined` when it makes no sense. */
function read(value: string): Pick<Candidate, 'node' | 'mode'> | undefined {
  try {
    const { node, mode } = JSON.parse(value) as { node?: unknown; mode?: unknown };
    if (mode !== 'observe' && mode !== 'enforce') return undefined;
    return { mode, ...(typeof node === 'string' && node !== '' ? { node } : {}) };
  } catch {
    return undefined;
  }
}
