import { sameContent } from '../../domain/canonical.ts';
import { bounded } from '../../domain/node-fence.ts';
import { persistedRemedies, restoredRemedies } from '../../domain/remedy/decide.ts';
import type { ObservedConditions } from '../../domain/remedy/conditions.ts';
import type { RemedyPosition, RemedyState } from '../../domain/remedy/position.ts';
import { REMEDY_STATUS_LIMITS } from '../../ports/remedies.ts';
import type { RemediesStatus, RemedyPositionStatus, RemedyRunRecord } from '../../ports/remedies.ts';
import type { NodeFenceReport } from '../../ports/resources.ts';

/** What is written down of one node, in the words of the API. */

export interface WrittenRemedies {
  /** uid of the Node. */
  nodeUID?: string | undefined;
  observed: ObservedConditions | undefined;
  states: ReadonlyMap<string, RemedyState>;
  /** What is said of each threshold. */
  messages: ReadonlyMap<string, string>;
  runs: readonly RemedyRunRecord[];
}

const NOTHING_OBSERVED: ObservedConditions = { standings: {} };

/** `undefined`: nothing is to be remembered. `before`: a phase that stays keeps its time. `now`: RFC 3339. */
export function remediesStatus(written: WrittenRemedies, before: RemediesStatus | undefined, now: string): RemediesStatus | undefined {
  const { conditions, positions } = persistedRemedies(written.observed ?? NOTHING_OBSERVED, written.states);
  const tripped = conditions.tripped.slice(0, REMEDY_STATUS_LIMITS.tripped).map(({ threshold, bootID, sinceWallMs }) => ({
    threshold,
    ...(bootID !== undefined && { bootID }),
    since: new Date(sinceWallMs).toISOString(),
  }));
  const standing = positions.slice(0, REMEDY_STATUS_LIMITS.positions).map((kept) => {
    const position = inWords(kept);
    const known = before?.positions?.find(({ threshold }) => threshold === position.threshold);
    const { since: _since, message: _message, ...was } = known ?? { since: now };
    const message = written.messages.get(position.threshold);
    const since = known !== undefined && sameContent(was, position) ? known.since : now;
    return { ...position, since, ...(message !== undefined && { message: bounded(message) }) };
  });
  const runs = written.runs.slice(-REMEDY_STATUS_LIMITS.runs);
  if (tripped.length === 0 && standing.length === 0 && runs.length === 0) return undefined;
  const { bootID } = conditions;
  const { nodeUID } = written;
  return {
    ...(nodeUID !== undefined && { nodeUID }),
    ...(bootID !== undefined && (tripped.length > 0 || standing.length > 0) && { bootID }),
    ...(tripped.length > 0 && { tripped }),
    ...(standing.length > 0 && { positions: standing }),
    ...(runs.length > 0 && { runs: [...runs] }),
  };
}

/** Words that only count otherwise, or name others in brackets, wait until they are due. */
export function mustBeWritten(now: RemediesStatus | undefined, before: RemediesStatus | undefined, isDue: boolean): boolean {
  if (sameContent(withoutNode(now), withoutNode(before))) return false;
  return isDue || !sameContent(withPlainWords(withoutNode(now)), withPlainWords(withoutNode(before)));
}

/** Whose it is is written with what else is: an older definition, which does not know it, would have it written for ever. */
function withoutNode(status: RemediesStatus | undefined): RemediesStatus | undefined {
  if (status === undefined) return undefined;
  const { nodeUID: _whose, ...what } = status;
  return what;
}

/** It was written of a Node that had the name before. */
export function isOfAnother(report: NodeFenceReport | undefined, nodeUID: string | undefined): boolean {
  const written = report?.status?.remedies?.nodeUID;
  return written !== undefined && nodeUID !== undefined && written !== nodeUID;
}

function withPlainWords(status: RemediesStatus | undefined): RemediesStatus | undefined {
  if (status?.positions === undefined) return status;
  return {
    ...status,
    positions: status.positions.map((each) => (each.message === undefined ? each : { ...each, message: withoutCounts(each.message) })),
  };
}

/** What counts down says the same all the while, and so does what names others in brackets. */
export function withoutCounts(text: string): string {
  return text.replaceAll(/\([^)]*\)|\d+/gu, '#');
}

/** What a new leader goes on from. */
export interface RestoredRemedies extends Omit<WrittenRemedies, 'messages' | 'nodeUID'> {
  observed: ObservedConditions;
  /** By threshold: when its phase was written, by the wall clock of whoever wrote it. */
  writtenAtMs: ReadonlyMap<string, number>;
}

/** `nodeUID`: of the Node that is there; nothing goes on from what was written of another. */
export function restoredStatus(
  report: NodeFenceReport | undefined,
  now: { monotonicMs: number; wallMs: number },
  nodeUID: string | undefined,
): RestoredRemedies {
  const { bootID, tripped = [], positions = [], runs = [] } = (isOfAnother(report, nodeUID) ? undefined : report?.status?.remedies) ?? {};
  const conditions = {
    ...(bootID !== undefined && { bootID }),
    tripped: tripped.map(({ threshold, bootID: boot, since }) => ({
      threshold,
      ...(boot !== undefined && { bootID: boot }),
      sinceWallMs: timeOf(since, now.wallMs),
    })),
  };
  const plain = positions.map(positionOf);
  return {
    ...restoredRemedies({ conditions, positions: plain }, now),
    writtenAtMs: new Map(positions.map(({ threshold, since }) => [threshold, timeOf(since, now.wallMs)])),
    runs,
  };
}

function inWords({ run, ...position }: RemedyPosition): Omit<RemedyPositionStatus, 'since'> {
  return { ...position, ...(run !== undefined && { run: { ...run, of: String(run.of) } }) };
}

function positionOf({ since: _since, message: _message, run, ...position }: RemedyPositionStatus): RemedyPosition {
  if (run === undefined) return position;
  return { ...position, run: { ...run, of: run.of === 'recovery' ? 'recovery' : Number(run.of) } };
}

function timeOf(text: string, otherwiseMs: number): number {
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? otherwiseMs : atMs;
}
