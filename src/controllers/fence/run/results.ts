import type { NodeFenceStatus } from '../../../domain/node-fence.ts';
import type { JobReport } from '../../../domain/snapshot.ts';
import type { Run } from './run.ts';

/** Runs under way in this process, and results that the journal does not hold yet. Bounded: one run a node. */
export class RunResults {
  readonly #inFlight = new Map<string, Set<string>>();
  readonly #finished = new Map<string, JobReport[]>();

  of(node: string): { inFlight: ReadonlySet<string>; reports: readonly JobReport[] } {
    return { inFlight: this.#inFlight.get(node) ?? new Set(), reports: this.#finished.get(node) ?? [] };
  }

  isUnderWay(node: string): boolean {
    return this.#inFlight.has(node);
  }

  /** Nodes with results that the journal does not hold yet. */
  nodes(): readonly string[] {
    return [...this.#finished.keys()];
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

  /** Results that now stand in the journal need not be kept. */
  forget(node: string, status: NodeFenceStatus | undefined): void {
    const reports = this.#finished.get(node);
    if (reports === undefined) return;
    const open = new Set(status?.journal.filter((entry) => entry.finishedAt === undefined).map((entry) => entry.id));
    const left = reports.filter((report) => open.has(report.id));
    if (left.length === 0) this.#finished.delete(node);
    else this.#finished.set(node, left);
  }
}
