import type { JobReport } from '../../../domain/snapshot.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Job, Runner } from '../../../ports/jobs.ts';

/** An API server that restarts, or that cannot decrypt its Secrets for a while, answers again by then. */
const ASKED_FOR_MS = 120_000;
const ASKED_AGAIN_MS = 1_000;

/**
 * What became of a run that a crash left open. Where the API server keeps us from asking its device, nobody knows, and the intent stays open: it is asked again.
 * Ended as interrupted an off would count as one that may have been sent, and be carried through, also where its device shows that it was never done. Rejects as
 * `recover` does.
 */
export async function recovered(runner: Pick<Runner, 'recover'>, clock: Pick<Clock, 'monotonicMs' | 'sleep'>, job: Job): Promise<JobReport> {
  const untilMs = clock.monotonicMs() + ASKED_FOR_MS;
  for (;;) {
    const report = await runner.recover(job);
    const isUnasked = report.result === 'interrupted' || report.isDenied === true;
    if (!isUnasked || clock.monotonicMs() + ASKED_AGAIN_MS > untilMs) return report;
    await clock.sleep(ASKED_AGAIN_MS, job.signal);
  }
}
