import type { Plan } from '../../src/domain/plan.ts';
import { deviationsIn } from './deviations.ts';
import { Walker } from './walker.ts';
import { keyOf } from './world-key.ts';

/** What a search came to. */
export interface Found {
  /** Different states of automaton and world, with the number of deviations still to come. */
  states: number;
  /** Steps from one of them to another that were walked. */
  transitions: number;
  rows: Set<string>;
  /** Each broken law with the shortest way to it that was met. */
  violations: Map<string, string[]>;
  /** Runs that came to no end within `STEPS_MAX`. */
  endless: string[][];
}

export interface SearchOptions {
  /** Checks purity and schema of every decision too; costs three times as much. */
  isThorough?: boolean;
  /** Ends with the first thing that is wrong. */
  isFirstEnough?: boolean;
  /** How the world stands at the beginning; absent: the node has just failed. */
  begin?: ((walker: Walker) => void) | undefined;
}

/** More steps than this to the end of a fence, and it has none. */
const STEPS_MAX = 2_000;

interface Branch {
  walker: Walker;
  left: number;
  trail: string[];
}

/**
 * Every run of the automaton in which at most `deviationsMax` things go other than well, at every place where they can; each is followed to its end, so
 * that a state without a way on is found. States that were met before with as many deviations left are not walked again.
 */
export function search(plan: Plan, deviationsMax: number, { isThorough = false, isFirstEnough = false, begin }: SearchOptions = {}): Found {
  const found: Found = { states: 0, transitions: 0, rows: new Set(), violations: new Map(), endless: [] };
  const seen = new Map<string, number>();
  const walker = new Walker(plan, isThorough);
  begin?.(walker);
  const branches: Branch[] = [{ walker, left: deviationsMax, trail: [] }];
  for (let branch = branches.pop(); branch !== undefined; branch = branches.pop()) {
    follow(branch, branches, seen, found);
    if (isFirstEnough && found.violations.size + found.endless.length > 0) break;
  }
  found.states = seen.size;
  return found;
}

function follow({ walker, left, trail }: Branch, branches: Branch[], seen: Map<string, number>, found: Found): void {
  for (let steps = 0; !walker.isOver; steps += 1) {
    if (steps > STEPS_MAX) {
      found.endless.push(trail);
      return;
    }
    const key = keyOf(walker);
    if ((seen.get(key) ?? -1) >= left) return;
    seen.set(key, left);
    const aside = left > 0 ? branchesAt(walker, left, trail) : [];
    branches.push(...aside);
    found.transitions += aside.length + 1;
    walker.proceed();
    for (const row of walker.rows) found.rows.add(row);
    for (const words of walker.violations) {
      const known = found.violations.get(words);
      if (known === undefined || trail.length < known.length) found.violations.set(words, trail);
    }
    if (walker.violations.length > 0) return;
  }
}

function branchesAt(walker: Walker, left: number, trail: string[]): Branch[] {
  return deviationsIn(walker).map((deviation) => {
    const copy = walker.copy();
    deviation.happen(copy);
    return { walker: copy, left: left - 1, trail: [...trail, `after ${walker.model.rows.at(-1) ?? 'the beginning'}: ${deviation.name}`] };
  });
}
