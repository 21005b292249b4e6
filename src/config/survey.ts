import type { AskedMethods } from '../domain/node-fence.ts';
import type { Plan, PlanProblem, Step } from '../domain/plan.ts';
import type { ClusterTiming } from '../domain/timing-cluster.ts';
import { clusterProblems, isRemedies } from './cluster-checks.ts';
import { CONFIG_KEY, NODE_CONFIG_PREFIX, place } from './configuration.ts';
import type { Configuration, NodeFacts } from './configuration.ts';
import { MachineIndex } from './machine-index.ts';
import { nearest } from './nearest.ts';
import { matchingGroups } from './node-groups.ts';
import type { SecretKeys } from './plan-method.ts';
import { PlugIndex } from './plug-index.ts';
import { checkPolicyReach } from './policies-reach.ts';
import { Problems } from './problems.ts';
import { checkRemedyReach, readRemedies } from './remedies.ts';
import { remedyProblems } from './remedy-checks.ts';
import { resolvePlan } from './resolve-plan.ts';
import { strayKeys, strayProblems } from './stray-configs.ts';

export interface SurveyInput {
  configuration: Configuration;
  /** The nodes to plan. */
  nodes: readonly NodeFacts[];
  /** Every Node of the cluster, where they are known: a name, a selector or a plug is then held against them. */
  cluster?: ReadonlyMap<string, NodeFacts> | undefined;
  secretKeys?: SecretKeys | undefined;
  timing?: ClusterTiming | undefined;
}

/** A problem, and the nodes that have it; none for what concerns the cluster. */
export interface SurveyProblem extends Omit<PlanProblem, 'step'> {
  steps: readonly Step[];
  nodes: readonly string[];
}

export interface Survey {
  plans: readonly { node: NodeFacts; plan: Plan }[];
  /** Errors first; one for several nodes or steps stands here once. */
  problems: readonly SurveyProblem[];
}

/** Every node's plan as the controller would resolve it now, and everything that is wrong. Pure: the same engine, no second truth. */
export function survey({ configuration, nodes, cluster, secretKeys, timing }: SurveyInput): Survey {
  const known = cluster ?? new Map(nodes.map((node) => [node.name, node]));
  const owners = new PlugIndex().update(configuration, known);
  const machines = new MachineIndex(known.values());
  const planOf = (node: NodeFacts, asked?: AskedMethods): Plan =>
    resolvePlan({ node, configuration, owners, machines, secretKeys, cluster: timing, asked });
  const plans = nodes.map((node) => ({ node, plan: planOf(node) }));
  const remedies = readRemedies([...configuration.configMaps.values()].filter(isRemedies), new Problems());
  const found = new Found();
  found.add(wholeCluster(configuration, cluster), undefined);
  for (const { node, plan } of plans) {
    found.add(plan.problems, node.name);
    found.add(
      remedyProblems(remedies, node, (asked) => (asked === undefined ? plan : planOf(node, asked))),
      node.name,
    );
  }
  return { plans, problems: found.all() };
}

function wholeCluster(configuration: Configuration, cluster: ReadonlyMap<string, NodeFacts> | undefined): PlanProblem[] {
  const problems = new Problems();
  problems.take(clusterProblems(configuration));
  problems.take(strayProblems(configuration));
  problems.take(strayKeys(configuration));
  const remedies = readRemedies([...configuration.configMaps.values()].filter(isRemedies), problems);
  if (cluster !== undefined) {
    checkNames(configuration, cluster, problems);
    checkPolicyReach(configuration, cluster, problems);
    checkRemedyReach(remedies, cluster.values(), problems);
  }
  return problems.all();
}

/** Configuration that no Node uses: a misspelt name is found here, not when the node fails. */
function checkNames(configuration: Configuration, cluster: ReadonlyMap<string, NodeFacts>, problems: Problems): void {
  const groups = new Set(configuration.groups);
  const used = new Set([...cluster.values()].flatMap((node) => matchingGroups(configuration, node)));
  for (const config of configuration.configMaps.values()) {
    if (!config.name.startsWith(NODE_CONFIG_PREFIX)) continue;
    const name = config.name.slice(NODE_CONFIG_PREFIX.length);
    if (groups.has(config)) {
      if (!used.has(config)) problems.warning(place(config, CONFIG_KEY), 'its node_selector matches no Node');
    } else if (!cluster.has(name)) {
      const unconfigured = [...cluster.keys()].filter((node) => !configuration.configMaps.has(NODE_CONFIG_PREFIX + node));
      const meant = nearest(name, unconfigured);
      const hint = meant === undefined ? 'delete it if that machine is gone, or mend the name' : `did you mean ${NODE_CONFIG_PREFIX}${meant}?`;
      problems.warning(place(config), `there is no Node ${name}: ${hint}`);
    }
  }
}

/** Gathers what several nodes share. */
class Found {
  readonly #problems = new Map<string, { severity: PlanProblem['severity']; where: string; message: string; steps: Set<Step>; nodes: Set<string> }>();

  add(problems: readonly PlanProblem[], node: string | undefined): void {
    for (const { severity, where, message, step } of problems) {
      const key = JSON.stringify([severity, where, message]);
      const known = this.#problems.get(key) ?? { severity, where, message, steps: new Set<Step>(), nodes: new Set<string>() };
      this.#problems.set(key, known);
      if (step !== undefined) known.steps.add(step);
      if (node !== undefined) known.nodes.add(node);
    }
  }

  all(): SurveyProblem[] {
    const all = [...this.#problems.values()].map((problem) => ({ ...problem, steps: [...problem.steps], nodes: [...problem.nodes] }));
    const rank = { error: 0, warning: 1 } as const;
    return all.sort((one, other) => rank[one.severity] - rank[other.severity] || one.where.localeCompare(other.where, 'en', { numeric: true }));
  }
}
