import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** One page of docs/, or of test/docs/; that the tests exist that the latter names is checked in test/rules/page-links.test.ts. */
export class Page {
  readonly text: string;

  constructor(file: string, folder: 'docs' | 'test/docs' = 'docs') {
    this.text = readFileSync(`${ROOT}${folder}/${file}`, 'utf8');
  }

  /** The rows of the tables under one heading. */
  rows(heading: string): string[][] {
    const [, section = ''] = new RegExp(`^## ${heading}\\n(.*?)(?=^## |$(?![\\s\\S]))`, 'ms').exec(this.text) ?? [];
    const lines = section.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| --') && !line.startsWith('| :-'));
    const cells = lines.map((line) => line.replace(/^\| | *\|$/g, '').split(' | '));
    return cells.map((row) => row.map((cell) => cell.trim())).slice(1);
  }
}
