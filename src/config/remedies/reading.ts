import { isMap, isScalar, isSeq, visit } from 'yaml';
import type { Document, Node as YamlNode, YAMLMap } from 'yaml';
import type { Json } from '../../domain/remedy/configuration.ts';
import { didYouMean } from '../nearest.ts';
import type { Problems } from '../problems.ts';
import { parseDuration } from '../properties.ts';

const SHOWN_MAX = 60;
const ALIASES_MAX = 10;

/** One document of remedies, each problem with its line. */
export class Reading {
  readonly #document: Document;
  readonly #at: (offset: number) => string;
  readonly #problems: Problems;

  constructor(document: Document, at: (offset: number) => string, problems: Problems) {
    this.#document = document;
    this.#at = at;
    this.#problems = problems;
  }

  map(node: YamlNode | null | undefined, what: string): YAMLMap | undefined {
    if (isMap(node)) return node;
    this.#problems.error(this.#at(node?.range?.[0] ?? 0), `${what} must be a map`);
    return undefined;
  }

  items(map: YAMLMap, key: string): YamlNode[] {
    const node = map.get(key, true);
    if (node === undefined) return [];
    if (isSeq(node)) return node.items as YamlNode[];
    this.error(map, `${key} must be a list`, key);
    return [];
  }

  /** As `text`, and an error where it is there and none. */
  someText(map: YAMLMap, key: string): string | undefined {
    const text = this.text(map, key);
    if (text === undefined && map.has(key)) this.error(map, `${key} must be a text`, key);
    return text;
  }

  text(map: YAMLMap, key: string): string | undefined {
    const value = map.get(key);
    return typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number' ? String(value) : undefined;
  }

  /** Undefined where it is missing, and with an error where it is not a time of a second or more. */
  durationMs(map: YAMLMap, key: string): number | undefined {
    if (!map.has(key)) return undefined;
    const text = this.text(map, key);
    const ms = text === undefined ? undefined : parseDuration(text);
    if (ms === undefined || ms < 1000) this.error(map, `${key} must be a duration of at least 1s, such as 5s or 3m`, key);
    return ms;
  }

  integer(map: YAMLMap, key: string, least: number, most: number): number | undefined {
    if (!map.has(key)) return undefined;
    const value = Number(this.text(map, key) ?? Number.NaN);
    if (Number.isInteger(value) && value >= least && value <= most) return value;
    this.error(map, `${key} must be a whole number from ${least} to ${most}`, key);
    return undefined;
  }

  isTrue(map: YAMLMap, key: string): boolean {
    const text = (this.text(map, key) ?? (map.has(key) ? '?' : 'false')).toLowerCase();
    if (text !== 'true' && text !== 'false') this.error(map, `${key} must be true or false`, key);
    return text === 'true';
  }

  /** A list of names, or a text with blanks or commas between them. */
  names(map: YAMLMap, key: string): string[] {
    const node = map.get(key, true);
    const written = isSeq(node) ? node.items.map((item) => (isScalar(item) ? String(item.value) : '')) : (this.text(map, key) ?? '').split(/[\s,]+/);
    if (written.length === 0 || written.some((name) => name === '' || /\s/.test(name))) this.error(map, `${key} must be a list of names`, key);
    return written.filter((name) => name !== '');
  }

  keys(map: YAMLMap, known: readonly string[]): void {
    for (const { key } of map.items) {
      const name = isScalar(key) ? String(key.value) : '';
      if (!known.includes(name)) this.warning(map, `unknown key ${shown(name)}: ${didYouMean(name, known, 'it is ignored')}`, name);
    }
  }

  /** Undefined, with an error, where it is nothing that can be written as JSON: its aliases lead nowhere, in a circle, or to far too much. */
  json(map: YAMLMap, key: string): Json | undefined {
    try {
      const read: unknown = (map.get(key, true) as YamlNode).toJS(this.#document, { maxAliasCount: ALIASES_MAX });
      return JSON.parse(JSON.stringify(read)) as Json;
    } catch (error) {
      // The parser's words quote the text.
      if (!(error instanceof ReferenceError) && !(error instanceof TypeError)) throw error;
      this.error(map, `${key} cannot be read: an alias in it leads nowhere, in a circle, or to too much; quote values that begin with *`, key);
      return undefined;
    }
  }

  /** What an alias stands for would be read as if nothing were written there: it is an error, but where a key's whole value is taken as it is. */
  aliases(taken: string): void {
    visit(this.#document, {
      Pair: (_key, { key }) => (isScalar(key) && key.value === taken ? visit.SKIP : undefined),
      Alias: (_key, { range }) => {
        this.#problems.error(
          this.#at(range?.[0] ?? 0),
          `an alias is read in ${taken} only: write out what it stands for, or quote a value that begins with *`,
        );
      },
    });
  }

  error(map: YAMLMap, message: string, key?: string): void {
    this.#problems.error(this.place(map, key), message);
  }

  warning(map: YAMLMap, message: string, key?: string): void {
    this.#problems.warning(this.place(map, key), message);
  }

  /** The line of the key, else of the map. */
  place(map: YAMLMap, key?: string): string {
    const pair = map.items.find((item) => isScalar(item.key) && item.key.value === key);
    const node = (pair?.key ?? map) as YamlNode;
    return this.#at(node.range?.[0] ?? 0);
  }
}

export function shown(text: string): string {
  return text.slice(0, SHOWN_MAX);
}
