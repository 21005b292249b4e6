import { Verdict } from './law.ts';
import type { Law } from './law.ts';

/** P6, holds win: after a stop nothing is isolated, switched off or released, except what was under way within the grace. */
export const holdsWin: Law = (history, expectations) => {
  const verdict = new Verdict();
  const offs = history.sets
    .filter(({ event }) => event.want === 'off')
    .map(({ position, event }) => ({ position, at: event.at, node: event.node, what: `${event.device} was set off` }));
  for (const { position, at, node, what } of [...offs, ...history.cordons, ...history.releases]) {
    const stop = history.stopsFor(node, position).find(({ createdAt }) => at > createdAt + expectations.stopGraceMs + expectations.toleranceMs);
    verdict.check(stop === undefined, at, `${what} although NodeFenceStop ${stop?.name ?? ''} had stood since ${String(stop?.createdAt ?? 0)}`);
  }
  return verdict;
};
