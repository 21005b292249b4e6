import type { JobReport } from '../domain/snapshot.ts';
import { AgentError } from '../ports/agents.ts';
import type { Clock } from '../ports/clock.ts';
import type { Job } from '../ports/jobs.ts';
import type { DeviceCall } from './device-call.ts';

/** Between two looks at a machine that is being deleted. */
const LOOK_AGAIN_MS = 1_000;

type Removed = Pick<JobReport, 'result' | 'message'>;

/**
 * Deletes a machine that reads off as the node's own: sent once, then looked at until nothing of it can come back. The answer alone is no end, and a look that fails
 * says nothing of the machine.
 */
export async function removed(device: DeviceCall, job: Job, clock: Clock): Promise<Removed> {
  const before = await device.read();
  if (!device.shows(before, 'off') || before.identity !== 'verified') {
    const identity = before.identity === 'verified' ? '' : ', and does not show whose machine it is';
    return { result: 'refused', message: `not deleted, for it reads ${device.describe(before, 'off')}${identity}; nothing was sent` };
  }
  const { detail: said } = await device.remove();
  const untilMs = clock.monotonicMs() + job.timing.powerTimeoutMs;
  for (;;) {
    const seen = await looked(device);
    if (seen.isGone) return { result: 'succeeded', message: `deleted: ${seen.detail}` };
    if (clock.monotonicMs() >= untilMs)
      return {
        result: 'timeout',
        message: `not deleted within ${job.timing.powerTimeoutMs} ms; last seen ${seen.detail}; to the request it answered ${said}`,
      };
    await clock.sleep(LOOK_AGAIN_MS, job.signal);
  }
}

/** After a crash: what became of a deletion that may have been sent. One that is under way is waited for: what it reads meanwhile would be refused as not off. */
export async function foundRemoved(device: DeviceCall, job: Job, clock: Clock): Promise<Removed> {
  const untilMs = clock.monotonicMs() + job.timing.powerTimeoutMs;
  for (;;) {
    const { isGone, detail } = await device.removal();
    if (isGone || clock.monotonicMs() >= untilMs || !(await isOnItsWay(device)))
      return { result: isGone ? 'found-done' : 'found-not-done', message: `read back after a crash: ${detail}` };
    await clock.sleep(LOOK_AGAIN_MS, job.signal);
  }
}

/** It may have gone between two looks: a read that fails says nothing. */
async function isOnItsWay(device: DeviceCall): Promise<boolean> {
  try {
    return (await device.read()).state === 'pending';
  } catch (error) {
    if (error instanceof AgentError) return true;
    throw error;
  }
}

async function looked(device: DeviceCall): Promise<{ isGone: boolean; detail: string }> {
  try {
    return await device.removal();
  } catch (error) {
    if (error instanceof AgentError) return { isGone: false, detail: error.message };
    throw error;
  }
}
