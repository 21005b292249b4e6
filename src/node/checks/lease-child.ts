// Reads and writes sectors of one storage lease: `lease-child <path>`, in a process of its own, because it may hang in the kernel for ever.
// Each line on stdin is `read <offset> <length>` or `write <offset> <base64>`; each is answered by `begins` and then by `done <how> <base64>` or
// `refused <code> <step>`. What hangs after `begins` waits for the storage, and not for a processor. Ends with its stdin.
import { closeSync, constants, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** Memory is aligned to this at least, and direct I/O wants more. */
const [ALIGNMENT, PAGE, LENGTH_MAX] = [16, 4_096, 65_536];
const { O_DIRECT, O_DSYNC, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants;
const [, , path = ''] = process.argv;
/** Names below /dev/mapper and /dev/disk are links; elsewhere others may make some. */
const followsNot = path.startsWith('/dev/') ? 0 : O_NOFOLLOW;

interface File {
  fd: number;
  isDirect: boolean;
  isDevice: boolean;
}

const memory = Buffer.allocUnsafeSlow(LENGTH_MAX + PAGE);
/** Where the memory is aligned as direct I/O wants it, once that is known. */
let aligned: number | undefined;
let step = 'open';
/** A block device stays open: each close after a write makes udev look at it anew. */
const kept: { reader: File | undefined; writer: File | undefined } = { reader: undefined, writer: undefined };

function opened(kind: 'reader' | 'writer'): File {
  const known = kept[kind];
  if (known !== undefined) return known;
  step = 'open';
  // O_EXCL: a device on which this machine has mounted something is not written to.
  const flags = kind === 'reader' ? O_RDONLY : O_WRONLY | O_DSYNC | O_EXCL;
  for (const direct of [O_DIRECT, 0]) {
    const fd = unlessInvalid(() => openSync(path, flags | direct | followsNot));
    if (fd === undefined) continue;
    const file = { fd, isDirect: direct !== 0, isDevice: fstatSync(fd).isBlockDevice() };
    if (file.isDevice) kept[kind] = file;
    return file;
  }
  throw Object.assign(new Error('it can be opened in no way'), { code: 'EINVAL' });
}

/** Where memory is not aligned as the device wants it, EINVAL says so; where no place is, it knows no direct I/O. */
function transfer(file: File, act: (start: number) => number): { count: number; start: number } {
  if (!file.isDirect) return { count: act(0), start: 0 };
  for (let start = aligned ?? 0; start < PAGE; start += ALIGNMENT) {
    const count = unlessInvalid(() => act(start));
    if (count === undefined) continue;
    aligned = start;
    return { count, start };
  }
  throw Object.assign(new Error('direct I/O is refused'), { code: 'EINVAL' });
}

function unlessInvalid<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    if (codeOf(error) === 'EINVAL') return undefined;
    throw error;
  }
}

function using<T>(kind: 'reader' | 'writer', work: (file: File) => T): T {
  const file = opened(kind);
  try {
    return work(file);
  } catch (error) {
    forget();
    throw error;
  } finally {
    if (!file.isDevice) closeSync(file.fd);
  }
}

/** What was refused may be a device that is gone: the next one of its name is another. */
function forget(): void {
  for (const kind of ['reader', 'writer'] as const) {
    const file = kept[kind];
    kept[kind] = undefined;
    if (file !== undefined) closeSync(file.fd);
  }
}

function read(offset: number, length: number): string {
  return using('reader', (file) => {
    step = 'read';
    const { count, start } = transfer(file, (at) => readSync(file.fd, memory, at, length, offset));
    return `${file.isDirect ? 'direct' : 'plain'} ${memory.subarray(start, start + count).toString('base64')}`;
  });
}

function write(offset: number, content: Buffer): string {
  return using('writer', (file) => {
    step = 'write';
    const { count } = transfer(file, (at) => {
      content.copy(memory, at);
      return writeSync(file.fd, memory, at, content.length, offset);
    });
    if (count !== content.length) throw Object.assign(new Error('it was not written whole'), { code: 'ENOSPC' });
    step = 'sync';
    fsyncSync(file.fd);
    return `${file.isDirect ? 'direct' : 'plain'} `;
  });
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'EUNKNOWN';
}

function say(words: string): void {
  const bytes = Buffer.from(`${words}\n`);
  for (let at = 0; at < bytes.length;) at += writeSync(1, bytes, at);
}

for await (const line of createInterface({ input: process.stdin })) {
  const [what, offset, rest = ''] = line.split(' ');
  const content = Buffer.from(rest, 'base64');
  say('begins');
  try {
    say(`done ${what === 'write' ? write(Number(offset), content) : read(Number(offset), Math.min(LENGTH_MAX, Number(rest)))}`);
  } catch (error) {
    say(`refused ${codeOf(error)} ${step}`);
  }
}
