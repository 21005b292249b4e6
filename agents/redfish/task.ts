import type { Call } from '../shared/call.ts';
import { ExchangeError, type RedfishResponse } from './connection.ts';
import type { Session } from './session.ts';
import { deviceWords, linkPath, textAt } from './words.ts';

/** Looked at for its error alone: the state decides, and it is read elsewhere. */
const LOOKS_MS = [100, 400, 1_000];
const FAILED = new Set(['Exception', 'Killed', 'Cancelled']);

/** Follows the task of an accepted reset for a moment; the device's words when it failed, undefined otherwise. */
export async function failedTask(session: Session, call: Call, accepted: RedfishResponse): Promise<string | undefined> {
  const monitor = linkPath(accepted.headers['location']) ?? linkPath(textAt(accepted.body, 'TaskMonitor')) ?? linkPath(accepted.body);
  if (monitor === undefined) return undefined;
  for (const waitMs of LOOKS_MS) {
    if (call.remainingMs < 2 * waitMs + 500) return undefined;
    await call.pause(waitMs);
    let response: RedfishResponse;
    try {
      response = await session.get(call, monitor);
    } catch (error) {
      if (error instanceof ExchangeError) return undefined;
      throw error;
    }
    const state = textAt(response.body, 'TaskState');
    if (state !== undefined && FAILED.has(state)) return `task ${state}: ${deviceWords(response.body, session.secrets)}`;
    // A monitor that is gone, or answers anything but "still running", has nothing more to tell.
    if (response.status >= 400) return response.status === 404 || response.status === 410 ? undefined : `task: ${session.words(response)}`;
    if (response.status !== 202 && (state === undefined || state === 'Completed')) return undefined;
  }
  return undefined;
}
