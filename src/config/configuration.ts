import type { AddressRules, AgentRegistry } from '../ports/agents.ts';
import type { SecretStores } from '../ports/secret-stores.ts';
import type { Problems } from './problems.ts';
import { parseProperties } from './properties.ts';
import type { Properties } from './properties.ts';
import { parseSelector } from './selector.ts';
import type { Requirement } from './selector.ts';

/** A ConfigMap, as far as configuration goes. */
export interface NamedConfig {
  name: string;
  data: Readonly<Record<string, string>>;
  labels?: Readonly<Record<string, string>> | undefined;
}

/** A ConfigMap whose texts are parsed once: a group's are asked for by every node. */
export class ConfigText implements NamedConfig {
  readonly name: string;
  readonly data: NamedConfig['data'];
  readonly labels: NamedConfig['labels'];
  readonly #parsed = new Map<string, Properties>();
  readonly #settings = new Map<string, Settings>();
  #selector: { parsed: readonly Requirement[] | undefined } | undefined;

  constructor({ name, data, labels }: NamedConfig) {
    this.name = name;
    this.data = data;
    this.labels = labels;
  }

  /** The text of its `node_selector`; undefined where it is no group. */
  get selectorText(): string | undefined {
    return this.properties(CONFIG_KEY)?.entries.find(({ key }) => key === SELECTOR_KEY)?.value;
  }

  /** Its `node_selector`; undefined where there is none, or none that can be read. */
  get selector(): readonly Requirement[] | undefined {
    this.#selector ??= { parsed: parseSelector(this.selectorText ?? '') };
    return this.#selector.parsed;
  }

  /** The properties under one data key; undefined when there is no such key. */
  properties(dataKey: string): Properties | undefined {
    const known = this.#parsed.get(dataKey);
    if (known !== undefined) return known;
    const text = Object.hasOwn(this.data, dataKey) ? this.data[dataKey] : undefined;
    if (text === undefined) return undefined;
    const parsed = parseProperties(text);
    this.#parsed.set(dataKey, parsed);
    return parsed;
  }

  /** The same as settings. Kept of what every node of a group asks for: what one node alone has would only be held. */
  settings(dataKey: string): Settings | undefined {
    const known = this.#settings.get(dataKey);
    if (known !== undefined) return known;
    const properties = this.properties(dataKey);
    if (properties === undefined) return undefined;
    const settings = new Map(properties.entries.map(({ key, value, line }) => [key, { key, value, where: place(this, dataKey, line) }]));
    if (this.selectorText !== undefined || dataKey === TEMPLATE_KEY) this.#settings.set(dataKey, settings);
    return settings;
  }
}

/** What is known of a Node when its plan is made. */
export interface NodeFacts {
  name: string;
  providerID?: string | undefined;
  systemUUID?: string | undefined;
  labels: Readonly<Record<string, string>>;
  annotations: Readonly<Record<string, string>>;
  addresses: readonly { type: string; address: string }[];
}

/** One value and where it stands. */
export interface Setting {
  key: string;
  value: string;
  /** `ConfigMap fence-config-a, key config.properties, line 3`. */
  where: string;
}

export type Settings = ReadonlyMap<string, Setting>;

export const CLUSTER_CONFIG = 'fence-cluster-config';
export const NODE_CONFIG_PREFIX = 'fence-config-';
export const SELECTOR_KEY = 'node_selector';
export const CONFIG_KEY = 'config.properties';
export const METHOD_KEY = 'method.properties';
export const TEMPLATE_KEY = 'template.properties';

/** Every ConfigMap of the fence namespace, and the agents that they may name. */
export interface Configuration {
  readonly registry: AgentRegistry;
  readonly configMaps: Pick<ReadonlyMap<string, ConfigText>, 'get' | 'has' | 'keys' | 'values'>;
  /** Those that configure a set of nodes, so that nobody looks for them among thousands. */
  readonly groups: readonly ConfigText[];
  /** Which addresses the controller calls; absent: it is not known. */
  readonly addresses?: AddressRules;
  /** Logins on the controller's machine; absent: it is not known which there are. */
  readonly stores?: Pick<SecretStores, 'problem'>;
}

/** What a controller may be told by its flags, and a configuration depends on. */
export type ControllerMachine = Pick<Configuration, 'addresses' | 'stores'>;

/** What is parsed already (`ConfigText`) stays so. */
export function configurationOf(configMaps: Iterable<NamedConfig>, registry: AgentRegistry, machine: ControllerMachine = {}): Configuration {
  const all = [...configMaps].map((config) => (config instanceof ConfigText ? config : new ConfigText(config)));
  const groups = all.filter((config) => config.name.startsWith(NODE_CONFIG_PREFIX) && isGroup(config));
  const known = new Map(all.map((config) => [config.name, config]));
  return { registry, groups, configMaps: known, ...machine };
}

function isGroup(config: ConfigText): boolean {
  const isMentioned = config.data[CONFIG_KEY]?.includes(SELECTOR_KEY) === true;
  return isMentioned && config.selectorText !== undefined;
}

export function place(config: NamedConfig, dataKey?: string, line?: number): string {
  const parts = [`ConfigMap ${config.name}`];
  if (dataKey !== undefined) parts.push(`key ${dataKey}`);
  if (line !== undefined) parts.push(`line ${line}`);
  return parts.join(', ');
}

/** The settings under one data key; undefined when the ConfigMap has no such key. */
export function readSettings(config: ConfigText, dataKey: string, problems: Problems): Settings | undefined {
  const properties = config.properties(dataKey);
  if (properties === undefined) return undefined;
  for (const { severity, line, message } of properties.problems) problems[severity](place(config, dataKey, line), message);
  return config.settings(dataKey);
}

/** As `readSettings`, but a ConfigMap whose only key has another name is read too, with a warning: such slips are in the wild. */
export function readOnlySettings(config: ConfigText, dataKey: string, problems: Problems): Settings | undefined {
  if (config.data[dataKey] !== undefined) return readSettings(config, dataKey, problems);
  const keys = Object.keys(config.data);
  const [only] = keys;
  if (only === undefined || keys.length > 1) {
    problems.error(place(config), `has no key ${dataKey}: put the properties under that key`);
    return undefined;
  }
  problems.warning(place(config, only), `should be called ${dataKey}`);
  return readSettings(config, only, problems);
}
