import type { ManagerFacts, PreservationChoice, PreservationMode } from '../../config/preservation-mode.ts';
import type { PreservationDependencies } from '../../controllers/preservation/dependencies.ts';
import { Waiting } from '../../controllers/preservation/waiting.ts';
import type { Reflector } from '../../kube/reflector.ts';
import type { KubeObject } from '../../ports/objects.ts';
import type { NodeGuard, Preservation } from '../../ports/preservation.ts';
import type { ControllerOptions } from '../composition.ts';
import { GatedController } from '../gated-controller.ts';
import type { Built, Controller } from '../gated-controller.ts';
import { readManagerFacts } from './manager-facts.ts';
import type { MachineAccess, WatchedMachines } from './machine-side.ts';
import { modeGate } from './mode-gate.ts';

const NO_POOLS: ReturnType<PreservationDependencies['pools']>['pools'] = new Map();

/** The controller, as far as it is handled here. */
export interface ModeController extends Preservation, Controller {
  /** For another mode over the same watches. */
  configure(options: PreservationDependencies['options']): void;
}

export interface GatedPreservationParts {
  choice: PreservationChoice;
  detection: Pick<ControllerOptions, 'detectionRestMs'>;
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

/** Whose objects a controller watches: of the Nodes in any case. */
type Watched = 'nodes' | 'nodes and machines';

/** Until it is known whether there are Machines, a fence waits before power-management, and no longer than this: a call may take 10 s, and each answer a few. */
const UNKNOWN_MS = 60_000;
/** Of the Nodes alone, and nothing is written: what is done until anything is known. */
const UNDECIDED: PreservationMode = { mode: 'observe', readsMachines: false, hasExpiryField: true, spelling: 'auto-preserve', reasons: [] };

/** Preservation in whichever mode is right now: one controller at a time, replaced where Machines come to be watched, or no longer are. */
export class GatedPreservation implements Preservation {
  readonly #parts: GatedPreservationParts;
  readonly #gated: GatedController<ManagerFacts, Watched, ModeController>;
  readonly #listeners = new Set<(nodes: readonly string[]) => void>();
  #mode: PreservationMode | undefined;
  readonly #waiting: Waiting;
  #cancelUnknown: () => void = () => undefined;

  constructor(parts: GatedPreservationParts) {
    this.#parts = parts;
    const { machines, base, choice, detection } = parts;
    const { clock, log } = base;
    this.#waiting = new Waiting(clock);
    this.#gated = new GatedController<ManagerFacts, Watched, ModeController>({ clock, logger: log }, detection, {
      question: 'whether an MCM is at work',
      find: () => readManagerFacts(machines, base.nodes.listers.nodes.all(), clock.wallMs()),
      gate: modeGate({ clock, log, choice, onMode: (mode) => this.#change(mode) }),
      build: (watched) => this.#build(watched),
    });
  }

  get watches(): readonly Reflector<KubeObject>[] {
    return this.#gated.watches;
  }

  get reflectors(): readonly Reflector<KubeObject>[] {
    return this.#gated.reflectors;
  }

  /** Called when the Nodes are synced; nothing waits for the Machines. */
  start(): void {
    this.#waiting.start(this.#parts.base.leadership.isLeading);
    this.#awaitMode();
    this.#gated.run([watchedIn(UNDECIDED)]);
    this.#gated.start();
  }

  /** Looks soon: leadership has come, or pools have changed. */
  wake(): void {
    if (this.#parts.base.leadership.isLeading && this.#waiting.leads()) this.#awaitMode();
    this.#gated.wake();
  }

  close(): Promise<void> {
    this.#cancelUnknown();
    return this.#gated.close();
  }

  /** Who waits for the mode is told when that ends. */
  #awaitMode(): void {
    const { clock } = this.#parts.base;
    this.#cancelUnknown();
    this.#cancelUnknown = clock.after(UNKNOWN_MS, () => {
      if (this.#mode === undefined) this.#notifyAll();
    });
  }

  guardOf(node: string): NodeGuard | 'unknown' | undefined {
    const [controller] = this.#gated.controllers;
    const guard = controller?.guardOf(node);
    if (guard !== undefined || this.#mode !== undefined || controller === undefined) return guard;
    return this.#waiting.forMs < UNKNOWN_MS ? 'unknown' : undefined;
  }

  isPreserved(node: string): boolean {
    return this.#gated.controllers.some((controller) => controller.isPreserved(node));
  }

  onChange(listener: (nodes: readonly string[]) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #change(mode: PreservationMode): void {
    const before = this.#mode;
    this.#mode = mode;
    const kept = new Set(this.#gated.controllers);
    this.#gated.run(mode.mode === 'off' ? [] : [watchedIn(mode)]);
    for (const controller of this.#gated.controllers) if (kept.has(controller)) controller.configure(optionsOf(mode, this.#parts.enforce));
    this.#announce(before, mode);
    this.#notifyAll();
  }

  #build(watched: Watched): Built<ModeController> {
    const { base, watchMachines, controllerOf, enforce } = this.#parts;
    const machines = watched === 'nodes' ? undefined : watchMachines();
    const options = this.#mode === undefined ? optionsOf(UNDECIDED, false) : optionsOf(this.#mode, enforce);
    // Until it is known whether there are Machines nobody can tell what belongs to a pool.
    const pools = (): ReturnType<typeof base.pools> => (this.#mode === undefined ? { ...base.pools(), pools: NO_POOLS } : base.pools());
    const controller = controllerOf({ ...base, pools, ...(machines !== undefined && { machines }), options });
    controller.onChange((nodes) => {
      if (this.#gated.controllers.includes(controller)) this.#notify(nodes);
    });
    return { controller, reflectors: machines?.reflectors ?? [] };
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

  #notifyAll(): void {
    this.#notify([...this.#parts.base.nodes.listers.nodes.all()].map(({ metadata }) => metadata.name));
  }

  #notify(nodes: readonly string[]): void {
    for (const listener of this.#listeners) listener(nodes);
  }
}

function watchedIn({ readsMachines }: PreservationMode): Watched {
  return readsMachines ? 'nodes and machines' : 'nodes';
}

/** An MCM that does not know preservation is asked for nothing. */
function optionsOf({ mode, hasExpiryField, spelling }: PreservationMode, enforce: boolean): PreservationDependencies['options'] {
  const isOwn = mode === 'own';
  return { mode: isOwn ? 'own' : 'observe', hasExpiryField, spelling, requestsWhenFailed: !isOwn && hasExpiryField, enforce };
}
