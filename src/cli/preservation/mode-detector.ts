import { detectMode, signsOf } from '../../config/preservation-mode.ts';
import type { ManagerFacts, ManagerLease, PreservationChoice, PreservationMode } from '../../config/preservation-mode.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/recorder.ts';

export interface ModeDetectorOptions {
  clock: Clock;
  log: Logger;
  choice: PreservationChoice;
  read: () => Promise<ManagerFacts>;
  /** Called when what is to be done differs from before; the first time as soon as it is known. */
  onMode: (mode: PreservationMode) => void;
}

/** An MCM renews its Lease every few seconds; while its part is ours, it must be seen before it does much. */
const OWN_LOOK_MS = 10_000;
const LOOK_MS = 30_000;
/** After a look that told nothing. */
const AGAIN_MS = 5_000;

/** Looks again and again whether an MCM is at work: one that appears later ends our part, and one that is gone for good begins it. */
export class ModeDetector {
  readonly #options: ModeDetectorOptions;
  readonly #closing = new AbortController();
  #leases = new Map<string, number | undefined>();
  /** Monotonic. */
  #signAtMs: number | undefined;
  #told: PreservationMode | undefined;
  #failure = '';
  #running: Promise<void> = Promise.resolve();

  constructor(options: ModeDetectorOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running = this.#run();
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('the detection of an MCM is closed'));
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const restMs = await this.#look();
      await clock.sleep(restMs, signal).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
    }
  }

  /** Returns when to look again. */
  async #look(): Promise<number> {
    const { log, read, choice } = this.#options;
    let found: ManagerFacts;
    try {
      found = await read();
    } catch (error) {
      const words = error instanceof Error ? error.message : String(error);
      if (words !== this.#failure) log.warn('whether an MCM is at work could not be looked at', { error: words });
      this.#failure = words;
      return AGAIN_MS;
    }
    this.#failure = '';
    if (this.#closing.signal.aborted) return AGAIN_MS;
    const mode = detectMode(choice, this.#remembered(found));
    this.#tell(mode);
    return mode.mode === 'own' ? OWN_LOOK_MS : LOOK_MS;
  }

  /** With what only several looks show: renewals, and how long it has been quiet. */
  #remembered(found: ManagerFacts): ManagerFacts {
    const nowMs = this.#options.clock.monotonicMs();
    const leases = found.leases.map((lease): ManagerLease => {
      const key = `${lease.namespace}/${lease.name} ${lease.holder}`;
      return this.#leases.has(key) ? { ...lease, hasMoved: this.#leases.get(key) !== lease.renewedMs } : lease;
    });
    this.#leases = new Map(found.leases.map(({ namespace, name, holder, renewedMs }) => [`${namespace}/${name} ${holder}`, renewedMs]));
    const facts = { ...found, leases };
    if (signsOf(facts).length > 0) this.#signAtMs = nowMs;
    return { ...facts, ...(this.#signAtMs !== undefined && { quietForMs: nowMs - this.#signAtMs }) };
  }

  #tell(mode: PreservationMode): void {
    const before = this.#told;
    const isSame =
      before?.mode === mode.mode &&
      before.readsMachines === mode.readsMachines &&
      before.hasExpiryField === mode.hasExpiryField &&
      // Beside an MCM no automatic value is ever written.
      (mode.mode !== 'own' || before.spelling === mode.spelling);
    if (isSame) return;
    this.#told = mode;
    this.#options.log.info('preservation of machines', { preservation: mode.mode, reason: mode.reasons.join('; ') });
    this.#options.onMode(mode);
  }
}
