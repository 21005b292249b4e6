import type { AlarmSetting, RemedyConfiguration } from '../domain/remedy/configuration.ts';
import { remediesFor } from '../domain/remedy/reach.ts';
import type { NodeRemedies } from '../domain/remedy/reach.ts';
import type { Clock } from '../ports/clock.ts';
import type { Lister } from '../ports/cluster.ts';
import type { ConfigMap, Node } from '../ports/objects.ts';
import type { AlarmSettings, RemedySettings } from '../ports/remedies.ts';
import { isRemedies } from './cluster-checks.ts';
import { factsOf } from './node-facts.ts';
import { Problems } from './problems.ts';
import { checkRemedyReach, readRemedyTexts, remedyTextsOf } from './remedies.ts';
import type { RemedyText } from './remedies.ts';

export interface LiveRemediesSources {
  configMaps: Lister<ConfigMap>;
  nodes: Lister<Node>;
  clock: Pick<Clock, 'monotonicMs'>;
  /** Of files, as they are now; throws where they cannot be read. Absent: there are none. */
  files?: (() => readonly RemedyText[]) | undefined;
}

/** Which nodes two Configurations share changes with the labels of nodes. */
const REACH_MS = 60_000;

interface Known {
  configurations: readonly RemedyConfiguration[];
  problems: Problems;
}

/** Remedies as the ConfigMaps have them now; read again only when one of them has changed. */
export class LiveRemedies implements RemedySettings, AlarmSettings {
  readonly #sources: LiveRemediesSources;
  readonly #listeners = new Set<() => void>();
  /** By node; labels that are the same object select the same. */
  readonly #ofNodes = new Map<string, { labels: Node['metadata']['labels']; value: NodeRemedies }>();
  #known: Known | undefined;
  #files: { texts: readonly RemedyText[]; problem: string | undefined } | undefined;
  #reach: { atMs: number; problems: readonly string[] } | undefined;

  constructor(sources: LiveRemediesSources) {
    this.#sources = sources;
    sources.configMaps.onChange((before, after) => {
      if (![before, after].some((config) => config !== undefined && isRemedies(namedOf(config)))) return;
      this.#changed();
    });
    sources.nodes.onChange((before, after) => {
      if (after === undefined) this.#ofNodes.delete(before?.metadata.name ?? '');
    });
  }

  /** Files are asked for now and then: whoever mounts a ConfigMap changes them without a word. */
  lookAtFiles(): void {
    const { files } = this.#sources;
    if (files === undefined) return;
    const before = this.#files;
    this.#files = readFiles(files, before?.texts);
    if (before !== undefined && JSON.stringify(before) !== JSON.stringify(this.#files)) this.#changed();
  }

  /** Is anything configured that may act? */
  get isConfigured(): boolean {
    return this.#current().configurations.length > 0;
  }

  alarms(): readonly AlarmSetting[] {
    return this.#current().configurations.flatMap(({ alarms }) => alarms);
  }

  remediesOf({ metadata: { name, labels } }: Node): NodeRemedies {
    const known = this.#ofNodes.get(name);
    if (known !== undefined && isSame(known.labels, labels)) return known.value;
    const { configurations, problems } = this.#current();
    const isIncomplete = problems.all().some(({ severity }) => severity === 'error');
    const value = { ...remediesFor(configurations, labels ?? {}), ...(isIncomplete && { isIncomplete }) };
    this.#ofNodes.set(name, { labels, value });
    return value;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  problems(): readonly string[] {
    const nowMs = this.#sources.clock.monotonicMs();
    if (this.#reach !== undefined && nowMs < this.#reach.atMs + REACH_MS) return this.#reach.problems;
    const { configurations, problems } = this.#current();
    const all = new Problems();
    all.take(problems.all());
    checkRemedyReach(configurations, [...this.#sources.nodes.all()].map(factsOf), all);
    const words = all
      .all()
      .filter(({ severity }) => severity === 'error')
      .map(({ where, message }) => `${where}: ${message}`);
    this.#reach = { atMs: nowMs, problems: words };
    return words;
  }

  #changed(): void {
    this.#known = undefined;
    this.#reach = undefined;
    this.#ofNodes.clear();
    for (const listener of this.#listeners) listener();
  }

  #current(): Known {
    if (this.#known !== undefined) return this.#known;
    const problems = new Problems();
    const configs = [...this.#sources.configMaps.all()].map(namedOf).filter(isRemedies);
    if (this.#files === undefined) this.lookAtFiles();
    const { texts, problem } = this.#files ?? { texts: [], problem: undefined };
    if (problem !== undefined) problems.error('files of remedies', problem);
    this.#known = { configurations: readRemedyTexts([...remedyTextsOf(configs, problems), ...texts], problems), problems };
    return this.#known;
  }
}

/** What cannot be read now stays as it was read last. */
function readFiles(
  files: () => readonly RemedyText[],
  before: readonly RemedyText[] | undefined,
): { texts: readonly RemedyText[]; problem: string | undefined } {
  try {
    return { texts: files(), problem: undefined };
  } catch (error) {
    return { texts: before ?? [], problem: error instanceof Error ? error.message : String(error) };
  }
}

function namedOf({ metadata: { name, labels }, data = {} }: ConfigMap): {
  name: string;
  data: Record<string, string>;
  labels: ConfigMap['metadata']['labels'];
} {
  return { name, data, labels };
}

function isSame(one: Readonly<Record<string, string>> = {}, other: Readonly<Record<string, string>> = {}): boolean {
  if (one === other) return true;
  const keys = Object.keys(one);
  return keys.length === Object.keys(other).length && keys.every((key) => one[key] === other[key]);
}
