import type { SeedResult } from './seed-result.ts';

/** What was played, and what it took of a core. */
export interface Pace {
  seeds: number;
  /** Of virtual time. */
  hours: number;
  /** Of the nodes that the seeds fail, those that came to an end. */
  fences: number;
  cpuSeconds: number;
}

export const NOTHING_PLAYED: Pace = { seeds: 0, hours: 0, fences: 0, cpuSeconds: 0 };

export function playedToo({ seeds, hours, fences, cpuSeconds }: Pace, { state, virtualMs, cpuMs = 0 }: SeedResult): Pace {
  const hasEnded = state === 'final' || state === 'error';
  return { seeds: seeds + 1, hours: hours + virtualMs / 3_600_000, fences: fences + Number(hasEnded), cpuSeconds: cpuSeconds + cpuMs / 1_000 };
}

export function paceText({ hours, fences, cpuSeconds }: Pace): string {
  const perSecond = (count: number): string => (count / cpuSeconds).toFixed(2);
  return `${hours.toFixed(1)} h of virtual time and ${fences} fences in ${cpuSeconds.toFixed(1)} s of CPU: ${perSecond(hours)} h and ${perSecond(fences)} fences a second`;
}
