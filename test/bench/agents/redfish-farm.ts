// `node redfish-farm.ts '{"count": 10, "actsAfterMs": 0}'`: that many BMCs in a process of their own, so that what they cost is not ours.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { startBmcBench } from '../../../src/drill/bmc/bmc-bench.ts';

export interface FarmOptions {
  count: number;
  /** From an accepted ForceOff to PowerState Off. */
  actsAfterMs?: number;
}

/** Each BMC's parameters, complete. */
export interface Farm {
  devices: readonly Record<string, string>[];
  close(): Promise<void>;
}

/** Started, and every BMC reachable. */
export async function startFarm(options: FarmOptions): Promise<Farm> {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), JSON.stringify(options)], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const line = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve);
    void exited.then(() => reject(new Error('the BMCs ended before they could be reached')));
  });
  return {
    devices: JSON.parse(line) as Record<string, string>[],
    close: async () => {
      child.stdin.end();
      await exited;
    },
  };
}

async function main({ count, actsAfterMs = 0 }: FarmOptions): Promise<void> {
  const benches = await Promise.all(
    Array.from({ length: count }, () => startBmcBench({ faults: actsAfterMs === 0 ? {} : { offDelayMs: actsAfterMs } })),
  );
  process.stdin.resume().once('end', () => process.exit(0));
  process.stdout.write(`${JSON.stringify(benches.map(({ parameters }) => parameters))}\n`);
}

const [, program = '', options] = process.argv;
if (options !== undefined && program === fileURLToPath(import.meta.url)) await main(JSON.parse(options) as FarmOptions);
