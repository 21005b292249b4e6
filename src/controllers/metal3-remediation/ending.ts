import { hasBackup } from '../shared/baremetal-host/node-backup.ts';
import type { ActionEvent } from '../shared/remediation/actions.ts';
import type { Step } from './actions.ts';
import { hasFinalizer, isPhaseOver } from './situation.ts';
import { awaitObservation, NOT_RESTORED, setFinalizer, wait, wayBack } from './steps.ts';
import type { Snapshot } from './snapshot.ts';
import { putBack } from './waiting.ts';

/**
 * The remediation is deleted, or its owner is gone. Before the off it is a cancellation; after it, the way back is finished first: taint, hold, what was
 * kept, and the finalizer last. The way back is given its time, not more.
 */
export function ending(snapshot: Snapshot): Step {
  const { remediation, host, node, machine } = snapshot;
  const back = wayBack(snapshot, host);
  if (back.dueInMs !== undefined) return back;
  if (!hasFinalizer(remediation)) return {};
  const isOver = isPhaseOver(snapshot, remediation.settings.powerOnTimeoutMs);
  const isKept = machine !== 'gone' && hasBackup(remediation.annotations);
  if (isKept && typeof node === 'object') {
    const kept = putBack(remediation, node);
    if (kept.length > 0) return { actions: kept };
  }
  if (isKept && node === 'unknown') return awaitObservation();
  const isAway = node === 'not-found' || node === 'forbidden';
  const isStarted = remediation.phase === 'Running' || remediation.phase === 'Waiting';
  if (!isOver && machine !== 'gone' && isStarted) {
    if (host?.power?.isOn === false && host.isOnline) return wait();
    if (isKept && isAway) return wait();
  }
  return { actions: [setFinalizer(remediation, false, eventOf(isKept && isAway))] };
}

function eventOf(isLost: boolean): ActionEvent {
  if (!isLost) return { type: 'Normal', reason: 'RemediationStopped', message: 'it is not wanted any more' };
  return NOT_RESTORED;
}
