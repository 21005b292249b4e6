import { readFileSync } from 'node:fs';

/** Of this package; the manifest stands two folders up in the sources and three in the compiled program. */
export const VERSION: string = readVersion();

function readVersion(): string {
  for (const path of ['../../package.json', '../../../package.json']) {
    try {
      const manifest = JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')) as { name?: string; version?: string };
      if (manifest.name === 'nodefence' && manifest.version !== undefined) return manifest.version;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  throw new Error('package.json of nodefence was not found beside the program');
}
