import type { PreservationView } from '../../ports/preservation.ts';
import { readCondition } from './condition.ts';
import type { Subject } from './subject.ts';
import { isExpired } from './preserve-decision.ts';

/** Its row in status and console; `stepProblem` is what keeps its last step from being done. */
export function viewOf(subject: Subject, nowMs: number, stepProblem: string | undefined): PreservationView {
  const { machine, node, value, phase, pool, expiryMs } = subject;
  const told = machine === undefined ? readCondition(node?.preserved) : undefined;
  const untilMs = expiryMs ?? told?.expiryMs;
  const isPreserved = untilMs !== undefined && !isExpired(untilMs, nowMs);
  const problem = stepProblem ?? subject.problem;
  const cause = value === 'automatic' || told?.cause === 'automatic' ? 'automatic' : 'user';
  return {
    kind: machine === undefined ? 'Node' : 'Machine',
    name: (machine ?? node)?.name ?? '',
    ...(machine !== undefined && { namespace: machine.namespace }),
    ...(node !== undefined && { node: node.name }),
    ...(pool !== undefined && { pool }),
    phase: isPreserved ? `${phase}:Preserved` : phase,
    isPreserved,
    ...(isPreserved && { cause }),
    ...(untilMs !== undefined && { expiryMs: untilMs }),
    ...(problem !== undefined && { problem }),
  };
}
