import { DEFAULT_MAX_FENCES_PER_DAY } from '../domain/budget.ts';
import { DEFAULT_TIMING } from '../domain/plan.ts';
import { DAEMON_TIME_KEYS } from '../domain/node-daemon/times.ts';
import type { EvidenceKind, Plan, Timing } from '../domain/plan.ts';
import type { ClusterTiming } from '../domain/timing-cluster.ts';
import { DEFAULT_DAEMON_TIMING } from '../domain/timing-daemon.ts';
import type { AgentRegistry } from '../ports/agents.ts';
import { CLUSTER_CONFIG, NODE_CONFIG_PREFIX, SELECTOR_KEY } from './configuration.ts';
import type { Setting, Settings } from './configuration.ts';
import { checkDormant, checkForm, DORMANT_KEYS } from './dormant-keys.ts';
import { readKdump } from './kdump-settings.ts';
import { nearest } from './nearest.ts';
import {
  CLUSTER_DURATION_KEYS,
  DURATION_KEYS,
  EVIDENCE_WORDS,
  FENCE_KEY,
  LEVELS_MAX,
  OTHER_KEYS,
  POLICIES_KEY,
  PRESERVED_WORDS,
  PROFILES,
  RELEASE_MODES,
  STEP_KEYS,
} from './node-keys.ts';
import { parameterNames } from './parameter-names.ts';
import type { Problems } from './problems.ts';
import { readPace } from './release-settings.ts';
import { SettingReader } from './setting-reader.ts';
import { canonicalKey, parseDuration, parseList } from './properties.ts';
import { lookup } from '../domain/lookup.ts';

/** A BMC has better things to do. */
const PROBE_INTERVAL_MIN_MS = 10_000;

const STEP_KEY = /^(isolation|power_management|recovery)(?:\.(.*))?$/;

export type NodeSettings = Pick<
  Plan,
  | 'timing'
  | 'stepRetries'
  | 'maxRestarts'
  | 'maxFencesPerDay'
  | 'trigger'
  | 'release'
  | 'preserved'
  | 'podsPerMinute'
  | 'priorityOrder'
  | 'minimumEvidence'
  | 'identity'
  | 'supplies'
  | 'probeIntervalMs'
  | 'fastDetectionMs'
  | 'kdump'
>;

/** Who hears of a bad value: a node is isolated though the times of its power-management are wrong. */
export interface SettingProblems {
  /** Spoils every step. */
  general: Problems;
  /** Spoils what switches something. */
  switching: Problems;
}

/** Everything of a plan but its steps. The first layer that has a key wins. */
export function readNodeSettings(layers: readonly Settings[], { general, switching }: SettingProblems): NodeSettings {
  const isolating = new SettingReader(layers, general);
  const reader = new SettingReader(layers, switching);
  const lenient = new SettingReader(layers, switching, true);
  const profile = isolating.choice('profile', 'default', Object.keys(PROFILES));
  const base: Timing = { ...DEFAULT_TIMING, ...PROFILES[profile] };
  const timing = { ...base };
  for (const [key, { field, minimumMs, isOfIsolation, isOfAftermath }] of Object.entries(DURATION_KEYS)) {
    const strict = isOfIsolation === true ? isolating : reader;
    timing[field] = (isOfAftermath === true ? lenient : strict).duration(key, base[field], minimumMs);
  }
  const hasSupplies = reader.find('supplies') !== undefined;
  return {
    timing,
    stepRetries: isolating.integer('step_retries', 5, 0, 1000),
    maxRestarts: lenient.integer('max_restarts', 3, -1, 1_000_000),
    maxFencesPerDay: lenient.integer('max_fences_per_day', DEFAULT_MAX_FENCES_PER_DAY, 1, 1_000_000),
    trigger: isolating.choice('trigger', 'not-ready', ['not-ready']),
    release: reader.choice('release', 'auto', RELEASE_MODES),
    ...readPreserved(reader),
    ...readPace(reader, switching),
    minimumEvidence: readEvidence(reader.find('minimum_evidence'), switching),
    identity: reader.choice('identity', 'verified', ['verified', 'unverified']),
    ...readProbeInterval(reader.find('probe_interval'), switching),
    ...readFastDetection(lenient, profile),
    ...readKdump(lenient),
    ...(hasSupplies && { supplies: reader.integer('supplies', 1, 1, 16) }),
  };
}

/** Absent where nobody wrote it, so that a frozen plan stays what it was. */
function readPreserved(reader: SettingReader): Pick<NodeSettings, 'preserved'> {
  if ((reader.find('preserved')?.value ?? '') === '') return {};
  return { preserved: reader.choice('preserved', 'isolate-and-hold', PRESERVED_WORDS) };
}

/** A bad value keeps nobody from fencing: the usual interval stands in. */
function readProbeInterval(setting: Setting | undefined, problems: Problems): Pick<NodeSettings, 'probeIntervalMs'> {
  if (setting === undefined || setting.value === '') return {};
  const probeIntervalMs = parseDuration(setting.value);
  if (probeIntervalMs !== undefined && probeIntervalMs >= PROBE_INTERVAL_MIN_MS) return { probeIntervalMs };
  const rule = `must be a duration such as 90s, 10m or 1h30m, at least ${PROBE_INTERVAL_MIN_MS / 1000}s; the default applies`;
  problems.warning(setting.where, `probe_interval=${setting.value.slice(0, 60)} ${rule}`);
  return {};
}

/** A bad value keeps nobody from fencing: Kubernetes still says when a node is lost. */
function readFastDetection(reader: SettingReader, profile: string): Pick<NodeSettings, 'fastDetectionMs'> {
  const isOn = reader.boolean('fast_detection', profile === 'fast');
  const timeoutMs = reader.duration('heartbeat_timeout', DEFAULT_DAEMON_TIMING.heartbeatTimeoutMs, 1_000);
  return isOn ? { fastDetectionMs: timeoutMs } : {};
}

/** Nothing readable admits the strictest set, never none and never more. */
function readEvidence(setting: Setting | undefined, problems: Problems): EvidenceKind[] {
  const strict = [...(EVIDENCE_WORDS['read-back'] ?? [])];
  if (setting === undefined) return strict;
  const words = parseList(setting.value.toLowerCase());
  const unknown = words.filter((word) => lookup(EVIDENCE_WORDS, word) === undefined);
  if (words.length === 0 || unknown.length > 0) {
    problems.error(setting.where, `minimum_evidence ${unknown.join(' ')} must be of ${Object.keys(EVIDENCE_WORDS).join(', ')}`);
    return strict;
  }
  return [...new Set(words.flatMap((word) => lookup(EVIDENCE_WORDS, word) ?? []))];
}

/** How the cluster behaves, where its ConfigMap says so. */
export function readClusterTiming(reader: SettingReader, otherwise: ClusterTiming): ClusterTiming {
  const timing = { ...otherwise };
  for (const [key, field] of Object.entries(CLUSTER_DURATION_KEYS)) timing[field] = reader.duration(key, otherwise[field], 1);
  return timing;
}

/** Unknown keys are warned of, and so are keys that nothing acts upon yet; their values are checked all the same. */
export function checkKeys(settings: Settings, isCluster: boolean, registry: AgentRegistry, problems: SettingProblems): void {
  for (const setting of settings.values()) {
    const { key, where } = setting;
    const form = lookup(DORMANT_KEYS, key);
    if (isCluster && key === FENCE_KEY)
      problems.general.error(where, `${FENCE_KEY}= belongs in the ConfigMap of a node or a group: it can not be set for the whole cluster`);
    else if (isCluster && key === SELECTOR_KEY)
      problems.general.error(
        where,
        `${SELECTOR_KEY}= selects nothing here: ${CLUSTER_CONFIG} is of every node; write it into a ${NODE_CONFIG_PREFIX}<group>, or into a policy`,
      );
    else if (isCluster && key === 'node_name') problems.general.warning(where, `node_name= means nothing here: ${CLUSTER_CONFIG} is of every node`);
    else if (Object.hasOwn(DAEMON_TIME_KEYS, key)) checkDaemonTime(setting, isCluster, problems.switching);
    else if (form !== undefined) checkDormant(setting, form, problems.switching);
    else if (Object.hasOwn(DURATION_KEYS, key) || OTHER_KEYS.includes(key)) continue;
    else if (!isCluster && STEP_KEY.test(key)) checkLevel(setting, problems.switching);
    else if (isCluster && (Object.hasOwn(CLUSTER_DURATION_KEYS, key) || key === POLICIES_KEY || isAgentDefault(key, registry))) continue;
    else problems.general.warning(where, `unknown key ${key.slice(0, 60)}: ${meantKey(key, knownKeys(isCluster))}`);
  }
}

/** All daemons are told the same; one that is to differ is told by its own flag. */
function checkDaemonTime(setting: Setting, isCluster: boolean, problems: Problems): void {
  const { key, where } = setting;
  const { leastMs, mostMs } = DAEMON_TIME_KEYS[key as keyof typeof DAEMON_TIME_KEYS];
  if (isCluster) checkForm(setting, { kind: 'duration', minimumMs: leastMs, maximumMs: mostMs }, problems);
  else
    problems.warning(
      where,
      `${key} is read in ${CLUSTER_CONFIG} only: write it there for all nodes, or start the daemon of this one with --${key.replaceAll('_', '-')}`,
    );
}

/** A level that nobody would read is a step that is not done. */
function checkLevel({ key, where }: Setting, problems: Problems): void {
  const [, step = '', level] = STEP_KEY.exec(key) ?? [];
  const isRead = level === undefined || (/^[2-9]$/.test(level) && Number(level) <= LEVELS_MAX);
  if (!isRead) problems.error(where, `${key.slice(0, 60)} is no level: write ${step}, then ${step}.2 to ${step}.${LEVELS_MAX}`);
}

/** A known key with something behind it was most likely meant too: `power_managment_level`. */
function meantKey(key: string, known: readonly string[]): string {
  const words = key.split('_');
  const heads = words.map((_, index) => words.slice(0, words.length - index).join('_'));
  const meant = nearest(key, known) ?? heads.map((head) => nearest(canonicalKey(head), known)).find((name) => name !== undefined);
  if (meant === undefined) return 'it is ignored';
  const next = STEP_KEYS.includes(meant) ? `, or ${meant}.2 for its next level` : '';
  return `did you mean ${meant}${next}?`;
}

function knownKeys(isCluster: boolean): string[] {
  const common = [...Object.keys(DURATION_KEYS), ...OTHER_KEYS, ...Object.keys(DORMANT_KEYS)];
  return [...common, ...(isCluster ? [...Object.keys(CLUSTER_DURATION_KEYS), ...Object.keys(DAEMON_TIME_KEYS), POLICIES_KEY] : STEP_KEYS)];
}

function isAgentDefault(key: string, registry: AgentRegistry): boolean {
  const dot = key.indexOf('.');
  const definition = dot < 0 ? undefined : registry.find(key.slice(0, dot));
  return definition !== undefined && parameterNames(definition)(key.slice(dot + 1)) !== undefined;
}
