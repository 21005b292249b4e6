import { fileURLToPath } from 'node:url';

/** Path of another program of this package, named from this folder without its ending: `.ts` in the sources, `.js` in the compiled package. */
export function programPath(relative: string): string {
  const ending = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
  return fileURLToPath(new URL(relative + ending, import.meta.url));
}
