import { openEntries } from '../../domain/journal.ts';
import type { JournalEntry, NodeFenceStatus } from '../../domain/node-fence.ts';
import { placeOf, describeRun } from '../../domain/run-words.ts';
import type { NodeFence } from '../../ports/resources.ts';

/** What an uninstallation makes of one NodeFence. */
export interface Parting {
  node: string;
  /** `ready`: nothing is lost with it. `open`: only a controller finishes it, or a person lets it go. `busy`: a call may be under way. */
  kind: 'ready' | 'open' | 'busy';
  /** What is left that nobody takes back, and what a person is to do, a sentence each. */
  left: string[];
  /** A way to storage stays closed: pods are not to come back to the node. */
  keepsCordon: boolean;
}

/** Of these nobody knows whether the device still carries them out. */
const UNSURE: ReadonlySet<JournalEntry['result']> = new Set(['timeout', 'unreachable', 'interrupted', 'failed']);

export function partingOf({ spec: { node }, status }: NodeFence, nowMs: number): Parting {
  if (status?.frozen === undefined) return { node, kind: 'ready', left: [], keepsCordon: false };
  const edges = status.restore?.edges ?? [];
  const running = openEntries(status).find((entry) => Date.parse(entry.startedAt) + entry.deadlineMs > nowMs);
  const left = edges.map((edge) => {
    const what = `${edge.agent}${placeOf(edge)}`;
    return edge.state === 'off'
      ? `${what} is OFF by this fence and stays off: look at the machine, then switch it on there`
      : `${what} is CLOSED by this fence and stays closed: open it there before pods run on the node again; it stays cordoned (kubectl uncordon ${node})`;
  });
  const unsure = unsureOffs(status);
  left.push(
    ...unsure.map(
      (entry) => `what became of "${describeRun(entry)}" at ${entry.startedAt} is not known: read the device before you rely on the machine`,
    ),
  );
  if (isUnproven(status))
    left.push('it is not proven off: its pods stay bound to it; when you have seen the machine off, taint the node out-of-service yourself');
  const keepsCordon = edges.some(({ state }) => state === 'closed');
  if (running !== undefined) {
    const endsAt = new Date(Date.parse(running.startedAt) + running.deadlineMs).toISOString();
    return { node, kind: 'busy', left: [`"${describeRun(running)}" may be under way until ${endsAt}: run this again after that`], keepsCordon };
  }
  const isOpen = status.state !== 'final' && (edges.length > 0 || unsure.length > 0 || isReleasing(status));
  return { node, kind: isOpen ? 'open' : 'ready', left, keepsCordon };
}

/** Offs that no read settled and after which nothing was switched on; of several by the same device the last one, which is read like all of them. */
function unsureOffs({ journal, outcome }: NodeFenceStatus): JournalEntry[] {
  // The node was seen healthy on another boot since.
  if (outcome === 'recovered') return [];
  const lastOn = journal.findLastIndex(({ action, result }) => action === 'on' && result === 'succeeded');
  const lastProof = journal.findLastIndex(({ action, result }) => (action === 'off' || action === 'confirm') && result === 'succeeded');
  const unsure = journal.filter(
    (entry, index) =>
      index > Math.max(lastOn, lastProof) &&
      (entry.action === 'off' || entry.action === 'reboot') &&
      (entry.finishedAt === undefined || UNSURE.has(entry.result)),
  );
  return [...new Map(unsure.map((entry) => [describeRun(entry), entry])).values()];
}

function isReleasing({ released, journal }: NodeFenceStatus): boolean {
  return released !== undefined && !journal.some(({ action, result }) => action === 'release-end' && result === 'succeeded');
}

/** It has failed, something was begun, and its workload was not let go. */
function isUnproven({ state, evidence, released, journal }: NodeFenceStatus): boolean {
  const isUnderWay = state === 'running' || state === 'error' || (state === 'new' && journal.length > 0);
  return isUnderWay && released === undefined && !evidence.some(({ voidedAt }) => voidedAt === undefined);
}
