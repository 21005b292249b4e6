import { SeededRandom } from '../../../src/testbed/simulation/seeded-random.ts';
import type { CrashPoint } from '../../../src/testbed/simulation/port.ts';
import { scenarioOf } from '../draws.ts';
import { expectedOf } from '../expected.ts';
import type { Disturbance, NodeFault, Scenario } from '../scenario.ts';
import type {
  DrawnRemedy,
  DrawnThreshold,
  Monitor,
  Posted,
  PostedCondition,
  RecoveryName,
  RemedyDeed,
  RemedyName,
  RemedyWorld,
} from './remedy-world.ts';

const FAULT_AT_MS = 18_000;
/** By then every pod has a node. */
const FROM_MS = 15_000;
const NODE_NAMES = ['a', 'b', 'c', 'd', 'e'] as const;
const LATER_MS = 120_000;

/** Half of the worlds have a fault of a node besides. */
const FAULTY_SHARE = 0.5;
/** What happens to controllers, API server and nodes; not what rewrites the past. */
const LEFT_OUT: ReadonlySet<Disturbance['what']> = new Set(['restore', 'preserve', 'swap', 'late', 'edit']);
const OUTAGE_MAX_MS = 90_000;

const CRASHES: Readonly<Record<'0' | '1' | '2' | '3', number>> = { 0: 3, 1: 3, 2: 2, 3: 2 };
const CRASH_TAGS: Readonly<Record<string, number>> = {
  'jobs-write': 5,
  'nodefencereports-write': 6,
  'nodes-write': 3,
  'nodefences-write': 3,
  'pods-write': 2,
  any: 2,
};
const CRASH_CALLS: Readonly<Record<string, number>> = {
  'jobs-write': 3,
  'nodefencereports-write': 14,
  'nodes-write': 4,
  'nodefences-write': 8,
  'pods-write': 3,
  any: 200,
};
const MOMENTS: Readonly<Record<Exclude<CrashPoint['moment'], 'fence-removed'>, number>> = {
  'before-effect': 4,
  'after-effect': 4,
  stopped: 3,
  suspended: 1,
  terminated: 2,
};

const NAMES: Readonly<Record<RemedyName, number>> = {
  mend: 5,
  'mend-slowly': 3,
  fail: 3,
  wedge: 2,
  'mend-here': 1,
  methods: 2,
  cycle: 1,
  whole: 1,
  cordon: 3,
  drain: 4,
  'clean-pods': 2,
  'storage-fence': 3,
};
type Recovery = RecoveryName | 'none';
const RECOVERIES: Readonly<Record<Recovery, number>> = { uncordon: 5, recovery: 3, mend: 2, fail: 1, none: 2 };
const THRESHOLDS: Readonly<Record<'Wedged' | 'KernelDeadlock' | 'Ready' | 'flap', number>> = { Wedged: 6, KernelDeadlock: 2, Ready: 2, flap: 1 };

type Story = 'comes-and-goes' | 'stays' | 'flaps' | 'restarts' | 'stands-still' | 'vanishes' | 'relapses';
const STORIES: Readonly<Record<Story, number>> = {
  'comes-and-goes': 6,
  stays: 2,
  flaps: 2,
  restarts: 2,
  'stands-still': 2,
  vanishes: 1,
  relapses: 3,
};

const DEEDS: Readonly<Record<'0' | '1' | '2' | '3', number>> = { 0: 2, 1: 4, 2: 3, 3: 2 };
const DEED_KINDS: Readonly<Record<RemedyDeed['what'], number>> = {
  stop: 4,
  resume: 4,
  cordon: 4,
  'delete-fence': 2,
  'delete-jobs': 2,
  'delete-pods': 1,
  budget: 3,
  configure: 4,
};

/** What this seed plays with remedies: its first world, with other things happening in it. Draws from streams of its own. */
export function withRemedies(seed: number): Scenario {
  const first = scenarioOf(seed);
  const random = new SeededRandom(seed, 'remedies');
  const nodes = NODE_NAMES.slice(0, 3 + random.below(3));
  const victim = nodes[0] ?? 'a';
  const isFaulty = random.chance(FAULTY_SHARE);
  const { hosts: _hosts, feed: _feed, ...bare } = first;
  const fault: NodeFault = isFaulty ? first.fault : 'none';
  const scenario: Omit<Scenario, 'expected' | 'remedies'> = {
    ...bare,
    ...{ nodes, victim, fault, flaps: isFaulty ? first.flaps : [], healAfterOffMs: undefined, isMisconfigured: false },
    device: isFaulty ? first.device : 'honest',
    deviceEffectMs: isFaulty ? first.deviceEffectMs : [50, 1_500],
    configuration: { ...first.configuration, policies: random.pick(['off', 'prompt', 'prompt', 'prompt', 'one-at-a-time'] as const) },
    crashes: drawCrashes(new SeededRandom(seed, 'remedies crashes')),
    disturbances: first.disturbances.flatMap((one) => playable(one, nodes, isFaulty)),
  };
  const remedies = drawRemedies(new SeededRandom(seed, 'remedies world'), nodes);
  const whole = { ...scenario, remedies };
  return { ...whole, expected: expectedOf(whole) };
}

/** An outage of minutes is enough where every period is of seconds. A node that never failed is not deleted, nor spoken of. */
function playable(one: Disturbance, nodes: readonly string[], isFaulty: boolean): Disturbance[] {
  const named = 'nodes' in one ? one.nodes : 'node' in one ? [one.node] : [];
  const isOfFault = one.what === 'delete-node' || one.what === 'acknowledge' || one.what === 'power-on' || one.what === 'hardware';
  if (LEFT_OUT.has(one.what) || named.some((node) => !nodes.includes(node)) || (isOfFault && !isFaulty)) return [];
  return [{ ...one, durationMs: Math.min(one.durationMs, one.what === 'break' ? OUTAGE_MAX_MS : Infinity) }];
}

function drawCrashes(random: SeededRandom): CrashPoint[] {
  return Array.from({ length: Number(random.weighted(CRASHES)) }, () => {
    const tag = random.weighted(CRASH_TAGS);
    return { tag, nth: 1 + random.below(CRASH_CALLS[tag] ?? 1), moment: random.weighted(MOMENTS), stopMs: random.between(1_000, 40_000) };
  });
}

function drawRemedies(random: SeededRandom, all: readonly string[]): RemedyWorld {
  const nodes = random.chance(0.7) ? all : all.slice(0, 2);
  const thresholds = drawThresholds(random);
  const conditions = [...new Set(thresholds.map(({ condition }) => condition))].filter((condition) => condition !== 'Ready');
  const isWide = random.chance(0.25);
  const monitors = conditions.flatMap((condition) => {
    const sick = isWide ? nodes : nodes.slice(0, 1 + random.below(2));
    return sick.map((node) => drawMonitor(random, node, condition));
  });
  const deeds = Array.from({ length: Number(random.weighted(DEEDS)) }, () => drawDeed(random, nodes));
  return { nodes, thresholds, monitors, deeds };
}

/** Of different conditions or statuses: two that answer the same are an error, and neither is used. */
function drawThresholds(random: SeededRandom): DrawnThreshold[] {
  const drawn = Array.from({ length: 1 + random.below(3) }, () => drawThreshold(random));
  const idOf = ({ condition, status }: DrawnThreshold): string => `${condition} ${typeof status === 'string' ? 'status' : 'flap'}`;
  return drawn.filter((threshold, index) => drawn.findIndex((other) => idOf(other) === idOf(threshold)) === index);
}

function drawThreshold(random: SeededRandom): DrawnThreshold {
  const kind = random.weighted(THRESHOLDS);
  const recovery = random.weighted(RECOVERIES);
  return {
    condition: kind === 'flap' ? 'Wedged' : kind,
    status: kind === 'flap' ? { changes: 3, windowSeconds: 60 } : kind === 'Ready' ? random.pick(['false', 'Unknown'] as const) : 'true',
    periodSeconds: random.pick([2, 5, 15]),
    heartbeatSeconds: random.chance(0.6) ? 20 : 'never',
    remedies: Array.from({ length: 1 + random.below(3) }, () => drawRemedy(random)),
    ...(recovery !== 'none' && { recovery }),
    maxAttempts: 1 + random.below(3),
    cooldownSeconds: random.pick([10, 30, 60]),
  };
}

function drawRemedy(random: SeededRandom): DrawnRemedy {
  return { name: random.weighted(NAMES), periodSeconds: random.pick([5, 10, 30]), cleans: random.chance(0.2) };
}

function drawMonitor(random: SeededRandom, node: string, condition: PostedCondition): Monitor {
  const atMs = FROM_MS + random.between(0, 60_000);
  const lasts = (): number => random.between(3_000, 150_000);
  const story = random.weighted(STORIES);
  const says: { atMs: number; status: Posted }[] = [{ atMs, status: 'True' }];
  const stills: { fromMs: number; toMs: number }[] = [];
  const then = (status: Posted, afterMs: number): void => {
    says.push({ atMs: (says.at(-1)?.atMs ?? atMs) + afterMs, status });
  };
  switch (story) {
    case 'stays':
      break;
    case 'comes-and-goes':
      then('False', lasts());
      break;
    case 'relapses':
      then('False', lasts());
      then('True', random.between(5_000, 60_000));
      then('False', lasts());
      break;
    case 'flaps':
      for (let time = 0; time < 4; time += 1) {
        then('False', random.between(500, 8_000));
        then('True', random.between(500, 8_000));
      }
      then('False', lasts());
      break;
    case 'restarts':
      // It posts at first that all is well, and finds it again.
      then('False', lasts());
      then('True', random.between(500, 6_000));
      then('False', lasts());
      break;
    case 'vanishes':
      then('gone', lasts());
      then(random.pick(['False', 'True', 'Unknown'] as const), lasts());
      then('False', lasts());
      break;
    case 'stands-still': {
      const fromMs = atMs + random.between(1_000, 60_000);
      stills.push({ fromMs, toMs: fromMs + random.between(20_000, LATER_MS) });
      then('False', lasts());
    }
  }
  return { node, condition, says, stills };
}

function drawDeed(random: SeededRandom, nodes: readonly string[]): RemedyDeed {
  const what = random.weighted(DEED_KINDS);
  const atMs = FAULT_AT_MS + random.between(0, 150_000);
  const durationMs = random.between(2_000, 90_000);
  const node = random.pick(nodes);
  switch (what) {
    case 'stop':
      return { what, atMs, durationMs, ...(random.chance(0.5) && { node }) };
    case 'cordon':
      return { what, atMs, durationMs, node, how: random.pick(['by-hand', 'again'] as const) };
    case 'delete-fence':
      return { what, atMs, durationMs: 0, node };
    case 'configure':
      return { what, atMs, durationMs, how: random.pick(['edited', 'removed', 'broken'] as const) };
    case 'budget':
      return { what, atMs: FROM_MS, durationMs: random.between(40_000, 240_000) };
    case 'resume':
    case 'delete-jobs':
    case 'delete-pods':
      return { what, atMs, durationMs: 0 };
  }
}
