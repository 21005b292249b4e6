import { DEFAULT_MAX_FENCES_PER_DAY } from '../../src/domain/budget.ts';
import { ISOLATION_ONLY } from '../../src/domain/last-step.ts';
import { FENCE_NAME_PREFIX, fenceName } from '../../src/domain/node-fence.ts';
import type { NodeFenceStatus } from '../../src/domain/node-fence.ts';
import { mayStayClosed, NEVER_OFF } from './expected.ts';
import type { EndState } from './scenario.ts';
import type { FenceWatch } from './fence-watch.ts';
import type { Readiness } from './readiness.ts';
import { concerned, disturbedUntilMs, flapsEndMs } from './scenario.ts';
import type { Scenario } from './scenario.ts';
import { daemonDeedsEndMs } from './node-daemons/node-daemons.ts';
import { remedyDeedsEndMs } from './remedies/remedy-world.ts';
import { deedsEndMs } from './secondary-controllers/secondary-controllers.ts';
import type { TakeOvers } from './take-overs.ts';

/** Nothing was written to any fence for so long: it has come to rest. */
const REST_MS = 25_000;
/** A node that is Ready brings its fence out of error: after the longest back-off of a recovery that failed, and the delay of health. */
const HEALS_BY_ITSELF_MS = 120_000;
/** A flap that ended so long ago without a fence needs none. */
const UNNOTICED_MS = 60_000;
/** The longest time after which a storm policy lets go by itself: the sliding window of `rate`. */
const LETS_GO_MS = 660_000;

/** Until a person resumes it, or for a day. */
const BUDGETS: ReadonlySet<string | undefined> = new Set(['breaker', 'max-fences-per-day']);

export interface RestOptions {
  scenario: Scenario;
  fence: FenceWatch;
  takeOvers: Pick<TakeOvers, 'heldSinceMs'>;
  readiness: Pick<Readiness, 'has' | 'changedAtMs'>;
  /** Its Machine has ended, its Node went with it, and no other has come since. */
  isGone: (node: string) => boolean;
  /** Something of the outer world is still to come. */
  isPending: () => boolean;
}

/** When a world may be looked at for the last time. */
export class Rest {
  readonly #options: RestOptions;
  readonly #calmFromMs: number;
  readonly #hasJumps: boolean;

  constructor(options: RestOptions) {
    this.#options = options;
    const { scenario } = options;
    this.#hasJumps = scenario.disturbances.some(({ what }) => what === 'clock');
    this.#calmFromMs = Math.max(
      scenario.faultAtMs,
      disturbedUntilMs(scenario) + REST_MS,
      deedsEndMs(scenario.secondaries) + REST_MS,
      scenario.remedies === undefined ? 0 : remedyDeedsEndMs(scenario.remedies) + UNNOTICED_MS,
      scenario.daemons === undefined ? 0 : Math.max(scenario.faultAtMs, daemonDeedsEndMs(scenario.daemons)) + UNNOTICED_MS,
      scenario.fault === 'flap' || scenario.fault === 'sick' ? flapsEndMs(scenario) + UNNOTICED_MS : 0,
    );
  }

  /** Every fence stands where it may rest, and nothing more is to be expected of it. */
  isOver(nowMs: number): boolean {
    const { fence, takeOvers, isPending, scenario, readiness } = this.#options;
    // A new leader counts every delay from its own first sight; the pods of a node that came back need a while.
    const changedAtMs = Math.max(fence.changedAtMs, takeOvers.heldSinceMs, readiness.changedAtMs);
    if (nowMs < Math.max(this.#calmFromMs, changedAtMs + REST_MS) || isPending()) {
      return false;
    }
    const nodes = new Set([...concerned(scenario), ...fence.names.map((name) => name.slice(FENCE_NAME_PREFIX.length))]);
    return [...nodes].every((node) => this.#rests(node, nowMs));
  }

  #rests(node: string, nowMs: number): boolean {
    const { scenario, fence, readiness, isGone, takeOvers } = this.#options;
    const isReady = (name: string): boolean => readiness.has(name);
    const status = fence.of(fenceName(node));
    const quietMs = nowMs - Math.max(fence.changedAtMs, takeOvers.heldSinceMs);
    const waitsForBoot = quietMs > LETS_GO_MS && fence.isWithdrawn(fenceName(node)) && staysClosed(node, status, scenario);
    switch (endStateOf(status)) {
      case 'none':
        if (isGone(node)) return quietMs > UNNOTICED_MS;
        return isReady(node) && (node !== scenario.victim || (scenario.expected.states.includes('none') && nowMs - fence.changedAtMs > UNNOTICED_MS));
      case 'final':
        // It may have failed once more, by an off that came late.
        return isReady(node) || quietMs > HEALS_BY_ITSELF_MS;
      case 'error':
        return waitsForBoot || (isUsedUp(status, scenario) && (!isReady(node) || quietMs > HEALS_BY_ITSELF_MS));
      case 'held':
        // It is as far as it was asked to go; when whoever asked goes on is told elsewhere.
        if (status?.hold?.policy === ISOLATION_ONLY) return scenario.remedies !== undefined;
        if (BUDGETS.has(status?.hold?.policy)) return this.#isBudgetSpent(node, status);
        // The time of a machine that is kept is a wall clock's: one that was set back by hours keeps it for as long.
        if (status?.hold?.policy === 'preservation' && scenario.secondaries !== undefined)
          return this.#hasJumps && nowMs > this.#calmFromMs + LETS_GO_MS;
        // As long as others are down it may be right to hold for ever; a hold that time ends has ended by then.
        return quietMs > LETS_GO_MS && scenario.nodes.some((other) => other !== node && !isReady(other));
      case undefined:
        return waitsForBoot;
    }
  }

  /** Several who asked for a node may have it fenced as often as it may be in a day: as often something must have been sent that switches it or lets its pods go. */
  #isBudgetSpent(node: string, status: NodeFenceStatus | undefined): boolean {
    const { scenario, fence } = this.#options;
    if (status?.hold?.policy === 'breaker') return scenario.expected.states.includes('held');
    const isAskedFor = scenario.secondaries?.nodes.includes(node) === true;
    return (isAskedFor || scenario.expected.states.includes('held')) && fence.fencesOf(fenceName(node)) >= DEFAULT_MAX_FENCES_PER_DAY;
  }
}

/** Nothing restarts it: its restarts are spent, or its proof was lost after pods were let go. */
function isUsedUp(status: NodeFenceStatus | undefined, { configuration }: Scenario): boolean {
  return (status?.restarts ?? 0) >= configuration.maxRestarts || status?.released?.voidedAt !== undefined;
}

/**
 * A fence that let pods go because their storage was closed keeps it closed, when it is withdrawn, until the node boots anew: one that nobody can switch never
 * does, nor one whose off had not been sent by then.
 */
function staysClosed(node: string, status: NodeFenceStatus | undefined, scenario: Scenario): boolean {
  const kinds = status?.evidence.map(({ kind }) => kind) ?? [];
  const isSwitched = status?.journal.some(
    ({ action, step, result, offSent }) =>
      action === 'off' && step !== 'isolation' && offSent !== false && result !== 'not-sent' && result !== 'stopped',
  );
  const isLeftOn = (node === scenario.victim && NEVER_OFF.has(scenario.device)) || isSwitched !== true;
  return mayStayClosed(scenario, node) && isLeftOn && kinds.length > 0 && kinds.every((kind) => kind === 'storage-revoked');
}

/** How a fence stands in the words of a scenario; `undefined` while it is under way. */
export function endStateOf(status: NodeFenceStatus | undefined): EndState | undefined {
  switch (status?.state) {
    case undefined:
      return 'none';
    case 'final':
    case 'error':
      return status.state;
    case 'new':
    case 'running':
      return status.hold === undefined || status.hold.policy === 'stop' ? undefined : 'held';
    case 'done':
      return undefined;
  }
}
