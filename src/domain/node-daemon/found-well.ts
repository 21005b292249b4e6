/**
 * Conditions that others post and that a node's daemon can look at by itself. A monitor that reads logs takes a problem back only when it starts anew, which says
 * nothing; a look says whether it is over.
 */
export const VERIFIABLE_CONDITIONS = ['ReadonlyFilesystem'] as const;
export type VerifiableCondition = (typeof VERIFIABLE_CONDITIONS)[number];

/** One that a daemon looked at, and found well. */
export interface FoundWell {
  type: VerifiableCondition;
  /** When that look began, by the clock of the node: `2026-02-03T04:05:06Z`. */
  at: string;
}

/** What a daemon found well, in which boot. */
export interface AttestedWell {
  readonly bootID: string;
  readonly foundWell: readonly FoundWell[];
}

/** What the Node says. */
interface ClaimedConditions {
  readonly bootID?: string | undefined;
  readonly conditions: readonly { readonly type: string; readonly lastTransitionTime?: string | undefined }[];
}

/** One of each type, and room for those of later versions. */
export const FOUND_WELL_MAX = 16;
const SECOND = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/u;
const SECOND_MS = 1_000;

/** What a later version says that this one does not know spoils nothing else. */
export function foundWellIn(list: unknown): FoundWell[] {
  if (!Array.isArray(list)) return [];
  return list.slice(0, FOUND_WELL_MAX).flatMap((entry: unknown): FoundWell[] => {
    const { type, at } = typeof entry === 'object' && entry !== null ? (entry as Readonly<Record<string, unknown>>) : {};
    const known = VERIFIABLE_CONDITIONS.find((one) => one === type);
    if (known === undefined || typeof at !== 'string' || !SECOND.test(at) || Number.isNaN(Date.parse(at))) return [];
    return [{ type: known, at }];
  });
}

/** Down to the second before it: a look that began within the second of a transition may have begun before it. */
export function lookedAt(wallMs: number): string {
  return new Date(wallMs).toISOString().replace(/\.\d+Z$/u, 'Z');
}

/**
 * Types that the daemon of this very boot found well by a look that began after the condition last changed. Both times are of the node's own clock. What was
 * looked at before says nothing of what came since.
 */
export function activelyClear(attested: AttestedWell | undefined, { bootID, conditions }: ClaimedConditions): ReadonlySet<string> {
  if (attested === undefined || bootID === undefined || attested.bootID !== bootID) return new Set();
  const isLookedAtSince = ({ type, lastTransitionTime }: ClaimedConditions['conditions'][number]): boolean => {
    const changedMs = Date.parse(lastTransitionTime ?? '');
    return attested.foundWell.some((found) => found.type === type && secondOf(Date.parse(found.at)) > secondOf(changedMs));
  };
  return new Set(conditions.filter(isLookedAtSince).map(({ type }) => type));
}

/** Of a time that is not known, NaN: then nothing is later. */
function secondOf(ms: number): number {
  return Math.floor(ms / SECOND_MS);
}
