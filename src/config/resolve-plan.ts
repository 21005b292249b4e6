import type { AskedMethods } from '../domain/node-fence.ts';
import type { Plan, PlanLevel, PlanMethod, Step } from '../domain/plan.ts';
import { STEPS } from '../domain/plan.ts';
import { checkTiming, safeAfterOff } from '../domain/timing.ts';
import { DEFAULT_CLUSTER_TIMING } from '../domain/timing-cluster.ts';
import type { ClusterTiming } from '../domain/timing-cluster.ts';
import { NODE_CONFIG_PREFIX } from './configuration.ts';
import type { Configuration, NodeFacts, Setting, Settings } from './configuration.ts';
import { filled } from './method-body.ts';
import type { MethodLookup } from './method-body.ts';
import { clusterLayer, groupLayer, nodeLayer } from './node-groups.ts';
import { askedSteps } from './asked-steps.ts';
import { cloudInstance, RESTART_INSTANCE } from './cloud.ts';
import { readDaemonTimes } from './daemon-times.ts';
import { checkDeletions } from './deletion-checks.ts';
import { checkMachines } from './machine-index.ts';
import type { Machines } from './machine-index.ts';
import { checkKeys, readClusterTiming, readNodeSettings } from './node-settings.ts';
import { FENCE_KEY, FENCE_WORDS, LEVELS_MAX } from './node-keys.ts';
import type { NodeSettings, SettingProblems } from './node-settings.ts';
import { SettingReader } from './setting-reader.ts';
import { checkSteps } from './plan-checks.ts';
import type { ResolvedLevel, ResolvedSteps } from './plan-checks.ts';
import { resolveMethod } from './plan-method.ts';
import type { ResolvedMethod, SecretKeys } from './plan-method.ts';
import { checkOwners } from './plug-owners.ts';
import type { PlugOwners } from './plug-owners.ts';
import { Problems } from './problems.ts';
import { checkRefusals } from './refusals.ts';
import { parseList } from './properties.ts';

export interface PlanInput {
  node: NodeFacts;
  configuration: Configuration;
  /** Absent: it is not known which Secrets exist; they are looked for when a method runs. */
  secretKeys?: SecretKeys | undefined;
  /** Absent: other nodes' plugs are not compared. See plug-index.ts. */
  owners?: PlugOwners | undefined;
  /** Absent: it is not known which machines there are. See machine-index.ts. */
  machines?: Machines | undefined;
  /** How leader and kubelets keep their leases. */
  cluster?: ClusterTiming | undefined;
  /** Absent: the plan has the steps that are configured. */
  asked?: AskedMethods | undefined;
}

const METHODS_MAX = 32;
/** Characters of all parameters: an etcd takes objects of 1.5 MB, and the journal stands beside them. */
const PLAN_MAX = 262_144;
const STEP_NAMES: Readonly<Record<Step, string>> = { isolation: 'isolation', 'power-management': 'power_management', recovery: 'recovery' };

/** The steps that no configuration names: nothing but cordon needs no knowledge. */
const DEFAULT_STEPS: Readonly<Record<Step, string>> = { isolation: 'mark-unschedulable', 'power-management': '', recovery: 'mark-schedulable' };

/** How one node will be fenced. Never throws: what is wrong stands in `problems`, with ConfigMap, key and line. */
export function resolvePlan(input: PlanInput): Plan {
  const problems = new Problems();
  const lookup = lookupFor(input.node, input.configuration, problems);
  const own = [lookup.nodeLayer?.settings, lookup.groupLayer?.settings].filter((layer): layer is Settings => layer !== undefined);
  const fence = new SettingReader(own, problems).choice(FENCE_KEY, 'auto', FENCE_WORDS);
  if (fence === 'never') return neverFenced(lookup, own, input.configuration, problems);
  const { steps, source } = resolveSteps(lookup, input, problems);
  const cluster = lookup.clusterLayer?.settings;
  const spoilt: SettingProblems = { general: problems, switching: new Problems() };
  const layers = [...own, ...(cluster === undefined ? [] : [cluster])];
  const written = timedFor(steps, layers, readNodeSettings(layers, spoilt));
  // What the cluster's ConfigMap holds beside them is told once for all nodes: cluster-checks.ts.
  for (const layer of own) checkKeys(layer, false, input.configuration.registry, spoilt);
  const where = configuredIn(lookup);
  const clusterTiming = readClusterTiming(
    new SettingReader(cluster === undefined ? [] : [cluster], spoilt.switching),
    input.cluster ?? DEFAULT_CLUSTER_TIMING,
  );
  const settings = { ...written, timing: safeAfterOff(written.timing, clusterTiming) };
  checkSteps(steps, settings, where, problems);
  checkDeletions(input.node, steps, settings, problems);
  checkRefusals(input.node, steps, { ...settings, machines: input.machines }, input.configuration.registry, problems);
  if (input.owners !== undefined) checkOwners(input.node.name, steps, input.owners, problems);
  if (input.machines !== undefined) checkMachines(input.node, steps, input.machines, problems);
  checkTimes({ input, steps, settings: written, layers, cluster, where }, clusterTiming, spoilt.switching);
  problems.takeFor(switchingSteps(steps), spoilt.switching.all());
  const kept = fitting(steps, where, problems);
  return {
    source,
    isolation: kept.isolation.map(frozen),
    powerManagement: kept['power-management'].map(frozen),
    recovery: kept.recovery.map(frozen),
    ...settings,
    problems: problems.all(),
  };
}

/** A fence writes its plan into its NodeFence: one that no etcd takes would keep the fence from beginning, and be told by nobody. */
function fitting(steps: ResolvedSteps, where: string, problems: Problems): ResolvedSteps {
  const methods = STEPS.flatMap((step) => steps[step].flatMap((level) => level.methods));
  const texts = methods.flatMap(({ parameters, plug }) => [plug, ...Object.entries(parameters).flat()]);
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  if (length <= PLAN_MAX) return steps;
  problems.error(
    where,
    `the parameters of all methods of this node are ${length} characters long, ${PLAN_MAX} at most: its fence could not be written`,
  );
  return { isolation: [], 'power-management': [], recovery: [] };
}

/** Nobody is to fence this node: nothing of its steps is read, and nothing is wrong with their absence. */
function neverFenced({ nodeLayer }: MethodLookup, own: readonly Settings[], { registry }: Configuration, problems: Problems): Plan {
  const settings = readNodeSettings([], { general: new Problems(), switching: new Problems() });
  for (const layer of own) checkKeys(layer, false, registry, { general: problems, switching: problems });
  const source = nodeLayer === undefined ? 'group' : 'node';
  return { source, isolation: [], powerManagement: [], recovery: [], ...settings, trigger: 'never', problems: problems.all() };
}

/** Where nobody wrote how long a state may take, a device that needs longer than usual gets it: without a ConfigMap nobody could say so. */
function timedFor(steps: ResolvedSteps, layers: readonly Settings[], settings: NodeSettings): NodeSettings {
  if (layers.some((layer) => layer.has('power_timeout'))) return settings;
  const slowestMs = Math.max(0, ...STEPS.flatMap((step) => steps[step].flatMap(({ methods }) => methods.map((method) => method.deviceMaxLatencyMs))));
  const powerTimeoutMs = Math.max(settings.timing.powerTimeoutMs, slowestMs);
  return { ...settings, timing: { ...settings.timing, powerTimeoutMs } };
}

/** The steps that times and proofs matter to. A cordon is one idempotent write to the API: it is done whatever the power's times are. */
function switchingSteps(steps: ResolvedSteps): Step[] {
  const isSwitching = (step: Step): boolean =>
    steps[step].some(({ methods }) => methods.some(({ kind, device }) => kind !== 'action' || device !== ''));
  return STEPS.filter((step) => step === 'power-management' || isSwitching(step));
}

interface Times {
  input: PlanInput;
  steps: ResolvedSteps;
  settings: NodeSettings;
  layers: readonly Settings[];
  cluster: Settings | undefined;
  where: string;
}

/** Told where the key stands that would mend it, in whichever ConfigMap. */
function checkTimes({ input, steps, settings, layers, cluster, where }: Times, clusterTiming: ClusterTiming, problems: Problems): void {
  const all = STEPS.flatMap((step) => steps[step].flatMap(({ methods }) => methods));
  const demands = {
    powerLevels: steps['power-management'].length,
    deviceMaxLatencyMs: Math.max(0, ...all.map((method) => method.deviceMaxLatencyMs)),
    ...blocklistExpiry(steps.isolation, input.configuration),
  };
  const written = new SettingReader(layers, problems);
  const daemon = readDaemonTimes(
    (key) => written.find(key),
    (key) => cluster?.get(key),
    settings.minimumEvidence,
  );
  for (const { severity, keys, message } of checkTiming(settings.timing, demands, clusterTiming, daemon)) {
    const setting = keys.map((key) => written.find(key)).find((found) => found !== undefined);
    problems[severity](setting?.where ?? where, message);
  }
}

/** The shortest time after which a storage forgets what isolation told it. */
function blocklistExpiry(isolation: ResolvedSteps['isolation'], { registry }: Configuration): { blocklistExpiryMs?: number } {
  const methods = isolation.flatMap((level) => level.methods);
  const expiries = methods.flatMap(({ agent, parameters }) => registry.find(agent)?.forgetsAfterMs?.(parameters) ?? []);
  return expiries.length === 0 ? {} : { blocklistExpiryMs: Math.min(...expiries) };
}

/** The steps that ConfigMaps give a node; its problems are told where it is planned. Without facts only its own ConfigMap can be read. */
export function stepsOf(name: string, facts: NodeFacts | undefined, configuration: Configuration): ResolvedSteps {
  const ignored = new Problems();
  const known = lookupFor(facts ?? { name, labels: {}, annotations: {}, addresses: [] }, configuration, ignored);
  const lookup = facts === undefined ? { ...known, groupLayer: undefined } : known;
  if (lookup.nodeLayer === undefined && lookup.groupLayer === undefined) return { isolation: [], 'power-management': [], recovery: [] };
  return resolveSteps(lookup, {}, ignored).steps;
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

function frozenMethod({ where: _where, shared: _shared, isUndoneByOthers: _others, undoneBy: _undone, ...method }: ResolvedMethod): PlanMethod {
  return method;
}

function resolveSteps(
  lookup: MethodLookup,
  { secretKeys, asked, owners, machines }: Pick<PlanInput, 'secretKeys' | 'asked' | 'owners' | 'machines'>,
  problems: Problems,
): { steps: ResolvedSteps; source: Plan['source'] } {
  const steps: Record<Step, ResolvedLevel[]> = { isolation: [], 'power-management': [], recovery: [] };
  if (asked !== undefined) {
    const isolation = levelSettings(lookup, 'isolation', new Problems()).map(({ setting }) => parseList(setting.value));
    Object.assign(steps, askedSteps({ lookup, secretKeys }, asked, { isolation, others: { owners, machines }, problems }));
  }
  for (const step of asked === undefined ? STEPS : (['recovery'] as const)) {
    const own = new Problems(step);
    steps[step] = stepLevels(lookup, step, secretKeys, own);
    problems.take(own.all());
  }
  return { steps, source: sourceOf(lookup, problems) };
}

function stepLevels(lookup: MethodLookup, step: Step, secretKeys: SecretKeys | undefined, problems: Problems): ResolvedLevel[] {
  return levelSettings(lookup, step, problems).map(({ level, setting }) => ({
    level,
    methods: levelMethods(lookup, step, setting, secretKeys, problems),
  }));
}

function sourceOf(lookup: MethodLookup, problems: Problems): Plan['source'] {
  if (lookup.nodeLayer !== undefined) return 'node';
  if (lookup.groupLayer !== undefined) return 'group';
  if (cloudInstance(lookup.node) !== undefined) return 'default';
  const { name, providerID } = lookup.node;
  const config = `ConfigMap ${NODE_CONFIG_PREFIX}${name}`;
  const known = providerID === undefined ? '' : ` (its providerID ${providerID.slice(0, 100)} names no cloud that is known)`;
  const message = `nothing says how node ${name} is switched off${known}: create ${config} with power_management= and its methods; until then the node is only cordoned`;
  problems.error(config, message, 'power-management');
  return 'none';
}

/** Without a ConfigMap of its own, and of a group, a node of a cloud is restarted through that cloud. */
function defaultSteps({ nodeLayer, groupLayer, node }: MethodLookup): Readonly<Record<Step, string>> {
  const isUnconfigured = nodeLayer === undefined && groupLayer === undefined;
  return isUnconfigured && cloudInstance(node) !== undefined ? { ...DEFAULT_STEPS, 'power-management': RESTART_INSTANCE } : DEFAULT_STEPS;
}

interface LevelSetting {
  level: number;
  setting: Setting;
}

/** The lists of methods of a step: the node's, else the group's, else the default, per key. */
function levelSettings(lookup: MethodLookup, step: Step, problems: Problems): LevelSetting[] {
  const key = STEP_NAMES[step];
  const layers = [lookup.nodeLayer, lookup.groupLayer].flatMap((layer) => (layer === undefined ? [] : [layer.settings]));
  const reader = new SettingReader(layers, problems);
  const { name, providerID } = lookup.node;
  const usual: Setting = {
    key,
    value: defaultSteps(lookup)[step],
    where: `Node ${name}${providerID === undefined ? '' : `, providerID ${providerID.slice(0, 100)}`}`,
  };
  const levels: LevelSetting[] = [{ level: 1, setting: filled(lookup, reader.find(key) ?? usual, problems) }];
  // Whoever empties a step means all of it: the levels of a layer behind that one are no part of it.
  const first = layers.findIndex((settings) => settings.has(key));
  const isEmptied = parseList(layers[first]?.get(key)?.value ?? key).length === 0;
  const further = isEmptied ? new SettingReader(layers.slice(0, first + 1), problems) : reader;
  for (let level = 2; level <= LEVELS_MAX; level += 1) {
    const written = further.find(`${key}.${level}`);
    if (written === undefined || parseList(written.value).length === 0) continue;
    const setting = filled(lookup, written, problems);
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
