import type { Plan } from '../../src/domain/plan.ts';
import { deviationsIn } from './deviations.ts';
import { keyOf, Walker } from './walker.ts';

/** What a search came to. */
export interface Found {
  /** Different states of automaton and world, with the number of deviations still to come. */
  states: number;
  rows: Set<string>;
  /** Each broken law with the shortest way to it that was met. */
  violations: Map<string, string[]>;
  /** Runs that came to no end within `STEPS_MAX`. */
  endless: string[][];
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
export function search(plan: Plan, deviationsMax: number, isThorough: boolean): Found {
  const found: Found = { states: 0, rows: new Set(), violations: new Map(), endless: [] };
  const seen = new Map<string, number>();
  const branches: Branch[] = [{ walker: new Walker(plan, isThorough), left: deviationsMax, trail: [] }];
  for (let branch = branches.pop(); branch !== undefined; branch = branches.pop()) follow(branch, branches, seen, found);
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
    if (left > 0) branches.push(...branchesAt(walker, left, trail));
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
