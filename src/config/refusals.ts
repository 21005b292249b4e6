import { internalAddresses } from '../domain/addresses.ts';
import { demandsIdentity, STEPS } from '../domain/plan.ts';
import type { Plan, Step } from '../domain/plan.ts';
import type { AgentRegistry, Identity } from '../ports/agents.ts';
import type { NodeFacts } from './configuration.ts';
import type { Machines } from './machine-index.ts';
import type { ResolvedLevel, ResolvedSteps } from './plan-checks.ts';
import type { ResolvedMethod } from './plan-method.ts';
import type { Problems } from './problems.ts';

interface Refusal {
  method: ResolvedMethod;
  words: string;
}

/**
 * What a fence would refuse before it asks a device, told before the node fails: a plug that no call takes, a machine that no read can show. A level that is
 * refused spoils its step only where no other level is left.
 */
export function checkRefusals(
  node: NodeFacts,
  steps: ResolvedSteps,
  plan: Pick<Plan, 'identity'> & { machines: Machines | undefined },
  registry: AgentRegistry,
  problems: Problems,
): void {
  const identity = identityOf(node);
  const shared = identity === undefined ? undefined : sharedIn(identity, plan.machines);
  const refusalOf = (method: ResolvedMethod): Refusal[] => {
    const definition = registry.find(method.agent);
    const plugMessage = definition?.plugProblem?.(method.plug, method.parameters, identity);
    if (plugMessage !== undefined) return [{ method, words: plugMessage }];
    if (!demandsIdentity(plan, method)) return [];
    const why = definition?.anonymous?.(method.parameters, identity, method.plug);
    if (why !== undefined) return [{ method, words: `${why}: write identity=unverified into the method to accept that, after looking whose it is` }];
    if (shared === undefined || definition?.anonymous?.(method.parameters, shared.rest, method.plug) === undefined) return [];
    return [{ method, words: shared.words }];
  };
  for (const step of STEPS) {
    checkPlaces(step, steps[step], registry, problems);
    report(step, steps[step], refusalOf, problems);
  }
}

/** A method in a step where it must not stand spoils that step, whatever other levels there are. */
function checkPlaces(step: Step, levels: readonly ResolvedLevel[], registry: AgentRegistry, problems: Problems): void {
  for (const method of levels.flatMap(({ methods }) => methods)) {
    const why = registry.find(method.agent)?.stepProblem?.(step, method.parameters);
    if (why !== undefined) problems.error(method.where, `${method.name} may not stand in ${step.replace('-', '_')}: ${why}`, step);
  }
}

function report(step: Step, levels: readonly ResolvedLevel[], refusalOf: (method: ResolvedMethod) => Refusal[], problems: Problems): void {
  const refused = levels.map(({ level, methods }) => ({ level, refusals: methods.flatMap(refusalOf) }));
  const isSpoilt = refused.every(({ refusals }) => refusals.length > 0);
  for (const { level, refusals } of refused)
    for (const { method, words } of refusals) {
      if (isSpoilt) problems.error(method.where, `${method.name} would be refused by every fence: ${words}`, step);
      else problems.warning(method.where, `level ${level} would be refused by every fence, by ${method.name}: ${words}`, step);
    }
}

/** What the node shows of its machine, and another one shows too: no read tells by it which of the two a device switches. */
function sharedIn(identity: Identity, machines: Machines | undefined): { rest: Identity; words: string } | undefined {
  const { node, systemUUID = '', providerID = '' } = identity;
  const ofUUID = systemUUID === '' ? [] : (machines?.sharersOf(systemUUID, node) ?? []);
  const ofProvider = providerID === '' ? [] : (machines?.sharersOf(providerID, node) ?? []);
  const [other] = [...ofUUID, ...ofProvider];
  if (other === undefined) return undefined;
  const rest = { ...identity, ...(ofUUID.length > 0 && { systemUUID: '' }), ...(ofProvider.length > 0 && { providerID: undefined }) };
  const what = ofUUID.length > 0 ? `system UUID ${systemUUID}` : `providerID ${providerID.slice(0, 100)}`;
  const remedy =
    'delete the Node that is left of an earlier name if they are one machine; else write identity=unverified into the method, after looking whose it is';
  return { rest, words: `Node ${other} has the same ${what}, so that no read shows which of the two is switched: ${remedy}` };
}

/** Undefined where nothing but the name is known of the Node; a kubelet that cannot read the UUID of its machine says so by an empty one. */
function identityOf({ name, systemUUID, providerID, addresses }: NodeFacts): Identity | undefined {
  if (systemUUID === undefined && providerID === undefined) return undefined;
  return { node: name, systemUUID, providerID, addresses: internalAddresses(addresses) };
}
