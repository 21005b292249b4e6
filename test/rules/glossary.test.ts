import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ROOT } from './planted-tree.ts';

const OWN = 'glossary.md';
const read = (path: string): string => readFileSync(`${ROOT}${path}`, 'utf8');
const rows = read(`docs/${OWN}`)
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .slice(2)
  .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')))
  .map(([, term = '', meaning = '', source = '']) => ({ term, meaning, source }));
const pages = ['README.md', ...readdirSync(`${ROOT}docs`).flatMap((file) => (file.endsWith('.md') && file !== OWN ? [`docs/${file}`] : []))];
const text = pages.map(read).join('\n').toLowerCase().replaceAll(/[_-]/g, ' ');

describe('the glossary', () => {
  it('has about fifty terms, each once and in the order of the alphabet', () => {
    const terms = rows.map(({ term }) => term.toLowerCase());
    expect(terms.length).toBeGreaterThanOrEqual(50);
    expect(terms).toEqual([...new Set(terms)].sort((left, right) => (left < right ? -1 : 1)));
  });

  it('gives each a meaning of one sentence, and a source', () => {
    const isSentence = (meaning: string): boolean => meaning.endsWith('.') && !/\. [A-Z]/.test(meaning);
    expect(rows.filter(({ meaning, source }) => !isSentence(meaning) || source === '')).toEqual([]);
  });

  it('has no term that no other page uses', () => {
    expect(rows.map(({ term }) => term.toLowerCase().replaceAll('-', ' ')).filter((term) => !text.includes(term))).toEqual([]);
  });

  it('is linked from where a stranger begins', () => {
    expect(read('README.md')).toContain('(docs/glossary.md)');
    expect(read('docs/architecture.md')).toContain('(glossary.md)');
  });
});
