import { existsSync, readFileSync } from 'node:fs';

const ROOT = new URL('../../', import.meta.url);
const LITERAL = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g;
/** Also of the cases that it reads. */
const IMPORT = /'(\.{1,2}\/[^']+\.(?:ts|json)|fixtures\/[^']+\.json)'/g;
/** What a table of cases, or a variable, puts there. */
const HOLE = /%[sdifjo#]|\$\{[^}]*\}|\$[a-zA-Z_][\w.]*/;
/** Of a title, beside its holes: with fewer these hold strings of the file alone, or it would be a title of everything. */
const LETTERS_LEAST = 8;

interface Text {
  /** Every string that could be a title, as the parts between its holes. */
  titles: readonly (readonly string[])[];
  /** Every string, as a table of cases may hold it. */
  values: readonly string[];
}

const known = new Map<string, Text & { imports: readonly URL[] }>();
/** Of a file and what it imports. */
const together = new Map<string, Text>();
/** Of each text, what a name may begin with: the same for thousands of names. */
const beginnings = new WeakMap<Text, readonly (readonly string[])[]>();

/** Is there a test with this in its full name in this file? Told from its text, and from that of what it imports, for a run of all tests takes half an hour. */
export function hasTest(file: string, name: string): boolean {
  const url = new URL(file, ROOT);
  if (!existsSync(url)) return false;
  return isNamed(name, read(url)) || isNamed(name, withImports(url));
}

function withImports(url: URL): Text {
  const before = together.get(url.href);
  if (before !== undefined) return before;
  const own = read(url);
  const near = own.imports.map(read);
  const files = [own, ...near, ...near.flatMap(({ imports }) => imports.map(read))];
  const all = { titles: files.flatMap(({ titles }) => titles), values: files.flatMap(({ values }) => values) };
  together.set(url.href, all);
  return all;
}

/** The name may begin within the title of a group and end within that of a test; titles are put together with a space. */
export function isNamed(name: string, text: Text): boolean {
  const from = new Set([...startsIn(name, text)]);
  for (const at of from) {
    if (at >= name.length) return true;
    for (const title of text.titles) for (const end of endsOf(name, title, at, text)) from.add(end);
  }
  return false;
}

/** Where the next title begins, when the name begins anywhere within one. */
function startsIn(name: string, text: Text): number[] {
  const tails = beginnings.get(text) ?? tailsOf(text);
  beginnings.set(text, tails);
  return tails.flatMap((tail) => endsOf(name, tail, 0, text));
}

function tailsOf({ titles }: Text): string[][] {
  return titles.flatMap((title) => {
    const starts = title.flatMap((part, index) => [...wordStarts(part)].map((cut) => [part.slice(cut), ...title.slice(index + 1)]));
    const told = starts.filter((tail) => tail.length === 1 || lettersIn(tail.join('')) >= LETTERS_LEAST);
    return [[...title], ...told];
  });
}

function wordStarts(part: string): number[] {
  return [...part.matchAll(/(?<=^|\W)\w/g)].map(({ index }) => index);
}

/** Where the next title begins after this one at `at`; the length of the name, when that ends within it. */
function endsOf(name: string, [first = '', ...others]: readonly string[], at: number, { values }: Text): number[] {
  const rest = name.slice(at);
  if (rest.length <= first.length) return first.startsWith(rest) ? [name.length] : [];
  if (!rest.startsWith(first)) return [];
  const isOwn = lettersIn([first, ...others].join('')) >= LETTERS_LEAST;
  let here = [at + first.length];
  for (const part of others) here = [...new Set(here.flatMap((end) => holesUpTo(name, end, part, { values, isOwn })))];
  return here.flatMap((end) => (end === name.length ? [end] : name[end] === ' ' ? [end + 1] : []));
}

/** Ends of this part after a hole that begins at `from`: it holds a string of the file, an object, or what has no space in it. */
function holesUpTo(name: string, from: number, part: string, { values, isOwn }: { values: readonly string[]; isOwn: boolean }): number[] {
  const rest = name.slice(from);
  const cases = new Set([...values.filter((value) => rest.startsWith(value)), ...(/^(?:\{.*\}|\[.*\])/.exec(rest) ?? [])]);
  const spaceless = (isOwn ? /^\S*/ : /^[\d.]*/).exec(rest)?.[0].length ?? 0;
  const ends = new Set([...cases].map((value) => from + value.length));
  for (let length = 0; length <= spaceless; length += 1) ends.add(from + length);
  const isCut = values.some((value) => value.startsWith(rest));
  const found = [...ends].flatMap((at) => (name.startsWith(part, at) ? [at + part.length] : part.startsWith(name.slice(at)) ? [name.length] : []));
  return isCut ? [...found, name.length] : found;
}

function lettersIn(part: string): number {
  return part.replace(/\W/g, '').length;
}

function read(url: URL): Text & { imports: readonly URL[] } {
  const before = known.get(url.href);
  if (before !== undefined) return before;
  const source = existsSync(url) ? readFileSync(url, 'utf8') : '';
  const strings = [...source.matchAll(LITERAL)].map(([literal]) => literal.slice(1, -1).replace(/\\(.)/g, '$1'));
  const text = {
    titles: strings.filter((each) => lettersIn(each) > 0).map((each) => each.split(HOLE)),
    values: [...new Set(strings.filter((each) => each !== ''))],
    imports: [...source.matchAll(IMPORT)].map(([, path = '']) => new URL(path, url)),
  };
  known.set(url.href, text);
  return text;
}
