import type { ApiEvent } from '../../../src/laws/trace.ts';
import { OUT_OF_SERVICE_KEY } from './ways.ts';

const MINUTE_MS = 60_000;
/** The leader's clock may be fast by a hundredth, and what it sends is late by as much as the API is rough. */
const TOLERANCE_MS = 3_000;

/** `pods_per_minute` from outside: of one node's pods no more are let go within a minute, each counted once, until the taint takes what is left. */
export class PaceTruth {
  readonly #podsPerMinute: number;
  /** By node: the pods that were let go, by uid, and when first. */
  readonly #letGo = new Map<string, Map<string, number>>();
  readonly #tainted = new Set<string>();
  #count = 0;

  constructor(podsPerMinute: number) {
    this.#podsPerMinute = podsPerMinute;
  }

  /** How many pods were let go by batches. */
  get count(): number {
    return this.#count;
  }

  nodeHeard(node: string, object: unknown): void {
    const taints = (object as { spec?: { taints?: { key?: string }[] } } | undefined)?.spec?.taints ?? [];
    this.#tainted[taints.some(({ key }) => key === OUT_OF_SERVICE_KEY) ? 'add' : 'delete'](node);
  }

  /** A pod was let go, by a deletion or an eviction that the API server took. */
  letGo(node: string, uid: string, nowMs: number): string | undefined {
    const known = this.#letGo.get(node) ?? new Map<string, number>();
    this.#letGo.set(node, known);
    if (this.#tainted.has(node) || known.has(uid)) return undefined;
    known.set(uid, nowMs);
    this.#count += 1;
    const within = [...known.values()].filter((atMs) => nowMs - atMs < MINUTE_MS - TOLERANCE_MS).length;
    return within > this.#podsPerMinute
      ? `${within} pods of ${node} were let go within a minute, where pods_per_minute is ${this.#podsPerMinute}`
      : undefined;
  }
}

/** Of a controller: the pod that it deletes by force or evicts, by `namespace/name`. */
export function podLetGoBy({ resource, subresource, verb, namespace = '', name = '', request }: ApiEvent): string | undefined {
  if (resource !== 'pods') return undefined;
  const isEviction = verb === 'create' && subresource === 'eviction';
  if (!isEviction && verb !== 'delete') return undefined;
  const options = (isEviction ? (request as { deleteOptions?: unknown } | undefined)?.deleteOptions : request) as
    | { gracePeriodSeconds?: number }
    | undefined;
  return options?.gracePeriodSeconds === 0 ? `${namespace}/${name}` : undefined;
}
