import { statSync } from 'node:fs';
import { fenceName } from '../../domain/node-fence.ts';
import type { DrillFolder } from '../run/drill-folder.ts';
import { pause } from '../run/pause.ts';
import { isOver } from '../run/readiness.ts';
import type { FaultStage } from './script.ts';

/** About as long as a whole fence of the drill takes. */
const COURSE_MS = 14_000;
/** About as many steps as it has: changes of the NodeFence, and requests to the node's BMC. */
const COURSE_STEPS = 36;
/** After a step, so that what follows from it is hit at every place. */
const JITTER_MS = 25;
const POLL_MS = 4;
/** A fence that never takes so many steps is hit here. */
const LATEST_MS = 30_000;
/** Every third run is hit by the clock, the others by steps: the narrow places are where much happens at once. */
const SHARE_BY_CLOCK = 0.33;

/** Waits for a random moment of the fence that begins now, chosen by the seed; resolves with its description. */
export async function randomMoment(stage: FaultStage, fewestSteps = 0): Promise<string> {
  const { random } = stage.session;
  const [kind, place, jitter] = [random(), random(), random()];
  const delayMs = Math.round(place * COURSE_MS);
  const steps = fewestSteps + Math.floor(place * (COURSE_STEPS - fewestSteps));
  if (kind < SHARE_BY_CLOCK && fewestSteps === 0) {
    await pause(delayMs);
    return `${delayMs} ms after the fault`;
  }
  const seen = await untilStep(stage, steps);
  await pause(jitter * JITTER_MS);
  return `at step ${seen} of the fence`;
}

/** Resolves when the fence has taken so many steps, is over, or takes too long; with the number of steps seen. */
async function untilStep({ session, watcher, node }: FaultStage, steps: number): Promise<number> {
  const versions = new Set<string>();
  const device = new Tail(session.folder, `bmc-${node}`);
  const look = (): void => {
    const version = watcher.fences.get(fenceName(node))?.metadata.resourceVersion;
    if (version !== undefined) versions.add(version);
  };
  const unsubscribe = watcher.fences.onChange(look);
  const untilMs = session.now() + LATEST_MS;
  try {
    while (versions.size + device.lines() < steps && session.now() < untilMs && !isOver(watcher, node)) await pause(POLL_MS);
    return versions.size + device.lines();
  } finally {
    unsubscribe();
  }
}

/** How much a trace has grown. */
class Tail {
  /** A device event is about so long. */
  static readonly #LINE_BYTES = 190;
  readonly #path: string;
  readonly #from: number;

  constructor(folder: DrillFolder, name: string) {
    this.#path = folder.trace(name);
    this.#from = this.#size();
  }

  lines(): number {
    return Math.floor((this.#size() - this.#from) / Tail.#LINE_BYTES);
  }

  #size(): number {
    return statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0;
  }
}
