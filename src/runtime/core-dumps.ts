import { writeFileSync } from 'node:fs';

/** Which parts of the memory a dump holds (core(5)): none. Children inherit it. */
const NOTHING = '0';

/**
 * A dump of this process, or of a program that it starts, holds no memory from now on: passwords stand there, and where dumps go is not for us to choose.
 * Undefined: done; else why not.
 */
export function keepMemoryOutOfDumps(file = '/proc/self/coredump_filter'): string | undefined {
  try {
    writeFileSync(file, NOTHING);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
