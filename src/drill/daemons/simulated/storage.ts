import { judgeStorage, reachOf } from '../../../node/checks/storage.ts';
import type { TargetReading } from '../../../node/checks/storage-probe.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { NodeCheck } from '../../../ports/node-checks.ts';

const PATH = '/dev/shared';
/** As the daemon has it. */
const INTERVAL_MS = 30_000;
const DEADLINE_MS = 8_000;
const PROBE_MS = 5_000;

/** The check of shared storage, with what a probe finds; the words and the verdict are the daemon's own. */
export function storageCheck(clock: Clock, hangs: () => boolean): NodeCheck {
  return {
    name: 'storage',
    intervalMs: INTERVAL_MS,
    deadlineMs: DEADLINE_MS,
    run: async () => {
      const isSilent = hangs();
      if (isSilent) await clock.sleep(PROBE_MS);
      const reading: TargetReading = { kind: 'device', path: PATH, outcome: isSilent ? { kind: 'silent', forMs: PROBE_MS } : { kind: 'answered' } };
      const { health, sentence } = judgeStorage([reading], {});
      return { health, sentence, targets: [{ path: PATH, reach: reachOf(reading) }] };
    },
  };
}
