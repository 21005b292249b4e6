/** One machine of a group that shares a maximum. */
export interface Member {
  name: string;
  createdMs: number;
  /** Carries the automatic value. */
  isTaken: boolean;
  /** Failed, unannotated, not preserved. */
  isCandidate: boolean;
}

export interface AutomaticPlan<T extends Member> {
  preserve: T[];
  release: T[];
  /** What could not be released because nobody carries the mark. */
  remainingExcess: number;
}

function newestFirst(one: Member, other: Member): number {
  return other.createdMs - one.createdMs || (one.name < other.name ? -1 : 1);
}

/** Free places go to the newest first; what is too much is taken from the oldest. `taken`: places in use. */
export function planAutomatic<T extends Member>(max: number, taken: number, members: readonly T[]): AutomaticPlan<T> {
  const excess = taken - max;
  if (excess > 0) {
    const carriers = members.filter(({ isTaken }) => isTaken).sort(newestFirst);
    const release = carriers.reverse().slice(0, excess);
    return { preserve: [], release, remainingExcess: excess - release.length };
  }
  const candidates = members.filter(({ isCandidate }) => isCandidate).sort(newestFirst);
  return { preserve: candidates.slice(0, -excess), release: [], remainingExcess: 0 };
}
