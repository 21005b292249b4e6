import { Verdict } from './law.ts';
import type { Law } from './law.ts';

/** P10, never saw off its own branch: the right machine, its identity read over the same session, and never the controller's own. */
export const ownBranch: Law = (history, expectations) => {
  const verdict = new Verdict();
  for (const set of history.sets) {
    const { device, node, session, want, at } = set.event;
    const wanted = history.intentsFor(set).map(({ fence }) => fence.node);
    const complaint = `${device} was set ${want ?? '?'} for ${wanted.join(', ')} but switches ${node}`;
    if (wanted.length > 0) verdict.check(wanted.includes(node), at, complaint);
    if (want !== 'off') continue;
    verdict.check(!expectations.controllerNodes.includes(node), at, `${device} was set off: ${node} is the node of a controller`);
    if (!expectations.requireIdentity) continue;
    const isIdentified = history.deviceEvents.some(
      ({ position, event }) =>
        position < set.position && event.action === 'identity' && event.session === session && event.device === device && event.node === node,
    );
    verdict.check(isIdentified, at, `${device} was set off over a session that had not shown the machine's identity`);
  }
  return verdict;
};
