import { readFileSync } from 'node:fs';

/** What it is for, in one sentence. */
export const PURPOSE = 'Proves that a failed Kubernetes node cannot write any more, frees its workload, brings the node back.';
/** Of this package, whose manifest stands two folders up, in the sources as in the built program. */
export const VERSION: string = readVersion();

function readVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { name?: string; version?: string };
  if (manifest.name === 'nodefence' && manifest.version !== undefined) return manifest.version;
  throw new Error('package.json of nodefence was not found beside the program');
}
