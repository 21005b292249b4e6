import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Set by `npm test`: the folder with the program as it ships, built of this tree. What tests start is then what ships. */
export const BUILT_VARIABLE = 'NODEFENCE_TESTED_PROGRAM';

/** File of a program of this package, named from `src` without its ending: of the sources, or of the built package, in which all programs stand side by side. */
export function programPath(path: string): string {
  const built = process.env[BUILT_VARIABLE];
  if (built !== undefined) return join(built, `${basename(path)}.js`);
  const file = import.meta.url.endsWith('.ts') ? `../../${path}.ts` : `./${basename(path)}.js`;
  return fileURLToPath(new URL(file, import.meta.url));
}
