import type { Reflector } from '../../kube/reflector.ts';
import type { KubeObject } from '../../ports/objects.ts';
import type { Logger } from '../../ports/recorder.ts';
import type { Detector } from '../detection/detector.ts';
import type { FamilyDetectorOptions, FoundFamilies } from './family-detector.ts';
import type { ServedFamily } from './mode.ts';

/** The controller of one group, with its watches. */
export interface FamilyPart {
  controller: { start(): void; wake(): void; close(): Promise<void>; problems(): string[] };
  reflectors: readonly Reflector<KubeObject>[];
  /** It has been told to end. */
  ended: () => void;
}

export interface WatchedHealthChecksParts {
  log: Logger;
  /** Calls back with all groups that are ours. */
  detectorOf: (onOwn: FamilyDetectorOptions['onOwn']) => Detector<FoundFamilies>;
  /** Nothing of it is started yet. */
  partOf: (family: ServedFamily) => FamilyPart;
}

/** Health checks for as long as they are ours: one controller for each group, ended where another controller is seen. */
export class WatchedHealthChecks {
  readonly #parts: WatchedHealthChecksParts;
  readonly #detector: Detector<FoundFamilies>;
  readonly #running = new Map<string, FamilyPart>();
  #leaving: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(parts: WatchedHealthChecksParts) {
    this.#parts = parts;
    this.#detector = parts.detectorOf((families) => {
      this.#change(families);
    });
  }

  /** Once they are synced: what may not be read makes nobody unready. */
  get reflectors(): readonly Reflector<KubeObject>[] {
    return [...this.#running.values()].flatMap(({ reflectors }) => reflectors.filter(({ lister }) => lister.synced));
  }

  /** Called when the Nodes are synced. */
  start(): void {
    this.#detector.start();
  }

  /** Leadership has come. */
  wake(): void {
    for (const { controller } of this.#running.values()) controller.wake();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#detector.close();
    this.#retain(new Set());
    await this.#leaving;
  }

  problems(): string[] {
    return [...this.#running.values()].flatMap(({ controller }) => controller.problems());
  }

  #change(families: readonly ServedFamily[]): void {
    if (this.#isClosed) return;
    const wanted = new Map(families.map((family) => [JSON.stringify(family), family]));
    this.#retain(new Set(wanted.keys()));
    for (const [key, family] of wanted) {
      if (this.#running.has(key)) continue;
      const part = this.#parts.partOf(family);
      this.#running.set(key, part);
      for (const reflector of part.reflectors) reflector.start();
      part.controller.start();
    }
  }

  #retain(keys: ReadonlySet<string>): void {
    for (const [key, { controller, reflectors, ended }] of [...this.#running]) {
      if (keys.has(key)) continue;
      this.#running.delete(key);
      const closing = controller.close().catch((error: unknown) => {
        this.#parts.log.warn('a controller of health checks did not end in order', { error: String(error) });
      });
      this.#leaving = Promise.all([this.#leaving, closing]);
      for (const reflector of reflectors) reflector.close();
      ended();
    }
  }
}
