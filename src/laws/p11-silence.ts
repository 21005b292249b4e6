import type { FenceHistory } from './fence-history.ts';
import type { History } from './history.ts';
import { Verdict } from './law.ts';
import type { Law } from './law.ts';
import { Processes } from './processes.ts';
import { waitBehind } from './wait.ts';

/** One `watchdog` evidence: from where on it stands, and of which boot it speaks. */
interface Silence {
  node: string;
  position: number;
  at: number;
  bootID: string | undefined;
}

/** P11, silence is the end: when evidence `watchdog` is given, and wherever a release rests on it, no process of that boot may write any more. */
export const silenceIsTheEnd: Law = (history) => {
  const verdict = new Verdict();
  const silences = history.fences.flatMap((fence) => silencesOf(history, fence));
  if (silences.length === 0) return verdict;
  const processes = new Processes(history.events);
  for (const { node, position, at, bootID } of silences) {
    const said = `the watchdog of ${node} was taken for its end`;
    const running = processes.runningAt(position, node, bootID);
    verdict.check(running.length === 0, at, `${said} while ${running.join(', ')} still ran`);
    const write = processes.writesAfter(position, node, bootID)[0];
    verdict.check(
      write === undefined,
      write?.at ?? at,
      `${said} at ${String(at)}, but pod ${write?.podUID ?? ''} wrote ${write?.volume ?? ''} afterwards`,
    );
  }
  for (const release of history.releases) {
    const wait = waitBehind(history, release);
    if (wait?.kind !== 'watchdog') continue;
    const running = processes.runningAt(release.position, release.node, bootBefore(history, release.node, wait.beganPosition));
    verdict.check(running.length === 0, release.at, `${release.what} on the word of its watchdog while ${running.join(', ')} still ran`);
  }
  return verdict;
};

/** Where each evidence was written first; the wait for it began in the boot that the Node showed then. */
function silencesOf(history: History, { node, statuses }: FenceHistory): Silence[] {
  const known = new Set<string>();
  const silences: Silence[] = [];
  for (const { position, at, value } of statuses.entries) {
    for (const { kind, source } of value.evidence) {
      if (kind !== 'watchdog' || known.has(source)) continue;
      known.add(source);
      const began = statuses.entries.find((entry) => entry.value.journal.some(({ id }) => id === source));
      silences.push({ node, position, at, bootID: bootBefore(history, node, began?.position ?? position) });
    }
  }
  return silences;
}

function bootBefore(history: History, node: string, position: number): string | undefined {
  return history.node(node, position)?.status.nodeInfo?.bootID;
}
