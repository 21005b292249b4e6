import type { FailureDiagnostic, Target } from '../../src/ports/agents.ts';
import type { Call, CallTarget } from '../shared/call.ts';
import type { Line, RawAnswer } from './line.ts';
import { answered, identify, overLine } from './power.ts';
import { describeRecord } from './event-record.ts';
import type { Session } from './session.ts';

const STORAGE = 0x0a;
const GET_SEL_ENTRY = 0x43;
/** Section 31.5: the ID that means the newest entry. */
const NEWEST = 0xffff;
const WHOLE_RECORD = 0xff;
const ENTRIES_MAX = 100;
/** IDs without an entry, one after the other, after which no older entry is looked for. */
const GAPS_MAX = 16;
const INVALID_COMMAND = 0xc1;
const NOT_FOUND = 0xcb;

/**
 * The newest entries of the System Event Log, oldest first, as far as half of the call's time reaches: the rest of it belongs to whoever fences.
 * Record IDs mostly count up by one; the list can only be followed forwards, so that the newest are found by counting down.
 */
export async function readEventLog(session: Session, call: Call<CallTarget>, target: Target): Promise<FailureDiagnostic | undefined> {
  return overLine(session, call, async (line) => {
    await identify(session, line, call, target, 'once');
    const newest = await entry(session, line, call, NEWEST);
    if (newest.completion === INVALID_COMMAND) return undefined;
    if (newest.completion === NOT_FOUND) return diagnosticOf(['the event log is empty']);
    const id = recordID(newest);
    if (id === undefined) throw call.error('Refused', `Get SEL Entry failed: completion code 0x${newest.completion.toString(16).padStart(2, '0')}`);
    const lines = [describeRecord(newest.data.subarray(2))];
    let gaps = 0;
    for (let older = id - 1; older > 0 && lines.length < ENTRIES_MAX && gaps < GAPS_MAX; older -= 1) {
      if (call.remainingMs < target.deadlineMs / 2) break;
      const answer = await entry(session, line, call, older);
      const isThere = recordID(answer) === older;
      gaps = isThere ? 0 : gaps + 1;
      if (isThere) lines.push(describeRecord(answer.data.subarray(2)));
    }
    return diagnosticOf(lines.reverse());
  });
}

/** Get SEL Entry, section 31.5. */
async function entry(session: Session, line: Line, call: Call<CallTarget>, id: number): Promise<RawAnswer> {
  const data = [0, 0, id & 0xff, id >> 8, 0, WHOLE_RECORD];
  return answered(session, call, await line.raw(STORAGE, GET_SEL_ENTRY, data, call));
}

function recordID({ completion, data }: RawAnswer): number | undefined {
  return completion === 0 && data.length === 18 ? data.readUInt16LE(2) : undefined;
}

function diagnosticOf(lines: readonly string[]): FailureDiagnostic {
  return { name: 'sel', mediaType: 'text/plain', content: Buffer.from(`${lines.join('\n')}\n`) };
}
