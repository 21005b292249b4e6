import { SeededRandom } from '../../../src/testbed/simulation/seeded-random.ts';
import { expectedOf } from '../expected.ts';
import type { Configuration, Scenario } from '../scenario.ts';
import type { PathBehaviour, Program, ProgramDeed, ProgramWord, StoragePaths, Ways } from './ways.ts';

/** Of the worlds of the casts that fence: all others stay what they were. */
export const WAYS_SHARE = 0.2;

const SICK_SHARE = 0.5;
const STORAGE_SHARE = 0.5;
const PROGRAM_SHARE = 0.4;
const PACED_SHARE = 0.5;
const UNNAMED_SHARE = 0.3;

const BEHAVIOURS: Readonly<Record<PathBehaviour, number>> = { honest: 10, slow: 3, lies: 2, dead: 2, 'half-dead': 2, refuses: 1 };
const DEEDS: Readonly<Record<ProgramDeed, number>> = { mends: 3, reboots: 3, nothing: 3 };
const WORDS: Readonly<Record<ProgramWord, number>> = { truth: 5, failed: 2, done: 3, silent: 2 };
const RELEASES: Readonly<Record<Configuration['release'], number>> = { 'out-of-service': 3, 'delete-pods': 4, evict: 3 };

/** The world with other ways than its BMC, in a share of all seeds. Draws from a stream of its own. */
export function withWays(scenario: Scenario, share: number): Scenario {
  const random = new SeededRandom(scenario.seed, 'ways');
  const isTaken = scenario.daemons !== undefined || scenario.dumps !== undefined || scenario.remedies !== undefined;
  if (!random.chance(share) || isTaken) return scenario;
  const isSick = random.chance(SICK_SHARE);
  const ways: Ways = {
    notReadyMs: random.pick([2_000, 10_000, 30_000]),
    ...(random.chance(STORAGE_SHARE) && { storage: drawStorage(random) }),
    ...(random.chance(PROGRAM_SHARE) && { program: drawProgram(random) }),
    ...(random.chance(PACED_SHARE) && { podsPerMinute: random.pick([2, 6, 20]) }),
    podsPerNode: scenario.nodes.length > 4 ? 1 : 1 + random.below(3),
    ...(drawUnnamed(scenario) && { areUnnamed: true }),
  };
  const configuration = { ...scenario.configuration, release: random.weighted(RELEASES) };
  const whole = { ...scenario, configuration, ways, ...(isSick && { fault: 'sick' as const, flaps: drawSpells(random), healAfterOffMs: undefined }) };
  return { ...whole, expected: expectedOf(whole) };
}

/** Where nobody mixes devices up: that is what whoever writes `identity=unverified` answers for. Draws from a stream of its own. */
function drawUnnamed({ seed, disturbances }: Scenario): boolean {
  return new SeededRandom(seed, 'unnamed').chance(UNNAMED_SHARE) && !disturbances.some(({ what }) => what === 'swap' || what === 'edit');
}

/** Some are Ready again for good, some are never by themselves. */
function drawSpells(random: SeededRandom): Scenario['flaps'] {
  const spells = random.pick([1, 2, 3, 4]);
  const isForGood = random.chance(0.4);
  return Array.from({ length: spells }, (_, index) => {
    const isLast = index === spells - 1;
    const downMs = isLast && isForGood ? Number.POSITIVE_INFINITY : random.chance(0.3) ? random.between(200, 3_000) : random.between(3_000, 90_000);
    return { downMs, upMs: isLast ? 0 : random.chance(0.4) ? random.between(100, 3_000) : random.between(3_000, 40_000) };
  });
}

function drawStorage(random: SeededRandom): StoragePaths {
  return { count: random.pick([1, 2]), behaviour: random.weighted(BEHAVIOURS), isAdmitted: random.chance(0.75), isWhole: random.chance(0.6) };
}

function drawProgram(random: SeededRandom): Program {
  return {
    step: random.pick(['isolation', 'power-management']),
    deed: random.weighted(DEEDS),
    word: random.weighted(WORDS),
    takesMs: random.between(100, 6_000),
  };
}
