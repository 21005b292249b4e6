/** Something that will happen at `atMs` of virtual time. Equal times are ordered by the seeded `tie`. */
export interface ScheduledEvent {
  readonly atMs: number;
  readonly tie: number;
  readonly sequence: number;
  run: () => void;
  isCancelled: boolean;
}

function before(left: ScheduledEvent, right: ScheduledEvent): boolean {
  if (left.atMs !== right.atMs) {
    return left.atMs < right.atMs;
  }
  return left.tie !== right.tie ? left.tie < right.tie : left.sequence < right.sequence;
}

/** A binary min-heap. Cancelled events stay until they come to the top. */
export class EventHeap {
  readonly #events: ScheduledEvent[] = [];

  push(event: ScheduledEvent): void {
    const events = this.#events;
    let index = events.length;
    events.push(event);
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = events[parentIndex];
      if (parent === undefined || !before(event, parent)) {
        break;
      }
      events[index] = parent;
      index = parentIndex;
    }
    events[index] = event;
  }

  /** The earliest event that still stands, left in place. */
  peek(): ScheduledEvent | undefined {
    for (;;) {
      const top = this.#events[0];
      if (top === undefined || !top.isCancelled) {
        return top;
      }
      this.#removeTop();
    }
  }

  pop(): ScheduledEvent | undefined {
    const top = this.peek();
    if (top !== undefined) {
      this.#removeTop();
    }
    return top;
  }

  #removeTop(): void {
    const events = this.#events;
    const last = events.pop();
    if (last === undefined || events.length === 0) {
      return;
    }
    let index = 0;
    for (;;) {
      const left = 2 * index + 1;
      let childIndex = left;
      let child = events[left];
      const right = events[left + 1];
      if (right !== undefined && child !== undefined && before(right, child)) {
        childIndex = left + 1;
        child = right;
      }
      if (child === undefined || !before(child, last)) {
        break;
      }
      events[index] = child;
      index = childIndex;
    }
    events[index] = last;
  }
}
