import { provenOff, validEvidence } from './evidence.ts';
import type { NodeFenceStatus } from './node-fence.ts';
import type { Plan } from './plan.ts';
import type { Operation } from './program.ts';

/** Why a level whose operations are through has not come to what it is there for, in words: the next one is tried. `undefined`: it has. */
export function lackingAtEnd(program: readonly Operation[], status: NodeFenceStatus, plan: Plan): string | undefined {
  return unheardDump(program, status, plan) ?? notLeftOff(status, plan);
}

/** A machine that has reset itself comes up again: that is no off for whoever asked to have it left off. */
function notLeftOff({ step, ending, evidence }: NodeFenceStatus, plan: Plan): string | undefined {
  if (step !== 'power-management' || ending !== 'off') return undefined;
  const proof = validEvidence(evidence, plan);
  if (proof === undefined || provenOff(evidence, plan) !== undefined) return undefined;
  return `evidence ${proof.kind} says that the machine was reset, not that it is off, and it was asked to end in off`;
}

/** A level that only waits for a dump, and heard none, or one that may prove nothing, has done nothing to the machine: the next one does. */
function unheardDump(
  program: readonly Operation[],
  { journal, evidence, step, level, restarts }: NodeFenceStatus,
  { minimumEvidence }: Pick<Plan, 'minimumEvidence'>,
): string | undefined {
  const waiting = program.flatMap(({ key, method }) => (method?.action === 'run' && method.evidence === 'kdump' ? [key] : []));
  if (step !== 'power-management' || waiting.length === 0 || program.some(({ phase }) => phase === 'off')) return undefined;
  const runs = journal.filter((entry) => entry.step === step && entry.level === level && entry.restart === restarts);
  // What an earlier one heard counts no more once it was waited for anew.
  const latest = waiting.map((key) =>
    runs.findLast(({ operation, action, result }) => operation === key && action === 'run' && result === 'succeeded'),
  );
  const isHeard = evidence.some(({ source }) => latest.some((entry) => entry?.id === source));
  if (isHeard && minimumEvidence.includes('kdump')) return undefined;
  if (isHeard) return 'its kernel dumps, which proves nothing here: minimum_evidence does not name kdump';
  return `nothing was proven: ${runs.findLast(({ action }) => action === 'run')?.message ?? 'no dump was heard'}`;
}
