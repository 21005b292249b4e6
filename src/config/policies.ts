import { DEFAULT_ISOLATION } from '../domain/policies/controller-isolated.ts';
import { POLICY_NAMES } from '../domain/policies/policy.ts';
import type { PolicyName, StormPolicy } from '../domain/policies/policy.ts';
import { CLUSTER_CONFIG, CONFIG_KEY } from './configuration.ts';
import type { Configuration, Setting, Settings } from './configuration.ts';
import { didYouMean } from './nearest.ts';
import { POLICIES_KEY } from './node-keys.ts';
import { commonSettings, isolationSettings, makePolicy, PolicyValues } from './policies-read.ts';
import type { PolicyContext } from './policies-read.ts';
import { POLICY_PREFIX, readPolicy } from './policies-written.ts';
import type { WrittenPolicy } from './policies-written.ts';
import { Problems } from './problems.ts';
import { parseDuration, parseList } from './properties.ts';

/** On without configuration. */
export const DEFAULT_POLICIES: readonly PolicyName[] = [
  'max-unhealthy',
  'max-concurrent',
  'rate',
  'controller-isolated',
  'control-plane',
  'startup-grace',
  'maintenance',
  'cooldown',
];

/** Every `fence-policy-<name>` whose kind is known, by its name. */
export function writtenPolicies(configuration: Configuration, problems: Problems): ReadonlyMap<string, WrittenPolicy> {
  const written = new Map<string, WrittenPolicy>();
  for (const config of configuration.configMaps.values()) {
    const read = config.name.startsWith(POLICY_PREFIX) ? readPolicy(config, problems) : undefined;
    if (read !== undefined) written.set(read.name, read);
  }
  return written;
}

/** The storm policies that stand, in the order of their kinds and names. Never throws: what is wrong is told, and never leaves less than the safe defaults. */
export function resolvePolicies(configuration: Configuration, cluster: Settings | undefined, problems: Problems): readonly StormPolicy[] {
  const written = writtenPolicies(configuration, problems);
  const list = cluster?.get(POLICIES_KEY);
  const chosen = list === undefined || isOriginalBlank(list, configuration) ? standing(written, problems) : listed(list, written, problems);
  const graceMs = parseDuration(cluster?.get('node_grace')?.value ?? '') ?? DEFAULT_ISOLATION.graceMs;
  const isolating = chosen.find(({ policy, isBroken, isScoped }) => policy === 'controller-isolated' && !isBroken && !isScoped);
  const isolation = isolationSettings(isolating?.values ?? new PolicyValues(), graceMs);
  const rank = (policy: PolicyName): number => POLICY_NAMES.indexOf(policy);
  return chosen
    .toSorted((one, other) => rank(one.policy) - rank(other.policy) || (one.name < other.name ? -1 : 1))
    .map((one) => made(one, { isolation, ...(isUnread(one) && { broken: `${one.where} cannot be used as written` }) }));
}

/** What it says cannot stand by its defaults. */
function isUnread({ policy, isBroken, forbids }: WrittenPolicy): boolean {
  return isBroken && (forbids || policy === 'alerts');
}

function made({ name, policy, values, isBroken }: WrittenPolicy, context: PolicyContext): StormPolicy {
  // Who asks for alerts is held to what silence means even where the rest cannot be used.
  const usable = isBroken && policy !== 'alerts' ? new PolicyValues() : values;
  return makePolicy(policy, commonSettings(name, usable), usable, context);
}

function byDefault(policy: PolicyName, written: ReadonlyMap<string, WrittenPolicy>): WrittenPolicy {
  const name = written.has(policy) ? `${policy}-default` : policy;
  return { name, policy, where: '', values: new PolicyValues(), isEnabled: true, isScoped: false, isBroken: false, forbids: false };
}

/** Without `policies=`: each default, unless a ConfigMap of its name, or of its kind for all nodes, takes its place; and every other ConfigMap. */
function standing(written: ReadonlyMap<string, WrittenPolicy>, problems: Problems): WrittenPolicy[] {
  const all = [...written.values()];
  const isReplaced = (policy: PolicyName): boolean =>
    all.some((one) => one.policy === policy && (one.name === policy || (one.isEnabled && !one.isScoped)));
  for (const { name, policy, where, isEnabled } of all)
    if (!isEnabled && name === policy && DEFAULT_POLICIES.includes(policy))
      problems.warning(where, `enabled=no: the default policy ${policy} is off`);
  const defaults = DEFAULT_POLICIES.filter((policy) => !isReplaced(policy)).map((policy) => byDefault(policy, written));
  return [...defaults, ...all.filter(({ isEnabled }) => isEnabled)];
}

/** With `policies=`: exactly these. A name that nobody knows may have meant any protection: the defaults stand too until it is mended. */
function listed(list: Setting, written: ReadonlyMap<string, WrittenPolicy>, problems: Problems): WrittenPolicy[] {
  const chosen = new Map<string, WrittenPolicy>();
  const names = parseList(list.value);
  if (names.length === 0) problems.warning(list.where, 'policies= is empty: no storm policy is on; remove the key for the defaults');
  let isUnsure = false;
  for (const name of names) {
    const found = lookUp(name, written);
    if (found.length === 0) {
      isUnsure = true;
      unknown(name, list, written, problems);
    }
    for (const one of found) {
      if (one.isEnabled) chosen.set(one.name, one);
      else problems.warning(one.where, `enabled=no: policy ${one.name} is off, though policies= names it`);
    }
  }
  if (isUnsure) for (const one of standing(written, new Problems())) chosen.set(one.name, one);
  for (const { name, where, isEnabled } of written.values())
    if (isEnabled && !chosen.has(name)) problems.warning(where, `policy ${name.slice(0, 60)} is off: policies= does not name it`);
  return [...chosen.values()];
}

/** A ConfigMap of that name; else those of that kind; else the kind's defaults. */
function lookUp(name: string, written: ReadonlyMap<string, WrittenPolicy>): WrittenPolicy[] {
  const own = written.get(name);
  if (own !== undefined) return [own];
  const policy = POLICY_NAMES.find((known) => known === name);
  if (policy === undefined) return [];
  const ofKind = [...written.values()].filter((one) => one.policy === policy);
  return ofKind.length > 0 ? ofKind : [byDefault(policy, written)];
}

function unknown(name: string, list: Setting, written: ReadonlyMap<string, WrittenPolicy>, problems: Problems): void {
  const shown = name.slice(0, 60);
  const hint = didYouMean(
    name,
    [...POLICY_NAMES, ...written.keys()],
    `create ConfigMap ${POLICY_PREFIX}${shown}, or name one of ${POLICY_NAMES.join(', ')}`,
  );
  problems.error(list.where, `policy ${shown} does not exist: ${hint}; until then the default policies stay active too`);
}

/** An empty `roles=` stands in files of the original, which acted on none: it is no word against the defaults. */
function isOriginalBlank(list: Setting, configuration: Configuration): boolean {
  const text = configuration.configMaps.get(CLUSTER_CONFIG)?.data[CONFIG_KEY] ?? '';
  return list.value === '' && /^\s*roles\s*=/m.test(text) && !/^\s*policies\s*=/m.test(text);
}
