import type { DeviceBehaviour } from '../../src/testbed/simulation/devices.ts';
import { disturbedUntilMs } from './scenario.ts';
import type { Dumps } from './dumps/dumps.ts';
import { dumpDeedsEndMs } from './dumps/dumps.ts';
import { daemonDeedsEndMs } from './node-daemons/node-daemons.ts';
import type { NodeDaemons } from './node-daemons/node-daemons.ts';
import { remedyDeedsEndMs } from './remedies/remedy-world.ts';
import { deedsEndMs } from './secondary-controllers/secondary-controllers.ts';
import type { Disturbance, EndState, Expected, Scenario } from './scenario.ts';

export const NEVER_OFF: ReadonlySet<DeviceBehaviour> = new Set(['lies', 'dead', 'unknown', 'refuses']);
const SOMETIMES_OFF: ReadonlySet<DeviceBehaviour> = new Set(['half-dead', 'restores']);
/** What may cost a fence its last retry. */
const COSTLY: ReadonlySet<Disturbance['what']> = new Set([
  'device',
  'edit',
  'delete-fence',
  'burst',
  'hardware',
  'swap',
  'late',
  'power-on',
  'delete-node',
]);
/** What takes the fence, or its Node, away. */
const REMOVING: ReadonlySet<Disturbance['what']> = new Set(['delete-fence', 'delete-node']);
const STORMY: ReadonlySet<Disturbance['what']> = new Set(['fail', 'switch']);
/** Longest run of a fence that fails every way it can: detection, retries of 31 s and 30 s, back-off, crash and take-over, all twice. */
const LIMIT_MS = 1_500_000;
/** A controller that began and found no leader alive before it fences nothing for five minutes; a second one may begin in the midst of that. */
const GRACE_MS = 600_000;
/** The sliding window of `rate`, and as many fences one after the other as there are nodes. */
const STORM_MS = 1_500_000;

/** As often as a request may try, each with its timeouts, and what it says at last. */
const REQUESTED_MS = 1_200_000;

/** Each fence of a world may wait for a dump once more. */
const DUMPED_MS = 900_000;
/** Steps more, each with its retries, and pods that are let go at a pace. */
const WAYS_MS = 900_000;
/** The limit has room for what is over by then. */
const USUAL_MS = 600_000;

type Played = Pick<
  Scenario,
  | 'victim'
  | 'secondaries'
  | 'daemons'
  | 'dumps'
  | 'remedies'
  | 'fault'
  | 'flaps'
  | 'device'
  | 'isMisconfigured'
  | 'disturbances'
  | 'configuration'
  | 'ways'
  | 'feed'
  | 'api'
>;

/** What must come of it. A node that came back by itself is final or was never fenced; a device that cannot switch off frees nothing. */
export function expectedOf(scenario: Played): Expected {
  if (scenario.daemons !== undefined) return withDaemons(scenario, scenario.daemons);
  if (scenario.remedies !== undefined) return withRemedies(scenario);
  const expected = withOtherWays(withCrashKernels(alone(scenario), scenario.dumps), scenario);
  const { secondaries, victim } = scenario;
  if (secondaries === undefined) return expected;
  const withinMs = expected.withinMs + deedsEndMs(secondaries) + REQUESTED_MS;
  // Whoever else may ask for it, and withdraw that, has a say in how its fence ends and in whether its workload is let go; the laws and the power say the rest.
  return secondaries.nodes.includes(victim)
    ? { states: ['final', 'error', 'none', 'held'], release: expected.release === 'never' ? 'never' : 'may', withinMs }
    : { ...expected, withinMs };
}

/**
 * Closed storage lets its pods go, and its machine can not be switched, or whoever asked, or a person, takes the fence away before it is: once it is withdrawn
 * its fence waits for a boot.
 */
export function mayStayClosed(
  { ways, device, secondaries, victim, disturbances }: Pick<Scenario, 'ways' | 'device' | 'secondaries' | 'victim' | 'disturbances'>,
  node = victim,
): boolean {
  const isTakenAway = node === victim && (NEVER_OFF.has(device) || disturbances.some(({ what }) => what === 'delete-fence'));
  return ways?.storage?.isAdmitted === true && (isTakenAway || secondaries?.nodes.includes(node) === true);
}

/** A machine that boots anew after its dump, or whose pods were let go on the word of it, may end in any way: its power was not switched. */
function withCrashKernels(expected: Expected, dumps: Dumps | undefined): Expected {
  if (dumps === undefined) return expected;
  const withinMs = expected.withinMs + dumpDeedsEndMs(dumps) + DUMPED_MS;
  const isByItself = (dumps.kernel === 'ends' && dumps.reboots) || dumps.evidence !== undefined;
  if (!isByItself) return { ...expected, withinMs };
  const release = expected.release === 'never' && dumps.evidence !== 'admitted' ? 'never' : 'may';
  return { states: ['final', 'error', 'none', 'held'], release, withinMs };
}

/** What isolates may fail for good, or bring the node back, and what is closed proves something by itself; a budget may keep pods from being evicted. */
function withOtherWays(expected: Expected, { ways, configuration }: Played): Expected {
  if (ways === undefined) return expected;
  const { storage, program } = ways;
  const isSound = storage === undefined || storage.behaviour === 'honest' || storage.behaviour === 'slow';
  const mayEndOtherwise = program !== undefined || !isSound;
  const proves = expected.release === 'never' && storage?.isAdmitted !== true ? 'never' : 'may';
  const isBudgeted = configuration.release === 'evict';
  return {
    states: mayEndOtherwise ? [...new Set<EndState>([...expected.states, 'final', 'error'])] : expected.states,
    release: expected.release === 'never' || mayEndOtherwise || isBudgeted ? proves : expected.release,
    withinMs: expected.withinMs + WAYS_MS,
  };
}

/** A node may be back by itself at any time; whether it stayed up or went down as it must is watched all the while. */
function withDaemons(scenario: Played, daemons: NodeDaemons): Expected {
  const { device } = scenario;
  const isHopeless = daemons.evidence === 'never' && (device === 'dead' || daemons.level === 'only');
  const lateMs = daemonDeedsEndMs(daemons) + disturbedUntilMs(scenario);
  return {
    states: ['final', 'error', 'none', 'held'],
    release: isHopeless ? 'never' : daemons.evidence === 'must' ? 'must' : 'may',
    withinMs: LIMIT_MS + GRACE_MS + STORM_MS + lateMs,
  };
}

/** Whatever a remedy asked for may be taken back, or never come; the laws and the power say the rest. */
function withRemedies(scenario: Played): Expected {
  const lateMs = remedyDeedsEndMs(scenario.remedies) + disturbedUntilMs(scenario);
  return { states: ['final', 'error', 'none', 'held'], release: 'may', withinMs: LIMIT_MS + GRACE_MS + STORM_MS + lateMs };
}

function alone(scenario: Played): Expected {
  const { fault, flaps, disturbances, configuration, api } = scenario;
  const comesBack = fault === 'flap' || fault === 'sick';
  const isStormy = disturbances.some(({ what }) => STORMY.has(what)) || scenario.secondaries?.hosts !== undefined;
  const states: EndState[] =
    isHopeless(scenario) && !comesBack ? ['error'] : isHopeless(scenario) || isUncertain(scenario) ? ['final', 'error'] : ['final'];
  const relapses = fault === 'sick' && flaps.length > 1;
  if (relapses && !states.includes('error')) states.push('error');
  const mayBeGone = comesBack || disturbances.some(({ what }) => REMOVING.has(what));
  if (mayBeGone || isRepairedUnheard(scenario)) states.push('none');
  // A fence that somebody asks for of another node makes that one unhealthy too, for as long as it is left off.
  const asksForOthers = configuration.policies !== 'off' && scenario.secondaries?.composed.remediation === true;
  if ((isStormy && configuration.policies !== 'off') || isInVainAgain(scenario) || asksForOthers) states.push('held');
  // Where others are not heard for longer than a hold must stand they seem to fail too: a storm lets nothing go, however far a fence has come.
  const mayBeUnheard = api.watchDropShare > 0 || disturbances.some(({ what }) => what === 'break');
  const seemsStorm = configuration.policies !== 'off' && mayBeUnheard;
  const isKept = disturbances.some(({ what }) => what === 'preserve');
  const mayBeHeld = seemsStorm || isKept || states.includes('held');
  const release = isHopeless(scenario) ? 'never' : isUncertain(scenario) || mayBeGone ? 'may' : mayBeHeld ? 'unless-held' : 'must';
  const lateMs = Math.max(0, disturbedUntilMs(scenario) - USUAL_MS);
  return { states, release, withinMs: lateMs + LIMIT_MS + (configuration.policies === 'off' ? 0 : GRACE_MS) + (isStormy ? STORM_MS : 0) };
}

/** A person repaired the machine while no controller heard of anything, or was not to fence it: there was never a fence. */
function isRepairedUnheard({ disturbances }: Played): boolean {
  return disturbances.some(isHeeded) && disturbances.some((one) => one.what === 'break' || one.what === 'pause' || isNeverFenced(one));
}

function isNeverFenced(one: Disturbance): boolean {
  return one.what === 'preserve' && one.guard === 'never-fence';
}

/** Two fences of one node that ended without recovery: the breaker keeps the third, whatever policies there are. */
function isInVainAgain({ disturbances }: Played): boolean {
  return disturbances.filter(({ what }) => REMOVING.has(what)).length >= 2;
}

/** Nothing in this world can prove that the machine is off. */
function isHopeless({ device, isMisconfigured, disturbances, feed }: Played): boolean {
  const isDeleted = disturbances.some(({ what }) => what === 'delete-node');
  const isReplaced = isDeleted || disturbances.some(({ what }) => what === 'hardware');
  return !disturbances.some(isTrueWord) && ((isMisconfigured && !isDeleted) || (NEVER_OFF.has(device) && !hasSecondLevel(feed) && !isReplaced));
}

/** Another device switches the machine where its first one does not. */
function hasSecondLevel(feed: Played['feed']): boolean {
  return feed !== undefined && feed.kind !== 'supplies';
}

function isUncertain({ device, disturbances, feed, isMisconfigured }: Played): boolean {
  const isHard = isMisconfigured || NEVER_OFF.has(device) || SOMETIMES_OFF.has(device);
  return isHard || feed !== undefined || disturbances.some((one) => COSTLY.has(one.what) || isHeeded(one));
}

/** Whoever said it has the machine in hand, and may switch it on again in the middle of the next attempt. */
function isHeeded(one: Disturbance): boolean {
  return one.what === 'acknowledge' && (one.word === 'true' || one.word === 'false');
}

function isTrueWord(one: Disturbance): boolean {
  return one.what === 'acknowledge' && one.word === 'true';
}
