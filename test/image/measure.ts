import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Engine } from './engine.ts';

interface Descriptor {
  digest: string;
  size: number;
}

export interface Layer {
  /** What made it. */
  by: string;
  compressedBytes: number;
}

export interface Measured {
  digest: string;
  layers: readonly Layer[];
  compressedBytes: number;
}

/** The image as a registry would hold it, from a copy in the layout of OCI that is removed again. */
export async function measured(engine: Engine, image: string, folder: string): Promise<Measured> {
  const place = join(folder, 'oci');
  rmSync(place, { recursive: true, force: true });
  await engine.call('push', '--quiet', '--format', 'oci', image, `oci:${place}:image`);
  const blob = (digest: string): string => join(place, 'blobs', ...digest.split(':'));
  const read = (digest: string): unknown => JSON.parse(readFileSync(blob(digest), 'utf8'));
  const [first] = (JSON.parse(readFileSync(join(place, 'index.json'), 'utf8')) as { manifests: Descriptor[] }).manifests;
  const manifest = read(first?.digest ?? '') as { config: Descriptor; layers: Descriptor[] };
  const config = read(manifest.config.digest) as { history: { created_by?: string; empty_layer?: boolean }[] };
  const makers = config.history.filter((each) => each.empty_layer !== true).map((each) => each.created_by ?? '');
  const layers = manifest.layers.map(({ digest }, index) => ({ by: makers[index] ?? '', compressedBytes: statSync(blob(digest)).size }));
  rmSync(place, { recursive: true, force: true });
  // The configuration names the content of every layer before it was compressed.
  return { digest: manifest.config.digest, layers, compressedBytes: layers.reduce((sum, { compressedBytes }) => sum + compressedBytes, 0) };
}
