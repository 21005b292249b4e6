import type { KdumpFound } from '../../ports/node-checks.ts';
import { changedAtMs, numberIn, textOf } from './reading.ts';
import { ok, problem, quoted, unknown } from './verdict.ts';
import type { Verdict } from './verdict.ts';

/** Where `nodefence` sends its notices from on Debian: a unit of our own that a drop-in of kdump-tools' unit pulls in. */
export const DEBIAN_DROP_IN = 'etc/systemd/system/kdump-tools-dump.service.d/nodefence.conf';
export const DEBIAN_UNIT = 'etc/systemd/system/nodefence-kdump-notify.service';
export const RHEL_CONFIG = 'etc/kdump.conf';
const SENDER = /(?:^|\/)fence_kdump_send$/u;

export interface KdumpReading {
  /** Undefined: this kernel has no kdump. */
  isLoaded?: boolean;
  reservedBytes?: number;
  /** Whom the crash kernel notifies. Undefined: no such configuration. */
  notified?: readonly string[];
  /** kdump.conf was changed after the crash kernel's initramfs was built, and does not stand in it. */
  isStale: boolean;
}

export interface KdumpVerdict extends Verdict {
  kdump?: KdumpFound;
}

export async function checkKdump(root: string, controllers: readonly string[]): Promise<KdumpVerdict> {
  const reading = await readKdump(root);
  const { isLoaded: isArmed, notified: notifies = [] } = reading;
  return { ...judgeKdump(reading, controllers), ...(isArmed === undefined ? {} : { kdump: { isArmed, notifies } }) };
}

export async function readKdump(root: string): Promise<KdumpReading> {
  const [loaded, reserved, config, dropIn, unit, release] = await Promise.all(
    ['sys/kernel/kexec_crash_loaded', 'sys/kernel/kexec_crash_size', RHEL_CONFIG, DEBIAN_DROP_IN, DEBIAN_UNIT, 'proc/sys/kernel/osrelease'].map(
      async (path) => textOf(root, path),
    ),
  );
  const isLoaded = numberIn(loaded);
  const reservedBytes = numberIn(reserved);
  const notified = config === undefined ? (isPulledIn(dropIn) ? notifiedByUnit(unit ?? '') : undefined) : notifiedByConfig(config);
  return {
    ...(isLoaded === undefined ? {} : { isLoaded: isLoaded === 1 }),
    ...(reservedBytes === undefined ? {} : { reservedBytes }),
    ...(notified === undefined ? {} : { notified }),
    isStale: config !== undefined && (await isOlder(root, release)),
  };
}

/** `controllers`: addresses that must be notified; empty: any will do. */
export function judgeKdump({ isLoaded, reservedBytes, notified, isStale }: KdumpReading, controllers: readonly string[]): Verdict {
  if (isLoaded === undefined) return unknown('this kernel tells nothing of kdump');
  if (!isLoaded && reservedBytes === 0) return problem('kdump is not armed: no memory is reserved (crashkernel=)');
  if (!isLoaded) return problem('kdump is not armed: no crash kernel is loaded');
  if (notified === undefined || notified.length === 0) return problem('kdump is armed, and notifies nobody (fence_kdump)');
  const missing = controllers.filter((address) => !notified.includes(address));
  if (missing.length > 0) return problem(`kdump is armed, and does not notify ${quoted(missing.join(', '))}`);
  if (isStale) return problem('kdump.conf is newer than the crash initramfs: restart kdump');
  return ok(`kdump is armed, and notifies ${quoted(notified.join(', '))}`);
}

/** `fence_kdump_nodes a b` of RHEL's kdump.conf; the last one counts. */
export function notifiedByConfig(text: string): string[] | undefined {
  let found: string[] | undefined;
  for (const line of text.split('\n')) {
    const [word, ...hosts] = line.replace(/#.*$/u, '').trim().split(/\s+/u);
    if (word === 'fence_kdump_nodes') found = hosts;
  }
  return found;
}

/** The hosts that `ExecStart=.../fence_kdump_send -p 7410 ... a b` names. Its options take one value each, but -v. */
export function notifiedByUnit(text: string): string[] | undefined {
  for (const line of text.split('\n')) {
    const [, command] = /^\s*ExecStart\s*=\s*[-@:+!]*(.*)$/u.exec(line) ?? [];
    const [program, ...words] = (command ?? '').trim().split(/\s+/u);
    if (program === undefined || !SENDER.test(program)) continue;
    const hosts: string[] = [];
    for (let index = 0; index < words.length; index += 1) {
      const word = words[index] ?? '';
      if (!word.startsWith('-')) hosts.push(word);
      else if (/^-[a-uw-z]$/u.test(word)) index += 1;
    }
    return hosts;
  }
  return undefined;
}

function isPulledIn(dropIn: string | undefined): boolean {
  return /^\s*(?:Wants|Requires)\s*=.*\bnodefence-kdump-notify\.service\b/mu.test(dropIn ?? '');
}

async function isOlder(root: string, release: string | undefined): Promise<boolean> {
  const name = release?.trim();
  if (name === undefined || !/^[\w.+~-]{1,128}$/u.test(name)) return false;
  const changed = await changedAtMs(root, RHEL_CONFIG);
  const images = await Promise.all(
    [`boot/initramfs-${name}kdump.img`, `var/lib/kdump/initramfs-${name}kdump.img`].map(async (path) => changedAtMs(root, path)),
  );
  const built = images.find((time) => time !== undefined);
  return changed !== undefined && built !== undefined && built < changed;
}
