import type { DiskEvent, TraceEvent } from './trace.ts';

/** One life of one pod on a node. */
interface Life {
  node: string;
  pod: string;
  bootID: string | undefined;
  fromPosition: number;
  toPosition: number;
}

/** Which pods ran on which node from when to when, by what the machines themselves tell. */
export class Processes {
  readonly #lives: Life[] = [];
  readonly #events: readonly TraceEvent[];

  constructor(events: readonly TraceEvent[]) {
    this.#events = events;
    for (const [position, event] of events.entries()) {
      if (event.kind === 'power' && (event.state === 'off' || event.cause === 'reset')) this.#end(position, event.node);
      if (event.kind !== 'node') continue;
      if (event.what === 'panic') this.#end(position, event.node);
      if (event.what === 'pod-stop') this.#end(position, event.node, event.pod ?? '');
      if (event.what === 'pod-start')
        this.#lives.push({
          ...{ node: event.node, pod: event.pod ?? '', bootID: event.bootID },
          ...{ fromPosition: position, toPosition: Number.POSITIVE_INFINITY },
        });
    }
  }

  /** Pods that ran just before `position` and had been started in that boot; a boot that nobody knows is any. */
  runningAt(position: number, node: string, bootID: string | undefined): string[] {
    return this.#of(node, bootID)
      .filter(({ fromPosition, toPosition }) => fromPosition < position && position <= toPosition)
      .map(({ pod }) => pod);
  }

  /** What was written after `position` in that boot, the first write first. */
  writesAfter(position: number, node: string, bootID: string | undefined): DiskEvent[] {
    const lives = this.#of(node, bootID).filter(({ toPosition }) => toPosition > position);
    const writes: DiskEvent[] = [];
    for (const [place, event] of this.#events.entries()) {
      if (place <= position || event.kind !== 'disk' || event.node !== node) continue;
      // Pods are told by name and writers by uid: whatever writes on a node while a pod of that boot runs there counts for it.
      if (lives.some(({ fromPosition, toPosition }) => fromPosition < place && place < toPosition)) writes.push(event);
    }
    return writes;
  }

  #of(node: string, bootID: string | undefined): Life[] {
    return this.#lives.filter((life) => life.node === node && (bootID === undefined || life.bootID === undefined || life.bootID === bootID));
  }

  #end(position: number, node: string, pod?: string): void {
    for (const life of this.#lives)
      if (life.node === node && life.toPosition === Number.POSITIVE_INFINITY && (pod === undefined || life.pod === pod)) life.toPosition = position;
  }
}
