import type { JournalEntry, NodeFenceStatus } from './node-fence.ts';
import { NEVER_BEGAN } from './node-fence.ts';
import { levelsOf, STEPS } from './plan.ts';
import type { PlanMethod } from './plan.ts';
import { plainKey } from './scsi-registration.ts';
import type { Context } from './transition.ts';

/** Why the node may not be permitted to put its storage registrations back now, in words; undefined: it may. */
export function unfenceRefusal({ node }: Pick<Context, 'node'>, status: NodeFenceStatus): string | undefined {
  if (status.state !== 'done' || status.step !== 'recovery') return 'storage registrations are put back in step recovery only';
  if (status.restore?.taints !== undefined) return 'our out-of-service taint is still on the node: its release is not over';
  const bootID = node?.bootID;
  if (bootID === undefined) return 'the Node shows no boot ID: nothing says that it has booted since it was fenced';
  if (wasShutOut(bootID, status))
    return `boot ${bootID} was shut out of its storage by this fence: only another boot may register again; reboot the node`;
  return undefined;
}

/** Its daemon does, or did when this recovery began: that its Lease cannot be seen for a moment changes nothing. */
export function mustUnfence({ node }: Pick<Context, 'node'>, { journal, restarts }: NodeFenceStatus): boolean {
  return node?.unfences !== undefined || journal.some(({ agent, restart }) => agent === 'unfence' && restart === restarts);
}

/** This boot was running when its storage was closed: what it has in flight may still come. */
function wasShutOut(bootID: string, { journal, storageRelease, evidence }: NodeFenceStatus): boolean {
  if (storageRelease?.bootID === bootID) return true;
  if (evidence.some((item) => item.kind === 'storage-revoked' && item.bootID === bootID)) return true;
  return journal.some((entry) => entry.bootID === bootID && entry.action === 'off' && !NEVER_BEGAN.has(entry.result) && entry.agent === 'scsi');
}

export function unfenceWaits({ bootID, attempt }: Pick<JournalEntry, 'bootID' | 'attempt'>, forMs: number): string {
  return `The daemon of boot ${bootID ?? 'unknown'} may put its storage registrations back; it is waited for until it is ready to recover, at most ${Math.round(forMs / 1000)} s, attempt ${attempt}.`;
}

/** What the node has registered again is closed no more: by the same key, on as many devices. Others stay, and are told (P8). */
export function withoutReopened(status: NodeFenceStatus, { node, plan }: Pick<Context, 'node' | 'plan'>): NodeFenceStatus {
  const isDone = status.journal.some(
    ({ agent, restart, result }) => agent === 'unfence' && restart === status.restarts && (result === 'succeeded' || result === 'found-done'),
  );
  const { unfences } = node ?? {};
  if (!isDone || unfences === undefined || status.restore?.edges === undefined) return status;
  const methods = STEPS.flatMap((step) => levelsOf(plan, step)).flatMap((level) => level.methods);
  const isReopened = (name: string): boolean => methods.some((method) => method.name === name && isSame(method, unfences));
  const { edges: all, ...rest } = status.restore;
  const edges = all.filter(({ agent, state, method }) => !(agent === 'scsi' && state === 'closed' && isReopened(method)));
  const { restore: _before, ...without } = status;
  const restore = edges.length === 0 ? rest : { ...rest, edges };
  return Object.keys(restore).length === 0 ? without : { ...without, restore };
}

function isSame({ parameters }: PlanMethod, { key, devices }: { key: string; devices: number }): boolean {
  const named = (parameters['devices'] ?? '').split(/[\s,]+/).filter((word) => word !== '');
  return plainKey(parameters['key'] ?? '') === key && named.length === devices;
}
