import type { ManagerFacts, PreservationChoice, PreservationMode } from '../../config/preservation-mode.ts';
import type { PreservationDependencies } from '../../controllers/preservation/dependencies.ts';
import type { Reflector } from '../../kube/reflector.ts';
import type { KubeObject } from '../../ports/objects.ts';
import type { NodeGuard, Preservation } from '../../ports/preservation.ts';
import type { Detector } from '../detection/detector.ts';
import { readManagerFacts } from './manager-facts.ts';
import type { MachineAccess, WatchedMachines } from './machine-side.ts';
import { modeDetector } from './mode-detector.ts';

/** The controller, as far as it is handled here. */
export interface ModeController extends Preservation {
  start(): void;
  close(): Promise<void>;
  /** For another mode over the same watches. */
  configure(options: PreservationDependencies['options']): void;
  /** Looks soon. */
  wake(): void;
}

export interface WatchedPreservationParts {
  choice: PreservationChoice;
  leastRestMs?: number | undefined;
  /** The whole program enforces; else nothing is written. */
  enforce: boolean;
  machines: MachineAccess;
  /** What every mode's controller is given. */
  base: Omit<PreservationDependencies, 'machines' | 'options'>;
  watchMachines: () => WatchedMachines;
  controllerOf: (dependencies: PreservationDependencies) => ModeController;
  /** What the Events of a changed mode are about; undefined: nothing is there yet. */
  about: () => KubeObject | undefined;
}

interface Part {
  controller: ModeController;
  readsMachines: boolean;
  machines: WatchedMachines | undefined;
  unsubscribe: () => void;
}

/** Until it is known whether there are Machines, a fence waits before power-management, and no longer than this. */
const UNKNOWN_MS = 30_000;
/** Of the Nodes alone, and nothing is written: what is done until anything is known. */
const UNTOLD: PreservationMode = { mode: 'observe', readsMachines: false, hasExpiryField: true, spelling: 'auto-preserve', reasons: [] };

/** Preservation in whichever mode is right now: one controller at a time, replaced where Machines come to be watched, or no longer are. */
export class WatchedPreservation implements Preservation {
  readonly #parts: WatchedPreservationParts;
  readonly #detector: Detector<ManagerFacts>;
  readonly #listeners = new Set<(nodes: readonly string[]) => void>();
  #part: Part | undefined;
  #mode: PreservationMode | undefined;
  #unknownUntilMs = 0;
  #isClosed = false;
  #leaving: Promise<unknown> = Promise.resolve();

  constructor(parts: WatchedPreservationParts) {
    this.#parts = parts;
    const { machines, base, choice, leastRestMs } = parts;
    const read = () => readManagerFacts(machines, base.nodes.listers.nodes.all(), base.clock.wallMs());
    const onMode = (mode: PreservationMode): void => this.#change(mode);
    this.#detector = modeDetector({ clock: base.clock, log: base.log, choice, read, onMode, leastRestMs });
  }

  /** Of the Machines, while they are watched. */
  get reflectors(): readonly Reflector<KubeObject>[] {
    return this.#part?.machines?.reflectors ?? [];
  }

  /** Called when the Nodes are synced; nothing waits for the Machines. */
  start(): void {
    const { base } = this.#parts;
    this.#unknownUntilMs = base.clock.monotonicMs() + UNKNOWN_MS;
    this.#begin(UNTOLD, false);
    this.#detector.start();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#detector.close();
    this.#end();
    await this.#leaving;
  }

  guardOf(node: string): NodeGuard | 'unknown' | undefined {
    const guard = this.#part?.controller.guardOf(node);
    if (guard !== undefined || this.#mode !== undefined || this.#part === undefined) return guard;
    return this.#parts.base.clock.monotonicMs() < this.#unknownUntilMs ? 'unknown' : undefined;
  }

  /** Looks soon: leadership has come, or pools have changed. */
  wake(): void {
    this.#part?.controller.wake();
  }

  isPreserved(node: string): boolean {
    return this.#part?.controller.isPreserved(node) === true;
  }

  onChange(listener: (nodes: readonly string[]) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #change(mode: PreservationMode): void {
    if (this.#isClosed) return;
    const before = this.#mode;
    this.#mode = mode;
    const part = this.#part;
    if (mode.mode !== 'off' && part?.readsMachines === mode.readsMachines) part.controller.configure(optionsOf(mode, this.#parts.enforce));
    else {
      this.#end();
      if (mode.mode !== 'off') this.#begin(mode, this.#parts.enforce);
    }
    this.#announce(before, mode);
    this.#tellAll();
  }

  #begin(mode: PreservationMode, enforce: boolean): void {
    const { base, watchMachines, controllerOf } = this.#parts;
    const machines = mode.readsMachines ? watchMachines() : undefined;
    const options = optionsOf(mode, enforce);
    const controller = controllerOf({ ...base, ...(machines !== undefined && { machines }), options });
    const unsubscribe = controller.onChange((nodes) => this.#tell(nodes));
    this.#part = { controller, readsMachines: mode.readsMachines, machines, unsubscribe };
    for (const reflector of machines?.reflectors ?? []) reflector.start();
    controller.start();
  }

  #end(): void {
    const part = this.#part;
    if (part === undefined) return;
    this.#part = undefined;
    part.unsubscribe();
    const closing = part.controller.close().catch((error: unknown) => {
      this.#parts.base.log.warn('a preservation controller did not end in order', { error: String(error) });
    });
    this.#leaving = Promise.all([this.#leaving, closing]);
    for (const reflector of part.machines?.reflectors ?? []) reflector.close();
  }

  #announce(before: PreservationMode | undefined, mode: PreservationMode): void {
    const { base, about } = this.#parts;
    const object = about();
    if (object === undefined || !base.leadership.isLeading) return;
    const why = mode.reasons.join('; ');
    if (before?.mode === 'own')
      base.nodes.recorder.event(object, 'Warning', 'PreservationHandedOver', `preservation of machines: ${mode.mode}, no longer own: ${why}`);
    else if (before !== undefined)
      base.nodes.recorder.event(object, 'Normal', 'PreservationModeChanged', `preservation of machines: ${mode.mode}: ${why}`);
    if (mode.mode === 'own' && !mode.hasExpiryField) {
      base.nodes.recorder.event(
        object,
        'Warning',
        'PreservationUnsupported',
        'the Machine definition has no preserveExpiryTime: Machines are not preserved',
      );
    }
  }

  #tell(nodes: readonly string[]): void {
    for (const listener of this.#listeners) listener(nodes);
  }

  #tellAll(): void {
    this.#tell([...this.#parts.base.nodes.listers.nodes.all()].map(({ metadata }) => metadata.name));
  }
}

/** An MCM that does not know preservation is asked for nothing. */
function optionsOf({ mode, hasExpiryField, spelling }: PreservationMode, enforce: boolean): PreservationDependencies['options'] {
  const isOwn = mode === 'own';
  return { mode: isOwn ? 'own' : 'observe', hasExpiryField, spelling, requestsWhenFailed: !isOwn && hasExpiryField, enforce };
}
