import type { AgentRegistry } from '../ports/agents.ts';
import type { Problems } from './problems.ts';
import { parseProperties } from './properties.ts';

/** A ConfigMap, as far as configuration goes. */
export interface NamedConfig {
  name: string;
  data: Readonly<Record<string, string>>;
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
  readonly configMaps: ReadonlyMap<string, NamedConfig>;
  /** Those that configure a set of nodes, so that nobody looks for them among thousands. */
  readonly groups: readonly NamedConfig[];
}

export function configurationOf(configMaps: Iterable<NamedConfig>, registry: AgentRegistry): Configuration {
  const all = [...configMaps];
  const groups = all.filter(({ name, data }) => name.startsWith(NODE_CONFIG_PREFIX) && data[CONFIG_KEY]?.includes(SELECTOR_KEY) === true);
  return { registry, groups, configMaps: new Map(all.map((config) => [config.name, config])) };
}

export function place(config: NamedConfig, dataKey?: string, line?: number): string {
  const parts = [`ConfigMap ${config.name}`];
  if (dataKey !== undefined) parts.push(`key ${dataKey}`);
  if (line !== undefined) parts.push(`line ${line}`);
  return parts.join(', ');
}

/** The settings under one data key; undefined when the ConfigMap has no such key. */
export function readSettings(config: NamedConfig, dataKey: string, problems: Problems): Settings | undefined {
  const text = config.data[dataKey];
  if (text === undefined) return undefined;
  const properties = parseProperties(text);
  for (const { severity, line, message } of properties.problems) problems[severity](place(config, dataKey, line), message);
  return new Map(properties.entries.map(({ key, value, line }) => [key, { key, value, where: place(config, dataKey, line) }]));
}

/** As `readSettings`, but a ConfigMap whose only key has another name is read too, with a warning: such slips are in the wild. */
export function readOnlySettings(config: NamedConfig, dataKey: string, problems: Problems): Settings | undefined {
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
