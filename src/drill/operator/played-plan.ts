import type { Configuration, NodeFacts } from '../../config/configuration.ts';
import { mergeMethod } from '../../config/merged-method.ts';
import type { MergedMethod } from '../../config/merged-method.ts';
import type { PlugOwners } from '../../config/plug-owners.ts';
import { Problems } from '../../config/problems.ts';
import { resolveParameters } from '../../config/resolve-parameters.ts';
import { lookupFor, resolvePlan } from '../../config/resolve-plan.ts';
import { levelsOf, STEPS } from '../../domain/plan.ts';
import type { Plan, PlanMethod } from '../../domain/plan.ts';
import type { Secret } from '../../ports/objects.ts';
import { decoded } from './folder.ts';

/** Agents that the drill has a counterpart for. */
const PLAYED_AGENTS = new Set(['redfish', 'cordon', 'uncordon', 'taint']);

export interface Written {
  configuration: Configuration;
  owners: PlugOwners;
  secrets: ReadonlyMap<string, Secret>;
}

/** One redfish method of a plan, by the name in its step, and where it is written. */
export interface RedfishMethod {
  name: string;
  device: string;
  merged: MergedMethod;
}

/** How one node is fenced, as far as the drill must know to play it. */
export interface PlayedPlan {
  node: string;
  plan: Plan;
  methods: readonly RedfishMethod[];
  credentials: { username: string; password: string };
  machine: { systemUUID?: string; serial?: string };
  warnings: readonly string[];
}

/** The node's plan and its one BMC. What cannot be played is added to `refused`, each with its place, and undefined is returned. */
export function playedPlan(facts: NodeFacts, written: Written, refused: string[]): PlayedPlan | undefined {
  const { configuration, owners, secrets } = written;
  const secretKeys = (name: string): string[] | undefined => {
    const secret = secrets.get(name);
    return secret === undefined ? undefined : Object.keys(secret.data ?? {});
  };
  const plan = resolvePlan({ node: facts, configuration, owners, secretKeys });
  const said = (severity: string): string[] =>
    plan.problems.filter((problem) => problem.severity === severity).map(({ where, message }) => `${where}: ${message}`);
  const problems = said('error');
  const all = STEPS.flatMap((step) => levelsOf(plan, step).flatMap(({ methods }) => methods));
  const mergedOf = (method: PlanMethod): MergedMethod | undefined =>
    mergeMethod(lookupFor(facts, configuration, new Problems()), method.name.split(':')[0] ?? method.name, '', new Problems());
  for (const method of all.filter(({ agent }) => !PLAYED_AGENTS.has(agent)))
    problems.push(`${mergedOf(method)?.where ?? facts.name}: this version of the drill plays no ${method.agent} device; it plays redfish`);
  const methods = all.filter(({ agent }) => agent === 'redfish').flatMap((method) => mergedMethods(method, mergedOf(method)));
  if (problems.length === 0) problems.push(...incomplete(facts, plan, configuration), ...severalDevices(methods));
  const [first] = methods;
  if (problems.length > 0 || first === undefined) {
    refused.push(...problems);
    return undefined;
  }
  const redfish = all.filter(({ agent }) => agent === 'redfish');
  const keys = redfish.map((method) =>
    resolveParameters({ node: facts.name, facts, method, configuration, secret: decoded(secrets.get(method.secret ?? '')) }),
  );
  const logins = new Set(keys.map(({ username, password }) => JSON.stringify([username, password])));
  const [parameters = {}] = keys;
  if (logins.size > 1)
    refused.push(`${first.merged.where}: the methods of node ${facts.name} log in with different names or passwords; the drill's BMC has one user`);
  const { username = '', password = '', system_uuid: systemUUID, serial } = parameters;
  const machine = { ...(systemUUID === undefined ? {} : { systemUUID }), ...(serial === undefined ? {} : { serial }) };
  return { node: facts.name, plan, methods, credentials: { username, password }, machine, warnings: said('warning') };
}

function mergedMethods({ name, device }: PlanMethod, merged: MergedMethod | undefined): RedfishMethod[] {
  return merged === undefined ? [] : [{ name: name.split(':')[0] ?? name, device, merged }];
}

/** A drill goes the whole way: off, proof, release, on. */
function incomplete(facts: NodeFacts, plan: Plan, configuration: Configuration): string[] {
  const actions = new Set(plan.powerManagement.flatMap(({ methods }) => methods.map(({ action }) => action)));
  const config = settingAt(facts, configuration, 'power_management');
  if (!actions.has('off') && !actions.has('reboot'))
    return [`${config}: power_management switches nothing off: name a redfish method with action=off, and one with action=on`];
  if (!actions.has('on') && !actions.has('reboot'))
    return [`${config}: power_management switches off and never on; the drill goes the whole way: name a redfish method with action=on`];
  if (!plan.minimumEvidence.includes('power-off'))
    return [
      `${settingAt(facts, configuration, 'minimum_evidence')}: minimum_evidence does not admit power-off, the only proof that the drill can give`,
    ];
  return [];
}

/** Where the key is written for this node, else where it should be. */
function settingAt(facts: NodeFacts, configuration: Configuration, key: string): string {
  const { nodeLayer, groupLayer, clusterLayer } = lookupFor(facts, configuration, new Problems());
  const layers = [nodeLayer, groupLayer, clusterLayer].flatMap((layer) => layer ?? []);
  const found = layers.map(({ settings }) => settings.get(key)).find((setting) => setting !== undefined);
  return found?.where ?? `ConfigMap ${layers[0]?.config.name ?? `fence-config-${facts.name}`}, key config.properties`;
}

function severalDevices(methods: readonly RedfishMethod[]): string[] {
  const [first] = methods;
  const other = methods.find(({ device }) => device !== first?.device);
  if (first === undefined || other === undefined) return [];
  return [`${addressOf(other)}: the node has a second BMC, ${other.device} beside ${first.device}; the drill plays one for each node`];
}

/** Where the device's address is written. */
export function addressOf({ merged }: RedfishMethod): string {
  return merged.parameters.get('ip')?.where ?? merged.where;
}
