import { configurationOf, NODE_CONFIG_PREFIX } from '../../config/configuration.ts';
import { clusterLayer } from '../../config/node-groups.ts';
import { POLICIES_KEY } from '../../config/node-keys.ts';
import { resolvePolicies, writtenPolicies } from '../../config/policies.ts';
import type { Configuration, ConfigText, ControllerMachine, NodeFacts } from '../../config/configuration.ts';
import { factsOf, namedOnly } from '../../config/node-facts.ts';
import { placeOfSecret, resolveParameters } from '../../config/resolve-parameters.ts';
import { labelsFor } from '../../config/selector.ts';
import { isRemedies } from '../../config/cluster-checks.ts';
import { Problems } from '../../config/problems.ts';
import { readRemedies } from '../../config/remedies.ts';
import { survey } from '../../config/survey.ts';
import type { SurveyProblem } from '../../config/survey.ts';
import { holdsFencing } from '../../config/stray-configs.ts';
import { methodsOf, writtenName } from '../../domain/device-paths.ts';
import type { Plan, PlanMethod } from '../../domain/plan.ts';
import { AgentError } from '../../ports/agents.ts';
import type { AgentRegistry, Parameters } from '../../ports/agents.ts';
import type { Input } from './input.ts';
import { unheardPolicies } from './node-daemons.ts';
import { operatedProblems } from './operated-hosts.ts';
import { poolProblems } from './preservation.ts';
import { requesterProblems } from './requesters.ts';
import type { Report, ReportedProblem } from './report.ts';

/** What one method would be run with, or why it cannot be. */
export type Resolved = { parameters: Parameters } | { problem: string };

/** A report, and what a probe needs beside it. */
export interface Validation {
  report: Report;
  /** `login`: what a file or a program of the controller's machine says, where this is that machine. */
  resolve(node: string, method: PlanMethod, login?: Readonly<Record<string, string>>): Resolved;
}

/** How many Configurations of remedies were read as they are written; those with an error are told. */
function remediesIn({ configMaps }: Input): Pick<Report, 'remedies'> {
  const remedies = configMaps.filter(isRemedies);
  return remedies.length === 0 ? {} : { remedies: readRemedies(remedies, new Problems()).length };
}

/** Which storm policies stand, as the controller takes them. */
function policiesIn(configuration: Configuration): Pick<Report, 'policies'> {
  const written = writtenPolicies(configuration, new Problems());
  const settings = clusterLayer(configuration, new Problems())?.settings;
  if (written.size === 0 && settings?.has(POLICIES_KEY) !== true) return {};
  const names = resolvePolicies(configuration, settings, new Problems()).map(({ name }) => name);
  return { policies: { configured: names.filter((name) => written.has(name)), byDefault: names.filter((name) => !written.has(name)) } };
}

/** Every plan and problem of the input, by the engine of the controller. `only`: names of the nodes that are asked about; empty: all. */
export function validate(input: Input, registry: AgentRegistry, only: readonly string[]): Validation {
  const configuration = configurationOf(input.configMaps, registry, machineOf(input));
  const { nodes, problems: unknown, notes } = askedNodes(input, configuration, only);
  const { secrets } = input;
  const secretKeys =
    secrets === undefined
      ? undefined
      : (name: string): readonly string[] | undefined => {
          const secret = secrets.get(name);
          return secret === undefined ? undefined : Object.keys(secret);
        };
  const cluster = input.nodes === undefined ? undefined : new Map(input.nodes.map((node) => [node.metadata.name, factsWith(input, factsOf(node))]));
  const { plans, problems } = survey({ configuration, nodes, secretKeys, cluster });
  const factsOfNode = new Map(nodes.map((facts) => [facts.name, facts]));
  const resolve: Validation['resolve'] = (node, method, login) =>
    resolved({ node, facts: factsOfNode.get(node), method, configuration, login }, input);
  const inSecrets = secrets === undefined ? [] : plans.flatMap(({ node, plan }) => secretProblems(node.name, plan, resolve, registry));
  const files: ReportedProblem[] = input.problems.map(({ file, line, message }) => ({
    severity: 'error',
    where: file,
    message,
    steps: [],
    nodes: [],
    file,
    ...(line === undefined ? {} : { line }),
  }));
  const reported = plans.map(({ node, plan }) => ({ facts: node, plan }));
  const isStrange = input.isOfFiles === true && input.problems.length === 0 && !holdsFencing(configuration);
  const strange = isStrange ? [problemOf(input.source, NOTHING_UNDERSTOOD)] : [];
  const found = [
    ...strange,
    ...unknown,
    ...problems,
    ...poolProblems(input),
    ...(input.hearsDaemons === false ? unheardPolicies(configuration) : []),
    ...(input.found ?? []),
    ...operatedProblems(reported, input.operated ?? []),
    ...requesterProblems(reported, input.requesters ?? []),
    ...merged(inSecrets),
    ...newlines(
      input,
      plans.map(({ plan }) => plan),
    ),
  ];
  const located = found.map((problem): ReportedProblem => ({ ...problem, ...input.locate(problem.where) }));
  return {
    report: {
      source: input.source,
      nodes: reported,
      problems: ordered([...files, ...located]),
      notes: [...input.notes, ...notes],
      ...remediesIn(input),
      ...policiesIn(configuration),
      isInterrupted: false,
    },
    resolve,
  };
}

const NOTHING_UNDERSTOOD =
  'holds nothing of fencing: no ConfigMap fence-config-<node>, fence-cluster-config, fence-method-... or fence-policy-...; name the right files';

/** Errors first; otherwise as they came. */
export function ordered(problems: readonly ReportedProblem[]): ReportedProblem[] {
  return [...problems.filter(({ severity }) => severity === 'error'), ...problems.filter(({ severity }) => severity === 'warning')];
}

interface Asked {
  nodes: NodeFacts[];
  problems: SurveyProblem[];
  notes: string[];
}

function askedNodes(input: Input, configuration: Configuration, only: readonly string[]): Asked {
  if (input.nodes !== undefined) {
    const known = new Map(input.nodes.map((node) => [node.metadata.name, factsWith(input, factsOf(node))]));
    const missing = only.filter((name) => !known.has(name));
    const problems = missing.map((name) => problemOf(`Node ${name}`, `does not exist in ${input.source}: mend the name`));
    const nodes = only.length === 0 ? [...known.values()] : only.flatMap((name) => known.get(name) ?? []);
    return { nodes, problems, notes: [] };
  }
  if (only.length > 0) return { nodes: only.map(namedOnly), problems: [], notes: [] };
  const groups = new Set(configuration.groups);
  const own = [...configuration.configMaps.values()].filter((config) => config.name.startsWith(NODE_CONFIG_PREFIX) && !groups.has(config));
  const examples = configuration.groups.map(exampleOf);
  const notes = examples.map(
    ({ name }, index) =>
      `no Node is given, so ${configuration.groups[index]?.name ?? ''} is tried with ${name}, made up: give Nodes too (kubectl get nodes -o yaml)`,
  );
  return { nodes: [...own.map(({ name }) => namedOnly(name.slice(NODE_CONFIG_PREFIX.length))), ...examples], problems: [], notes };
}

/** What was recorded while the node was healthy counts, as it does for the controller. */
function factsWith({ recordedUUIDs }: Input, facts: NodeFacts): NodeFacts {
  return { ...facts, systemUUID: recordedUUIDs.get(facts.name) ?? facts.systemUUID };
}

/** A node that the group would have: its labels, and something for every placeholder. */
function exampleOf(group: ConfigText): NodeFacts {
  const name = `example-of-${group.name.slice(NODE_CONFIG_PREFIX.length)}`;
  const quoted = (kind: string): [string, string][] =>
    Object.values(group.data).flatMap((text) =>
      [...text.matchAll(new RegExp(`\\{${kind}:([^{}]+)\\}`, 'g'))].map(([, key = '']): [string, string] => [key, name]),
    );
  const selected = labelsFor(group.selector ?? []);
  return {
    name,
    providerID: `example://${name}`,
    labels: { ...Object.fromEntries(quoted('label')), ...selected },
    annotations: Object.fromEntries(quoted('annotation')),
    addresses: [{ type: 'InternalIP', address: name }],
  };
}

function problemOf(where: string, message: string, nodes: readonly string[] = [], severity: 'error' | 'warning' = 'error'): SurveyProblem {
  return { severity, where, message, steps: [], nodes };
}

/** What is known of the machine of the controller. */
function machineOf({ addresses, stores }: Input): ControllerMachine {
  return { ...(addresses === undefined ? {} : { addresses }), ...(stores === undefined ? {} : { stores }) };
}

interface Asking {
  node: string;
  facts: NodeFacts | undefined;
  method: PlanMethod;
  configuration: Configuration;
  login: Readonly<Record<string, string>> | undefined;
}

function resolved({ node, facts, method, configuration, login }: Asking, { secrets, trusted }: Input): Resolved {
  const elsewhere = placeOfSecret(method);
  if (elsewhere !== undefined && login === undefined)
    return { problem: `its login is on the controller’s machine (secret_${elsewhere.kind}=${elsewhere.name}), and is not read from here` };
  const secret = method.secret === undefined ? login : secrets?.get(method.secret);
  if (method.secret !== undefined && secret === undefined) {
    return { problem: secrets === undefined ? `Secret ${method.secret} may not be read by you` : `Secret ${method.secret} does not exist` };
  }
  try {
    return { parameters: resolveParameters({ node, facts, method, configuration, secret, trusted: trusted?.get(node) }) };
  } catch (error) {
    if (error instanceof AgentError) return { problem: error.facts.answered };
    throw error;
  }
}

/** What only the values of a Secret show: a certificate that is none, an empty password. */
function secretProblems(node: string, plan: Plan, resolve: Validation['resolve'], registry: AgentRegistry): SurveyProblem[] {
  return methodsOf(plan).flatMap((method) => {
    // What is on record of its device is no matter of its Secret.
    const isTrustedFirst = registry.find(method.agent)?.firstTrust?.(method.parameters) !== undefined;
    if (method.secret === undefined || isTrustedFirst) return [];
    const found = resolve(node, method);
    return 'problem' in found ? [problemOf(`Secret ${method.secret}`, `method ${writtenName(method)}: ${found.problem}`, [node])] : [];
  });
}

/** Values that end in a line break, which is taken off: most likely they were made with --from-file. */
function newlines({ secrets }: Input, plans: readonly Plan[]): SurveyProblem[] {
  const used = new Set(plans.flatMap((plan) => methodsOf(plan).flatMap(({ secret }) => secret ?? [])));
  const message = 'ends with a line break, which is taken off: most likely the file that it was made from had one';
  return [...used].flatMap((name) =>
    Object.entries(secrets?.get(name) ?? {})
      .filter(([, value]) => /^[^\n]*\r?\n$/.test(value))
      .map(([key]) => problemOf(`Secret ${name}, key ${key}`, message, [], 'warning')),
  );
}

/** The same words for several nodes are said once. */
function merged(problems: readonly SurveyProblem[]): SurveyProblem[] {
  const byMessage = new Map<string, SurveyProblem>();
  for (const problem of problems) {
    const key = `${problem.where}\n${problem.message}`;
    const known = byMessage.get(key);
    byMessage.set(key, known === undefined ? problem : { ...known, nodes: [...new Set([...known.nodes, ...problem.nodes])] });
  }
  return [...byMessage.values()];
}
