import type { Reflector } from '../../kube/reflector.ts';
import type { KubeObject } from '../../ports/objects.ts';
import type { Detector } from '../detection/detector.ts';
import type { ServedPart } from '../served-part.ts';
import type { FoundFacts, OwnPart } from './mode.ts';
import type { PartDetectorOptions } from './part-detector.ts';

export interface WatchedMachineRemediationParts {
  detectorOf: (onPart: PartDetectorOptions['onPart']) => Detector<FoundFacts>;
  /** Nothing of it is started yet. */
  run: (part: OwnPart, hasOperator: () => boolean) => ServedPart;
}

/** Machine remediation over whichever groups are ours, ended where another controller is seen. */
export class WatchedMachineRemediation {
  readonly #parts: WatchedMachineRemediationParts;
  readonly #detector: Detector<FoundFacts>;
  #running: ServedPart | undefined;
  #part = '';
  #hasOperator = true;
  #leaving: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(parts: WatchedMachineRemediationParts) {
    this.#parts = parts;
    this.#detector = parts.detectorOf((part, hasOperator) => {
      this.#hasOperator = hasOperator;
      this.#take(part);
    });
  }

  /** Once they are synced: what may not be read makes nobody unready. */
  get reflectors(): readonly Reflector<KubeObject>[] {
    return (this.#running?.reflectors ?? []).filter(({ lister }) => lister.synced);
  }

  /** Called when the Nodes are synced. */
  start(): void {
    this.#detector.start();
  }

  /** Leadership has come. */
  wake(): void {
    this.#running?.wake();
  }

  problems(): string[] {
    return this.#running?.problems() ?? [];
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#detector.close();
    this.#end();
    await this.#leaving;
  }

  #take(part: OwnPart): void {
    const text = JSON.stringify(part);
    if (this.#isClosed || text === this.#part) return;
    this.#part = text;
    this.#end();
    if (part.groups.length === 0) return;
    const running = this.#parts.run(part, () => this.#hasOperator);
    this.#running = running;
    running.start();
    for (const reflector of running.reflectors) reflector.start();
  }

  #end(): void {
    const running = this.#running;
    if (running === undefined) return;
    this.#running = undefined;
    for (const reflector of running.reflectors) reflector.close();
    this.#leaving = Promise.all([this.#leaving, running.close()]);
  }
}
