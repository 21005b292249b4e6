import { setsOf } from '../device-findings.ts';
import type { Seen } from '../script.ts';

/** When the first off of a node may come, milliseconds since 1970. */
export interface OffWindow {
  fromMs: number;
  untilMs: number;
  /** Why not before, and why then. */
  because: string;
}

/** The node was switched off in that time, and no other node ever was. */
export function offProblems({ trace }: Pick<Seen, 'trace'>, node: string, { fromMs, untilMs, because }: OffWindow): string[] {
  const all = trace.flatMap((event) => (event.kind === 'device' && event.action === 'set' ? [event] : []));
  const others = [...new Set(all.filter((event) => event.node !== node).map((event) => event.node))];
  const first = setsOf(trace, node).find(({ want }) => want === 'off');
  const early = first !== undefined && first.at < fromMs ? [`it was switched off ${Math.round(fromMs - first.at)} ms too early: ${because}`] : [];
  const late = first !== undefined && first.at > untilMs ? [`it was switched off ${Math.round(first.at - untilMs)} ms too late: ${because}`] : [];
  return [...(first === undefined ? ['it was never switched off'] : []), ...early, ...late, ...others.map((other) => `${other} was switched too`)];
}
