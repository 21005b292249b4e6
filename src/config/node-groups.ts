import { place, readSettings, CLUSTER_CONFIG, CONFIG_KEY, NODE_CONFIG_PREFIX, SELECTOR_KEY } from './configuration.ts';
import type { Configuration, NamedConfig, NodeFacts, Settings } from './configuration.ts';
import { Problems } from './problems.ts';

/** A ConfigMap that configures a node, directly or as one of a set. */
export interface Layer {
  config: NamedConfig;
  settings: Settings;
}

const TERM = /^([A-Za-z0-9./_-]+)(?:=([A-Za-z0-9._-]*))?$/;

/** Do all terms hold (`key=value` or `key`, joined by commas)? Undefined for a text that is no selector. */
export function matchesSelector(selector: string, labels: Readonly<Record<string, string>>): boolean | undefined {
  const terms = selector.split(',').map((term) => TERM.exec(term.trim()));
  if (terms.includes(null)) return undefined;
  return terms.every((term) => {
    const [, key = '', value] = term ?? [];
    return key in labels && (value === undefined || labels[key] === value);
  });
}

function layerOf(config: NamedConfig | undefined, problems: Problems): Layer | undefined {
  if (config === undefined) return undefined;
  const settings = readSettings(config, CONFIG_KEY, problems);
  if (settings === undefined) problems.error(place(config), `has no key ${CONFIG_KEY}: put the steps under that key`);
  return settings === undefined ? undefined : { config, settings };
}

/** The node's own ConfigMap. */
export function nodeLayer(configuration: Configuration, node: string, problems: Problems): Layer | undefined {
  const config = configuration.configMaps.get(NODE_CONFIG_PREFIX + node);
  const layer = layerOf(config, problems);
  if (layer === undefined || layer.settings.has(SELECTOR_KEY)) return undefined;
  const written = layer.settings.get('node_name');
  if (written !== undefined && written.value !== node)
    problems.warning(written.where, `node_name=${written.value} is ignored: the ConfigMap's name says ${node}`);
  return layer;
}

export function clusterLayer(configuration: Configuration, problems: Problems): Layer | undefined {
  return layerOf(configuration.configMaps.get(CLUSTER_CONFIG), problems);
}

/** The one ConfigMap whose `node_selector` matches the node. Two that match are an error that names both, and neither is used. */
export function groupLayer(configuration: Configuration, node: NodeFacts, problems: Problems): Layer | undefined {
  const matching: Layer[] = [];
  for (const config of configuration.groups) {
    const own = new Problems();
    const layer = layerOf(config, own);
    const selector = layer?.settings.get(SELECTOR_KEY);
    if (layer === undefined || selector === undefined) continue;
    const matches = matchesSelector(selector.value, node.labels);
    if (matches === undefined) problems.error(selector.where, 'node_selector is not label=value or label, joined by commas');
    if (matches === true) {
      matching.push(layer);
      problems.take(own.all());
    }
  }
  const [first, second] = matching;
  if (second === undefined) return first;
  const names = matching.map(({ config }) => config.name).join(' and ');
  problems.error(place(second.config), `node ${node.name} is matched by ${names}: only one group may match a node; narrow a node_selector`);
  return undefined;
}

const PLACEHOLDER = /\{(node|provider_id|address|label:[^}]+|annotation:[^}]+)\}/g;

/** `{node}`, `{provider_id}`, `{address}`, `{label:x}`, `{annotation:y}` filled in; what the node lacks is returned by name. */
export function fillPlaceholders(value: string, node: NodeFacts): { value: string; missing: string[] } {
  const missing: string[] = [];
  const filled = value.replace(PLACEHOLDER, (whole, name: string) => {
    const found = placeholderValue(name, node);
    if (found === undefined) missing.push(whole);
    return found ?? whole;
  });
  return { value: filled, missing };
}

function placeholderValue(name: string, node: NodeFacts): string | undefined {
  if (name === 'node') return node.name;
  if (name === 'provider_id') return node.providerID;
  if (name === 'address') return (node.addresses.find(({ type }) => type === 'InternalIP') ?? node.addresses[0])?.address;
  const key = name.slice(name.indexOf(':') + 1);
  return name.startsWith('label:') ? node.labels[key] : node.annotations[key];
}
