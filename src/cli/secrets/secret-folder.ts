import { open, readdir, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { SecretUnread } from '../../ports/secret-stores.ts';
import { readSecretText, SECRET_BYTES_MAX, SECRET_KEY, SECRET_KEYS_MAX } from './secret-text.ts';

const PARTS_MAX = 4;
/** By which kubelets exchange all files of a volume at once. */
const DATA = '..data';

/** `bmc-a`, `rack-3/bmc-a`: names, none of them hidden, none of them `..`. */
export function isSecretName(name: string): boolean {
  const parts = name.split('/');
  return parts.length <= PARTS_MAX && parts.every((part) => SECRET_KEY.test(part));
}

/**
 * The keys of a file (lines `key=value`) or of a folder (one file for each key, as a volume of a Secret or of a CSI driver has them) below `folder`, as they
 * are now: whoever rotates a login changes the file, and the next run has it. Rejects with `SecretUnread`.
 */
export async function readSecretFile(folder: string, name: string): Promise<Readonly<Record<string, string>>> {
  try {
    return await keysOf(folder, name);
  } catch (error) {
    // A volume was exchanged while it was read.
    if (codeOf(error) !== 'ENOENT') throw unread(folder, name, error);
  }
  return keysOf(folder, name).catch((error: unknown) => {
    throw unread(folder, name, error);
  });
}

async function keysOf(folder: string, name: string): Promise<Readonly<Record<string, string>>> {
  if (!isSecretName(name)) throw new SecretUnread(`secret_file ${name.slice(0, 100)} is no name below the folder of --secret-files`);
  const root = await realpath(folder);
  const place = await within(root, join(root, name));
  if (!(await stat(place)).isDirectory()) {
    const found = readSecretText(await textOf(place));
    if ('problem' in found) throw new SecretUnread(`secret_file ${name} in ${folder}: ${found.problem}`);
    return found.keys;
  }
  const data = await within(root, join(place, DATA)).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return place;
    throw error;
  });
  const names = (await readdir(data)).filter((key) => SECRET_KEY.test(key));
  if (names.length === 0 || names.length > SECRET_KEYS_MAX)
    throw new SecretUnread(`secret_file ${name} in ${folder} is a folder of ${names.length} files: 1 to ${SECRET_KEYS_MAX} are keys`);
  const entries = await Promise.all(names.map(async (key): Promise<[string, string]> => [key, await textOf(await within(root, join(data, key)))]));
  return Object.fromEntries(entries);
}

/** Where it really is, every link followed; below the root, or nowhere. */
async function within(root: string, path: string): Promise<string> {
  const real = await realpath(path);
  if (!real.startsWith(root.endsWith(sep) ? root : root + sep))
    throw new SecretUnread(`${path} leads out of ${root}, to ${real}: put the file itself there`);
  return real;
}

async function textOf(path: string): Promise<string> {
  // A pipe would be waited for without end.
  if (!(await stat(path)).isFile()) throw new SecretUnread(`${path} is no file`);
  const file = await open(path, 'r');
  try {
    const bytes = Buffer.alloc(SECRET_BYTES_MAX + 1);
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
    if (bytesRead > SECRET_BYTES_MAX) throw new SecretUnread(`${path} has more than ${SECRET_BYTES_MAX} bytes`);
    const text = bytes.toString('utf8', 0, bytesRead);
    bytes.fill(0);
    return text;
  } finally {
    await file.close();
  }
}

function unread(folder: string, name: string, error: unknown): SecretUnread {
  if (error instanceof SecretUnread) return error;
  const code = codeOf(error);
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return new SecretUnread(`secret_file ${name} is missing: there is no such file or folder in ${folder}, the folder of --secret-files`);
  return new SecretUnread(`secret_file ${name} in ${folder} cannot be read (${code}): the controller's user needs the right to read it`);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
