import type { PowerState } from '../../src/ports/agents.ts';
import type { Call } from '../shared/call.ts';

/** Instances of which something is remembered; the oldest are forgotten first. */
const REMEMBERED_MAX = 1_024;

class Bounded<V> {
  readonly #values = new Map<string, V>();

  get(key: string): V | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: V): void {
    this.#values.delete(key);
    this.#values.set(key, value);
    const oldest = this.#values.size > REMEMBERED_MAX ? this.#values.keys().next().value : undefined;
    if (oldest !== undefined) this.#values.delete(oldest);
  }

  delete(key: string): void {
    this.#values.delete(key);
  }
}

/** An operation that we asked for. */
export interface OwnOperation {
  name: string;
  wanted: 'on' | 'off' | 'gone';
  instanceId: string;
  /** How it ended without effect, in the cloud's words; undefined while that is not known. */
  failure?: string;
}

/** What was learnt of instances, by their path. It may be forgotten at any time: then the state alone decides. */
export class Memory {
  /** Those that are not known to have ended well. */
  readonly operations = new Bounded<OwnOperation>();
  /** Groups that made instances, by their path, for the one of this id alone: a group may take the name of one that it did not make. */
  readonly groups = new Bounded<{ id: string; group: string | undefined }>();
  /** Ids of instances that we asked to be deleted, by their path. */
  readonly deletions = new Bounded<string>();
  readonly #incidents = new Bounded<string>();

  /**
   * Why this is not the instance that was first seen in this incident; undefined: it is. Once that one was off, another may take its place: groups recreate
   * what is stopped.
   */
  replaced({ target }: Call, path: string, { id, state }: { id: string; state: PowerState }): string | undefined {
    if (target.incident === undefined) return undefined;
    const key = `${target.incident} ${path}`;
    const first = this.#incidents.get(key) ?? id;
    if (state !== 'off') this.#incidents.set(key, first);
    else if (first === id) this.#incidents.delete(key);
    return first === id ? undefined : `it was replaced during this fence: another instance bears its name, with id ${id} instead of ${first}`;
  }
}
