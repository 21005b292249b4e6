import { afterProbe, isLost, NEVER_PROBED } from '../../domain/node-daemon/storage-loss.ts';
import type { StorageLossTimes, StorageRun } from '../../domain/node-daemon/storage-loss.ts';
import type { StorageFound } from '../../ports/node-checks.ts';

/** Whether the named storage is lost for so long that the node takes itself down. */
export class StorageWatch {
  readonly #times: StorageLossTimes;
  readonly #runs = new Map<string, StorageRun>();
  #lostAtMs: number | undefined;

  constructor(times: StorageLossTimes) {
    this.#times = times;
  }

  /** Undefined: it is not, or was found again. */
  get lostAtMs(): number | undefined {
    return this.#lostAtMs;
  }

  probed(targets: readonly StorageFound[], nowMs: number): void {
    for (const { path, reach } of targets) this.#runs.set(path, afterProbe(this.#runs.get(path) ?? NEVER_PROBED, reach, nowMs, this.#times));
    const isAnyLost = [...this.#runs.values()].some((run) => isLost(run, this.#times));
    this.#lostAtMs = isAnyLost ? (this.#lostAtMs ?? nowMs) : undefined;
  }

  /** The machine slept, or the check did not end: nobody probed meanwhile. */
  interrupt(): void {
    for (const [path, { hasAnswered }] of this.#runs) this.#runs.set(path, { hasAnswered });
    this.#lostAtMs = undefined;
  }
}
