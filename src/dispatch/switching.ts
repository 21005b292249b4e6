import { AgentError } from '../ports/agents.ts';
import type { Reading } from '../ports/agents.ts';
import type { Clock } from '../ports/clock.ts';
import { BootWatch } from './boot-watch.ts';
import { describeReading } from './device-call.ts';
import type { DeviceCall, Wanted } from './device-call.ts';
import type { Job } from '../ports/jobs.ts';

/** At least so many agreeing reads make a state stable (P1). */
const STABLE_READS = 3;

const NEVER = Number.NEGATIVE_INFINITY;

export interface Switched {
  /** All devices showed the wanted state, stably. */
  reached: boolean;
  /** Monotonic time at which the last read was begun. */
  lastReadAtMs: number;
  reads: number;
  identity: 'verified' | 'unverified';
  detail: string;
  /** The last answer of the device that was switched was exactly the opposite: whatever was sent, nothing has come of it by then. */
  opposite: boolean;
  /** It showed the wanted state before the set. */
  edgeUnseen: boolean;
  /** Nothing was sent now or before: somebody else has switched it. */
  isForeign: boolean;
  /** Devices that restarted meanwhile, by their methods, and how that was noticed: what they show as off proves nothing. */
  restarted: ReadonlyMap<string, string>;
  /** Its node was heard between the reads. */
  isHeard: boolean;
  /** The device's words to the set, where one was sent. */
  said?: string;
  deviceTime?: string;
}

/**
 * Reads every device in turn until all of them show `wanted` in at least three passes over `off_stable` without a break, or until
 * `power_timeout` is over. A pass with one other answer, one failed read, or a sign of life of a node that is to be proven off begins the count
 * anew; a device that restarts ends it. `before`: what the last of them, which is switched, showed first.
 */
export async function untilStable(devices: readonly DeviceCall[], wanted: Wanted, job: Job, clock: Clock, before: Reading): Promise<Switched> {
  const { offStableMs, powerTimeoutMs } = job.timing;
  const sinceMs = clock.monotonicMs();
  const endsAtMs = Math.min(sinceMs + powerTimeoutMs, job.untilMs ?? Number.POSITIVE_INFINITY);
  const boots = watchBoots(devices, before, job);
  const everyMs = Math.min(1_000, offStableMs / STABLE_READS);
  // Within a budget no pass is begun that has no time left.
  const roundMs = job.untilMs === undefined ? 0 : everyMs;
  let firstAtMs: number | undefined;
  let countedFromMs = sinceMs;
  let reads = 0;
  let unverified = 0;
  for (;;) {
    const beganAtMs = clock.monotonicMs();
    const pass = await readAll(devices, wanted, boots);
    const signMs = wanted === 'off' ? (job.lastSignMs?.() ?? NEVER) : NEVER;
    // What was read before it proves nothing any more (P2); a pass in the midst of which it came is given up with the next one.
    if (signMs > countedFromMs) [reads, firstAtMs] = [0, undefined];
    reads = pass.agrees ? reads + 1 : 0;
    firstAtMs = pass.agrees ? (firstAtMs ?? clock.monotonicMs()) : undefined;
    if (reads === 1) countedFromMs = beganAtMs;
    unverified = (reads > 1 ? unverified : 0) + (pass.identity === 'verified' ? 0 : 1);
    const restarted = wanted === 'off' ? restartedOf(boots) : NONE;
    const unchangedForMs = wanted === 'off' ? Math.max(0, ...[...boots.values()].map((watch) => watch.unchangedForMs)) : 0;
    for (const device of devices) device.patienceMs = unchangedForMs;
    const isLong = firstAtMs !== undefined && beganAtMs - firstAtMs >= Math.max(offStableMs, unchangedForMs);
    const stable = reads >= STABLE_READS && isLong && restarted.size === 0;
    if (stable || restarted.size > 0 || clock.monotonicMs() + roundMs >= endsAtMs + unchangedForMs) {
      return {
        reached: stable,
        lastReadAtMs: beganAtMs,
        reads,
        identity: unverified === 0 ? 'verified' : 'unverified',
        detail: pass.detail,
        isHeard: signMs > sinceMs,
        opposite: pass.opposite,
        edgeUnseen: false,
        isForeign: false,
        restarted,
        ...(pass.deviceTime === undefined ? {} : { deviceTime: pass.deviceTime }),
      };
    }
    await clock.sleep(everyMs, job.signal);
  }
}

const NONE: ReadonlyMap<string, string> = new Map();

function watchBoots(devices: readonly DeviceCall[], before: Reading, job: Job): Map<DeviceCall, BootWatch> {
  const boots = new Map(devices.map((device) => [device, new BootWatch(job.restartedSince?.(device.method) === true)]));
  const switched = devices.at(-1);
  if (switched !== undefined) boots.get(switched)?.see(before, switched.shows(before, 'on'));
  return boots;
}

function restartedOf(boots: ReadonlyMap<DeviceCall, BootWatch>): ReadonlyMap<string, string> {
  return new Map([...boots].flatMap(([{ method }, { restarted }]) => (restarted === undefined ? [] : [[method.name, restarted] as const])));
}

interface Pass {
  agrees: boolean;
  /** Of the last device, which is the one that is switched; the others only have to agree. */
  opposite: boolean;
  detail: string;
  identity: 'verified' | 'unverified';
  deviceTime?: string;
}

async function readAll(devices: readonly DeviceCall[], wanted: Wanted, boots: ReadonlyMap<DeviceCall, BootWatch>): Promise<Pass> {
  const details: string[] = [];
  let agrees = true;
  let opposite = false;
  let identity: Pass['identity'] = 'verified';
  let deviceTime: string | undefined;
  for (const device of devices) {
    try {
      const reading: Reading = await device.read();
      agrees &&= device.shows(reading, wanted);
      boots.get(device)?.see(reading, device.shows(reading, 'on'));
      opposite = device.shows(reading, wanted === 'off' ? 'on' : 'off');
      if (reading.identity === 'unverified') identity = 'unverified';
      deviceTime = reading.deviceTime ?? deviceTime;
      details.push(`${device.method.name}: ${device.describe(reading, wanted)}`);
    } catch (error) {
      if (!(error instanceof AgentError)) throw error;
      if (error.kind === 'Misconfigured') throw error;
      agrees = false;
      opposite = false;
      details.push(`${device.method.name}: ${error.message}`);
    }
  }
  return { agrees, opposite, detail: details.join('; '), identity, ...(deviceTime === undefined ? {} : { deviceTime }) };
}

/**
 * off → stable off, on → on: read first with identity, set once, and believe only the reads that follow. An own off is sent even where off
 * is read already: somebody else's power cycle may be under way. A refusal fails at once, unless the state is as wanted.
 */
export async function switchTo(device: DeviceCall, together: readonly DeviceCall[], wanted: Wanted, job: Job, clock: Clock): Promise<Switched> {
  const before = await (wanted === 'off' ? device.readFirst() : device.read());
  if (before.state === 'unknown')
    throw device.failure('Unreachable', 'read before set', `state unknown (${describeReading(before)}); nothing was sent`);
  const isDue = wanted === 'off' || !device.shows(before, wanted);
  const told = isDue
    ? await setOnce(device, wanted, device.shows(before, 'on') && before.isOpenInPart !== true, job.offWasSent?.(device.method) === true)
    : undefined;
  const all = wanted === 'off' ? [...together, device] : [device];
  const end = await untilStable(all, wanted, job, clock, before);
  return { ...end, edgeUnseen: wanted === 'off' && !device.shows(before, 'on'), ...told };
}

type SetAnswer = Pick<Switched, 'said' | 'isForeign'>;

/** Resolves with what the device said to it, which decides nothing and may explain much. Rejects where the reads that follow could prove nothing (P1). */
async function setOnce(device: DeviceCall, wanted: Wanted, wasOn: boolean, offWasSent: boolean): Promise<SetAnswer> {
  const { said, isSent } = await answerOf(device, wanted);
  if (wanted === 'on') return { said, isForeign: false };
  if (isSent === false) device.hasSent = false;
  device.hasSentOff = device.hasSent && (isSent === true || wasOn || !device.skipsWhatIsOff);
  // Only what its control plane shows of an instance, or of a host that is held off, stands for itself.
  if (device.hasSentOff || offWasSent || !device.provesByOwnOff) return { said, isForeign: isSent === false && !offWasSent };
  if (device.hasSent) throw device.failure('Unreachable', 'set off', `it was off before, and it is unknown whether anything was sent: ${said}`);
  throw device.failure('Refused', 'set off', `nothing was sent: ${said}; ${FOREIGN_OFF}`);
}

const FOREIGN_OFF =
  "an off that is not ours proves nothing, for somebody else's power cycle may be under way: the next level or restart tries again; if it stays so, look at the machine and run nodefence ack";

async function answerOf(device: DeviceCall, wanted: Wanted): Promise<{ said: string; isSent?: boolean | undefined }> {
  try {
    const { detail, isSent } = await device.set(wanted);
    return { said: detail, isSent };
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    if (error.kind === 'NotSent' || error.kind === 'Misconfigured') throw error;
    // An off that never left is no off of ours, whatever the device shows: somebody else's power cycle may be under way (P1).
    if (wanted === 'off' && !device.hasSent) throw error;
    if (error.kind === 'Refused') {
      const after = await device.read();
      if (device.shows(after, wanted === 'off' ? 'on' : 'off')) device.hasSent = false;
      if (!device.shows(after, wanted)) throw error;
    }
    // Unreachable or Timeout: the device may have acted; only the reads that follow decide.
    return { said: error.facts.answered };
  }
}
