// `node memory.ts '<parameters of each BMC>'`: a process that does nothing but probe them, to see what that takes.
import { execFile } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { rounded } from '../figures.ts';
import { powerAgent, targetOf } from './client.ts';
import { startFarm } from './farm.ts';
import { inParallel } from './peer.ts';

const PROBED = 200;
const ROUNDS = 5;
const AT_ONCE = 10;
const MB = 1024 * 1024;

export interface ProbeMemory {
  devices: number;
  /** Resident, megabytes: with the agent loaded; after as many reads of one device, which is what the code itself takes; after those of all. */
  loadedMb: number;
  beforeMb: number;
  afterMb: number;
  /** What the devices take. */
  grownMb: number;
}

/** 200 BMCs read in turn by one process, each over its kept connection and session. */
export async function measureMemory(): Promise<ProbeMemory> {
  const farm = await startFarm({ protocol: 'redfish', count: PROBED });
  try {
    const program = fileURLToPath(import.meta.url);
    const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', program, JSON.stringify(farm.devices)]);
    return JSON.parse(stdout) as ProbeMemory;
  } finally {
    await farm.close();
  }
}

async function main(devices: readonly Record<string, string>[]): Promise<void> {
  const agent = await powerAgent('redfish');
  const read = (parameters: Record<string, string>): Promise<unknown> => agent.read(targetOf(parameters));
  const [first = {}] = devices;
  await read(first);
  const loadedMb = await residentMb();
  for (let index = 0; index < ROUNDS * devices.length; index += 1) await read(first);
  const beforeMb = await residentMb();
  for (let round = 0; round < ROUNDS; round += 1) await inParallel(devices, AT_ONCE, read);
  const afterMb = await residentMb();
  process.stdout.write(JSON.stringify({ devices: devices.length, loadedMb, beforeMb, afterMb, grownMb: rounded(afterMb - beforeMb) }));
  await agent.close?.();
}

/** After what can be collected is collected. */
async function residentMb(): Promise<number> {
  globalThis.gc?.();
  await pause(200);
  return rounded(process.memoryUsage.rss() / MB);
}

const [, program = '', devices] = process.argv;
if (devices !== undefined && program === fileURLToPath(import.meta.url)) await main(JSON.parse(devices) as Record<string, string>[]);
