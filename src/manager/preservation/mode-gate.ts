import { isUnsure } from '../../config/foreign-controller.ts';
import { detectMode, managerActivityOf } from '../../config/preservation-mode.ts';
import type { ManagerFacts, PreservationChoice, PreservationMode } from '../../config/preservation-mode.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/recorder.ts';
import { SOON_MS } from '../detection/detector.ts';
import { ActivityTracker } from '../detection/activity-tracker.ts';

export interface ModeGateOptions {
  clock: Clock;
  log: Logger;
  choice: PreservationChoice;
  /** Called when what is to be done differs from before; the first time as soon as it is known. */
  onMode: (mode: PreservationMode) => void;
}

const RESYNC_MS = 30_000;

/** Whether an MCM is at work, look after look: one that appears later ends our part, and one that is gone for good begins it. Returns how long to rest. */
export function modeGate({ clock, log, choice, onMode }: ModeGateOptions): (found: ManagerFacts) => number {
  const tracker = new ActivityTracker<ManagerFacts>(clock, managerActivityOf);
  let told: PreservationMode | undefined;
  return (found) => {
    const facts = tracker.recall(found);
    const mode = detectMode(choice, facts);
    if (!isSame(told, mode)) {
      told = mode;
      log.info('preservation mode', { preservation: mode.mode, reason: mode.reasons.join('; ') });
      onMode(mode);
    }
    return mode.mode === 'own' || isUnsure(facts) ? SOON_MS : RESYNC_MS;
  };
}

function isSame(before: PreservationMode | undefined, mode: PreservationMode): boolean {
  return (
    before?.mode === mode.mode &&
    before.readsMachines === mode.readsMachines &&
    before.hasExpiryField === mode.hasExpiryField &&
    // Beside an MCM no automatic value is ever written.
    (mode.mode !== 'own' || before.spelling === mode.spelling)
  );
}
