import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const HELD_BY = 'held by';
/** One table for each page of docs/: its sentences, and the tests that hold them. */
const FOLDER = `${ROOT}test/docs/`;
/** The folder of the tests that a page names without one, where it is not the page's own name. */
const FOLDERS: Readonly<Record<string, string>> = { 'node-fence-remediation': 'node-remediation' };

interface Link {
  page: string;
  sentence: string;
  reference: string;
}

/** Every cell of every table column `held by`. */
function linksOf(page: string, text: string): Link[] {
  const links: Link[] = [];
  let column = -1;
  for (const line of text.split('\n')) {
    if (!line.startsWith('|')) {
      column = -1;
      continue;
    }
    const cells = line
      .replace(/^\| *| *\|$/g, '')
      .split(' | ')
      .map((cell) => cell.trim());
    if (cells.includes(HELD_BY)) column = cells.indexOf(HELD_BY);
    else if (column !== -1 && !cells.every((cell) => /^:?-+:?$/.test(cell))) {
      for (const reference of (cells[column] ?? '').split('<br>')) links.push({ page, sentence: cells[Math.max(0, column - 1)] ?? '', reference });
    }
  }
  return links;
}

function pathOf(page: string, file: string): string {
  if (file.startsWith('src/') || file.startsWith('test/')) return file;
  if (file.startsWith('agents/') && existsSync(ROOT + file)) return file;
  return file.includes('/') ? `test/${file}` : `test/${FOLDERS[page] ?? page}/${file}`;
}

/** The source of a test file with every title behind `(`, however it is laid out. */
function titlesIn(path: string): string {
  return readFileSync(ROOT + path, 'utf8')
    .replaceAll(/(?<=[(,])\s+/g, ' ')
    .replaceAll('( ', '(');
}

function isHeld({ page, reference }: Link): boolean {
  const [, file = '', words = ''] = /^`([^`]+)`: (.+)$/.exec(reference) ?? [];
  if (file === '') return false;
  const titles = titlesIn(pathOf(page, file));
  return ["'", '"', '`'].some((quote) => titles.includes(`(${quote}${words}${quote}, `));
}

it('every sentence of test/docs names a test that there is', () => {
  const pages = readdirSync(FOLDER).filter((file) => file.endsWith('.md'));
  const links = pages.flatMap((file) => linksOf(file.replace('.md', ''), readFileSync(FOLDER + file, 'utf8')));
  expect(links.length).toBeGreaterThanOrEqual(500);
  const broken = links.filter((link) => !isHeld(link)).map(({ page, sentence, reference }) => `${page}: ${sentence}: ${reference}`);
  expect(broken).toEqual([]);
});

it('a sentence without a test, or with one that is gone, would be found', () => {
  const [none, gone] = linksOf('preservation', '| what | held by |\n| --- | --- |\n| a |  |\n| b | `own-mode.test.ts`: no such test |');
  expect([none, gone].map((link) => link !== undefined && isHeld(link))).toEqual([false, false]);
});

it('no page for users has a column of tests', () => {
  const pages = readdirSync(`${ROOT}docs`).filter((file) => file.endsWith('.md'));
  expect(pages.length).toBeGreaterThanOrEqual(27);
  expect(pages.filter((file) => linksOf(file, readFileSync(`${ROOT}docs/${file}`, 'utf8')).length > 0)).toEqual([]);
});

/** Where each relative link of a page leads, from the root of the repository. */
function targetsOf(path: string, text: string): string[] {
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
  return links.filter((target) => !/^(https?:|#)/.test(target)).map((target) => join(dirname(path), target.replace(/#.*/, '')));
}

const PAGES = ['README.md', 'CONTRIBUTING.md', ...readdirSync(`${ROOT}docs`).map((file) => `docs/${file}`)].filter((path) => path.endsWith('.md'));

it('every link of a page leads to a file of the repository', () => {
  const links = PAGES.flatMap((path) => targetsOf(path, readFileSync(ROOT + path, 'utf8')).map((target) => ({ path, target })));
  expect(links.length).toBeGreaterThanOrEqual(170);
  expect(links.filter(({ target }) => !existsSync(ROOT + target))).toEqual([]);
});

/** Links to a heading, of another page or of the page itself, that has no such heading. */
function lostAnchors(path: string, text: string): string[] {
  return [...text.matchAll(/\]\(([^)\s#:]*)#([^)\s]+)\)/g)].flatMap(([, file = '', anchor = '']) => {
    const page = file === '' ? path : join(dirname(path), file);
    if (!page.endsWith('.md')) return [];
    return anchorsOf(file === '' ? text : readFileSync(ROOT + page, 'utf8')).has(anchor) ? [] : [`${path}: ${page}#${anchor}`];
  });
}

/** As GitHub makes them of headings. */
function anchorsOf(text: string): Set<string> {
  const headings = [...text.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1'));
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replaceAll(' ', '-'),
    ),
  );
}

it('every link to a heading leads to one that there is', () => {
  expect(PAGES.flatMap((path) => lostAnchors(path, readFileSync(ROOT + path, 'utf8')))).toEqual([]);
});

it('a link to a heading that there is not would be found', () => {
  const text = '# What it `costs`, and more\n[a](#what-it-costs-and-more) [b](#what-it-costs) [c](README.md#no-such) [d](https://example.org/#x)';
  expect(lostAnchors('docs/a.md', text)).toEqual(['docs/a.md: docs/a.md#what-it-costs', 'docs/a.md: docs/README.md#no-such']);
});

it('a link that leads nowhere would be found', () => {
  expect(
    targetsOf('docs/a.md', 'see [b](b.md#c), [d](../README.md), [e](https://example.org)').filter((target) => !existsSync(ROOT + target)),
  ).toEqual(['docs/b.md']);
});

it('the index lists every page once', () => {
  const listed = [...readFileSync(`${ROOT}docs/README.md`, 'utf8').matchAll(/\]\(([a-z0-9-]+\.md)\)/g)].map(([, file = '']) => file);
  const pages = readdirSync(`${ROOT}docs`).filter((file) => file.endsWith('.md') && file !== 'README.md');
  expect(listed.sort()).toEqual(pages.sort());
});
