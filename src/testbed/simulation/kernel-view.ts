import type { SeededRandom } from './seeded-random.ts';

/** What a process and its ports see of the kernel that runs them. */
export interface KernelView {
  readonly nowMs: number;
  random(stream: string): SeededRandom;
  schedule(delayMs: number, task: () => void): () => void;
  countPortCall(): void;
  trace(text: string): void;
  fail(message: string): void;
}
