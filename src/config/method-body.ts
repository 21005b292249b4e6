import { METHOD_KEY, place, readOnlySettings, readSettings, TEMPLATE_KEY } from './configuration.ts';
import type { Configuration, NamedConfig, NodeFacts, Setting, Settings } from './configuration.ts';
import { fillPlaceholders } from './node-groups.ts';
import type { Layer } from './node-groups.ts';
import { nearest } from './nearest.ts';
import type { Problems } from './problems.ts';

/** Where a method of one node is looked up. */
export interface MethodLookup {
  configuration: Configuration;
  node: NodeFacts;
  nodeLayer: Layer | undefined;
  groupLayer: Layer | undefined;
  clusterLayer: Layer | undefined;
}

/** A method as it is written. */
export interface MethodBody {
  settings: Settings;
  where: string;
}

export const INLINE_PREFIX = 'fence-method-';

/** A method's text: inline in the node's or the group's ConfigMap, or a ConfigMap of its own (for this node, then for all). */
export function findBody(lookup: MethodLookup, name: string, problems: Problems): MethodBody | undefined {
  // A step may list the data key or, in the oldest layout, the full name of a ConfigMap.
  const full = name.startsWith(INLINE_PREFIX) ? [name] : [];
  for (const layer of [lookup.nodeLayer, lookup.groupLayer]) {
    for (const key of [INLINE_PREFIX + name, ...full]) {
      const settings = layer === undefined ? undefined : readSettings(layer.config, key, problems);
      if (layer !== undefined && settings !== undefined) return { settings, where: place(layer.config, key) };
    }
  }
  for (const candidate of [`${INLINE_PREFIX}${name}-${lookup.node.name}`, INLINE_PREFIX + name, ...full]) {
    const config = lookup.configuration.configMaps.get(candidate);
    if (config === undefined) continue;
    const settings = readOnlySettings(config, METHOD_KEY, problems);
    if (settings !== undefined) return { settings, where: place(config, METHOD_KEY) };
  }
  return undefined;
}

/** Names of the places where a method could have stood, for the message that it is nowhere. */
export function methodPlaces(lookup: MethodLookup, name: string): string {
  const layer = lookup.nodeLayer ?? lookup.groupLayer;
  const inline = layer === undefined ? [] : [`key ${INLINE_PREFIX}${name} in ConfigMap ${layer.config.name}`];
  return [...inline, `ConfigMap ${INLINE_PREFIX}${name}-${lookup.node.name}`, `ConfigMap ${INLINE_PREFIX}${name}`].join(', ');
}

/** Names of methods that stand where this node's are looked up. */
export function methodNames(lookup: MethodLookup): string[] {
  const inline = [lookup.nodeLayer, lookup.groupLayer].flatMap((layer) => Object.keys(layer?.config.data ?? {}));
  return inline.filter((key) => key.startsWith(INLINE_PREFIX)).map((key) => key.slice(INLINE_PREFIX.length));
}

/** The template that a method names; undefined, with an error, when there is none. */
export function findTemplate(lookup: MethodLookup, reference: Setting, problems: Problems): Settings | undefined {
  const config = lookup.configuration.configMaps.get(reference.value);
  if (config === undefined) {
    const similar = similarTemplate(lookup.configuration, reference.value);
    const hint = similar === undefined ? 'create that ConfigMap or mend the name' : `did you mean ${similar.name}?`;
    problems.error(reference.where, `template ${reference.value} does not exist: ${hint}`);
    return undefined;
  }
  const settings = readOnlySettings(config, TEMPLATE_KEY, problems);
  const nested = settings?.get('template');
  if (nested !== undefined) {
    problems.error(nested.where, 'a template may not name a template: put its parameters here');
    return undefined;
  }
  return settings;
}

function similarTemplate(configuration: Configuration, name: string): NamedConfig | undefined {
  const bare = (text: string): string => text.replace(/^fence-(method-)?template-/, '');
  const templates = [...configuration.configMaps.values()].filter(
    (config) => config.name.includes('template') || Object.hasOwn(config.data, TEMPLATE_KEY),
  );
  const meant = nearest(
    name,
    templates.map((config) => config.name),
  );
  return templates.find((config) => bare(config.name) === bare(name)) ?? templates.find((config) => config.name === meant);
}

function howToGive(placeholder: string, node: string): string {
  const [, kind, key = ''] = /^\{(label|annotation):(.*)\}$/.exec(placeholder) ?? [];
  if (kind === undefined) return 'write the value into a ConfigMap of its own';
  return `kubectl ${kind === 'label' ? 'label' : 'annotate'} node ${node} ${key}=VALUE`;
}

/** The value for this node. In a group every pair of braces must be a placeholder; elsewhere other braces are the value's own. */
export function filled({ node, groupLayer }: MethodLookup, setting: Setting, problems: Problems): Setting {
  if (!setting.value.includes('{')) return setting;
  const { value, unfilled } = fillPlaceholders(setting.value, node);
  for (const { placeholder, why } of unfilled) {
    if (why === 'missing') problems.error(setting.where, `node ${node.name} has nothing for ${placeholder}: ${howToGive(placeholder, node.name)}`);
    else if (groupLayer !== undefined) {
      const known = '{node}, {provider_id}, {address}, {addresses}, {label:x}, {annotation:y}';
      problems.error(setting.where, `${placeholder.slice(0, 60)} is no placeholder: one of ${known}`);
    }
  }
  return { ...setting, value };
}
