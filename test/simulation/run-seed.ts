import { Kernel } from './kernel/kernel.ts';
import type { SeedResult } from './seed-result.ts';

export interface RunSeedOptions {
  /** Every trace line, for people. */
  onLine?: (line: string) => void;
}

/** One seed: its scenario, run to the end and judged. */
export async function runSeed(seed: number, options: RunSeedOptions = {}): Promise<SeedResult> {
  const kernel = new Kernel({ seed, ...options });
  await kernel.run({ untilMs: 1 });
  return { seed, scenario: '', violations: kernel.failures, hash: kernel.hash(), events: kernel.eventCount, virtualMs: kernel.nowMs };
}
