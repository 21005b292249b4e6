import type { Plan, PlanLevel, PlanMethod, Step } from '../domain/plan.ts';
import { STEPS } from '../domain/plan.ts';
import { checkTiming, DEFAULT_CLUSTER_TIMING } from '../domain/timing.ts';
import type { ClusterTiming } from '../domain/timing.ts';
import { NODE_CONFIG_PREFIX } from './configuration.ts';
import type { Configuration, NodeFacts, Setting, Settings } from './configuration.ts';
import type { MethodLookup } from './merged-method.ts';
import { clusterLayer, groupLayer, nodeLayer } from './node-groups.ts';
import { checkKeys, readClusterTiming, readNodeSettings, SettingReader } from './node-settings.ts';
import { checkSteps } from './plan-checks.ts';
import type { ResolvedLevel, ResolvedSteps } from './plan-checks.ts';
import { resolveMethod } from './plan-method.ts';
import type { ResolvedMethod, SecretKeys } from './plan-method.ts';
import { checkOwners } from './plug-owners.ts';
import type { PlugOwners } from './plug-owners.ts';
import { Problems } from './problems.ts';
import { parseList } from './properties.ts';

export interface PlanInput {
  node: NodeFacts;
  configuration: Configuration;
  /** Absent: it is not known which Secrets exist; they are looked for when a method runs. */
  secretKeys?: SecretKeys | undefined;
  /** Absent: other nodes' plugs are not compared. See plug-index.ts. */
  owners?: PlugOwners | undefined;
  /** How leader and kubelets keep their leases. */
  cluster?: ClusterTiming | undefined;
}

const LEVELS_MAX = 8;
const METHODS_MAX = 32;
const STEP_NAMES: Readonly<Record<Step, string>> = { isolation: 'isolation', 'power-management': 'power_management', recovery: 'recovery' };

/** Schemes of a providerID that name a cloud. */
const CLOUDS = ['aws', 'gce', 'azure', 'openstack', 'vsphere', 'metal3', 'baremetalhost'];

/** The steps of a node without configuration: nothing but cordon needs no knowledge. */
const DEFAULT_STEPS: Readonly<Record<Step, string>> = { isolation: 'mark-unschedulable', 'power-management': '', recovery: 'mark-schedulable' };

/** How one node will be fenced. Never throws: what is wrong stands in `problems`, with ConfigMap, key and line. */
export function resolvePlan(input: PlanInput): Plan {
  const problems = new Problems();
  const lookup = lookupFor(input.node, input.configuration, problems);
  const { steps, source } = resolveSteps(lookup, input.secretKeys, problems);
  const cluster = lookup.clusterLayer?.settings;
  const layers = [lookup.nodeLayer?.settings, lookup.groupLayer?.settings, cluster].filter((layer): layer is Settings => layer !== undefined);
  const settings = readNodeSettings(new SettingReader(layers, problems), problems);
  for (const layer of layers) checkKeys(layer, layer === cluster, input.configuration.registry, problems);
  const where = configuredIn(lookup);
  checkSteps(steps, settings.supplies, where, problems);
  if (input.owners !== undefined) checkOwners(input.node.name, steps, input.owners, problems);
  const all = STEPS.flatMap((step) => steps[step].flatMap(({ methods }) => methods));
  const demands = {
    powerLevels: steps['power-management'].length,
    deviceMaxLatencyMs: Math.max(0, ...all.map((method) => method.deviceMaxLatencyMs)),
  };
  const clusterTiming = readClusterTiming(
    new SettingReader(cluster === undefined ? [] : [cluster], problems),
    input.cluster ?? DEFAULT_CLUSTER_TIMING,
  );
  for (const { severity, message } of checkTiming(settings.timing, demands, clusterTiming)) problems[severity](where, message);
  return {
    source,
    isolation: steps.isolation.map(frozen),
    powerManagement: steps['power-management'].map(frozen),
    recovery: steps.recovery.map(frozen),
    ...settings,
    problems: problems.all(),
  };
}

/** The steps in a node's own ConfigMap, as far as they can be told without the Node; their problems are told where that node is planned. */
export function stepsOf(name: string, configuration: Configuration): ResolvedSteps {
  const unheard = new Problems();
  const lookup = lookupFor({ name, labels: {}, annotations: {}, addresses: [] }, configuration, unheard);
  if (lookup.nodeLayer === undefined) return { isolation: [], 'power-management': [], recovery: [] };
  return resolveSteps(lookup, undefined, unheard).steps;
}

export function lookupFor(node: NodeFacts, configuration: Configuration, problems: Problems): MethodLookup {
  return {
    configuration,
    node,
    nodeLayer: nodeLayer(configuration, node.name, problems),
    groupLayer: groupLayer(configuration, node, problems),
    clusterLayer: clusterLayer(configuration, problems),
  };
}

function configuredIn(lookup: MethodLookup): string {
  const config = (lookup.nodeLayer ?? lookup.groupLayer)?.config.name ?? NODE_CONFIG_PREFIX + lookup.node.name;
  return `ConfigMap ${config}`;
}

/** As the schema of a NodeFence holds it: without what only messages need. */
function frozen({ level, methods }: ResolvedLevel): PlanLevel {
  return { level, methods: methods.map(frozenMethod) };
}

function frozenMethod(resolved: ResolvedMethod): PlanMethod {
  const method: PlanMethod & Partial<ResolvedMethod> = { ...resolved };
  delete method.where;
  delete method.shared;
  return method;
}

function resolveSteps(
  lookup: MethodLookup,
  secretKeys: SecretKeys | undefined,
  problems: Problems,
): { steps: ResolvedSteps; source: Plan['source'] } {
  const steps: Record<Step, ResolvedLevel[]> = { isolation: [], 'power-management': [], recovery: [] };
  for (const step of STEPS) {
    const own = new Problems(step);
    steps[step] = levelSettings(lookup, step, own).map(({ level, setting }) => ({
      level,
      methods: levelMethods(lookup, step, setting, secretKeys, own),
    }));
    problems.take(own.all());
  }
  if (lookup.nodeLayer !== undefined) return { steps, source: 'node' };
  if (lookup.groupLayer !== undefined) return { steps, source: 'group' };
  return { steps, source: unconfigured(lookup, problems) };
}

/** Without any configuration nothing is known that could switch the machine. */
function unconfigured({ node }: MethodLookup, problems: Problems): Plan['source'] {
  const config = `ConfigMap ${NODE_CONFIG_PREFIX}${node.name}`;
  const cloud = CLOUDS.find((scheme) => node.providerID?.startsWith(`${scheme}:`) === true);
  const known = cloud === undefined ? '' : ` (its providerID says ${cloud}, and this version restarts no cloud instances by itself)`;
  const message = `nothing says how node ${node.name} is switched off${known}: create ${config} with power_management= and its methods; until then the node is only cordoned`;
  problems.error(config, message, 'power-management');
  return 'none';
}

interface LevelSetting {
  level: number;
  setting: Setting;
}

/** The lists of methods of a step: the node's, else the group's, else the default, per key. */
function levelSettings(lookup: MethodLookup, step: Step, problems: Problems): LevelSetting[] {
  const key = STEP_NAMES[step];
  const reader = new SettingReader(
    [lookup.nodeLayer, lookup.groupLayer].flatMap((layer) => (layer === undefined ? [] : [layer.settings])),
    problems,
  );
  const usual: Setting = { key, value: DEFAULT_STEPS[step], where: 'default' };
  const levels: LevelSetting[] = [{ level: 1, setting: reader.find(key) ?? usual }];
  for (let level = 2; level <= LEVELS_MAX; level += 1) {
    const setting = reader.find(`${key}.${level}`);
    if (setting === undefined || parseList(setting.value).length === 0) continue;
    const expected = levels.length + 1;
    if (level !== expected) problems.error(setting.where, `${key}.${level} has no ${key}.${expected} before it: number the levels without a gap`);
    levels.push({ level, setting });
  }
  return levels.filter(({ setting }) => parseList(setting.value).length > 0);
}

function levelMethods(lookup: MethodLookup, step: Step, setting: Setting, secretKeys: SecretKeys | undefined, problems: Problems): ResolvedMethod[] {
  const names = parseList(setting.value).map((name) => {
    if (step !== 'recovery' || name !== 'mark-unschedulable') return name;
    problems.warning(setting.where, 'recovery=mark-unschedulable is read as mark-schedulable');
    return 'mark-schedulable';
  });
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) problems.error(setting.where, `${setting.key} names method ${repeated} twice`);
  const methods = [...new Set(names)].flatMap((name) => resolveMethod({ lookup, listedIn: setting.where, secretKeys, problems }, name));
  if (methods.length > METHODS_MAX) problems.error(setting.where, `${setting.key} has ${methods.length} methods and plugs: at most ${METHODS_MAX}`);
  return methods.slice(0, METHODS_MAX);
}
