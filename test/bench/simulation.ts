import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { NOTHING_PLAYED, playedToo } from '../simulation/pace.ts';
import type { Pace } from '../simulation/pace.ts';
import { runInWorkers } from '../simulation/workers.ts';
import { rounded, tableOf } from './figures.ts';
import type { WorldCost } from './growth.ts';
import { median } from './median.ts';

const PROGRAM = fileURLToPath(new URL('../simulation/main.ts', import.meta.url));
const SEEDS = 150;
const ROUNDS = 3;
const SILENCE_MS = 300_000;

export interface SimulationSpeed {
  /** Of one round. */
  seeds: number;
  rounds: number;
  virtualHours: number;
  fences: number;
  /** For one second of CPU; medians of the rounds. */
  hoursPerCpuSecond: number;
  fencesPerCpuSecond: number;
  seedsPerCpuSecond: number;
}

/** The same seeds that `npm run -s simulate` plays first, several times. */
export async function measureSimulation(): Promise<SimulationSpeed> {
  const rounds: Pace[] = [];
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await played());
  const perSecond = (of: (pace: Pace) => number): number => rounded(median(rounds.map((pace) => of(pace) / pace.cpuSeconds)));
  const { seeds, hours, fences } = rounds[0] ?? NOTHING_PLAYED;
  return {
    ...{ seeds, rounds: ROUNDS, virtualHours: rounded(hours), fences },
    hoursPerCpuSecond: perSecond((pace) => pace.hours),
    fencesPerCpuSecond: perSecond((pace) => pace.fences),
    seedsPerCpuSecond: perSecond((pace) => pace.seeds),
  };
}

async function played(): Promise<Pace> {
  let pace = NOTHING_PLAYED;
  const onResult = (result: Parameters<typeof playedToo>[1]): void => {
    if (result.violations.length > 0) throw new Error(`seed ${result.seed}: ${result.violations.join('; ')}`);
    pace = playedToo(pace, result);
  };
  const jobs = availableParallelism();
  await runInWorkers({ program: PROGRAM, argument: '--worker', first: 1, seeds: SEEDS, jobs, silenceMs: SILENCE_MS, onResult });
  return pace;
}

export function simulationWords({ growth, ...speed }: SimulationSpeed & { growth: readonly WorldCost[] }): string {
  const { seeds, rounds, virtualHours, fences, hoursPerCpuSecond, fencesPerCpuSecond, seedsPerCpuSecond } = speed;
  const rows = growth.map(({ nodes, virtualSeconds, cpuMs, cpuUsPerNodeSecond }) => [nodes, virtualSeconds, cpuMs, cpuUsPerNodeSecond].map(String));
  return [
    `simulation: ${seeds} seeds are ${virtualHours} h of virtual time and ${fences} fences; for a second of CPU ${hoursPerCpuSecond} h, ${fencesPerCpuSecond} fences, ${seedsPerCpuSecond} seeds (median of ${rounds})`,
    tableOf([['a calm world, one node dies: nodes', 'virtual s', 'CPU ms', 'CPU µs per node and s'], ...rows]),
  ].join('\n');
}
