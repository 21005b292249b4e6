import { Document, visit } from 'yaml';
import type { ManifestFile } from './installation.ts';

const HEADER = '# Written by `npm run generate` from src/manifests; edits are lost.\n';

/** Quoted beyond what YAML 1.1 names: kubectl's reader takes `0O17`, `-0o17` and `1e3_0` for numbers, and 1.1 has a type of its own for `=`. */
const NEAR_NUMBER = /^[-+]?\.?\d[\da-fxo_.+-]*$|^=$/i;

/** The text of a manifest file: its objects as YAML documents. */
export function renderManifest(file: ManifestFile): string {
  return HEADER + renderObjects(file.objects);
}

/** Objects as YAML documents that a reader of YAML 1.1, which kubectl is, and one of 1.2 take for the same. */
export function renderObjects(objects: readonly object[]): string {
  return objects.map(rendered).join('---\n');
}

function rendered(object: object): string {
  // `compat` quotes the strings that YAML 1.1 takes for a boolean, a number, a time or null: on, off, y, 017, 1:30, 1_000.
  const document = new Document(object, { aliasDuplicateObjects: false, compat: 'yaml-1.1' });
  visit(document, {
    Scalar: (_key, scalar) => {
      if (typeof scalar.value === 'string' && NEAR_NUMBER.test(scalar.value)) scalar.type = 'QUOTE_DOUBLE';
    },
  });
  return document.toString({ lineWidth: 150 });
}
