import { stringify } from 'yaml';
import type { ManifestFile } from './installation.ts';

const HEADER = '# Written by `npm run generate` from src/manifests; edits are lost.\n';

/** The text of a manifest file: its objects as YAML documents. */
export function renderManifest(file: ManifestFile): string {
  return HEADER + renderObjects(file.objects);
}

/** Objects as YAML documents. */
export function renderObjects(objects: readonly object[]): string {
  const options = { lineWidth: 150, aliasDuplicateObjects: false };
  return objects.map((object) => stringify(object, options)).join('---\n');
}
