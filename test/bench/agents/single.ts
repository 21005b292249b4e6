import type { PowerAgent, Target } from '../../../src/ports/agents.ts';
import { rounded } from '../figures.ts';
import { median } from '../median.ts';
import { switchOnce } from './client.ts';
import { runPeer, samplesOf } from './peer.ts';
import type { Peer } from './peer.ts';
import { RealProfile } from './real-profile.ts';

/** One way to switch one machine off and see that it is off. */
export interface Way {
  name: string;
  /** Medians, milliseconds. */
  offMs: number;
  count: number;
  /** How many times faster than the way that others are compared with. */
  ratio: number;
}

const WARM_UP = 5;
/** After so many a process that has run for long has nothing left to compile. */
export const LONG_WARM_UP = 1_000;
export const OURS = 100;
const PEERS = 10;
const SLOW_PEERS = 3;
const REAL = 3;

/** A program's off; its on between two of them is not counted. */
export async function peerWay(name: string, off: readonly Peer[], on: readonly Peer[], isSlow = false): Promise<Way> {
  const samples: number[] = [];
  for (let index = 0; index < (isSlow ? SLOW_PEERS : PEERS); index += 1) {
    let offMs = 0;
    for (const peer of off) offMs += await runPeer(peer);
    samples.push(offMs);
    for (const peer of on) await runPeer(peer);
  }
  return { name, offMs: rounded(median(samples)), count: samples.length, ratio: 1 };
}

/** Ours over a kept session: set and one read back; each off is measured, the on after it is not. */
export async function warmWay(name: string, agent: PowerAgent, target: Target, warmUp = WARM_UP): Promise<Way> {
  for (let index = 0; index < warmUp; index += 1) {
    await switchOnce(agent, target, 'off', 1);
    await switchOnce(agent, target, 'on', 1);
  }
  const samples: number[] = [];
  for (let index = 0; index < OURS; index += 1) {
    samples.push(...(await samplesOf(1, () => switchOnce(agent, target, 'off', 1))));
    await switchOnce(agent, target, 'on', 1);
  }
  return { name, offMs: rounded(median(samples)), count: samples.length, ratio: 1 };
}

/** The same through the dispatcher, as a fence does it, with its stable reads. */
export async function realWay(name: string, agent: string, target: Target): Promise<Way> {
  const profile = new RealProfile(agent);
  try {
    const samples: number[] = [];
    for (let index = 0; index < REAL; index += 1) {
      samples.push(...(await samplesOf(1, () => profile.switchTo(target, 'off'))));
      await profile.switchTo(target, 'on');
    }
    return { name, offMs: rounded(median(samples)), count: samples.length, ratio: 1 };
  } finally {
    await profile.close();
  }
}

/** Ratios against the way of this name. */
export function compared(ways: readonly Way[], unit: string): Way[] {
  const base = ways.find(({ name }) => name === unit);
  return ways.map((way) => ({ ...way, ratio: rounded((base?.offMs ?? Number.NaN) / way.offMs) }));
}
