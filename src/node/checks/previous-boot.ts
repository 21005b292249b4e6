import { readCrashRecords, selfFenceIn } from './crash-records.ts';
import type { CrashRecord } from './crash-records.ts';
import { remember, remembered, textOf } from './reading.ts';
import { ok, problem, quoted, unknown } from './verdict.ts';
import type { Verdict } from './verdict.ts';
import { readWatchdogs } from './watchdog.ts';

const STATE = 'previous-boot.json';
const KNOWN_MAX = 1_024;
/** No record's name: the first boot in which somebody looked. */
const FIRST = '';
/** Of a record that is seen for the first time by a program that was not there in the previous boot. */
const OLDEST_MS = 24 * 3_600_000;
/** Bits of WDIOC_GETBOOTSTATUS, include/uapi/linux/watchdog.h. */
const CAUSES: readonly (readonly [bit: number, words: string])[] = [
  [0x20, 'the watchdog reset the node'],
  [0x01, 'the hardware was too hot'],
  [0x02, 'a fan failed'],
  [0x10, 'the power was too low'],
  [0x40, 'the power was too high'],
];

export interface PreviousBoot {
  bootID: string;
  bootedAtMs: number;
  /** Undefined: this machine keeps none. */
  records?: readonly CrashRecord[];
  /** Undefined: no watchdog tells it. */
  watchdogStatus?: number;
  selfFence?: string;
}

/** Records that were seen before, each with the boot in which it was seen first. */
export interface SeenRecords {
  seen: Readonly<Record<string, string>>;
}

/** `once`: a problem is told in one call of each boot, and what is unknown never: where each call that finds one is an Event. */
export async function checkPreviousBoot({ root, stateFolder }: { root: string; stateFolder: string }, { once }: { once: boolean }): Promise<Verdict> {
  const boot = await readPreviousBoot(root);
  if (boot === undefined) {
    const nothing = unknown('when this boot began is not told (/proc/stat)');
    return once ? ok(nothing.sentence) : nothing;
  }
  const memory = await remembered(stateFolder, STATE);
  const before = seenOf(memory);
  const verdict = judgePreviousBoot(boot, before);
  const toldIn = memory !== null && typeof memory === 'object' && 'toldIn' in memory ? memory.toldIn : undefined;
  const isTold = toldIn === boot.bootID;
  const tells = once && verdict.health === 'problem' && !isTold;
  // First remembered, then told: a crash that is told twice would count twice.
  await remember(stateFolder, STATE, { seen: afterwards(boot, before), ...(tells || isTold ? { toldIn: boot.bootID } : {}) });
  if (!once || tells) return verdict;
  return verdict.health === 'problem' ? ok(`told before: ${verdict.sentence}`) : ok(verdict.sentence);
}

export async function readPreviousBoot(root: string): Promise<PreviousBoot | undefined> {
  const [stat, bootID, records, watchdogs, selfFence] = await Promise.all([
    textOf(root, 'proc/stat'),
    textOf(root, 'proc/sys/kernel/random/boot_id'),
    readCrashRecords(root),
    readWatchdogs(root),
    selfFenceIn(root),
  ]);
  const bootedAt = /^btime (\d{1,12})$/mu.exec(stat ?? '')?.[1];
  if (bootedAt === undefined || bootID === undefined) return undefined;
  const statuses = (watchdogs ?? []).flatMap(({ bootStatus }) => (bootStatus === undefined ? [] : [bootStatus]));
  return {
    bootID: bootID.trim(),
    bootedAtMs: Number(bootedAt) * 1000,
    ...(records === undefined ? {} : { records }),
    ...(statuses.length === 0 ? {} : { watchdogStatus: statuses.reduce((all, status) => all | status, 0) }),
    ...(selfFence === undefined ? {} : { selfFence }),
  };
}

/** What ended the previous boot. */
export function judgePreviousBoot(boot: PreviousBoot, before: SeenRecords | undefined): Verdict {
  const fresh = (boot.records ?? []).filter((record) => isOfPreviousBoot(record, boot, before));
  const spoken = fresh.find(({ words }) => words !== undefined)?.words;
  if (spoken !== undefined) return problem(`the previous boot crashed: ${quoted(spoken)}`);
  const [record] = fresh;
  if (record !== undefined) return problem(`the previous boot crashed: see /${quoted(record.path)}`);
  const status = boot.watchdogStatus ?? 0;
  const cause = CAUSES.find(([bit]) => (status & bit) !== 0)?.[1];
  if (boot.selfFence !== undefined) return ok(`in the previous boot the node took itself down: ${quoted(boot.selfFence)}`);
  if (cause !== undefined) return problem(`the previous boot was cut off: ${cause}`);
  if (boot.records === undefined && boot.watchdogStatus === undefined)
    return unknown('this machine keeps no traces of a crash (pstore, kdump, watchdog)');
  return ok('no sign that the previous boot crashed');
}

function isOfPreviousBoot(record: CrashRecord, { bootID, bootedAtMs }: PreviousBoot, before: SeenRecords | undefined): boolean {
  const seenIn = before?.seen[keyOf(record)];
  if (seenIn !== undefined) return seenIn === bootID;
  const firstLookedIn = before?.seen[FIRST];
  const hasLookedBefore = firstLookedIn !== undefined && firstLookedIn !== bootID;
  return hasLookedBefore || record.atMs > bootedAtMs - OLDEST_MS;
}

/** Records that are gone are forgotten; the boot itself is noted, so that the next one knows that somebody looked. */
function afterwards(boot: PreviousBoot, before: SeenRecords | undefined): Record<string, string> {
  const seen: Record<string, string> = { [FIRST]: before?.seen[FIRST] ?? boot.bootID };
  for (const record of boot.records ?? []) {
    const old = !isOfPreviousBoot(record, boot, before);
    seen[keyOf(record)] = before?.seen[keyOf(record)] ?? (old ? 'earlier' : boot.bootID);
  }
  return seen;
}

const keyOf = ({ path, atMs }: CrashRecord): string => `${path} ${Math.round(atMs)}`;

function seenOf(value: unknown): SeenRecords | undefined {
  if (typeof value !== 'object' || value === null || !('seen' in value)) return undefined;
  const { seen } = value;
  if (typeof seen !== 'object' || seen === null || Array.isArray(seen)) return undefined;
  const entries = Object.entries(seen);
  if (entries.length > KNOWN_MAX || !entries.every(([, boot]) => typeof boot === 'string')) return undefined;
  return { seen: Object.fromEntries(entries) };
}
