import { rounded } from '../figures.ts';
import { median } from '../median.ts';

/** One run says little: what else the machine does moves it by half. */
export const STORM_ROUNDS = 5;

/** Many machines switched, so many at a time: ours beside the fence agent, by turns; all figures are medians of the rounds. */
export interface StormRatio {
  peer: string;
  machines: number;
  atOnce: number;
  rounds: number;
  peerWallMs: number;
  peerCpuMs: number;
  wallMs: number;
  cpuMs: number;
  wallRatio: number;
  cpuRatio: number;
  /** Not ours: the least that such a program can take. */
  isFloor?: boolean;
}

export interface Cost {
  wallMs: number;
  cpuMs: number;
}

export function ratioOf(peer: string, machines: number, atOnce: number, peers: readonly Cost[], ours: readonly Cost[]): StormRatio {
  const [theirs, own] = [middleOf(peers), middleOf(ours)];
  return {
    peer,
    machines,
    atOnce,
    rounds: ours.length,
    peerWallMs: rounded(theirs.wallMs),
    peerCpuMs: rounded(theirs.cpuMs),
    wallMs: rounded(own.wallMs),
    cpuMs: rounded(own.cpuMs),
    wallRatio: rounded(theirs.wallMs / own.wallMs),
    cpuRatio: rounded(theirs.cpuMs / own.cpuMs),
  };
}

function middleOf(costs: readonly Cost[]): Cost {
  return { wallMs: median(costs.map(({ wallMs }) => wallMs)), cpuMs: median(costs.map(({ cpuMs }) => cpuMs)) };
}
