import { readFileSync } from 'node:fs';

/** What it is for, in one sentence. */
export const PURPOSE = 'Proves that a failed Kubernetes node cannot write any more, frees its workload, brings the node back.';
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
