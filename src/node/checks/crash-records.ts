import { join } from 'node:path';
import { changedAtMs, namesIn, textOf } from './reading.ts';

/** A trace that a kernel left when it died. */
export interface CrashRecord {
  kind: 'pstore' | 'dump';
  /** From the root: `var/crash/202611231705/dump.202611231705`. */
  path: string;
  atMs: number;
  /** What the kernel said last, where it is text. */
  words?: string;
}

/** Both where the kernel keeps them, and where systemd-pstore moves them to at boot. */
const PSTORE = ['sys/fs/pstore', 'var/lib/systemd/pstore'];
const DUMPS = ['var/crash'];
/** `console-ramoops` and `pmsg` hold the last boot's log, crashed or not. */
const IS_RECORD = /^dmesg[-.]/u;
/** RHEL and SUSE: vmcore, vmcore.flat, vmcore-dmesg.txt; Debian: dump.<time>, dmesg.<time>. A program's crash that apport keeps is none. */
const IS_DUMP = /^(?:vmcore|dump\.\d|dmesg\.\d)/u;
const CAUSE = /(?:Kernel panic - not syncing: |Oops: |BUG: |sysrq: Trigger a crash|watchdog: BUG: |Internal error: )[^\n]{0,80}/u;
const SELF_FENCE = /nodefence: this node takes itself down: ([^\n]{0,80})/u;
const RECORDS_MAX = 256;

/** Undefined: this machine keeps none. */
export async function readCrashRecords(root: string): Promise<CrashRecord[] | undefined> {
  const groups = await Promise.all([
    ...PSTORE.map(async (folder) => recordsIn(root, folder, 'pstore', IS_RECORD)),
    ...DUMPS.map(async (folder) => recordsIn(root, folder, 'dump', IS_DUMP)),
  ]);
  return groups.every((group) => group === undefined) ? undefined : groups.flatMap((group) => group ?? []).slice(0, RECORDS_MAX);
}

/** Why the daemon took its node down in the previous boot, from the log of the last boot in memory that survives a reset. */
export async function selfFenceIn(root: string): Promise<string | undefined> {
  const names = ((await namesIn(root, 'sys/fs/pstore')) ?? []).filter((name) => name.startsWith('console-'));
  const texts = await Promise.all(names.map(async (name) => textOf(root, join('sys/fs/pstore', name))));
  return texts.map((text) => SELF_FENCE.exec(text ?? '')?.[1]).find((cause) => cause !== undefined);
}

/** Those in the folder itself and one folder below it. */
async function recordsIn(root: string, folder: string, kind: CrashRecord['kind'], pattern: RegExp): Promise<CrashRecord[] | undefined> {
  const names = await namesIn(root, folder);
  if (names === undefined) return undefined;
  const below = await Promise.all(names.map(async (name) => ((await namesIn(root, join(folder, name))) ?? []).map((inner) => join(name, inner))));
  const paths = [...names, ...below.flat()].filter((name) => pattern.test(name.slice(name.lastIndexOf('/') + 1))).slice(0, RECORDS_MAX);
  const records = await Promise.all(paths.map(async (path) => recordAt(root, join(folder, path), kind)));
  return records.filter((record) => record !== undefined);
}

async function recordAt(root: string, path: string, kind: CrashRecord['kind']): Promise<CrashRecord | undefined> {
  const atMs = await changedAtMs(root, path);
  if (atMs === undefined) return undefined;
  const words = /\/(?:dmesg|vmcore-dmesg)[^/]*$/u.test(path) ? CAUSE.exec((await textOf(root, path)) ?? '')?.[0] : undefined;
  return { kind, path, atMs, ...(words === undefined ? {} : { words }) };
}
