import { fenceName } from '../../../src/domain/node-fence.ts';
import type { NodeFenceStatus } from '../../../src/domain/node-fence.ts';
import type { DeviceEvent } from '../../../src/laws/trace.ts';

/** What had left when its run was given up may arrive so much later. */
const ON_ITS_WAY_MS = 100;

/** P4 for programs, which nobody can read back: one begin for one intent, and none without one that stands written. */
export class RunTruth {
  readonly #statusOf: (fence: string) => NodeFenceStatus | undefined;
  readonly #wallMs: () => number;
  readonly #begun = new Map<string, string>();
  #count = 0;

  constructor(statusOf: (fence: string) => NodeFenceStatus | undefined, wallMs: () => number) {
    this.#statusOf = statusOf;
    this.#wallMs = wallMs;
  }

  /** How often programs were begun. */
  get count(): number {
    return this.#count;
  }

  begun({ node, device, session }: DeviceEvent, intent: string): string | undefined {
    this.#count += 1;
    const what = `P4: ${session} began the program on ${device}`;
    const first = this.#begun.get(intent);
    this.#begun.set(intent, session);
    if (first !== undefined) return `${what} for ${intent}, for which ${first} had begun it`;
    const entry = this.#statusOf(fenceName(node))?.journal.find(({ id }) => id === intent);
    if (entry === undefined) return `${what} without an intent`;
    const sinceMs = entry.finishedAt === undefined ? 0 : this.#wallMs() - Date.parse(entry.finishedAt);
    return sinceMs > ON_ITS_WAY_MS ? `${what} for ${intent}, which is over` : undefined;
  }
}
