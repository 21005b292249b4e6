import { mkdir, open, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { DEBIAN_DROP_IN, DEBIAN_UNIT, RHEL_CONFIG } from '../checks/kdump.ts';
import { codeOf } from '../checks/reading.ts';
import { difference, isOurs, notifyDropIn, notifyUnit, otherPort, PORT, withControllers, WRITTEN } from './kdump-config.ts';

export interface SetupFile {
  /** From the root. */
  path: string;
  /** Undefined: it is not there. */
  before: string | undefined;
  after: string;
}

export interface KdumpSetup {
  files: SetupFile[];
  /** What somebody must do afterwards, or look at. */
  notes: string[];
}

/** Where the packages of fence agents put it. */
const SENDERS = [
  'usr/libexec/fence-agents/fence_kdump_send',
  'usr/libexec/fence_kdump_send',
  'usr/lib/fence-agents/fence_kdump_send',
  'usr/sbin/fence_kdump_send',
];
/** By these kdump-tools is known to be installed. */
const KDUMP_TOOLS = ['etc/default/kdump-tools', 'usr/lib/systemd/system/kdump-tools-dump.service', 'lib/systemd/system/kdump-tools-dump.service'];

/** What is to be written for these controllers. Rejects with what is missing, or what a person must decide. */
export async function planKdumpSetup(root: string, controllers: readonly string[]): Promise<KdumpSetup> {
  const config = await textAt(root, RHEL_CONFIG);
  const isDebian = (await Promise.all(KDUMP_TOOLS.map(async (path) => isThere(root, path)))).includes(true);
  if (config === undefined && !isDebian)
    throw new Error('kdump is not installed here: there is neither /etc/kdump.conf (kexec-tools or kdump-utils) nor kdump-tools');
  const found = await Promise.all(SENDERS.map(async (path) => isThere(root, path)));
  const sender = SENDERS[found.indexOf(true)];
  if (sender === undefined) throw new Error('fence_kdump_send is not installed here: install fence-agents-kdump (RHEL) or fence-agents (Debian)');
  return config === undefined ? planDebian(root, `/${sender}`, controllers) : planRhel(config, controllers);
}

function planRhel(config: string, controllers: readonly string[]): KdumpSetup {
  const edited = withControllers(config, controllers);
  if ('problem' in edited) throw new Error(`/${RHEL_CONFIG}: ${edited.problem}`);
  const port = otherPort(config);
  return {
    files: [{ path: RHEL_CONFIG, before: config, after: edited.text }],
    notes: [
      "systemctl restart kdump    # builds the crash kernel's initramfs anew, which the configuration must stand in",
      ...(port === undefined ? [] : [`fence_kdump_args sends to port ${port}, and the controllers listen on ${PORT}`]),
    ],
  };
}

async function planDebian(root: string, sender: string, controllers: readonly string[]): Promise<KdumpSetup> {
  const wanted = [
    { path: DEBIAN_UNIT, after: notifyUnit(sender, controllers) },
    { path: DEBIAN_DROP_IN, after: notifyDropIn(basename(DEBIAN_UNIT)) },
  ];
  const files = await Promise.all(wanted.map(async (file) => ({ ...file, before: await textAt(root, file.path) })));
  const foreign = files.find(({ before }) => before !== undefined && !before.startsWith(WRITTEN));
  if (foreign !== undefined) throw new Error(`/${foreign.path} was written by somebody else: move it away first`);
  return { files, notes: ['systemctl daemon-reload'] };
}

export function diffOf({ files }: KdumpSetup): string {
  return files.map(({ path, before, after }) => difference(`/${path}`, before, after)).join('');
}

/** Writes what differs, the old text first beside it. In place, so that owner, mode and SELinux label stay. */
export async function applyKdumpSetup(root: string, { files }: KdumpSetup): Promise<void> {
  for (const { path, before, after } of files) {
    if (before === after) continue;
    const full = join(root, path);
    await mkdir(dirname(full), { recursive: true, mode: 0o755 });
    // What an earlier call wrote is no old text: it would take the place of the one that somebody may want back.
    if (before !== undefined && !isOurs(before)) await written(`${full}.nodefence-saved`, before);
    await written(full, after);
  }
}

async function written(path: string, text: string): Promise<void> {
  const file = await open(path, 'a', 0o644);
  try {
    await file.truncate(0);
    await file.appendFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function textAt(root: string, path: string): Promise<string | undefined> {
  try {
    return await readFile(join(root, path), 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}

async function isThere(root: string, path: string): Promise<boolean> {
  try {
    await stat(join(root, path));
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return false;
    throw error;
  }
}
