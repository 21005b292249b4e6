import { rounded } from '../figures.ts';

/** Many machines switched, so many at a time: ours from cold, beside the fence agent. */
export interface StormRatio {
  peer: string;
  machines: number;
  atOnce: number;
  peerWallMs: number;
  peerCpuMs: number;
  wallMs: number;
  cpuMs: number;
  wallRatio: number;
  cpuRatio: number;
}

interface Cost {
  wallMs: number;
  cpuMs: number;
}

export function ratioOf(peer: string, machines: number, atOnce: number, peers: Cost, ours: Cost): StormRatio {
  return {
    peer,
    machines,
    atOnce,
    peerWallMs: rounded(peers.wallMs),
    peerCpuMs: rounded(peers.cpuMs),
    wallMs: rounded(ours.wallMs),
    cpuMs: rounded(ours.cpuMs),
    wallRatio: rounded(peers.wallMs / ours.wallMs),
    cpuRatio: rounded(peers.cpuMs / ours.cpuMs),
  };
}
