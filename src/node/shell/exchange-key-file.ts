import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf } from './file-errors.ts';
import { X25519Keys } from './exchange-keys.ts';

export interface LoadedKeys {
  keys: X25519Keys;
  /** Why an old key was not taken: others must learn the new one from the API. Absent: it was, or there was none. */
  problem?: string;
}

/** The key of the process before this one, or a new one. In /run: it ends with the boot. Throws where none can be kept. */
export function loadExchangeKeys(path: string): LoadedKeys {
  const kept = keptIn(path);
  if (kept instanceof X25519Keys) return { keys: kept };
  const keys = X25519Keys.generate();
  const temporary = `${path}.new`;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(temporary, `${keys.privateKey}\n`, { mode: 0o600 });
  // The mode above is for a file that was not there.
  chmodSync(temporary, 0o600);
  renameSync(temporary, path);
  return kept === undefined ? { keys } : { keys, problem: `${path}: ${kept}; a new key was made` };
}

/** Undefined: there is none. Words: there is one that may not be used. */
function keptIn(path: string): X25519Keys | string | undefined {
  try {
    const { mode, uid } = statSync(path);
    if ((mode & 0o077) !== 0) return 'others may have read it';
    if (uid !== process.geteuid?.()) return 'it belongs to another user';
    return X25519Keys.of(readFileSync(path, 'utf8').trim());
  } catch (error) {
    if (error instanceof TypeError) return error.message;
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
