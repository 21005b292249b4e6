import type { PlanMethod } from '../domain/plan.ts';
import type { TrustedDevice } from '../domain/first-trust.ts';
import { AgentError } from '../ports/agents.ts';
import type { AgentDefinition, Parameters } from '../ports/agents.ts';
import type { SecretPlace } from '../ports/secret-stores.ts';
import type { Configuration, NodeFacts } from './configuration.ts';
import { leadsElsewhere } from './device-names.ts';
import { mergeMethod } from './merged-method.ts';
import { namedOnly } from './node-facts.ts';
import { OWN_KEYS, parameterNames, secretNames } from './parameter-names.ts';
import { Problems } from './problems.ts';
import { lookupFor } from './resolve-plan.ts';

export interface RunInput {
  node: string;
  /** Which method is meant depends on its group, and which template on its labels. Absent: nothing but the name is known. */
  facts?: NodeFacts | undefined;
  /** As frozen in the NodeFence. */
  method: PlanMethod;
  configuration: Configuration;
  /** Decoded keys of the Secret that the method names, or of what it names in its place. */
  secret: Readonly<Record<string, string>> | undefined;
  /** What devices of the node showed when they were first seen; of methods that trust by it. */
  trusted?: readonly TrustedDevice[] | undefined;
}

/**
 * Frozen parameters with today's secrets: those that historical layouts keep in the ConfigMap are read again, then the Secret's keys, which
 * win. Throws `AgentError` kind `Misconfigured` when something is missing; never names a value.
 */
export function resolveParameters({ node, facts = namedOnly(node), method, configuration, secret, trusted = [] }: RunInput): Parameters {
  const definition = configuration.registry.find(method.agent);
  if (definition === undefined) throw misconfigured(method, `agent ${method.agent} is unknown: one of ${configuration.registry.names().join(', ')}`);
  const parameters: Record<string, string> = { ...method.parameters, ...inlineSecrets(facts, method, configuration) };
  const nameOf = parameterNames(definition);
  for (const [key, value] of Object.entries(secret ?? {})) {
    const name = nameOf(key);
    // What is switched, and how, stands in the plan.
    if (name !== undefined && OWN_KEYS.has(name)) continue;
    // A newline at the end is the usual slip of `kubectl create secret --from-file`.
    if (name !== undefined) parameters[name] = value.replace(/\r?\n$/, '');
    if (name !== undefined && !secretNames(definition).has(name) && leadsElsewhere(definition, method.parameters, name, parameters[name] ?? ''))
      throw misconfigured(
        method,
        `key ${key} ${inSecret(method)} leads to another device than the plan, which is made of the ConfigMaps: remove it there`,
      );
  }
  const pinned = pinnedFirstSeen(parameters, definition, method, trusted);
  const [problem] = definition.check(pinned, true);
  if (problem === undefined) return pinned;
  throw misconfigured(method, `${problem.parameter} ${problem.message} ${sourceOf(method)}`);
}

const FIRST_TRUST_KEYS: ReadonlySet<string> = new Set(['trust_on_first_use', 'accept_fingerprint']);

/** Puts what is on record into the place of the word that asks for it. Nothing is recorded here: who fences has no time to find out who answers. */
function pinnedFirstSeen(parameters: Parameters, definition: AgentDefinition, method: PlanMethod, trusted: readonly TrustedDevice[]): Parameters {
  const first = definition.firstTrust?.(parameters);
  if (first === undefined) return parameters;
  const recorded = trusted.find(({ device }) => device === method.device);
  if (recorded === undefined)
    throw misconfigured(
      method,
      `trust_on_first_use: nothing is on record of ${method.device} yet: a probe of the controller records what it shows, while no fence of the node is open; nobody logs in before`,
    );
  const nameOf = parameterNames(definition);
  const kept = Object.entries(parameters).filter(([key]) => !FIRST_TRUST_KEYS.has(nameOf(key) ?? ''));
  return { ...Object.fromEntries(kept), [first.parameter]: recorded.shown };
}

/** Where the login of a method is that is in no Secret. */
export function placeOfSecret({ secretFile, secretProgram }: PlanMethod): SecretPlace | undefined {
  if (secretFile !== undefined) return { kind: 'file', name: secretFile };
  return secretProgram === undefined ? undefined : { kind: 'program', name: secretProgram };
}

function inSecret(method: PlanMethod): string {
  const place = placeOfSecret(method);
  return place === undefined ? `of Secret ${method.secret ?? ''}` : `of secret_${place.kind}=${place.name}`;
}

function sourceOf(method: PlanMethod): string {
  const place = placeOfSecret(method);
  if (place !== undefined) return `in the ConfigMap and in secret_${place.kind}=${place.name}`;
  return method.secret === undefined ? 'and the method names no Secret' : `in the ConfigMap and in Secret ${method.secret}`;
}

/** Several plugs of one method are `name:1`, `name:2`. */
function writtenName(method: PlanMethod): string {
  return method.name.split(':')[0] ?? method.name;
}

function misconfigured(method: PlanMethod, answered: string): AgentError {
  return new AgentError('Misconfigured', { device: method.device, plug: method.plug, asked: `parameters of method ${method.name}`, answered });
}

/** Secrets that stand in the ConfigMaps themselves; never frozen, so never in a NodeFence. */
function inlineSecrets(facts: NodeFacts, method: PlanMethod, configuration: Configuration): Record<string, string> {
  const ignored = new Problems();
  const merged = mergeMethod(lookupFor(facts, configuration, ignored), writtenName(method), '', ignored);
  if (merged?.definition.name !== method.agent) return {};
  const entries = [...merged.parameters].filter(([name]) => merged.secretNames.has(name));
  return Object.fromEntries(entries.map(([name, setting]) => [name, setting.value]));
}
