import { SeededRandom } from '../../../src/testbed/simulation/seeded-random.ts';
import { expectedOf } from '../expected.ts';
import type { NodeFault, Scenario } from '../scenario.ts';
import { borneBy } from './dumps.ts';
import type { CrashKernel, DumpDeed, Dumps, Forged } from './dumps.ts';

/** Of the worlds of every cast: all others stay what they were. */
export const DUMPS_SHARE = 0.08;

const KERNELS: Readonly<Record<CrashKernel, number>> = { ends: 6, stops: 3, mute: 2, endless: 2 };
/** Most crash kernels belong to a kernel that panicked. */
const FAULTS: Readonly<Record<'panic' | 'as drawn', number>> = { panic: 7, 'as drawn': 3 };
const FORGED: Readonly<Record<Forged, number>> = { stranger: 2, sound: 3, victim: 3, everyone: 1 };
const COUNTS: Readonly<Record<'0' | '1' | '2' | '3', number>> = { 0: 4, 1: 4, 2: 2, 3: 1 };
const EVIDENCE_SHARE = 0.25;

/** The world with crash kernels, in a share of all seeds. Draws from a stream of its own. */
export function withDumps(scenario: Scenario, share: number): Scenario {
  const random = new SeededRandom(scenario.seed, 'dumps');
  if (!random.chance(share) || scenario.daemons !== undefined) return scenario;
  const fault = faultOf(random, scenario);
  const whole = { ...scenario, ...fault, dumps: believable(drawDumps(random, scenario), { ...scenario, ...fault }) };
  return { ...whole, expected: expectedOf(whole) };
}

function faultOf(random: SeededRandom, { fault, flaps, healAfterOffMs }: Scenario): Pick<Scenario, 'fault' | 'flaps' | 'healAfterOffMs'> {
  const panic: NodeFault = 'panic';
  return random.weighted(FAULTS) === 'panic' ? { fault: panic, flaps: [], healAfterOffMs: undefined } : { fault, flaps, healAfterOffMs };
}

/**
 * Where messages are admitted as evidence, nobody forges those of a machine that lives and may come to look failed: docs/kdump.md says that this evidence rests on
 * the source address, and asks to let nobody send under that of another.
 */
export function believable(
  dumps: Dumps,
  { nodes, victim, fault, disturbances }: Pick<Scenario, 'nodes' | 'victim' | 'fault' | 'disturbances'>,
): Dumps {
  if (dumps.evidence !== 'admitted') return dumps;
  const living = new Set(fault === 'panic' ? [] : [victim]);
  for (const one of disturbances) {
    if (one.what === 'fail' && one.fault !== 'panic') living.add(one.node);
    if (one.what === 'switch') for (const node of one.nodes) living.add(node);
  }
  const isOfLiving = (deed: DumpDeed): boolean => deed.what === 'forge' && borneBy(deed.whose, { nodes, victim }).some((node) => living.has(node));
  return { ...dumps, deeds: dumps.deeds.map((deed) => (isOfLiving(deed) ? { ...deed, isWellFormed: false } : deed)) };
}

function drawDumps(random: SeededRandom, scenario: Scenario): Dumps {
  const kernel = random.weighted(KERNELS);
  const maxMs = random.pick([100_000, 150_000, 240_000]);
  const isRough = random.chance(0.4);
  const hasEvidence = scenario.feed === undefined && random.chance(EVIDENCE_SHARE);
  return {
    settings: { startMs: random.pick([10_000, 30_000]), finishedMs: random.pick([30_000, 60_000]), maxMs, isArmed: random.chance(0.5) },
    ...(hasEvidence && { evidence: random.chance(0.6) ? ('admitted' as const) : ('refused' as const) }),
    kernel,
    bootMs: random.between(3_000, 40_000),
    everyMs: random.pick([1_000, 5_000, 10_000]),
    lastsMs: random.between(1_000, 200_000),
    reboots: random.chance(0.4),
    datagrams: {
      latencyMs: random.pick([
        [0.2, 2],
        [5, 60],
      ] as const),
      lostShare: isRough ? 0.2 : 0,
      doubledShare: isRough ? 0.1 : 0,
      lateShare: isRough ? 0.2 : 0,
      lateMs: [500, 8_000],
    },
    deeds: Array.from({ length: Number(random.weighted(COUNTS)) }, () => drawDeed(random, scenario)),
  };
}

function drawDeed(random: SeededRandom, { faultAtMs }: Scenario): DumpDeed {
  const atMs = faultAtMs + random.between(-5_000, 60_000);
  const durationMs = random.between(5_000, 150_000);
  if (random.chance(0.4)) return { what: 'deaf', replica: random.pick([0, 1] as const), atMs, durationMs };
  const isWellFormed = random.chance(0.8);
  return { what: 'forge', whose: random.weighted(FORGED), everyMs: random.pick([200, 2_000, 10_000]), isWellFormed, atMs, durationMs };
}
