import { realpath } from 'node:fs/promises';
import { mountOf, mountsAt } from './mount-table.ts';
import type { Mount } from './mount-table.ts';
import { counted, ok, problem, quoted, unknown } from './verdict.ts';
import type { Verdict } from './verdict.ts';

export interface MountsAsked {
  /** Folders that were written to, as this process sees them. */
  folders: readonly string[];
  /** Mount points of file systems that are read-only by design. */
  byDesign: readonly string[];
}

/** They have no device of their own, and write to one all the same. */
const WITHOUT_DEVICE = new Set(['zfs', 'btrfs', 'bcachefs']);
/** Nothing ever writes to them. */
const NEVER_WRITTEN = new Set(['squashfs', 'iso9660', 'udf', 'erofs', 'cramfs', 'romfs']);
/** What the kernel calls a file system of which it writes nothing more; ext4 has the second and third since Linux 6.12. */
const READ_ONLY = new Set(['ro', 'emergency_ro', 'shutdown']);

/** By the mounts of process 1 of the node, and by this process' own, which says where the folders lie. `ownRoot`: another one only in tests. */
export async function checkMounts(root: string, asked: MountsAsked, ownRoot = '/'): Promise<Verdict> {
  const [nodes, own] = await Promise.all([mountsAt(root, 'proc/1/mountinfo'), mountsAt(ownRoot, 'proc/self/mountinfo')]);
  if ('why' in nodes) return unknown(nodes.why);
  if ('why' in own) return unknown(own.why);
  const folders = await Promise.all(asked.folders.map(async (folder) => realpath(folder)));
  return judgeMounts(nodes.mounts, own.mounts, { ...asked, folders });
}

/** What a file system is mounted as by itself counts, not what one mount of it is: containers are shown many read-only ones. */
export function judgeMounts(nodes: readonly Mount[], own: readonly Mount[], { folders, byDesign }: MountsAsked): Verdict {
  const local = nodes.filter(isLocal);
  if (local.length === 0) return unknown('process 1 of the node has mounted no file system of a disk');
  const intended = new Set(local.filter(({ point }) => byDesign.includes(point)).map(({ device }) => device));
  const readOnly = onceEach(local.filter(({ device, options }) => !intended.has(device) && options.some((option) => READ_ONLY.has(option))));
  const [first, ...others] = readOnly;
  if (first !== undefined) {
    const more = others.length === 0 ? '' : `, and ${counted(others.length, 'other')}`;
    return problem(`read-only: ${quoted(first.point, 200)} (${quoted(first.source)})${more}`);
  }
  const astray = folders.find((folder) => !local.some(({ device }) => device === mountOf(own, folder)?.device));
  if (astray !== undefined) return unknown(`${quoted(astray, 200)} lies on no disk of the node`);
  const written = new Set(folders.map((folder) => mountOf(own, folder)?.device)).size;
  return ok(`none of ${counted(onceEach(local).length, 'file system')} is read-only, ${written} of them written to`);
}

function isLocal({ type, source }: Mount): boolean {
  return !NEVER_WRITTEN.has(type) && (source.startsWith('/dev/') || WITHOUT_DEVICE.has(type));
}

/** However often each is mounted. */
function onceEach(mounts: readonly Mount[]): Mount[] {
  return mounts.filter(({ device }, index) => mounts.findIndex((other) => other.device === device) === index);
}
