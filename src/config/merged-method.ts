import type { AgentDefinition, AgentRegistry } from '../ports/agents.ts';
import { agentToCome, cloudInstance, RESTART_INSTANCE } from './cloud.ts';
import { place } from './configuration.ts';
import type { Setting, Settings } from './configuration.ts';
import { filled, findBody, findTemplate, methodNames, methodPlaces } from './method-body.ts';
import type { MethodBody, MethodLookup } from './method-body.ts';
import { didYouMean, nearest } from './nearest.ts';
import { IGNORED_KEYS, OWN_KEYS, parameterNames, secretNames as secretNamesOf, spelling, writableNames } from './parameter-names.ts';
import type { Problems } from './problems.ts';

/** A method with its template and the cluster's defaults below it. */
export interface MergedMethod {
  name: string;
  definition: AgentDefinition;
  /** Keys that are the method's own: action, plug, secret, storage, shared. */
  own: Settings;
  /** By the agent's own names; those that are secret among them. */
  parameters: Settings;
  secretNames: ReadonlySet<string>;
  /** Those that are not secret. */
  shown: Readonly<Record<string, string>>;
  /** Which device they name. */
  device: string;
  /** It stands in the ConfigMap of a group. */
  isOfGroup: boolean;
  where: string;
}

/** The original's script that deleted a node's pods, as method or agent: release does that here, once the proof stands. */
const CLEAN_PODS = 'clean-pods';

/**
 * Method over template over the cluster's defaults, under the agent's own parameter names. Undefined when an error forbids any use, or when
 * nothing is to be done for it. `listedIn`: the place that names the method.
 */
export function mergeMethod(lookup: MethodLookup, name: string, listedIn: string, problems: Problems): MergedMethod | undefined {
  const body = findBody(lookup, name, problems);
  if (body === undefined) return implicitMethod(lookup, name, listedIn, problems);
  const reference = body.settings.get('template');
  const template = reference === undefined ? undefined : findTemplate(lookup, filled(lookup, reference, problems), problems);
  if (reference !== undefined && template === undefined) return undefined;
  const agent = body.settings.get('agent_name') ?? template?.get('agent_name');
  if (agent === undefined) {
    problems.error(body.where, 'agent_name is missing, here and in the template: name the agent');
    return undefined;
  }
  const named = filled(lookup, agent, problems);
  const cloud = spelling(named.value) === RESTART_INSTANCE ? restartOf(lookup, named.where, problems) : undefined;
  const definition = cloud === undefined ? agentOf(lookup, named, problems) : cloud.definition;
  if (definition === undefined) return undefined;
  const usual = [...namedByNode(lookup, definition, body.where), ...clusterDefaults(lookup, definition), ...(cloud?.settings ?? [])];
  const written = [...usual, ...(template?.values() ?? []), ...body.settings.values()];
  return { name, definition, where: body.where, isOfGroup: isOfGroup(lookup, body), ...sortKeys(lookup, definition, written, problems) };
}

function isOfGroup({ groupLayer }: MethodLookup, { where }: MethodBody): boolean {
  return groupLayer !== undefined && where.startsWith(`${place(groupLayer.config)},`);
}

function agentOf(lookup: MethodLookup, { value, where }: Setting, problems: Problems): AgentDefinition | undefined {
  const { registry } = lookup.configuration;
  const own = registry.find(value);
  const program = own === undefined && agentToCome(value) === 'program' ? registry.find(`exec/${value}`) : undefined;
  const refusal = program?.check({}, false).find(({ message }) => message.startsWith('cannot run'));
  if (refusal !== undefined) {
    problems.error(where, `agent ${value} is not part of this version, and its program of ClusterLabs ${refusal.message}`);
    return undefined;
  }
  const definition = own ?? program;
  if (definition !== undefined) return definition;
  const known = registry.names();
  if (spelling(value) === CLEAN_PODS) problems.warning(where, RELEASED_ANYHOW);
  else if (agentToCome(value) === 'agent') problems.error(where, `agent ${value} is not part of this version, which has ${known.join(', ')}`);
  else {
    const meant = nearest(value.replace(/^fence[-_]/, ''), known);
    problems.error(where, `unknown agent ${value}: ${meant === undefined ? '' : `did you mean ${meant}? It must be `}one of ${known.join(', ')}`);
  }
  return undefined;
}

const RELEASED_ANYHOW = `${CLEAN_PODS} is left out: the workload is let go by release=, once it is proven that the node can no longer write`;

/** Defaults of the agent in the cluster's ConfigMap: `<agent>.<parameter>=value`. */
function clusterDefaults(lookup: MethodLookup, definition: AgentDefinition): Setting[] {
  const settings = [...(lookup.clusterLayer?.settings.values() ?? [])];
  return settings.flatMap((setting) => {
    const dot = setting.key.indexOf('.');
    if (dot < 0 || lookup.configuration.registry.find(setting.key.slice(0, dot)) !== definition) return [];
    return [{ ...setting, key: setting.key.slice(dot + 1) }];
  });
}

/** What the Node's providerID says of its instance: below all that is written, and no plug, which is never guessed. */
function namedByNode({ node }: MethodLookup, definition: AgentDefinition, where: string): Setting[] {
  const named = node.providerID === undefined ? undefined : definition.instanceOf?.(node.providerID);
  return Object.entries(named?.parameters ?? {}).map(([key, value]) => ({ key, value, where }));
}

/** Later settings win. */
function sortKeys(
  lookup: MethodLookup,
  definition: AgentDefinition,
  written: readonly Setting[],
  problems: Problems,
): Pick<MergedMethod, 'own' | 'parameters' | 'secretNames' | 'shown' | 'device'> {
  const own = new Map<string, Setting>();
  const parameters = new Map<string, Setting>();
  const secretNames = secretNamesOf(definition);
  const nameOf = parameterNames(definition);
  // Where an action agent does several things, which one is its own parameter.
  const isActionItsOwn = definition.kind === 'action' && definition.describe().some((parameter) => parameter.name === 'action');
  for (const setting of written) {
    const name = nameOf(setting.key);
    if (name === undefined) {
      if (IGNORED_KEYS.has(setting.key) || definition.takesAny === true) continue;
      const hint = didYouMean(setting.key, writableNames(definition), 'it is not passed on');
      problems.warning(setting.where, `agent ${definition.name} has no parameter ${setting.key.slice(0, 60)}: ${hint}`);
    } else if (OWN_KEYS.has(name) && !(name === 'action' && isActionItsOwn)) own.set(name, ownKey(lookup, name, setting, problems));
    // An empty value means none, not the template's. Braces in a password are the password's.
    else if (setting.value === '') parameters.delete(name);
    else parameters.set(name, secretNames.has(name) ? setting : filled(lookup, setting, problems));
  }
  const shown = Object.fromEntries([...parameters].flatMap(([name, { value }]) => (secretNames.has(name) ? [] : [[name, value]])));
  return { own, parameters, secretNames, shown, device: definition.deviceKey(shown) };
}

/** Keys that name something on the controller's machine. */
const OF_THIS_MACHINE: ReadonlySet<string> = new Set(['secret_file', 'secret_program']);

/** What a node says of itself chooses no file and no program of the controller's machine; its name does. */
function ownKey(lookup: MethodLookup, name: string, setting: Setting, problems: Problems): Setting {
  const foreign = OF_THIS_MACHINE.has(name) ? /\{(?!node\})[^{}]*\}/.exec(setting.value)?.[0] : undefined;
  if (foreign === undefined) return filled(lookup, setting, problems);
  problems.error(setting.where, `${name} may have {node} in it and no ${foreign.slice(0, 60)}, which a node says of itself`);
  return setting;
}

/** A step may name an action agent, or the restart of a cloud's instance, without a method of that name. */
function implicitMethod(lookup: MethodLookup, name: string, listedIn: string, problems: Problems): MergedMethod | undefined {
  const definition = lookup.configuration.registry.find(name);
  if (definition?.kind === 'action') return withoutBody(lookup, name, definition, [], problems);
  if (name === RESTART_INSTANCE) return restartInstance(lookup, listedIn, problems);
  if (spelling(name) === CLEAN_PODS) problems.warning(listedIn, RELEASED_ANYHOW);
  else {
    const meant = nearest(name, [...methodNames(lookup), ...namesWithoutBody(lookup.configuration.registry)]);
    const hint = meant === undefined ? '' : `, or did you mean ${meant}?`;
    problems.error(listedIn, `method ${name} does not exist: it must be in one of ${methodPlaces(lookup, name)}${hint}`);
  }
  return undefined;
}

/** What a step may name without a method of that name. */
function namesWithoutBody(registry: AgentRegistry): string[] {
  const actions = registry.names().flatMap((name) => {
    const definition = registry.find(name);
    return definition?.kind === 'action' ? [name, ...definition.aliases] : [];
  });
  return [...actions, RESTART_INSTANCE];
}

/** With nothing but the cluster's defaults, and what `given` adds below them. */
function withoutBody(lookup: MethodLookup, name: string, definition: AgentDefinition, given: readonly Setting[], problems: Problems): MergedMethod {
  const where = `agent ${definition.name}`;
  const written = [...namedByNode(lookup, definition, where), ...clusterDefaults(lookup, definition), ...given];
  const keys = sortKeys(lookup, definition, written, problems);
  return { name, definition, isOfGroup: false, where, ...keys };
}

/** Off, proof, release, on, through the cloud that the node's providerID names. */
function restartInstance(lookup: MethodLookup, listedIn: string, problems: Problems): MergedMethod | undefined {
  const { definition, settings } = restartOf(lookup, listedIn, problems);
  return definition === undefined ? undefined : withoutBody(lookup, RESTART_INSTANCE, definition, settings, problems);
}

/** The agent that restarts the node's instance, and what it is told where nobody says otherwise. `where`: the place that names it. */
function restartOf(lookup: MethodLookup, where: string, problems: Problems): { definition: AgentDefinition | undefined; settings: Setting[] } {
  const { node, configuration } = lookup;
  const cloud = cloudInstance(node);
  if (cloud === undefined) {
    const id = node.providerID === undefined ? 'has no providerID' : `has the providerID ${node.providerID.slice(0, 100)}, which names no cloud`;
    problems.error(where, `${RESTART_INSTANCE}: node ${node.name} ${id}: write a method with agent_name, plug and action=reboot instead`);
    return { definition: undefined, settings: [] };
  }
  const definition = configuration.registry.find(cloud.agent);
  if (definition === undefined) {
    const remedy = 'until it is, the node is isolated and no more; or name a method of another agent in power_management';
    problems.error(where, `agent ${cloud.agent} is not part of this version: ${remedy}`);
  }
  const setting = (key: string, value: string): Setting => ({ key, value, where });
  return {
    definition,
    settings: [setting('action', 'reboot'), setting('plug', definition?.instanceOf?.(node.providerID ?? '')?.plug ?? cloud.instance)],
  };
}
