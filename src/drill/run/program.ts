import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Path of another program of this package, named from this folder without its ending: a file of the sources; in the built package all programs stand side by side. */
export function programPath(relative: string): string {
  const file = import.meta.url.endsWith('.ts') ? `${relative}.ts` : `./${basename(relative)}.js`;
  return fileURLToPath(new URL(file, import.meta.url));
}
