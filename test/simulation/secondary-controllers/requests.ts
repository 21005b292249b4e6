import type { ApiEvent } from '../../../src/laws/trace.ts';
import type { ObjectMeta } from '../../../src/ports/objects.ts';

/** Kinds of requests whose end is watched. */
const KINDS: ReadonlySet<string> = new Set(['nodefenceremediations.ha.k8s.io']);
const ENDS: ReadonlySet<string> = new Set(['Succeeded', 'Failed', 'Stopped']);
/** It says why it waits, and has said nothing else for longer than any time that a request of these worlds has. */
const WAITS_MS = 180_000;

interface Known {
  metadata: ObjectMeta;
  status?: { phase?: string; conditions?: { type?: string; message?: string }[] };
}

interface Standing {
  object: Known;
  changedAtMs: number;
}

/** Requests as the API server has stored them last: each ends, or says why it waits. */
export class Requests {
  readonly #now: () => number;
  readonly #standing = new Map<string, Standing>();

  constructor(now: () => number) {
    this.#now = now;
  }

  hear(event: ApiEvent): void {
    if (!KINDS.has(event.resource) || event.status >= 300 || event.object === undefined || !isWrite(event)) return;
    const object = event.object as Known;
    const key = `${event.resource} ${object.metadata.name}`;
    const isGoing = event.verb === 'delete' || object.metadata.deletionTimestamp !== undefined;
    if (isGoing && (object.metadata.finalizers ?? []).length === 0) this.#standing.delete(key);
    else this.#standing.set(key, { object, changedAtMs: this.#now() });
  }

  /** When the last one was written that still stands. */
  get changedAtMs(): number {
    return Math.max(0, ...[...this.#standing.values()].map(({ changedAtMs }) => changedAtMs));
  }

  /** Those of which more is to be expected, each in words. */
  open(): string[] {
    return [...this.#standing].flatMap(([key, standing]) => {
      const { metadata, status } = standing.object;
      const isOver = metadata.deletionTimestamp === undefined && ENDS.has(status?.phase ?? '');
      const waitedMs = this.#now() - standing.changedAtMs;
      const why = status?.conditions?.find(({ type }) => type === 'Processing')?.message ?? '';
      if (isOver || (why !== '' && waitedMs > WAITS_MS)) return [];
      const going = metadata.deletionTimestamp === undefined ? '' : ', which is being deleted,';
      return [`${key}${going} stands as ${status?.phase ?? 'new'} for ${(waitedMs / 1_000).toFixed(0)} s: ${why === '' ? 'it says nothing' : why}`];
    });
  }
}

function isWrite({ verb }: ApiEvent): boolean {
  return verb === 'create' || verb === 'update' || verb === 'patch' || verb === 'delete';
}
