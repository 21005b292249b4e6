import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import type { PowerAgent, Target } from '../../../src/ports/agents.ts';
import { rounded, spreadOf } from '../figures.ts';
import type { Spread } from '../figures.ts';
import { powerAgent, switchOnce, targetOf } from './client.ts';
import { inParallel, runPeer, samplesOf } from './peer.ts';
import type { Peer } from './peer.ts';
import { startFarm } from './farm.ts';
import type { Farm, FarmOptions } from './farm.ts';
import { bareOff } from './redfish-floor.ts';
import { compared, peerWay, realWay, warmWay } from './single.ts';
import type { Way } from './single.ts';
import { ratioOf, STORM_ROUNDS } from './storm.ts';
import type { Cost, StormRatio } from './storm.ts';

const STORM = 100;
const AT_ONCE = 10;
const CROWD = 1_000;
const ACTS_AFTER_MS = 2_300;
const LATE_OFFS = 5;
/** The agent ends what nobody needed for 45 s. */
const CLOSED_AFTER_MS = 46_000;
/** Of each BMC in four hours: one in ten minutes. */
const PROBES = 24;
const SYSTEM_URI = '/redfish/v1/Systems/1';

function fencePeer(parameters: Readonly<Record<string, string>>, action: string): Peer {
  const { ip = '', ipport = '', username = '', password = '' } = parameters;
  const words = [
    `--ip=${ip}`,
    `--ipport=${ipport}`,
    `--username=${username}`,
    `--password=${password}`,
    '--ssl-insecure',
    '--redfish-uri=/redfish/v1',
  ];
  return { command: 'fence_redfish', args: [...words, `--systems-uri=${SYSTEM_URI}`, `--action=${action}`] };
}

/** Told where the system is, as the fence agent is. */
function systemOf(parameters: Readonly<Record<string, string>>): Record<string, string> {
  return { ...parameters, systems_uri: SYSTEM_URI };
}

async function withAgent<T>(work: (agent: PowerAgent) => Promise<T>): Promise<T> {
  const agent = await powerAgent('redfish');
  try {
    return await work(agent);
  } finally {
    await agent.close?.();
  }
}

async function withFarm<T>(options: Omit<FarmOptions, 'protocol'>, work: (farm: Farm, agent: PowerAgent) => Promise<T>): Promise<T> {
  const farm = await startFarm({ protocol: 'redfish', ...options });
  try {
    return await withAgent((agent) => work(farm, agent));
  } finally {
    await farm.close();
  }
}

function targetsOf(farm: Farm): Target[] {
  return farm.devices.map((parameters) => targetOf(systemOf(parameters)));
}

/** Off and verified on one BMC with TLS: ours beside fence_redfish. */
export function measureRedfish(): Promise<Way[]> {
  return withFarm({ count: 1 }, async ({ devices: [parameters = {}] }, agent) => {
    const target = targetOf(systemOf(parameters));
    const unit = 'fence_redfish --ssl-insecure --systems-uri';
    const ways = [
      await peerWay(unit, [fencePeer(parameters, 'off')], [fencePeer(parameters, 'on')]),
      await warmWay('ours, warm, TLS verified: set + read', agent, target),
      await realWay('ours as a fence does it (off_stable 3 s)', 'redfish', target),
    ];
    return compared(ways, unit);
  });
}

type Turn = (agent: PowerAgent, state: 'on' | 'off') => Promise<Cost>;

/**
 * A hundred BMCs, ten at a time. First in a process that has done little: ours by an agent that has never asked any, and beside it, by turns before and behind, the least
 * that a program in Node can take. Then in one that has probed for hours, as a controller has when a storm comes: ours when every connection and session is over for want
 * of use, as it finds them then; and with connections and sessions open, as those of nodes whose off is near. The fence agent has its turn in each round.
 */
export async function measureRedfishStorm(): Promise<StormRatio[]> {
  const farm = await startFarm({ protocol: 'redfish', count: STORM });
  try {
    const targets = targetsOf(farm);
    const turn: Turn = (agent, state) => inParallel(targets, AT_ONCE, (target) => switchOnce(agent, target, state));
    return [...(await measureUnasked(farm, turn)), ...(await measureProbed(farm, targets, turn))];
  } finally {
    await farm.close();
  }
}

function tellPeers(farm: Farm, action: string): Promise<Cost> {
  return inParallel(farm.devices, AT_ONCE, (parameters) => runPeer(fencePeer(parameters, action)));
}

async function measureUnasked(farm: Farm, turn: Turn): Promise<StormRatio[]> {
  const costs: Record<'peers' | 'bare' | 'cold', Cost[]> = { peers: [], bare: [], cold: [] };
  const bare = async (): Promise<void> => {
    costs.bare.push(await inParallel(farm.devices, AT_ONCE, (parameters) => bareOff(parameters, SYSTEM_URI)));
    await tellPeers(farm, 'on');
  };
  for (let round = 0; round < STORM_ROUNDS; round += 1) {
    costs.peers.push(await tellPeers(farm, 'off'));
    await tellPeers(farm, 'on');
    if (round % 2 === 1) await bare();
    await withAgent(async (agent) => {
      costs.cold.push(await turn(agent, 'off'));
      await turn(agent, 'on');
    });
    if (round % 2 === 0) await bare();
  }
  const against = (words: string, ours: readonly Cost[]): StormRatio => ratioOf(`fence_redfish; ${words}`, STORM, AT_ONCE, costs.peers, ours);
  return [
    { ...against("its three requests by Node's HTTPS, nothing checked", costs.bare), isFloor: true },
    against('ours, in a young process, by an agent that never asked', costs.cold),
  ];
}

async function measureProbed(farm: Farm, targets: readonly Target[], turn: Turn): Promise<StormRatio[]> {
  const costs: Record<'peers' | 'probed' | 'warm', Cost[]> = { peers: [], probed: [], warm: [] };
  const probe = (agent: PowerAgent): Promise<Cost> => inParallel(targets, AT_ONCE, (target) => agent.read(target));
  // Each by an agent of its own: a probe opens its connection and its session anew.
  for (let probes = 1; probes < PROBES; probes += 1) await withAgent(probe);
  await withAgent(async (agent) => {
    await probe(agent);
    for (let round = 0; round < STORM_ROUNDS; round += 1) {
      costs.peers.push(await tellPeers(farm, 'off'));
      await tellPeers(farm, 'on');
      await pause(CLOSED_AFTER_MS);
      costs.probed.push(await turn(agent, 'off'));
      await turn(agent, 'on');
      costs.warm.push(await turn(agent, 'off'));
      await turn(agent, 'on');
    }
  });
  const against = (words: string, ours: readonly Cost[]): StormRatio => ratioOf(`fence_redfish; ${words}`, STORM, AT_ONCE, costs.peers, ours);
  return [against('ours, cold, by a controller that has probed them for hours', costs.probed), against('the same, warm', costs.warm)];
}

export interface Crowd {
  machines: number;
  wallMs: number;
  /** The event loop of the controller meanwhile, milliseconds. */
  loopLag: { p99: number; max: number };
  each: Spread;
}

/** A thousand BMCs told off at one instant. `isWarm`: their connections are open already, as those of nodes that look ill. */
export function measureCrowd(isWarm: boolean): Promise<Crowd> {
  return withFarm({ count: CROWD }, async (farm, agent) => {
    const targets = targetsOf(farm);
    if (isWarm) await inParallel(targets, AT_ONCE, (target) => agent.read(target));
    const lag = monitorEventLoopDelay({ resolution: 1 });
    lag.enable();
    const began = performance.now();
    const samples = await Promise.all(targets.map((target) => samplesOf(1, () => switchOnce(agent, { ...target, deadlineMs: 60_000 }, 'off'))));
    const wallMs = performance.now() - began;
    lag.disable();
    const inMs = (nanoseconds: number): number => rounded(nanoseconds / 1e6);
    return {
      machines: CROWD,
      wallMs: rounded(wallMs),
      loopLag: { p99: inMs(lag.percentile(99)), max: inMs(lag.max) },
      each: spreadOf(samples.flat()),
    };
  });
}

export interface Overhead {
  actsAfterMs: number;
  /** How much later than the machine itself we know, milliseconds. */
  overMs: number;
  peerOverMs: number;
}

/** A BMC that acts 2.3 s after it was told: how long after that it is known. */
export function measureOverhead(): Promise<Overhead> {
  return withFarm({ count: 1, actsAfterMs: ACTS_AFTER_MS }, async ({ devices: [parameters = {}] }, agent) => {
    const target = targetOf(systemOf(parameters));
    await agent.read(target);
    const over = async (off: () => Promise<unknown>): Promise<number> => {
      const samples: number[] = [];
      for (let index = 0; index < LATE_OFFS; index += 1) {
        samples.push(...(await samplesOf(1, off)));
        await switchOnce(agent, target, 'on');
      }
      return rounded((samples.sort((a, b) => a - b)[Math.floor(LATE_OFFS / 2)] ?? Number.NaN) - ACTS_AFTER_MS);
    };
    return {
      actsAfterMs: ACTS_AFTER_MS,
      overMs: await over(() => switchOnce(agent, target, 'off', 50)),
      peerOverMs: await over(() => runPeer(fencePeer(parameters, 'off'))),
    };
  });
}
