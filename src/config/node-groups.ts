import { place, readSettings, CLUSTER_CONFIG, CONFIG_KEY, NODE_CONFIG_PREFIX, SELECTOR_KEY } from './configuration.ts';
import type { Configuration, ConfigText, NodeFacts, Settings } from './configuration.ts';
import { Problems } from './problems.ts';
import { parseSelector, selects } from './selector.ts';

/** A ConfigMap that configures a node, directly or as one of a set. */
export interface Layer {
  config: ConfigText;
  settings: Settings;
}

function layerOf(config: ConfigText | undefined, problems: Problems): Layer | undefined {
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

/** The groups whose selector matches the node; of a selector that is none nothing can be said. */
export function matchingGroups(configuration: Configuration, node: NodeFacts): ConfigText[] {
  return configuration.groups.filter(({ selector }) => selector !== undefined && selects(selector, node.labels));
}

/** The one ConfigMap whose `node_selector` matches the node. Two that match are an error that names both, and neither is used. */
export function groupLayer(configuration: Configuration, node: NodeFacts, problems: Problems): Layer | undefined {
  const [first, ...others] = matchingGroups(configuration, node);
  const [second] = others;
  if (first === undefined || second === undefined) return layerOf(first, problems);
  const names = [first, ...others].map(({ name }) => name).join(' and ');
  problems.error(place(second, CONFIG_KEY), `node ${node.name} is matched by ${names}: only one group may match a node; narrow a node_selector`);
  return undefined;
}

/** A group whose selector cannot be read selects nobody: its nodes would silently go without it. */
export function checkSelectors(configuration: Configuration, problems: Problems): void {
  for (const config of configuration.groups) {
    const settings = readSettings(config, CONFIG_KEY, new Problems());
    const selector = settings?.get(SELECTOR_KEY);
    if (selector === undefined || parseSelector(selector.value) !== undefined) continue;
    const message = `node_selector=${selector.value.slice(0, 60)} is no selector, so it selects no node: write label=value, label!=value, label in (a,b), label notin (a,b), label or !label, joined by commas`;
    problems.error(selector.where, message);
  }
}

const PLACEHOLDER = /\{([A-Za-z_]+(?::[^{}]*)?)\}/g;

/** What of a value could not be filled in: the node lacks it, or nothing is called so. */
export interface Unfilled {
  placeholder: string;
  why: 'missing' | 'unknown';
}

/** `{node}`, `{provider_id}`, `{address}`, `{addresses}`, `{label:x}`, `{annotation:y}` filled in; what cannot be is returned by name. */
export function fillPlaceholders(value: string, node: NodeFacts): { value: string; unfilled: Unfilled[] } {
  const unfilled: Unfilled[] = [];
  const filled = value.replace(PLACEHOLDER, (whole, name: string) => {
    const found = placeholderValue(name, node);
    if (typeof found === 'string' && found !== '') return found;
    unfilled.push({ placeholder: whole, why: found === null ? 'unknown' : 'missing' });
    return whole;
  });
  return { value: filled, unfilled };
}

/** Undefined: this node has none. Null: no placeholder is called so. */
function placeholderValue(name: string, node: NodeFacts): string | undefined | null {
  if (name === 'node') return node.name;
  if (name === 'provider_id') return node.providerID;
  if (name === 'address') return (node.addresses.find(({ type }) => type === 'InternalIP') ?? node.addresses[0])?.address;
  if (name === 'addresses')
    return node.addresses
      .filter(({ type }) => type === 'InternalIP')
      .map(({ address }) => address)
      .join(' ');
  const [, kind, key = ''] = /^(label|annotation):(.+)$/.exec(name) ?? [];
  if (kind === undefined) return null;
  const among = kind === 'label' ? node.labels : node.annotations;
  return Object.hasOwn(among, key) ? among[key] : undefined;
}
