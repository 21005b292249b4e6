import { timestamp } from '../../../ports/clock.ts';
import type { NodeFence } from '../../../ports/resources.ts';
import type { FenceDependencies } from '../dependencies.ts';
import { KeptDiagnostics } from '../diagnostics/kept-diagnostics.ts';
import { isFirstCut, stateReadEntry, showingMethod } from '../diagnostics/occasion.ts';
import { guardOf } from '../guard.ts';
import type { DeviceRuns } from './device-runs.ts';
import type { Run } from './run.ts';

/** When the failure diagnostics of a machine are taken: before the first call that destroys them, or while a preserved one is held. */
export class FailureDiagnostics {
  readonly #dependencies: FenceDependencies;
  readonly #devices: DeviceRuns;
  readonly #kept: KeptDiagnostics;

  constructor(dependencies: FenceDependencies, devices: DeviceRuns) {
    this.#dependencies = dependencies;
    this.#devices = devices;
    this.#kept = new KeptDiagnostics(dependencies);
  }

  /** A system that has lost its storage panics: of a preserved machine that is the first thing that changes what there is to see. */
  isDueBefore({ kind, entry, status, node }: Run): boolean {
    if (!this.#kept.isAsked || kind !== 'run' || !isFirstCut(entry, status)) return false;
    return entry.step === 'power-management' || guardOf(this.#dependencies, node)?.kind === 'isolate-and-hold';
  }

  /** Before the API server is asked whether the run may begin, so that the off rests on nothing old. Resolves with words for the journal. */
  async takeBefore(run: Run): Promise<string> {
    const { entry, status, fence, operation } = run;
    const { frozen } = status;
    const method = entry.step === 'isolation' && frozen !== undefined ? showingMethod(frozen.plan) : operation?.method;
    if (frozen === undefined || method === undefined) return '';
    return this.#kept.take(fence.metadata.uid ?? '', status.incident, this.#devices.jobFor(run, frozen, method));
  }

  /** Of a preserved machine to which nothing is done, once; whoever works on it later may change it. */
  takeOfPreserved(fence: NodeFence): void {
    const { clock, log } = this.#dependencies;
    const { status } = fence;
    const method = status?.frozen === undefined ? undefined : showingMethod(status.frozen.plan);
    if (!this.#kept.isAsked || status?.frozen === undefined || method === undefined) return;
    const { node } = fence.spec;
    const entry = stateReadEntry(method, status, timestamp(clock));
    const run: Run = { node, fence, status, entry, operation: undefined, kind: 'run', intentAtMs: clock.monotonicMs() };
    this.#kept
      .take(fence.metadata.uid ?? '', status.incident, this.#devices.jobFor(run, status.frozen, method))
      .catch((error: unknown) => log.info('no diagnostics collected', { node, error: String(error) }));
  }
}
