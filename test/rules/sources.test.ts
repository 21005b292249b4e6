import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from './planted-tree.ts';

const FOLDERS = ['src', 'agents', 'docs', 'test', 'scripts', 'config'];
const TEXTS = /\.(ts|mjs|md|json|yaml)$/;
/** Pages and files that were there when nodefence was made, and that the repository does not have. */
const ABSENT = /\bdesign ['"]?\d|\bseeds? 00\d/giu;

function citations(path: string, text: string): string[] {
  return [...text.matchAll(ABSENT)].map(([cited]) => `${path}: ${cited}`);
}

function textsUnder(folder: string): string[] {
  const entries = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  return entries.filter((entry) => TEXTS.test(entry)).map((entry) => join(folder, entry));
}

it('no source is cited that the repository does not have', () => {
  const paths = [...FOLDERS.flatMap(textsUnder), 'README.md', 'CONTRIBUTING.md'];
  expect(paths.length).toBeGreaterThan(1_000);
  expect(paths.flatMap((path) => citations(path, readFileSync(join(ROOT, path), 'utf8')))).toEqual([]);
});

it('no check is switched off in the code that it checks', () => {
  const switches = new RegExp(['(?:ox|es)lint-(?:dis|en)able', '@ts-(?:ignore|nocheck|expect-error)'].join('|'), 'u');
  const paths = FOLDERS.flatMap(textsUnder).filter((path) => /\.m?ts$/u.test(path) && !path.startsWith('test/rules/'));
  expect(paths.length).toBeGreaterThan(1_000);
  expect(paths.filter((path) => switches.test(readFileSync(join(ROOT, path), 'utf8')))).toEqual([]);
});

it('finds a citation by number', () => {
  const [page, given] = ['Design', 'seeds'];
  const cited = [`${page} 4`, `${given} 003`];
  expect(citations('a.ts', `one device, one queue (${cited[0]}); ${cited[1]} and more`)).toEqual(cited.map((each) => `a.ts: ${each}`));
});
