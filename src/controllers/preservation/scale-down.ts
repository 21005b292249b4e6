import type { PreserveValue } from './marks.ts';
import type { MachineFacts, MachinePhase } from './snapshot.ts';
import { isExpired } from './preserve-decision.ts';

const DEFAULT_PRIORITY = 3;
const PHASES: readonly MachinePhase[] = ['Terminating', 'Failed', 'CrashLoopBackOff', 'Unknown', 'Pending', 'Available', 'Running'];

/** Who may be scaled down, as far as the order needs it. */
export type Dispensable = Pick<MachineFacts, 'name' | 'phase' | 'expiryMs' | 'priority' | 'markedForDeletionMs' | 'createdMs'> & {
  value: PreserveValue;
};

/** Preserved, or marked so that it is about to be. */
function isKept({ expiryMs, value, phase }: Dispensable, nowMs: number): boolean {
  if (expiryMs !== undefined) return !isExpired(expiryMs, nowMs);
  return value === 'now' || (phase === 'Failed' && (value === 'when-failed' || value === 'automatic'));
}

/** In the order of comparison; all numbers, lower goes first. */
function ranks(machine: Dispensable, nowMs: number): number[] {
  const isPreserved = isKept(machine, nowMs);
  const phase = PHASES.indexOf(machine.phase);
  return [
    isPreserved ? 1 : 0,
    isPreserved && machine.value !== 'automatic' ? 1 : 0,
    isPreserved ? (machine.expiryMs ?? Number.MAX_SAFE_INTEGER) : 0,
    machine.priority ?? DEFAULT_PRIORITY,
    machine.markedForDeletionMs ?? Number.MAX_SAFE_INTEGER,
    phase === -1 ? PHASES.indexOf('Pending') : phase,
    machine.createdMs,
  ];
}

function compare(one: readonly number[], other: readonly number[]): number {
  const at = one.findIndex((rank, index) => rank !== other[index]);
  return at === -1 ? 0 : (one[at] ?? 0) - (other[at] ?? 0);
}

/** Preserved machines go last, of those the automatic ones and the sooner ended first; but as many go as must. Source: MCM ActiveMachines. */
export function selectSurplus<T extends Dispensable>(machines: readonly T[], surplus: number, nowMs: number): T[] {
  const ranked = machines.map((machine) => ({ machine, rank: ranks(machine, nowMs) }));
  ranked.sort((one, other) => compare(one.rank, other.rank) || (one.machine.name < other.machine.name ? -1 : 1));
  return ranked.slice(0, Math.max(0, surplus)).map(({ machine }) => machine);
}
