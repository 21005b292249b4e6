import type { AgentDefinition } from '../ports/agents.ts';
import { METHOD_KEY, place, readOnlySettings, readSettings, TEMPLATE_KEY } from './configuration.ts';
import type { Configuration, NamedConfig, NodeFacts, Setting, Settings } from './configuration.ts';
import { fillPlaceholders } from './node-groups.ts';
import type { Layer } from './node-groups.ts';
import type { Problems } from './problems.ts';

/** Where a method of one node is looked up. */
export interface MethodLookup {
  configuration: Configuration;
  node: NodeFacts;
  nodeLayer: Layer | undefined;
  groupLayer: Layer | undefined;
  clusterLayer: Layer | undefined;
}

/** A method with its template and the cluster's defaults below it. */
export interface MergedMethod {
  name: string;
  definition: AgentDefinition;
  /** Keys that are the method's own: action, plug, secret, storage, shared. */
  own: Settings;
  /** By the agent's own names; those that are secret among them. */
  parameters: Settings;
  secretNames: ReadonlySet<string>;
  /** It stands in the ConfigMap of a group. */
  isOfGroup: boolean;
  where: string;
}

interface Body {
  settings: Settings;
  where: string;
}

const INLINE_PREFIX = 'fence-method-';
const OWN_KEYS = new Set(['action', 'plug', 'secret', 'storage', 'shared', 'device_max_latency']);
/** Read by nobody: historical keys that meant nothing, and keys of other places. */
const IGNORED_KEYS = new Set(['template', 'agent_name', 'method_name', 'name', 'must_success', 'namespace', 'node_name', 'script_path']);
/** ClusterLabs' older names; an agent's own aliases come first. */
const LEGACY: Readonly<Record<string, string>> = {
  ipaddr: 'ip',
  login: 'username',
  passwd: 'password',
  'passwd-script': 'password-script',
  port: 'plug',
};

/** A method's text: inline in the node's or the group's ConfigMap, or a ConfigMap of its own (for this node, then for all). */
function findBody(lookup: MethodLookup, name: string, problems: Problems): Body | undefined {
  for (const layer of [lookup.nodeLayer, lookup.groupLayer]) {
    const settings = layer === undefined ? undefined : readSettings(layer.config, INLINE_PREFIX + name, problems);
    if (layer !== undefined && settings !== undefined) return { settings, where: place(layer.config, INLINE_PREFIX + name) };
  }
  // The last is the oldest layout: the step lists full names of ConfigMaps.
  const names = [`${INLINE_PREFIX}${name}-${lookup.node.name}`, INLINE_PREFIX + name, ...(name.startsWith(INLINE_PREFIX) ? [name] : [])];
  for (const candidate of names) {
    const config = lookup.configuration.configMaps.get(candidate);
    if (config === undefined) continue;
    const settings = readOnlySettings(config, METHOD_KEY, problems);
    if (settings !== undefined) return { settings, where: place(config, METHOD_KEY) };
  }
  return undefined;
}

function findTemplate(lookup: MethodLookup, reference: Setting, problems: Problems): Settings | undefined {
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
  return [...configuration.configMaps.values()].find(
    (config) => config.name !== name && config.name.includes('template') && bare(config.name) === bare(name),
  );
}

/** Agent → its canonical parameter name for every spelling: `_` and `-` alike, the agent's aliases, then ClusterLabs' older names. */
export function parameterNames(definition: AgentDefinition): (written: string) => string | undefined {
  const spelling = (text: string): string => text.toLowerCase().replaceAll('_', '-');
  const known = new Map<string, string>();
  for (const { name, aliases = [] } of definition.describe()) for (const alias of aliases) known.set(spelling(alias), name);
  for (const { name } of definition.describe()) known.set(spelling(name), name);
  return (written) => {
    const plain = spelling(written);
    const legacy = LEGACY[plain];
    return known.get(plain) ?? (legacy === undefined ? undefined : (known.get(legacy) ?? (OWN_KEYS.has(legacy) ? legacy : undefined)));
  };
}

/** Defaults of the agent in the cluster's ConfigMap: `<agent>.<parameter>=value`. */
function clusterDefaults(lookup: MethodLookup, definition: AgentDefinition): Setting[] {
  const settings = [...(lookup.clusterLayer?.settings.values() ?? [])];
  return settings.flatMap((setting) => {
    const dot = setting.key.indexOf('.');
    if (dot < 0 || lookup.configuration.registry.find(setting.key.slice(0, dot)) !== definition) return [];
    return [{ ...setting, key: setting.key.slice(dot + 1) }];
  });
}

function fill(lookup: MethodLookup, setting: Setting, problems: Problems): Setting {
  if (lookup.groupLayer === undefined) return setting;
  const { value, missing } = fillPlaceholders(setting.value, lookup.node);
  for (const name of missing) problems.error(setting.where, `node ${lookup.node.name} has nothing for ${name}`);
  return { ...setting, value };
}

/**
 * Method over template over the cluster's defaults, under the agent's own parameter names. Undefined when an error forbids any use.
 * `listedIn`: the place that names the method.
 */
export function mergeMethod(lookup: MethodLookup, name: string, listedIn: string, problems: Problems): MergedMethod | undefined {
  const body = findBody(lookup, name, problems);
  if (body === undefined) {
    const implicit = implicitMethod(lookup, name);
    if (implicit === undefined) problems.error(listedIn, `method ${name} does not exist: it has to stand in one of ${methodPlaces(lookup, name)}`);
    return implicit;
  }
  const reference = body.settings.get('template');
  const template = reference === undefined ? undefined : findTemplate(lookup, reference, problems);
  if (reference !== undefined && template === undefined) return undefined;
  const agent = body.settings.get('agent_name') ?? template?.get('agent_name');
  if (agent === undefined) {
    problems.error(body.where, 'agent_name is missing, here and in the template: name the agent');
    return undefined;
  }
  const definition = lookup.configuration.registry.find(agent.value);
  if (definition === undefined) {
    problems.error(agent.where, `unknown agent ${agent.value}: one of ${lookup.configuration.registry.names().join(', ')}`);
    return undefined;
  }
  const written = [...clusterDefaults(lookup, definition), ...(template?.values() ?? []), ...body.settings.values()];
  const isOfGroup = lookup.groupLayer !== undefined && body.where.startsWith(`${place(lookup.groupLayer.config)},`);
  return { name, definition, where: body.where, isOfGroup, ...sortKeys(lookup, definition, written, problems) };
}

/** Later settings win. */
function sortKeys(
  lookup: MethodLookup,
  definition: AgentDefinition,
  written: readonly Setting[],
  problems: Problems,
): Pick<MergedMethod, 'own' | 'parameters' | 'secretNames'> {
  const own = new Map<string, Setting>();
  const parameters = new Map<string, Setting>();
  const secretNames = new Set(definition.describe().flatMap((parameter) => (parameter.secret ? [parameter.name] : [])));
  const nameOf = parameterNames(definition);
  for (const setting of written) {
    const parameter = nameOf(setting.key);
    if (OWN_KEYS.has(setting.key) || (parameter !== undefined && OWN_KEYS.has(parameter))) {
      own.set(parameter !== undefined && OWN_KEYS.has(parameter) ? parameter : setting.key, fill(lookup, setting, problems));
    } else if (parameter !== undefined) {
      // An empty value means none, not the template's. Braces in a password are the password's.
      if (setting.value === '') parameters.delete(parameter);
      else parameters.set(parameter, secretNames.has(parameter) ? setting : fill(lookup, setting, problems));
    } else if (!IGNORED_KEYS.has(setting.key)) {
      problems.warning(setting.where, `agent ${definition.name} has no parameter ${setting.key}: it is not passed on`);
    }
  }
  return { own, parameters, secretNames };
}

/** A step may name an action agent without a method of that name: `mark-unschedulable`. */
function implicitMethod(lookup: MethodLookup, name: string): MergedMethod | undefined {
  const definition = lookup.configuration.registry.find(name);
  if (definition?.kind !== 'action') return undefined;
  const parameters = new Map<string, Setting>();
  const nameOf = parameterNames(definition);
  for (const setting of clusterDefaults(lookup, definition)) parameters.set(nameOf(setting.key) ?? setting.key, setting);
  return { name, definition, own: new Map(), parameters, secretNames: new Set(), isOfGroup: false, where: `agent ${definition.name}` };
}

/** Names of the places where a method could have stood, for the message that it is nowhere. */
function methodPlaces(lookup: MethodLookup, name: string): string {
  const layer = lookup.nodeLayer ?? lookup.groupLayer;
  const inline = layer === undefined ? [] : [`key ${INLINE_PREFIX}${name} in ConfigMap ${layer.config.name}`];
  return [...inline, `ConfigMap ${INLINE_PREFIX}${name}-${lookup.node.name}`, `ConfigMap ${INLINE_PREFIX}${name}`].join(', ');
}
