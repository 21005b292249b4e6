import { expectedOf } from './expected.ts';
import { SeededRandom } from '../../src/testbed/simulation/seeded-random.ts';
import { CALM_API } from '../../src/testbed/simulation/network.ts';
import type { ApiFaults } from '../../src/testbed/simulation/network.ts';
import { rackOf } from './racks.ts';
import type { Disturbance, Feed, ForeignMark, OtherFault, Policies, Scenario, Word } from './scenario.ts';

const FAULT_AT_MS = 18_000;
/** By then every pod has a node: what keeps pods away from the victim does not keep the world from beginning. */
const SCHEDULED_MS = 14_000;
const DRIFT = 0.01;

type Theme = 'none' | 'storm' | 'devices' | 'api' | 'people';
const THEMES: Readonly<Record<Theme, number>> = { none: 30, storm: 20, devices: 16, api: 12, people: 22 };
const POLICIES: Readonly<Record<Policies, number>> = { off: 3, prompt: 5, default: 1, 'one-at-a-time': 1 };
const FEEDS: Readonly<Record<'supplies' | 'level', number>> = { supplies: 1, level: 2 };
/** Of worlds whose machines would have a BMC alone. */
const LEVELS_SHARE = 0.05;
const LEVELS: Readonly<Record<'two-outlets' | 'outlets-first', number>> = { 'two-outlets': 1, 'outlets-first': 1 };
const RESTORES: Readonly<Record<Feed['restore'], number>> = { 'always-on': 3, last: 2, 'always-off': 1 };

const NODE_NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'] as const;
type Storm = 'at-once' | 'one-by-one' | 'rack';
const STORMS: Readonly<Record<Storm, number>> = { 'at-once': 3, 'one-by-one': 4, rack: 3 };
const OTHER_FAULTS: Readonly<Record<OtherFault, number>> = { panic: 4, hang: 3, partition: 2, unplugged: 2 };

type DeviceTrouble = 'dies' | 'other' | 'swap' | 'late' | 'power-on';
const DEVICE_TROUBLES: Readonly<Record<DeviceTrouble, number>> = { dies: 3, other: 2, swap: 4, late: 4, 'power-on': 2 };
type ApiTrouble = 'burst' | 'restart' | 'expire';
const API_TROUBLES: Readonly<Record<ApiTrouble, number>> = { burst: 4, restart: 3, expire: 3 };
const BURSTS: Readonly<Record<'conflict' | 'too-many-requests' | 'server-error', number>> = {
  conflict: 1,
  'too-many-requests': 1,
  'server-error': 1,
};
type Deed = 'acknowledge' | 'delete-node' | 'mark' | 'stop' | 'edit';
const DEEDS: Readonly<Record<Deed, number>> = { acknowledge: 6, 'delete-node': 2, mark: 4, stop: 3, edit: 3 };
const WORDS: Readonly<Record<Word, number>> = { true: 4, false: 3, 'wrong-boot': 2, 'wrong-incident': 1, 'wrong-uid': 1 };
const PRESERVED_SHARE = 0.15;
const GUARDS: Readonly<Record<'isolate-and-hold' | 'never-fence' | 'unknown', number>> = { 'isolate-and-hold': 6, 'never-fence': 1, unknown: 3 };
const CROWD_SHARE = 0.4;
const SERVER_SHARE = 0.25;
type ServerTrouble = 'delete-lease' | 'restore' | 'plain-404' | 'retry-after' | 'webhook' | 'status-refused' | 'outage';
const SERVER_TROUBLES: Readonly<Record<ServerTrouble, number>> = {
  'delete-lease': 3,
  restore: 3,
  'plain-404': 3,
  'retry-after': 3,
  webhook: 3,
  'status-refused': 3,
  outage: 3,
};
const STARTED_SHARE = 0.15;
const STARTS: Readonly<Record<'restart' | 'throttle', number>> = { restart: 1, throttle: 1 };
const MARKS: Readonly<Record<ForeignMark, number>> = { taint: 3, cordon: 3, annotation: 1 };

const UNRULY_API: Partial<ApiFaults> = { watchGoneShare: 0.005, watchOvertakeShare: 0.1, hasSmallPages: true, pageGoneShare: 0.3 };

type First = Omit<Scenario, 'expected'>;

/** Draws that came later, each from a stream of its own, so that what a seed drew before them stays as it was; and what must come of it all. */
export function withMore(first: First): Scenario {
  const random = new SeededRandom(first.seed, 'more');
  const isRough = first.api !== CALM_API;
  const drifts = first.clockRates.kubelets !== 1;
  const theme = random.weighted(THEMES);
  const nodes = theme === 'storm' ? NODE_NAMES.slice(0, 3 + random.below(6)) : first.nodes;
  const feed: Feed | undefined = random.chance(0.2) ? { kind: random.weighted(FEEDS), restore: random.weighted(RESTORES) } : undefined;
  const scenario = {
    ...first,
    nodes,
    configuration: { ...first.configuration, policies: random.weighted(POLICIES) },
    api: isRough || random.chance(0.05) ? { ...first.api, ...UNRULY_API } : first.api,
    clockRates: drifts ? { ...first.clockRates, apiServer: 1 + random.between(-DRIFT, DRIFT) } : first.clockRates,
    ...(feed === undefined ? drawLevels(first) : { feed }),
    ...drawHosts(first, theme),
    ...drawCrowd(first, theme),
  };
  const disturbances = [
    ...scenario.disturbances,
    ...drawTheme(random, theme, scenario),
    ...drawPreserved(first),
    ...drawServer(first),
    ...drawStarted(first),
  ];
  const disturbed = { ...scenario, disturbances };
  return { ...disturbed, expected: expectedOf(disturbed) };
}

/** A replica runs on the node that fails. Of a kubelet that hangs only: with the machine its replica would be gone, which any crash plays. */
function drawHosts({ seed, controllers, fault, nodes, victim }: First, theme: Theme): Pick<First, 'hosts'> {
  const isPossible = controllers === 2 && fault === 'hang' && theme !== 'storm';
  return isPossible && new SeededRandom(seed, 'hosts').chance(0.4) ? { hosts: [victim, nodes[1] ?? victim] } : {};
}

/** Two levels, of which one has two outlets. */
function drawLevels({ seed }: First): Pick<First, 'feed'> {
  const random = new SeededRandom(seed, 'levels');
  return random.chance(LEVELS_SHARE) ? { feed: { kind: random.weighted(LEVELS), restore: random.weighted(RESTORES) } } : {};
}

/** Without it nobody ever waits in the queue: four nodes are worked on at once, and none takes long. */
function drawCrowd({ seed }: First, theme: Theme): Pick<First, 'crowd'> {
  const random = new SeededRandom(seed, 'crowd');
  if (theme !== 'storm' || !random.chance(CROWD_SHARE)) return {};
  const slowestMs = random.pick([30, 150, 600]);
  return { crowd: { slots: 1, latencyMs: [slowestMs / 3, slowestMs] } };
}

/** Somebody wants the machine kept, or nobody can tell whether; sooner or later that is over. */
function drawPreserved({ seed, faultAtMs }: First): Disturbance[] {
  const random = new SeededRandom(seed, 'preserved');
  if (!random.chance(PRESERVED_SHARE)) return [];
  const guard = random.weighted(GUARDS);
  const isBefore = random.chance(0.6);
  const atMs = isBefore ? faultAtMs - random.between(0, 5_000) : faultAtMs + random.between(20_000, 120_000);
  return [{ what: 'preserve', guard, atMs, durationMs: random.between(5_000, 240_000) }];
}

/** What happens to the API servers of real clusters sooner or later. */
function drawServer({ seed, faultAtMs }: First): Disturbance[] {
  const random = new SeededRandom(seed, 'server');
  if (!random.chance(SERVER_SHARE)) return [];
  const atMs = FAULT_AT_MS + random.between(0, 90_000);
  const what = random.weighted(SERVER_TROUBLES);
  switch (what) {
    case 'delete-lease':
      return [{ what, atMs, durationMs: 0 }];
    case 'restore': {
      // From when every pod has a node, until before there is a fence: a restore in the midst of one takes the record of its edges away. No backup is so
      // young that a standby has not seen the Lease renewed since: one that had not would wait from before the restore.
      const backupMs = SCHEDULED_MS + random.between(0, 2_000);
      const restoreMs = backupMs + random.between(8_000, Math.max(10_000, faultAtMs + 5_000 - backupMs));
      return [{ what, ageMs: restoreMs - backupMs, atMs: restoreMs, durationMs: random.between(200, 10_000) }];
    }
    case 'plain-404':
    case 'retry-after':
    case 'status-refused':
      return [{ what: 'burst', how: what, atMs, durationMs: random.between(500, 60_000) }];
    case 'webhook':
      return [{ what: 'burst', how: what, atMs, durationMs: random.between(10_000, 150_000) }];
    case 'outage': {
      const who = random.pick(['controllers', 'everyone', 'leader'] as const);
      const how = random.pick(['cut', 'mute', 'refused'] as const);
      return [{ what: 'break', who, how, atMs, durationMs: random.between(600_000, 2_400_000) }];
    }
  }
}

/** What a real API server answers for a while after its start, or while it is overloaded; mostly in the midst of the fence. */
function drawStarted({ seed, faultAtMs }: First): Disturbance[] {
  const random = new SeededRandom(seed, 'started');
  if (!random.chance(STARTED_SHARE)) return [];
  const atMs = faultAtMs + random.between(0, 60_000);
  const what = random.weighted(STARTS);
  if (what === 'throttle') return [{ what, atMs, durationMs: random.between(500, 30_000) }];
  const lacks = { rolesMs: random.between(0, 3_000), storagesMs: random.between(0, 3_000) };
  return [{ what, lacks, atMs, durationMs: random.between(200, 20_000) }];
}

function drawTheme(random: SeededRandom, theme: Theme, scenario: First): Disturbance[] {
  const several = <T>(draw: () => T): T[] => Array.from({ length: random.chance(0.3) ? 2 : 1 }, draw);
  switch (theme) {
    case 'none':
      return [];
    case 'storm':
      return drawStorm(random, scenario);
    case 'devices':
      return several(() => drawDeviceTrouble(random, scenario));
    case 'api':
      return several(() => drawApiTrouble(random));
    case 'people':
      return several(() => drawDeed(random, scenario)).filter((one, _index, all) => isFair(one, [...scenario.disturbances, ...all], scenario));
  }
}

/** Others fail beside the first: several at once, one after the other, or everything behind the switch of a rack. Somebody repairs them. */
function drawStorm(random: SeededRandom, { nodes, faultAtMs }: First): Disturbance[] {
  const others = nodes.slice(1);
  const kind = random.weighted(STORMS);
  if (kind === 'rack') {
    const rack = others.filter((_node, index) => rackOf(index + 1) === rackOf(random.chance(0.5) ? 0 : 1));
    const cut = rack.length > 0 ? rack : others.slice(0, 1);
    return [{ what: 'switch', nodes: cut, atMs: faultAtMs + random.between(-500, 500), durationMs: random.between(10_000, 180_000) }];
  }
  const count = 1 + random.below(others.length);
  let atMs = faultAtMs + random.between(-500, 500);
  return others.slice(0, count).map((node): Disturbance => {
    atMs += kind === 'at-once' ? random.between(0, 200) : random.between(2_000, 60_000);
    return { what: 'fail', node, fault: random.weighted(OTHER_FAULTS), atMs, durationMs: random.between(20_000, 240_000) };
  });
}

function drawDeviceTrouble(random: SeededRandom, { nodes, victim, faultAtMs }: First): Disturbance {
  const atMs = FAULT_AT_MS + random.between(0, 90_000);
  const other = nodes[1] ?? victim;
  switch (random.weighted(DEVICE_TROUBLES)) {
    case 'dies':
      return { what: 'hardware', node: victim, behaviour: 'dead', atMs: faultAtMs, durationMs: random.between(60_000, 300_000) };
    case 'other':
      return {
        what: 'hardware',
        node: other,
        behaviour: random.pick(['dead', 'lies', 'unknown']),
        atMs,
        durationMs: random.between(10_000, 120_000),
      };
    case 'swap':
      return { what: 'swap', node: other, atMs, durationMs: random.between(500, 120_000) };
    case 'late':
      return { what: 'late', byMs: random.between(10_000, 90_000), atMs: FAULT_AT_MS, durationMs: 0 };
    case 'power-on':
      return { what: 'power-on', node: victim, atMs, durationMs: 0 };
  }
}

function drawApiTrouble(random: SeededRandom): Disturbance {
  const atMs = FAULT_AT_MS + random.between(0, 90_000);
  const what = random.weighted(API_TROUBLES);
  switch (what) {
    case 'burst':
      return { what, how: random.weighted(BURSTS), atMs, durationMs: random.between(500, 25_000) };
    case 'restart':
      return { what, atMs, durationMs: random.between(200, 20_000) };
    case 'expire':
      return { what, atMs, durationMs: 0 };
  }
}

function drawDeed(random: SeededRandom, { fault }: First): Disturbance {
  const atMs = FAULT_AT_MS + random.between(0, 110_000);
  const what = random.weighted(DEEDS);
  switch (what) {
    case 'acknowledge':
      return { what, word: random.weighted(WORDS), atMs, durationMs: random.between(60_000, 180_000) };
    case 'delete-node':
      // Of a machine that may write unseen nobody deletes the Node: Kubernetes itself would then let go of what it holds.
      return fault === 'panic' ? { what, atMs, durationMs: random.between(20_000, 120_000) } : { what: 'expire', atMs, durationMs: 0 };
    case 'mark':
      return {
        what,
        mark: random.weighted(MARKS),
        atMs: Math.max(SCHEDULED_MS, atMs - random.between(0, 15_000)),
        durationMs: random.between(1_000, 120_000),
      };
    case 'stop':
      return { what, scope: 'node', atMs, durationMs: random.between(2_000, 90_000) };
    case 'edit':
      return { what, kind: random.pick(['cluster', 'policy']), atMs, durationMs: random.between(2_000, 60_000) };
  }
}

/** A false word is refused because a device reads on: where none can be read it would be the person who lets two write. */
function isFair(one: Disturbance, all: readonly Disturbance[], { device, isMisconfigured }: First): boolean {
  if (one.what !== 'acknowledge' || one.word !== 'false') {
    return true;
  }
  const isReadable = device === 'honest' || device === 'slow' || device === 'lies' || device === 'refuses';
  return isReadable && !isMisconfigured && !all.some(({ what }) => what === 'device' || what === 'edit' || what === 'hardware' || what === 'swap');
}
