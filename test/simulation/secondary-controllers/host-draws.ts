import type { OperatorPace } from '../../../src/testbed/operators/baremetal-operator.ts';
import type { DeviceBehaviour } from '../../../src/testbed/simulation/devices.ts';
import { SeededRandom } from '../../../src/testbed/simulation/seeded-random.ts';
import { disturbedUntilMs, failing } from '../scenario.ts';
import type { Scenario } from '../scenario.ts';
import type { HostDeed, Hosts } from './secondary-controllers.ts';

const HOSTED_SHARE = 0.8;
const SERVED_SHARE = 0.7;
/** Until hosts that nobody minds are known for it, and a fence that is asked for then. */
const UNSERVED_MS = 360_000;
const SECOND_SHARE = 0.3;
const FIRST_ASKED_MS = 30_000;
const LAST_ASKED_MS = 110_000;
/** Somebody puts right what is left when all else is over, and the API server has noticed. */
const MENDED_MS = 60_000;

const PACES = [
  { steadyMs: 3_000, shortWaitMs: 500, softMs: 6_000, backOffUnitMs: 500 },
  { steadyMs: 60_000, shortWaitMs: 3_000, softMs: 30_000, backOffUnitMs: 1_000 },
] as const satisfies readonly OperatorPace[];
const TOGETHER_SHARE = 0.4;
const FAULTS = { none: 4, partition: 3, panic: 3, hang: 2 } as const;
const BEHAVIOURS: Readonly<Partial<Record<DeviceBehaviour, number>>> = { lies: 3, dead: 3, 'half-dead': 2, refuses: 2, unknown: 2, slow: 1 };

/** Nodes to which nothing else happens: who presses a button at a machine that is held off there deceives any operator. */
export function drawHosts(scenario: Scenario, subjects: readonly string[], fromMs: number): Hosts | undefined {
  const random = new SeededRandom(scenario.seed, 'sisters hosts');
  if (subjects.length === 0 || !random.chance(HOSTED_SHARE)) return undefined;
  const isServed = random.chance(SERVED_SHARE);
  if (!isServed) {
    const node = random.pick(subjects);
    return { nodes: [node], isServed, pace: PACES[0], deeds: drawAsked(random, node, fromMs) };
  }
  const named = scenario.disturbances.flatMap((one) => ('node' in one ? [one.node] : []));
  const taken = new Set([...failing(scenario), ...named]);
  const free = scenario.nodes.filter((node) => !taken.has(node));
  const nodes = free.slice(0, random.chance(SECOND_SHARE) ? 2 : 1);
  // Somebody is left for the others to act on.
  if (nodes.length === 0 || subjects.every((node) => nodes.includes(node))) return undefined;
  const pace = random.pick(PACES);
  const deeds = nodes.flatMap((node) => drawDeeds(random, node, { fromMs, calmMs: disturbedUntilMs(scenario) }));
  return { nodes, isServed, pace, deeds: togetherAsked(scenario, deeds) };
}

/** In some worlds both are asked for in one moment, while each is Ready yet. */
function togetherAsked({ seed }: Scenario, deeds: readonly HostDeed[]): HostDeed[] {
  const random = new SeededRandom(seed, 'sisters hosts together');
  const isTogether = random.chance(TOGETHER_SHARE);
  const [first, ...later] = deeds.filter(({ what }) => what === 'ask');
  const atMs = (first?.atMs ?? 0) + random.between(0, 2_000);
  return deeds.map((deed) => (isTogether && later.includes(deed) ? { ...deed, atMs } : deed));
}

/** Of a host that nobody minds: the node may fail too, and is then fenced without being asked for. */
function drawAsked(random: SeededRandom, node: string, fromMs: number): HostDeed[] {
  const ask = drawAsk(random, {
    node,
    atMs: fromMs + random.between(FIRST_ASKED_MS, LAST_ASKED_MS),
    durationMs: UNSERVED_MS + random.between(0, 300_000),
  });
  if (random.chance(0.6)) return [ask];
  return [
    ask,
    { node, atMs: ask.atMs + random.between(0, UNSERVED_MS), durationMs: random.between(2_000, 200_000), what: 'fail', fault: 'partition' },
  ];
}

function drawAsk(random: SeededRandom, when: Pick<HostDeed, 'node' | 'atMs' | 'durationMs'>): HostDeed {
  return {
    ...when,
    what: 'ask',
    by: random.pick(['machine', 'metal3'] as const),
    retryLimit: random.pick([1, 2]),
    timeoutSeconds: random.pick([100, 100, 300]),
    ...(random.chance(0.3) && { everyMs: random.between(5_000, 30_000) }),
  };
}

function drawDeeds(random: SeededRandom, node: string, { fromMs, calmMs }: { fromMs: number; calmMs: number }): HostDeed[] {
  const askedMs = Math.max(fromMs, 0) + random.between(FIRST_ASKED_MS, LAST_ASKED_MS);
  const around = (beforeMs: number, afterMs: number, range: readonly [number, number]): Pick<HostDeed, 'node' | 'atMs' | 'durationMs'> => ({
    node,
    atMs: askedMs + random.between(-beforeMs, afterMs),
    durationMs: random.between(...range),
  });
  const deeds: HostDeed[] = [drawAsk(random, around(0, 0, [30_000, 400_000]))];
  if (random.chance(0.5))
    deeds.push({ ...around(10_000, 60_000, [2_000, 180_000]), what: 'operator', how: random.pick(['stopped', 'restarted'] as const) });
  if (random.chance(0.5))
    deeds.push({
      ...around(5_000, 40_000, [2_000, 150_000]),
      what: 'bmc',
      behaviour: random.weighted(BEHAVIOURS as Record<DeviceBehaviour, number>),
    });
  if (random.chance(0.25)) deeds.push({ ...around(10_000, 60_000, [2_000, 90_000]), what: 'host', how: random.pick(['paused', 'deleted'] as const) });
  const fault = random.weighted(FAULTS);
  if (fault === 'none') return deeds;
  const atMs = askedMs - random.between(0, 12_000);
  const endMs = Math.max(calmMs, ...deeds.map((deed) => deed.atMs + deed.durationMs)) + MENDED_MS;
  const untilMs = fault === 'partition' && random.chance(0.5) ? random.between(atMs + 2_000, endMs) : endMs;
  return [...deeds, { node, atMs, durationMs: untilMs - atMs, what: 'fail', fault }];
}
