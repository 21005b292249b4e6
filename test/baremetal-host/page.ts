import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** One page of docs/, whose tables name the tests that hold their sentences. */
export class Page {
  readonly text: string;
  readonly #tests: string;

  /** `tests`: the folder of the tests that are named without one. */
  constructor(file: string, tests: string) {
    this.text = readFileSync(`${ROOT}docs/${file}`, 'utf8');
    this.#tests = tests;
  }

  /** The rows of the tables under one heading. */
  rows(heading: string): string[][] {
    const [, section = ''] = new RegExp(`^## ${heading}\\n(.*?)(?=^## |$(?![\\s\\S]))`, 'ms').exec(this.text) ?? [];
    const lines = section.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| --') && !line.startsWith('| :-'));
    const cells = lines.map((line) => line.replace(/^\| | *\|$/g, '').split(' | '));
    return cells.map((row) => row.map((cell) => cell.trim())).slice(1);
  }

  /** What of `held` (`file`: words, several by <br>) is no test. */
  missing(held: string): string[] {
    return held.split('<br>').filter((reference) => {
      const [, file = '', words = ''] = /^`([^`]+)`: (.+)$/.exec(reference) ?? [];
      if (file === '') return true;
      const path = file.startsWith('src/') ? file : file.includes('/') ? `test/${file}` : `test/${this.#tests}/${file}`;
      const tests = readFileSync(ROOT + path, 'utf8')
        .replaceAll(/(?<=[(,])\s+/g, ' ')
        .replaceAll('( ', '(');
      return !["'", '"', '`'].some((quote) => tests.includes(`(${quote}${words}${quote}, `));
    });
  }
}
