import { lateEffectMs } from '../../../domain/advance.ts';
import type { ActiveHold, Since } from '../../../domain/snapshot.ts';
import type { NodeFence } from '../../../ports/resources.ts';

/**
 * An off that a leader before this one sent to this process's own node may take effect at any moment. Nothing else is switched off on request until then: on the
 * other machine may stand the only replica that could switch both on again (P10). The fence is that of the own node; `since`: what this process has seen of it.
 */
export function ownOffHolds({ spec: { node }, status }: NodeFence, since: Since, nowMs: number): ActiveHold[] {
  const plan = status?.frozen?.plan;
  if (status === undefined || plan === undefined || status.state === 'final') return [];
  const last = status.journal.findLast(({ step, action, result }) => {
    const isSent = result !== 'not-sent' && result !== 'stopped';
    return step === 'power-management' && (action === 'off' || action === 'on') && isSent;
  });
  const untilMs = (since.journal ?? nowMs) + lateEffectMs({ plan }, status);
  if (last?.action !== 'off' || untilMs <= nowMs) return [];
  const message = `an off was sent to node ${node}, on which this controller runs, and may take effect at any moment: no other machine is switched off on request until then`;
  return [{ reason: 'own-node-off', policy: 'own-node', message, untilMs }];
}
