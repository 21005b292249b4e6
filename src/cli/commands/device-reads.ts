import type { JournalEntry, NodeFenceStatus } from '../../domain/node-fence.ts';
import type { PlanMethod } from '../../domain/plan.ts';

/** What the journal last says about one plug that the plan switches. */
export interface DeviceRead {
  device: string;
  plug: string;
  /** `unknown`: never read, or the read failed. */
  shows: 'on' | 'off' | 'unknown';
  /** Absent: never read. */
  at?: string;
  /** The device's or the journal's own words. */
  words: string;
}

/** How agents and the journal say that something is powered, or about to be. */
const ALIVE = /(?:=|\breads |\bis |: )"?(?:on|poweringon|poweringoff|pending|open)\b/iu;

/** The last word on every plug of the plan's power-management, as the fence's journal has it; nothing is read now. */
export function lastReads({ journal, frozen }: NodeFenceStatus): DeviceRead[] {
  const methods = (frozen?.plan.powerManagement ?? []).flatMap((level) => level.methods).filter((method) => method.kind !== 'action');
  const plugs = new Map(methods.map((method) => [`${method.device} ${method.plug}`, method]));
  return [...plugs.values()].map((method) => lastRead(method, journal));
}

function lastRead({ device, plug }: PlanMethod, journal: readonly JournalEntry[]): DeviceRead {
  const run = journal.findLast((entry) => entry.finishedAt !== undefined && isAbout(entry, device, plug));
  if (run?.finishedAt === undefined) return { device, plug, shows: 'unknown', words: 'not read in this fence' };
  return { device, plug, shows: shownBy(run), at: run.finishedAt, words: run.message ?? run.result ?? '' };
}

/** The weighing of an acknowledgement names every device in its message. */
function isAbout(entry: JournalEntry, device: string, plug: string): boolean {
  if (entry.action === 'acknowledge') return entry.message?.includes(`${device} ${plug}`.trim()) === true;
  return entry.device === device && entry.plug === plug;
}

function shownBy(run: JournalEntry): DeviceRead['shows'] {
  const wanted = (run.action === 'confirm' ? run.operation.split(':')[0] : run.action) === 'on' ? 'on' : 'off';
  if (run.action !== 'acknowledge' && (run.result === 'succeeded' || run.result === 'found-done')) return wanted;
  return ALIVE.test(run.message ?? '') ? 'on' : 'unknown';
}
