import { constants } from 'node:fs';
import { mkdir, open, readdir, rename, stat, writeFile } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';

/** What is longer is cut. */
const TEXT_MAX = 65_536;
const CHUNK_BYTES = 16_384;
const NAMES_MAX = 4_096;
/** It is not there, or the driver does not know this attribute. */
const ABSENT = new Set(['ENOENT', 'ENOTDIR', 'ENODEV', 'ENXIO', 'EOPNOTSUPP', 'ENODATA']);

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** Undefined: it is not there. Rejects where it is there and cannot be read. */
export async function textOf(root: string, path: string, mostBytes = TEXT_MAX): Promise<string | undefined> {
  return (await bytesOf(root, path, mostBytes))?.toString();
}

/** The same, of a file that is no text. */
export async function bytesOf(root: string, path: string, mostBytes: number): Promise<Buffer | undefined> {
  return unlessAbsent(async () => {
    // A FIFO in place of a file must not hold the reader.
    const file = await open(join(root, path), constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      return await bytesIn(file, mostBytes);
    } finally {
      await file.close();
    }
  });
}

/** /proc answers each read with a page at most, however much is asked for. */
async function bytesIn(file: FileHandle, mostBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for (let length = 0; length < mostBytes;) {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(CHUNK_BYTES), 0, Math.min(CHUNK_BYTES, mostBytes - length), null);
    if (bytesRead === 0) break;
    chunks.push(buffer.subarray(0, bytesRead));
    length += bytesRead;
  }
  return Buffer.concat(chunks);
}

/** Names in a folder, sorted. Undefined: it is not there. */
export async function namesIn(root: string, folder: string): Promise<string[] | undefined> {
  return unlessAbsent(async () => (await readdir(join(root, folder))).sort().slice(0, NAMES_MAX));
}

export async function changedAtMs(root: string, path: string): Promise<number | undefined> {
  return unlessAbsent(async () => (await stat(join(root, path))).mtimeMs);
}

export async function isThere(root: string, path: string): Promise<boolean> {
  return (await changedAtMs(root, path)) !== undefined;
}

/** What a check remembers from one call to the next. Undefined: nothing, or nothing whole. */
export async function remembered(folder: string, name: string): Promise<unknown> {
  const text = await textOf(folder, name);
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export async function remember(folder: string, name: string, value: unknown): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const written = join(folder, `.${name}.${process.pid}`);
  await writeFile(written, JSON.stringify(value), { mode: 0o600 });
  // Whoever reads meanwhile finds the old or the new one.
  await rename(written, join(folder, name));
}

/** A whole number that is not negative, as /sys writes it. */
export function numberIn(text: string | undefined): number | undefined {
  const number = /^\s*(\d{1,19}|0x[0-9a-f]{1,8})\s*$/iu.exec(text ?? '')?.[1];
  return number === undefined ? undefined : Number(number);
}

async function unlessAbsent<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (ABSENT.has(codeOf(error) ?? '')) return undefined;
    throw error;
  }
}
