import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RemedyText } from '../config/remedies.ts';

/** What a file may hold: a Configuration is some kilobytes. */
const BYTES_MAX = 1_048_576;
const FILES_MAX = 64;

/** The Configurations of a folder, as they are now (`*.yaml`, sorted). Throws where the folder, or a file of it, cannot be read. */
export function remedyTexts(folder: string): RemedyText[] {
  const names = readdirSync(folder)
    .filter((name) => /\.ya?ml$/u.test(name))
    .sort();
  if (names.length > FILES_MAX)
    throw new Error(`${folder} has ${names.length} files of remedies, and ${FILES_MAX} may be there: put several Configurations into one file`);
  return names.map((name) => {
    const path = join(folder, name);
    const text = readFileSync(path, 'utf8');
    if (text.length > BYTES_MAX) throw new Error(`${path} is too large for remedies: ${BYTES_MAX} bytes may be`);
    return { name, text, where: (line) => `${path}, line ${line}` };
  });
}
