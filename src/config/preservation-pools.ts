import { isMap, isScalar, isSeq, LineCounter, parseAllDocuments } from 'yaml';
import type { Node as YamlNode, YAMLMap, YAMLSeq } from 'yaml';
import { DEFAULT_PRESERVE_TIMEOUT_MS } from '../controllers/preservation/names.ts';
import type { PoolSettings } from '../controllers/preservation/snapshot.ts';
import type { Problems } from './problems.ts';
import { parseDuration } from './properties.ts';

/** One name in each seed, and the one that the first uses in its text. */
const MAXIMUM_KEYS = ['autoPreserveFailedMachineMax', 'autoPreserveFailedMax', 'machinePreserveMax'];
const TIMEOUT_KEY = 'machinePreserveTimeout';
const HEALTH_KEY = 'machineHealthTimeout';
const MANAGER_KEY = 'machineControllerManager';
const MAXIMUM_MOST = 10_000;
const TEXT_MOST = 256 * 1024;
/** A hundred years: no end of a preservation has five digits for its year. */
const TIMEOUT_MOST_MS = 36_525 * 86_400_000;

/** Reads one key of the ConfigMap. */
class PoolReader {
  readonly #lines = new LineCounter();
  readonly #key: string;
  readonly #problems: Problems;
  readonly #pools: Map<string, PoolSettings>;

  constructor(key: string, problems: Problems, pools: Map<string, PoolSettings>) {
    this.#key = key;
    this.#problems = problems;
    this.#pools = pools;
  }

  read(text: string): void {
    // In a printed Shoot `...` stands for what was left out; to YAML it is the end of the document.
    const documents = parseAllDocuments(text.replace(/^\.\.\.[ \t]*$/gm, ''), { lineCounter: this.#lines });
    for (const document of 'empty' in documents ? [] : documents) {
      const [first] = document.errors;
      if (first !== undefined) {
        this.#error(first.pos[0], `is not YAML: ${first.message.split('\n')[0] ?? ''}`);
        return;
      }
      if (document.contents !== null) this.#root(document.contents);
    }
  }

  #where(offset: number): string {
    return `ConfigMap preservation-pools, key ${this.#key}, line ${this.#lines.linePos(offset).line}`;
  }

  #error(at: number | YamlNode | null | undefined, message: string): void {
    this.#problems.error(this.#where(typeof at === 'number' ? at : (at?.range?.[0] ?? 0)), message);
  }

  /** A Shoot, its `spec`, its `workers`, one of them, or what stands under one. */
  #root(node: YamlNode): void {
    if (isSeq(node)) this.#workers(node);
    else if (isMap(node)) this.#shoot(node);
    else this.#error(node, 'is neither a worker nor a list of workers');
  }

  #shoot(node: YAMLMap): void {
    const spec = node.get('spec', true);
    const holder = isMap(spec) ? spec : node;
    // Gardener has it under spec.provider, the guide prints it under spec.
    const provider = holder.get('provider', true);
    const workers = holder.get('workers', true) ?? (isMap(provider) ? provider.get('workers', true) : undefined);
    if (isSeq(workers)) this.#workers(workers);
    else if (workers !== undefined) this.#error(workers, 'workers is not a list');
    else if (holder === node) this.#worker(node, this.#key);
    else this.#error(spec, 'spec has no workers');
  }

  #workers(list: YAMLSeq): void {
    for (const item of list.items) {
      if (isMap(item)) this.#worker(item, undefined);
      else this.#error(list, 'a worker is not a map');
    }
  }

  #worker(worker: YAMLMap, nameless: string | undefined): void {
    const name = worker.has('name') ? worker.get('name') : nameless;
    if (typeof name !== 'string' || name === '') {
      this.#error(worker, 'a worker of a list needs a name');
      return;
    }
    if (this.#pools.has(name)) {
      this.#error(worker, `pool ${name} is given twice; the first counts`);
      return;
    }
    const manager = worker.get(MANAGER_KEY, true);
    if (manager !== undefined && !isMap(manager)) this.#error(manager, `${MANAGER_KEY} is not a map`);
    const places = isMap(manager) ? [worker, manager] : [worker];
    const autoPreserveMax = this.#one(places, MAXIMUM_KEYS, (value) => this.#maximum(value)) ?? 0;
    const preserveTimeoutMs = this.#one(places, [TIMEOUT_KEY], (value) => this.#timeout(value)) ?? DEFAULT_PRESERVE_TIMEOUT_MS;
    const healthTimeoutMs = this.#one(places, [HEALTH_KEY], (value) => this.#timeout(value));
    this.#pools.set(name, { autoPreserveMax, preserveTimeoutMs, ...(healthTimeoutMs !== undefined && { healthTimeoutMs }) });
    if (isMap(manager)) this.#strangers(manager);
  }

  /** The same thing may stand in two places and under several names, but only once. */
  #one(places: readonly YAMLMap[], keys: readonly string[], parse: (node: YamlNode) => number | undefined): number | undefined {
    const found = places.flatMap((place) => keys.flatMap((key) => (place.has(key) ? [{ key, place, node: place.get(key, true) }] : [])));
    const [first, second] = found;
    if (first === undefined) return undefined;
    if (second !== undefined) this.#error(second.node ?? second.place, `${second.key} says again what ${first.key} says already; the first counts`);
    return first.node === undefined ? undefined : parse(first.node);
  }

  #maximum(node: YamlNode): number | undefined {
    const value = isScalar(node) ? node.value : undefined;
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAXIMUM_MOST) return value;
    this.#error(node, `${String(value)} is not a whole number from 0 to ${MAXIMUM_MOST}`);
    return undefined;
  }

  #timeout(node: YamlNode): number | undefined {
    const value = isScalar(node) ? node.value : undefined;
    const ms = typeof value === 'string' ? parseDuration(value) : undefined;
    if (ms !== undefined && ms > 0 && ms <= TIMEOUT_MOST_MS) return ms;
    this.#error(node, `${String(value).slice(0, 60)} is not a duration like 72h`);
    return undefined;
  }

  /** Other settings of a Shoot's machineControllerManager are none of ours; a name that looks like ours is a slip. */
  #strangers(manager: YAMLMap): void {
    for (const { key } of manager.items) {
      const name = isScalar(key) ? String(key.value) : '';
      if (/preserve/i.test(name) && name !== TIMEOUT_KEY && !MAXIMUM_KEYS.includes(name)) {
        this.#error(key as YamlNode, `${name} is unknown; known are ${[...MAXIMUM_KEYS, TIMEOUT_KEY].join(', ')}`);
      }
    }
  }
}

/**
 * The worker pools of ConfigMap `preservation-pools`: each key holds a Shoot, its workers, or what stands under one worker (then the key is the name of
 * the pool). What cannot be read stands with its default (maximum 0, 72h), and is told with its line.
 */
export function parsePreservationPools(data: Readonly<Record<string, string>>, problems: Problems): ReadonlyMap<string, PoolSettings> {
  const pools = new Map<string, PoolSettings>();
  for (const [key, text] of Object.entries(data).sort(([one], [other]) => (one < other ? -1 : 1))) {
    if (text.length > TEXT_MOST) problems.error(`ConfigMap preservation-pools, key ${key}`, `is longer than ${TEXT_MOST} characters`);
    else new PoolReader(key, problems, pools).read(text);
  }
  return pools;
}
