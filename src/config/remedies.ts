import { isMap, isScalar, isSeq, LineCounter, parseAllDocuments } from 'yaml';
import type { Document, Node as YamlNode, YAMLMap } from 'yaml';
import { place } from './configuration.ts';
import type { NamedConfig } from './configuration.ts';
import { didYouMean } from './nearest.ts';
import type { Problems } from './problems.ts';
import { parseDuration } from './properties.ts';
import { parseSelector } from './selector.ts';

const API_VERSION = 'node-remedy/v1alpha';
/** Remedies that need no remedyConfig. */
const BUILT_IN = ['storage-fence', 'recovery', 'repair', 'cordon', 'uncordon', 'drain', 'clean-pods', 'fence', 'restart-instance'];
const CONFIGURATION_KEYS = ['apiVersion', 'kind', 'metadata', 'nodeSelector', 'thresholdConfigs', 'remedyConfigs', 'alarms'];
const THRESHOLD_KEYS = ['nodeConditionType', 'nodeConditionStatus', 'nodeConditionPeriod', 'recovery'];
/** `clean-resourece` is how the seed writes it. */
const USE_KEYS = ['name', 'period', 'clean-resource', 'clean-resourece', 'clean_resources'];
const REMEDY_KEYS = ['name', 'podTemplate', 'fenceMethods', 'fence'];
const REMEDY_NUMBER = /^remedy([1-9]\d?)$/;

/** Reads the remedies of one ConfigMap (`*.yaml`, apiVersion node-remedy/v1alpha) for their form; nothing is done with them yet. */
export function checkRemedies(config: NamedConfig, problems: Problems): void {
  const files = Object.entries(config.data).filter(([key]) => /\.ya?ml$/.test(key));
  if (files.length === 0) problems.warning(place(config), 'holds no key that ends in .yaml: remedies are read from such keys');
  for (const [key, text] of files) {
    const counter = new LineCounter();
    for (const document of parseAllDocuments(text, { lineCounter: counter, prettyErrors: false }) as readonly Document[]) {
      const at = (offset: number): string => place(config, key, counter.linePos(offset).line);
      for (const { message, pos } of document.errors) problems.error(at(pos[0]), `is not YAML: ${message}`);
      if (document.errors.length === 0 && document.contents !== null) new Reading(at, problems).configuration(document.contents);
    }
  }
}

class Reading {
  readonly #at: (offset: number) => string;
  readonly #problems: Problems;

  constructor(at: (offset: number) => string, problems: Problems) {
    this.#at = at;
    this.#problems = problems;
  }

  configuration(node: YamlNode): void {
    const map = this.#map(node, 'a Configuration');
    if (map === undefined) return;
    this.#keys(map, CONFIGURATION_KEYS);
    for (const [key, wanted] of [
      ['apiVersion', API_VERSION],
      ['kind', 'Configuration'],
    ] as const) {
      const written = this.#text(map, key);
      if (written !== wanted) this.#error(map, `${key} is ${written === undefined ? 'missing' : written.slice(0, 60)}: it must be ${wanted}`, key);
    }
    this.#selector(map);
    const own = this.#items(map, 'remedyConfigs').flatMap((item) => this.#remedy(item));
    for (const item of this.#items(map, 'thresholdConfigs')) this.#threshold(item, [...own, ...BUILT_IN]);
  }

  /** The name of a remedyConfig, when it has one. */
  #remedy(node: YamlNode): string[] {
    const map = this.#map(node, 'a remedyConfig');
    if (map === undefined) return [];
    this.#keys(map, REMEDY_KEYS);
    const does = REMEDY_KEYS.slice(1).filter((key) => map.has(key));
    if (does.length !== 1) this.#error(map, `a remedyConfig needs exactly one of ${REMEDY_KEYS.slice(1).join(', ')}`);
    const name = this.#text(map, 'name');
    if (name === undefined) this.#error(map, 'a remedyConfig needs a name');
    return name === undefined ? [] : [name];
  }

  #threshold(node: YamlNode, remedies: readonly string[]): void {
    const map = this.#map(node, 'a thresholdConfig');
    if (map === undefined) return;
    if (this.#text(map, 'nodeConditionType') === undefined) this.#error(map, 'a thresholdConfig needs nodeConditionType, such as Ready');
    const status = (this.#text(map, 'nodeConditionStatus') ?? '').toLowerCase();
    if (!['true', 'false', 'unknown'].includes(status)) this.#error(map, 'nodeConditionStatus must be true, false or Unknown', 'nodeConditionStatus');
    this.#duration(map, 'nodeConditionPeriod');
    const uses = map.items.flatMap(({ key }) =>
      isScalar(key) && (REMEDY_NUMBER.test(String(key.value)) || key.value === 'recovery') ? [String(key.value)] : [],
    );
    this.#keys(map, [...THRESHOLD_KEYS, ...uses]);
    for (const use of uses) this.#use(map, use, remedies);
    const numbers = uses.flatMap((use) => REMEDY_NUMBER.exec(use)?.[1] ?? []).map(Number);
    if (numbers.length === 0) this.#error(map, 'a thresholdConfig needs remedy1');
    const gap = numbers.toSorted((a, b) => a - b).findIndex((number, index) => number !== index + 1);
    if (gap >= 0) this.#error(map, `remedy${gap + 1} is missing: number the remedies from 1 without a gap`);
  }

  /** A list of maps with one key each, as the seed writes it, or one map. */
  #use(map: YAMLMap, key: string, remedies: readonly string[]): void {
    const node = map.get(key, true) as YamlNode | undefined;
    const maps = isSeq(node) ? node.items.map((item) => this.#map(item as YamlNode, key)) : [this.#map(node, key)];
    const given = maps.filter((item) => item !== undefined);
    for (const item of given) {
      this.#keys(item, USE_KEYS);
      if (item.has('period')) this.#duration(item, 'period');
    }
    const holder = given.find((item) => item.has('name'));
    const name = holder === undefined ? undefined : this.#text(holder, 'name');
    if (name === undefined) this.#error(map, `${key} needs a name`, key);
    else if (!remedies.includes(name))
      this.#error(
        holder ?? map,
        `remedy ${name.slice(0, 60)} does not exist: ${didYouMean(name, remedies, 'add a remedyConfig of that name')}`,
        'name',
      );
  }

  #selector(map: YAMLMap): void {
    const node = map.get('nodeSelector', true);
    if (node === undefined || isMap(node)) return;
    const text = this.#text(map, 'nodeSelector');
    if (text !== undefined && parseSelector(text) === undefined) this.#error(map, `nodeSelector ${text.slice(0, 60)} is no selector`, 'nodeSelector');
  }

  #duration(map: YAMLMap, key: string): void {
    const text = this.#text(map, key);
    if (text === undefined || parseDuration(text) === undefined) this.#error(map, `${key} must be a duration such as 5s or 3m`, key);
  }

  #items(map: YAMLMap, key: string): YamlNode[] {
    const node = map.get(key, true);
    if (node === undefined) return [];
    if (isSeq(node)) return node.items as YamlNode[];
    this.#error(map, `${key} must be a list`, key);
    return [];
  }

  #keys(map: YAMLMap, known: readonly string[]): void {
    for (const { key } of map.items) {
      const name = isScalar(key) ? String(key.value) : '';
      if (!known.includes(name))
        this.#problems.warning(this.#place(map, name), `unknown key ${name.slice(0, 60)}: ${didYouMean(name, known, 'it is ignored')}`);
    }
  }

  #map(node: YamlNode | null | undefined, what: string): YAMLMap | undefined {
    if (isMap(node)) return node;
    this.#problems.error(this.#at(node?.range?.[0] ?? 0), `${what} must be a map`);
    return undefined;
  }

  #text(map: YAMLMap, key: string): string | undefined {
    const value = map.get(key);
    return typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number' ? String(value) : undefined;
  }

  #error(map: YAMLMap, message: string, key?: string): void {
    this.#problems.error(this.#place(map, key), message);
  }

  /** The line of the key, else of the map. */
  #place(map: YAMLMap, key?: string): string {
    const pair = map.items.find((item) => isScalar(item.key) && item.key.value === key);
    const node = (pair?.key ?? map) as YamlNode;
    return this.#at(node.range?.[0] ?? 0);
  }
}
