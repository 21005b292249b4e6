import { validEvidence } from './evidence.ts';
import { offBegan } from './journal.ts';
import type { NodeFenceStatus } from './node-fence.ts';
import type { Plan } from './plan.ts';
import { isBegunAgain } from './program.ts';
import type { Context } from './transition.ts';

/** What ends in the deletion of a machine, and why it may not be deleted now (docs/adr/0017-deleted-instances.md). */

/** Why the machine is not deleted, in words; undefined: nothing of the fence speaks against it. `mayGoOn`: with the next level, which does something else. */
export function deletionRefusal(
  { plan, snapshot, node }: Pick<Context, 'plan' | 'snapshot' | 'node'>,
  status: NodeFenceStatus,
): { why: string; mayGoOn: boolean } | undefined {
  const kind = snapshot.preservation?.kind;
  const proof = validEvidence(status.evidence, plan);
  // Once the release is over a machine may be started by somebody else, and its proof is no more voided by that.
  const isStarted = proof?.bootID !== undefined && node?.bootID !== undefined && proof.bootID !== node.bootID;
  if (proof === undefined || isStarted) return { why: 'nothing proves any more that the machine is off: it is not deleted', mayGoOn: false };
  if (kind !== undefined && kind !== 'drop' && plan.preserved !== 'ignore')
    return { why: `its machine is ${kind === 'unknown' ? 'perhaps ' : ''}preserved for a look: it is not deleted`, mayGoOn: true };
  if (plan.release === 'none') return { why: 'nothing of its workload is to be let go (release none): its machine is not deleted', mayGoOn: true };
  return undefined;
}

/** Proven off by this level, which ends in a deletion that is not begun, or would be begun again, and nothing of ours has to be taken back first: there a hold keeps everything as it is. */
export function waitsToDelete({ plan, status }: Pick<Context, 'plan' | 'status'>): boolean {
  const { ending, restore, step, level, restarts, journal } = status;
  if (ending !== undefined || step !== 'power-management' || restore?.taints !== undefined || !offBegan(status)) return false;
  if (validEvidence(status.evidence, plan) === undefined) return false;
  const latest = journal.findLast((entry) => entry.action === 'delete' && entry.restart === restarts && entry.level === level);
  return deletesIn(plan, level) && (latest === undefined || isBegunAgain(latest));
}

export function deletesIn({ powerManagement }: Pick<Plan, 'powerManagement'>, level: number): boolean {
  return powerManagement.find((one) => one.level === level)?.methods.some(({ action }) => action === 'delete') === true;
}

/** This fence has deleted the machine. */
export function isDeleted({ evidence }: Pick<NodeFenceStatus, 'evidence'>): boolean {
  return evidence.some((item) => item.terminated === true && item.voidedAt === undefined);
}
