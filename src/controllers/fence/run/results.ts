import type { JournalEntry, NodeFenceStatus } from '../../../domain/node-fence.ts';
import type { JobReport } from '../../../domain/snapshot.ts';
import type { Run } from './run.ts';

/** Intents of a node whose write may arrive late: each waits for its answer, or for a while, so that older ones have come to nothing. */
const NEVER_BEGUN_MAX = 8;

/** Runs under way in this process, and results that the journal does not hold yet. Bounded: one run a node. */
export class RunResults {
  readonly #inFlight = new Map<string, Set<string>>();
  readonly #finished = new Map<string, JobReport[]>();
  /** Of runs that never began, as nobody has heard that their intents stand. */
  readonly #neverBegun = new Map<string, JobReport[]>();

  of(node: string): { inFlight: ReadonlySet<string>; reports: readonly JobReport[] } {
    return { inFlight: this.#inFlight.get(node) ?? new Set(), reports: [...(this.#finished.get(node) ?? []), ...(this.#neverBegun.get(node) ?? [])] };
  }

  isUnderWay(node: string): boolean {
    return this.#inFlight.has(node);
  }

  /** Nodes with results that the journal does not hold yet. */
  nodes(): readonly string[] {
    return [...new Set([...this.#finished.keys(), ...this.#neverBegun.keys()])];
  }

  begin({ node, entry }: Run): void {
    const ids = this.#inFlight.get(node) ?? new Set<string>();
    ids.add(entry.id);
    this.#inFlight.set(node, ids);
  }

  /** `undefined`: nobody knows what came of it, and the intent stays open. */
  end({ node, entry }: Run, report: JobReport | undefined): void {
    const ids = this.#inFlight.get(node);
    ids?.delete(entry.id);
    if (ids?.size === 0) this.#inFlight.delete(node);
    if (report !== undefined) this.#finished.set(node, [...(this.#finished.get(node) ?? []), report]);
  }

  /** Its intent may stand all the same, now or later: then this is what came of it. */
  neverBegan(node: string, report: JobReport): void {
    this.#neverBegun.set(node, [...(this.#neverBegun.get(node) ?? []), report].slice(-NEVER_BEGUN_MAX));
  }

  /** Results that now stand in the journal need not be kept. */
  forget(node: string, status: NodeFenceStatus | undefined): void {
    const stored = (id: string): JournalEntry | undefined => status?.journal.find((entry) => entry.id === id);
    const isOpen = (id: string): boolean => stored(id)?.finishedAt === undefined;
    keep(this.#finished, node, ({ id }) => stored(id) !== undefined && isOpen(id));
    keep(this.#neverBegun, node, ({ id }) => status !== undefined && isOpen(id));
  }
}

function keep(results: Map<string, JobReport[]>, node: string, isWanted: (report: JobReport) => boolean): void {
  const left = results.get(node)?.filter(isWanted) ?? [];
  if (left.length === 0) results.delete(node);
  else results.set(node, left);
}
