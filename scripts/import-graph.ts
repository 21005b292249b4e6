/** A module's text, by its path from the root of the repository. */
export type Sources = ReadonlyMap<string, string>;

const IMPORTED = /(?:\bfrom|\bimport|\bimport\()\s*'(?<specifier>\.{1,2}\/[^']+)'/gu;

/** Path → who imports it, by any kind of import that is written as a literal. */
export function importersOf(sources: Sources): Map<string, string[]> {
  const importers = new Map<string, string[]>();
  for (const [file, text] of sources) {
    for (const { groups } of text.matchAll(IMPORTED)) {
      const target = joined(file, groups?.['specifier'] ?? '');
      importers.set(target, [...(importers.get(target) ?? []), file]);
    }
  }
  return importers;
}

function joined(file: string, specifier: string): string {
  return new URL(specifier, `file:///${file}`).pathname.slice(1);
}
