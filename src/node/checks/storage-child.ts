// One probe of a mount or a device: `storage-child mount|device <path>`, in a process of its own, because it may hang in the kernel for ever.
// Says `begins`, then `answered`, or `refused <code> <step>`: what hangs after `begins` waits for the storage, and not for a processor.
import { closeSync, constants, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { randomBytes } from 'node:crypto';

const BLOCK = 4_096;
/** Memory is aligned to this at least, and a direct read wants more. */
const ALIGNMENT = 16;
const { O_CREAT, O_DIRECT, O_NOFOLLOW, O_RDONLY, O_TRUNC, O_WRONLY } = constants;

let step = 'open';

/** The first block from the medium, not from the page cache, which answers long after the medium is gone. What knows no direct read is read plainly. */
function firstBlock(path: string): Buffer {
  step = 'read';
  const memory = Buffer.allocUnsafeSlow(2 * BLOCK);
  for (const flag of [O_DIRECT, 0]) {
    const file = unlessInvalid(() => openSync(path, O_RDONLY | flag));
    if (file === undefined) continue;
    try {
      for (let start = 0; start < BLOCK; start += ALIGNMENT) {
        const length = unlessInvalid(() => readSync(file, memory, start, BLOCK, 0));
        if (length !== undefined) return memory.subarray(start, start + length);
      }
    } finally {
      closeSync(file);
    }
  }
  throw Object.assign(new Error('neither a direct nor a plain read is possible'), { code: 'EINVAL' });
}

function unlessInvalid<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EINVAL') return undefined;
    throw error;
  }
}

/** Writes a block, syncs it, and reads it back. Follows no link: others may write in the folder too. */
function writeAndRead(path: string): void {
  const content = randomBytes(BLOCK);
  const file = openSync(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600);
  try {
    step = 'write';
    writeSync(file, content);
    step = 'sync';
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  if (!firstBlock(path).equals(content)) throw Object.assign(new Error('it reads otherwise than it was written'), { code: 'EIO' });
}

const [, , kind, path = ''] = process.argv;
const say = (words: string): void => void writeSync(1, `${words}\n`);
try {
  say('begins');
  if (kind === 'mount') writeAndRead(path);
  else firstBlock(path);
  say('answered');
} catch (error) {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'EUNKNOWN';
  say(`refused ${code} ${step}`);
}
