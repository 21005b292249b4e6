import { backOffMs } from '../domain/back-off.ts';
import { RepeatedWarnings } from '../kube/repeated-warnings.ts';
import { hasOutOfService } from '../manager/server-version.ts';
import type { ApiTransport } from '../ports/api-transport.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/recorder.ts';

const DEADLINE_MS = 60_000;
/** Of one look, where another follows. */
const PATIENT_DEADLINE_MS = 10_000;
const AGAIN_MS = 1_000;
const AGAIN_MOST_MS = 15_000;

export interface FirstAnswerOptions {
  clock: Clock;
  logger: Logger;
  /** Whoever starts this process does so ever later: a kubelet waits for up to five minutes. Else whoever gave it a kubeconfig is told at once. */
  isPatient: boolean;
}

/** Has the API server the out-of-service taint? */
export async function firstAnswer(transport: Pick<ApiTransport, 'request'>, options: FirstAnswerOptions): Promise<boolean> {
  const { clock, logger, isPatient } = options;
  const warnings = new RepeatedWarnings({ clock, logger });
  for (let failures = 1; ; failures += 1) {
    try {
      return await hasOutOfService(transport, isPatient ? PATIENT_DEADLINE_MS : DEADLINE_MS);
    } catch (error) {
      if (!isPatient) throw error;
      warnings.warn('first answer', 'the API server does not answer yet: this process waits for it', error);
      await clock.sleep(backOffMs(failures, AGAIN_MS, AGAIN_MOST_MS));
    }
  }
}
