import { uncertaintiesAbout, isUnsure, activityOf } from '../../config/foreign-controller.ts';
import type { ForeignControllerFacts } from '../../config/foreign-controller.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/recorder.ts';
import { SOON_MS } from './detector.ts';
import { ActivityTracker } from './activity-tracker.ts';

/** Kinds of one group that may be ours to serve, and what was found of whoever else serves them. */
export interface FoundKinds<S> extends ForeignControllerFacts {
  group: string;
  /** As they are served; undefined: they are not. */
  served: S | undefined;
  /** Why they are not, in words, where some of them are. */
  unpaired?: string;
  /** The definition is ours. */
  isOurs: boolean;
}

/** What it takes to serve them. */
export interface Claim {
  /** Who else serves them. */
  other: string;
  /** `MachineHealthChecks and Machines`. */
  kinds: string;
  /** Whose definition tells whose they are, and the flag by which a person overrules it; absent: only whether another controller is at work counts. */
  definition?: { kind: string; flag: string; choice: 'auto' | 'own' | 'off' };
}

export interface Ownership {
  isOwn: boolean;
  /** Why, in words. */
  reason: string;
}

const RESYNC_MS = 60_000;

/** Ours only where no other controller can be at work; off wherever that is in doubt: two who remediate one machine may power it off twice. */
export function ownershipOf({ other, kinds, definition }: Claim, facts: FoundKinds<unknown>): Ownership {
  const off = (reason: string): Ownership => ({ isOwn: false, reason });
  if (definition?.choice === 'off') return off(`${definition.flag} off`);
  if (facts.served === undefined) return off(facts.unpaired ?? `no ${kinds} are served`);
  const uncertainties = uncertaintiesAbout(other, facts);
  if (uncertainties.length > 0) return off(uncertainties.join('; '));
  const alone = `no sign of ${other}`;
  if (definition === undefined) return { isOwn: true, reason: alone };
  const { kind, flag, choice } = definition;
  if (choice === 'own') return { isOwn: true, reason: `${flag} own, and ${alone}` };
  return facts.isOurs
    ? { isOwn: true, reason: `the ${kind} definition is ours, and ${alone}` }
    : off(`the ${kind} definition was not installed by nodefence, so ${other} may start at any time: if none will, start nodefence with ${flag} own`);
}

/** Which kinds are ours, look after look: whether another controller is at work shows in several only. */
export class Owners<S> {
  readonly #parts: { clock: Clock; log: Logger; claim: Claim; message: string };
  readonly #trackers = new Map<string, ActivityTracker<FoundKinds<S>>>();
  readonly #told = new Map<string, string>();
  readonly #operators: ActivityTracker<ForeignControllerFacts>;
  /** BareMetalHosts are served by an operator, or may be. */
  hasOperator = true;

  /** `message`: for the log, whenever it is ours or is not any more. */
  constructor(parts: { clock: Clock; log: Logger; claim: Claim; message: string }) {
    this.#parts = parts;
    this.#operators = new ActivityTracker<ForeignControllerFacts>(parts.clock, activityOf);
  }

  /** All that are ours, and after how long to look again. `operator`: of BareMetalHosts, where they are served. */
  judge(found: readonly FoundKinds<S>[], operator?: ForeignControllerFacts): { own: S[]; restMs: number } {
    const own: S[] = [];
    let isOpen = operator !== undefined && this.#isOperatorUnsure(operator);
    if (operator === undefined) this.hasOperator = false;
    for (const each of found) {
      const tracker = this.#trackers.get(each.group) ?? new ActivityTracker<FoundKinds<S>>(this.#parts.clock, activityOf);
      this.#trackers.set(each.group, tracker);
      const facts = tracker.recall(each);
      const { isOwn, reason } = ownershipOf(this.#parts.claim, facts);
      if (isOwn && facts.served !== undefined) own.push(facts.served);
      isOpen ||= isOwn || isUnsure(facts);
      this.#log(facts, `${isOwn ? 'own' : 'off'}: ${reason}`);
    }
    return { own, restMs: isOpen ? SOON_MS : RESYNC_MS };
  }

  #isOperatorUnsure(found: ForeignControllerFacts): boolean {
    const facts = this.#operators.recall(found);
    this.hasOperator = uncertaintiesAbout('an operator of BareMetalHosts', facts).length > 0;
    return isUnsure(facts);
  }

  /** Nobody wants to read of what is not there. */
  #log({ group, served, unpaired }: FoundKinds<S>, mode: string): void {
    if (this.#told.get(group) === mode || (served === undefined && unpaired === undefined && !this.#told.has(group))) return;
    this.#told.set(group, mode);
    this.#parts.log.info(this.#parts.message, { group, mode });
  }
}
