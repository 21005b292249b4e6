import type { CrashPoint } from '../../../src/testbed/simulation/port.ts';
import { scenarioOf } from '../draws.ts';
import { expectedOf } from '../expected.ts';
import { SeededRandom } from '../../../src/testbed/simulation/seeded-random.ts';
import { CALM_API } from '../../../src/testbed/simulation/network.ts';
import type { Disturbance, NodeFault, Scenario } from '../scenario.ts';
import type { DatagramFaults } from '../../../src/testbed/simulation/datagrams.ts';
import { mayGoDown, provesItself } from './forecast.ts';
import type { MachineTraits } from '../../../src/drill/daemons/simulated/daemon-machine.ts';
import type { DaemonDeed, DaemonTimes, NodeDaemons, Place, Way } from './node-daemons.ts';

/** By then every daemon knows its peers, and the API server knows that it does. */
const FAULT_AT_MS = 78_000;
const NODE_NAMES = ['a', 'b', 'c', 'd', 'e', 'f'] as const;

type Story = 'cut-off' | 'hang' | 'panic' | 'daemon-fails' | 'outage' | 'vm-pause' | 'freeze';
const STORIES: Readonly<Record<Story, number>> = { 'cut-off': 9, hang: 4, panic: 2, 'daemon-fails': 4, outage: 3, 'vm-pause': 3, freeze: 2 };
const EVERYTHING: readonly Place[] = ['controllers', 'peers', 'api-server'];
type Cut = 'everything' | 'controllers' | 'peers' | 'api-server' | 'control-plane' | 'daemons';
const CUTS: Readonly<Record<Cut, readonly Place[]>> = {
  everything: EVERYTHING,
  controllers: ['controllers'],
  peers: ['peers'],
  'api-server': ['api-server'],
  'control-plane': ['controllers', 'api-server'],
  daemons: ['controllers', 'peers'],
};
const CUT_SHARES: Readonly<Record<Cut, number>> = { everything: 8, controllers: 2, peers: 1, 'api-server': 2, 'control-plane': 4, daemons: 2 };
const WAYS: Readonly<Record<Way, number>> = { both: 5, in: 2, out: 2 };

const USUAL_TIMES: DaemonTimes = { grantMs: 5_000, isolationMs: 40_000, podStopMs: 30_000 };

type Extra = 'kill' | 'pause' | 'upgrade' | 'slow-disk' | 'cut' | 'link' | 'jump' | 'power-loss' | 'outage' | 'change-times';
const EXTRAS: Readonly<Record<Extra, number>> = {
  'change-times': 2,
  kill: 4,
  pause: 1,
  upgrade: 2,
  'slow-disk': 3,
  cut: 2,
  link: 4,
  jump: 3,
  'power-loss': 1,
  outage: 2,
};
const EXTRA_COUNTS: Readonly<Record<'0' | '1' | '2' | '3', number>> = { 0: 4, 1: 3, 2: 2, 3: 2 };

/** Of what may happen to controllers and their API server, that which says nothing of devices, people and plans. */
const KEPT: ReadonlySet<Disturbance['what']> = new Set([
  'pause',
  'terminate',
  'clock',
  'break',
  'burst',
  'throttle',
  'restart',
  'expire',
  'delete-lease',
]);
const DISTURBED_SHARE = 0.5;
const FAST_SHARE = 0.3;
/** Worlds in which nothing happens beside the story. */
const PLAIN_SHARE = 0.25;
/** What was drawn for a fault at 18 s happens around the later one. */
const LATER_MS = 60_000;
const HOURS_2_MS = 7_200_000;

/** What this seed plays with the daemons of nodes: the first world of the seed, with other things happening in it. Draws from streams of its own. */
export function withNodeDaemons(seed: number): Scenario {
  const first = scenarioOf(seed);
  const random = new SeededRandom(seed, 'node daemons');
  const nodes = NODE_NAMES.slice(0, 3 + random.below(4));
  const victim = nodes[0] ?? 'a';
  const story = random.weighted(STORIES);
  const faultAtMs = FAULT_AT_MS + random.between(0, 12_000);
  const isPlain = random.chance(PLAIN_SHARE) || story === 'outage';
  const isDisturbed = !isPlain && random.chance(DISTURBED_SHARE);
  const machines = Object.fromEntries(nodes.map((node) => [node, drawMachine(random, story === 'vm-pause' && node === victim)]));
  const deeds = [...drawStory(random, story, victim, faultAtMs), ...(isPlain ? [] : drawExtras(random, nodes, faultAtMs))];
  const { hosts: _hosts, feed: _feed, crowd: _crowd, ...bare } = first;
  const scenario: Omit<Scenario, 'daemons' | 'expected'> = {
    ...bare,
    ...{ nodes, victim, fault: faultOf(story, random), faultAtMs, flaps: [], healAfterOffMs: undefined, isMisconfigured: false },
    device: story === 'outage' ? 'honest' : random.pick(['dead', 'dead', 'dead', 'honest', 'half-dead'] as const),
    deviceEffectMs: [50, 1_500],
    configuration: { ...first.configuration, policies: random.chance(0.5) ? 'off' : 'prompt' },
    crashes: isDisturbed ? first.crashes.filter((crash) => !isOfDevice(crash)) : [],
    disturbances: isDisturbed ? first.disturbances.filter(({ what }) => KEPT.has(what)).map(later) : [],
    api: isDisturbed ? first.api : CALM_API,
    faultsEndMs: 400_000,
  };
  const topologyKeys = random.pick([[], [], ['rack']] as const);
  const daemons = {
    topologyKeys,
    datagrams: drawDatagrams(random),
    machines,
    level: random.pick(['only', 'second'] as const),
    times: drawTimes(random),
    deeds,
  };
  const isFast = new SeededRandom(seed, 'node daemons fast').chance(FAST_SHARE);
  return foreseen({ ...scenario, daemons: { ...daemons, isFast, mayGoDown: [], evidence: 'may' } });
}

/** With what must come of it. */
export function foreseen(scenario: Omit<Scenario, 'expected' | 'daemons'> & { daemons: NodeDaemons }): Scenario {
  const daemons: NodeDaemons = { ...scenario.daemons, mayGoDown: mayGoDown(scenario), evidence: provesItself(scenario) };
  const whole = { ...scenario, daemons };
  return { ...whole, expected: expectedOf(whole) };
}

function isOfDevice({ tag }: CrashPoint): boolean {
  return tag.startsWith('device');
}

function later(disturbance: Disturbance): Disturbance {
  return { ...disturbance, atMs: disturbance.atMs + LATER_MS };
}

function faultOf(story: Story, random: SeededRandom): NodeFault {
  if (story === 'hang' || story === 'panic') return story;
  return story === 'daemon-fails' && random.chance(0.5) ? 'hang' : 'none';
}

function drawMachine(random: SeededRandom, isPausable: boolean): MachineTraits {
  return {
    isPausable,
    watchdogMs: random.pick([10_000, 10_000, 10_000, 15_000, 30_000]),
    watchdogRate: random.between(0.99, 1.01),
    podStopMs: random.pick([500, 4_000, 25_000, 900_000]),
    doesReset: random.chance(0.7),
    isStuckAfterReset: random.chance(0.15),
    syncMs: random.between(2, 60),
  };
}

/** Every one of them keeps the timing rules. */
function drawTimes(random: SeededRandom): DaemonTimes {
  const isUsual = random.chance(0.6);
  return isUsual
    ? USUAL_TIMES
    : { grantMs: random.pick([3_000, 8_000]), isolationMs: random.pick([35_000, 60_000]), podStopMs: random.pick([10_000, 45_000]) };
}

function drawDatagrams(random: SeededRandom): DatagramFaults {
  const isRough = random.chance(0.4);
  return {
    latencyMs: random.pick([
      [0.2, 2],
      [5, 60],
      [100, 700],
    ] as const),
    lostShare: isRough ? 0.1 : 0,
    doubledShare: isRough ? 0.1 : 0,
    lateShare: isRough ? 0.1 : 0,
    lateMs: [500, 6_000],
  };
}

/** What is repaired soon, in the midst of it, or when everything is over. */
function drawDuration(random: SeededRandom): number {
  const [low, high] = random.pick([
    [2_000, 60_000],
    [60_000, 180_000],
    [450_000, 520_000],
    [450_000, 520_000],
    [450_000, 520_000],
  ] as const);
  return random.between(low, high);
}

function drawStory(random: SeededRandom, story: Story, node: string, atMs: number): DaemonDeed[] {
  const durationMs = drawDuration(random);
  switch (story) {
    case 'cut-off':
      return [{ what: 'cut', node, places: CUTS[random.weighted(CUT_SHARES)], way: random.weighted(WAYS), atMs, durationMs }];
    case 'hang':
    case 'panic':
      return [];
    case 'daemon-fails':
      return [{ what: random.pick(['kill', 'pause', 'wedge'] as const), node, atMs: atMs + random.between(-5_000, 40_000), durationMs }];
    case 'outage':
      return [{ what: 'outage', atMs, durationMs: random.between(20_000, 240_000) }];
    case 'vm-pause':
      return [{ what: 'vm-pause', node, kind: random.pick(['stop', 'suspend'] as const), atMs, durationMs }];
    case 'freeze':
      return [{ what: 'freeze', node, atMs, durationMs }];
  }
}

function drawExtras(random: SeededRandom, nodes: readonly string[], faultAtMs: number): DaemonDeed[] {
  return Array.from({ length: Number(random.weighted(EXTRA_COUNTS)) }, () => drawExtra(random, nodes, faultAtMs));
}

function drawExtra(random: SeededRandom, nodes: readonly string[], faultAtMs: number): DaemonDeed {
  const what = random.weighted(EXTRAS);
  const node = random.pick(nodes);
  const other = random.pick(nodes.filter((name) => name !== node));
  const atMs = faultAtMs + random.between(-10_000, 150_000);
  switch (what) {
    case 'outage':
      return { what, atMs, durationMs: random.between(2_000, 90_000) };
    case 'change-times':
      return { what, times: drawTimes(random), atMs, durationMs: 0 };
    case 'cut':
      return { what, node, places: CUTS[random.weighted(CUT_SHARES)], way: random.weighted(WAYS), atMs, durationMs: random.between(1_000, 120_000) };
    case 'link':
      return { what, node, to: other, way: random.weighted(WAYS), atMs, durationMs: random.between(1_000, 300_000) };
    case 'jump':
      return { what, node, byMs: random.between(-HOURS_2_MS, HOURS_2_MS), atMs, durationMs: 0 };
    case 'kill':
    case 'upgrade':
      return { what, node, atMs, durationMs: random.between(100, 20_000) };
    case 'pause':
      return { what, node, atMs, durationMs: random.between(100, 30_000) };
    case 'slow-disk':
      return { what, node, atMs, durationMs: random.between(20_000, 200_000) };
    case 'power-loss':
      return { what, node: other === nodes[0] ? node : other, atMs, durationMs: random.between(1_000, 30_000) };
  }
}
