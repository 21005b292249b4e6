import type { FenceFacts } from '../shared/claims/fence-facts.ts';
import { changesTo } from '../shared/remediation/actions.ts';
import type { NodeFacts } from '../shared/remediation/node.ts';
import { isFoundIll } from '../shared/remediation/owner-machine.ts';
import type { Step } from './actions.ts';
import { NODE_UID, POLL_MS, READY_AGAIN_MS } from './names.ts';
import type { Snapshot } from './snapshot.ts';
import { remediationEvent, requestRef, reportStatus } from './status.ts';

/** Another Node has the name than when the request was taken up: nobody has found that one unhealthy. */
function isMadeAnew({ request: { annotations }, node }: Snapshot): boolean {
  const asked = annotations[NODE_UID];
  return asked !== undefined && node !== undefined && node.uid !== asked;
}

/** Why nothing that this fence comes to says anything of the Node that was asked for; `undefined`: it does. */
export function ofAnotherNode(snapshot: Snapshot, { name, nodeUID }: FenceFacts): string | undefined {
  const asked = snapshot.request.annotations[NODE_UID];
  const isOther = nodeUID === undefined ? isMadeAnew(snapshot) : asked !== undefined && nodeUID !== asked;
  return isOther ? `NodeFence ${name} is of a Node that was made anew since it was asked for` : undefined;
}

/** Such a Node has as much time to become healthy as one that was fenced. Only if it is not by then, it is what is asked for. `undefined`: it is the same Node. */
export function beforeAnother(snapshot: Snapshot, node: NodeFacts): Step | undefined {
  if (!isMadeAnew(snapshot)) return undefined;
  const { request, machine, monotonicMs, nodeSeenMs } = snapshot;
  const givenMs = Math.max(READY_AGAIN_MS, request.settings.timeoutMs);
  const why = `node ${node.name} was made anew since it was asked for`;
  if (monotonicMs - nodeSeenMs < givenMs) {
    const message = `${why}: it is fenced only if it is not healthy after ${givenMs / 1_000} s`;
    return { actions: reportStatus(snapshot, { phase: request.phase, message }), dueInMs: POLL_MS, problem: message };
  }
  if (!node.isReady || (typeof machine === 'object' && isFoundIll(machine) === true)) {
    const changes = changesTo(request.annotations, { [NODE_UID]: node.uid });
    return { actions: [{ kind: 'annotate', target: requestRef(request), changes }], dueInMs: POLL_MS };
  }
  const message = `${why}, and is healthy: it is not fenced`;
  return { actions: reportStatus(snapshot, { phase: 'Stopped', message }, remediationEvent('Stopped', message)) };
}
