import type { Clock } from '../../../ports/clock.ts';
import type { BareMetalHost } from '../../../ports/metal3.ts';
import type { HostFacts } from './host.ts';
import { readHost } from './read-host.ts';

interface Observation {
  uid: string;
  isOn: boolean | undefined;
  powerSeenMs: number;
  /** Since when nobody has written a status; undefined: somebody has. */
  emptySinceMs: number | undefined;
  /** By the key of the hold. */
  holds: Map<string, number>;
}

/** An operator that is restarted, or is busy with others, has looked at a new host by then. */
const UNSERVED_MS = 5 * 60_000;

/** Since when this process has seen hosts as they are, on its own clock: later than it was after a restart, never earlier. */
export class HostObservations {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** Keys of the reboot annotations whose age counts. */
  readonly #keys: readonly string[];
  /** By `namespace/name`. */
  readonly #observations = new Map<string, Observation>();
  readonly #resumedAtMs: () => number | undefined;

  /** `resumedAtMs`: since when the hosts are heard again, see Lister. */
  constructor(clock: Pick<Clock, 'monotonicMs'>, keys: readonly string[], resumedAtMs: () => number | undefined = () => undefined) {
    this.#clock = clock;
    this.#keys = keys;
    this.#resumedAtMs = resumedAtMs;
  }

  /** To be told of every version that comes, by watch or by read; of one that went by unseen in between nothing is known, and nothing is believed. */
  see(host: BareMetalHost): void {
    const { uid, namespace, name, isOn, annotations, provisioningState, operationalStatus } = readHost(host);
    const nowMs = this.#clock.monotonicMs();
    const before = this.#observations.get(`${namespace}/${name}`);
    const known = before?.uid === uid ? before : undefined;
    const holds = new Map<string, number>();
    for (const key of this.#keys) if (annotations[key] !== undefined) holds.set(key, known?.holds.get(key) ?? nowMs);
    const isSame = known !== undefined && known.isOn === isOn;
    const emptySinceMs = isOn === undefined && provisioningState === '' && operationalStatus === '' ? (known?.emptySinceMs ?? nowMs) : undefined;
    this.#observations.set(`${namespace}/${name}`, { uid, isOn, holds, powerSeenMs: isSame ? known.powerSeenMs : nowMs, emptySinceMs });
  }

  forget({ metadata: { namespace = '', name } }: BareMetalHost): void {
    this.#observations.delete(`${namespace}/${name}`);
  }

  /**
   * No operator serves it: the first thing that one does with any host is to write a status, and nobody has for minutes in which it could be heard. In doubt one
   * does.
   */
  isUnserved({ namespace, name, uid }: Pick<HostFacts, 'namespace' | 'name' | 'uid'>): boolean {
    const observation = this.#observations.get(`${namespace}/${name}`);
    if (observation?.emptySinceMs === undefined || observation.uid !== uid) return false;
    return this.#clock.monotonicMs() - Math.max(observation.emptySinceMs, this.#resumedAtMs() ?? 0) >= UNSERVED_MS;
  }

  /** The host as a remediation decides about it whose hold is `key`. It counts as seen now. */
  factsOf(host: BareMetalHost, key: string): HostFacts {
    this.see(host);
    const { isOn, ...facts } = readHost(host);
    const observation = this.#observations.get(`${facts.namespace}/${facts.name}`);
    const holdSeenMs = observation?.holds.get(key);
    return {
      ...facts,
      ...(isOn !== undefined && observation !== undefined && { power: { isOn, seenMs: observation.powerSeenMs } }),
      ...(holdSeenMs !== undefined && { holdSeenMs }),
    };
  }
}
