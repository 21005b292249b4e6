import { isScalar, isSeq } from 'yaml';
import type { Node as YamlNode, YAMLMap } from 'yaml';
import type { ReleaseMode } from '../../domain/plan.ts';
import {
  BUILT_IN_REMEDIES,
  DEFAULT_COOLDOWN_MS,
  DEFAULT_HEARTBEAT_PERIOD_MS,
  DEFAULT_MAX_ATTEMPTS,
  KUBELET_CONDITIONS,
  LATCHED_CONDITIONS,
  REMEDY_LIMITS,
} from '../../domain/remedy/configuration.ts';
import type { ConditionStatus, FlapTrigger, Remedy, RemedyUse, Threshold } from '../../domain/remedy/configuration.ts';
import { conditionsOf } from '../../domain/remedy/reach.ts';
import { didYouMean } from '../nearest.ts';
import type { Reading } from './reading.ts';
import { shown } from './reading.ts';
import { lookup } from '../../domain/lookup.ts';

const STATUS_KEYS = ['nodeConditionType', 'nodeConditionStatus', 'nodeConditionPeriod', 'recovery'];
const THRESHOLD_KEYS = [...STATUS_KEYS, 'flap', 'maxAttempts', 'cooldown', 'heartbeatPeriod', 'latched'];
/** `clean-resourece` is how the seed writes it. */
const CLEAN_KEYS = ['clean-resource', 'clean-resourece', 'clean_resources'];
const USE_KEYS = ['name', 'period', ...CLEAN_KEYS, 'release'];
const RELEASES: readonly ReleaseMode[] = ['auto', 'out-of-service', 'delete-pods', 'evict', 'none'];
const REMEDY_NUMBER = /^remedy([1-9]\d?)$/;
const STATUSES: Readonly<Record<string, ConditionStatus>> = { true: 'True', false: 'False', unknown: 'Unknown' };

type Remedies = ReadonlyMap<string, Remedy | undefined>;

/** The thresholdConfigs of one Configuration. What has an error is told and left out. */
export function readThresholds(reading: Reading, map: YAMLMap, remedies: Remedies): Threshold[] {
  const items = reading.items(map, 'thresholdConfigs');
  if (items.length > REMEDY_LIMITS.thresholds)
    reading.error(map, `there may be ${REMEDY_LIMITS.thresholds} thresholdConfigs at most`, 'thresholdConfigs');
  const taken = new Map<string, Threshold>();
  return items.flatMap((item) => {
    const own = reading.map(item, 'a thresholdConfig');
    const threshold = own === undefined ? undefined : readThreshold(reading, own, remedies);
    if (own === undefined || threshold === undefined) return [];
    for (const condition of conditionsOf(threshold)) {
      const other = taken.get(condition);
      if (other !== undefined) reading.error(own, `${condition} is answered already by ${other.where}: keep one of them`, 'nodeConditionStatus');
      taken.set(condition, threshold);
    }
    return [threshold];
  });
}

function readThreshold(reading: Reading, map: YAMLMap, remedies: Remedies): Threshold | undefined {
  const conditionType = reading.text(map, 'nodeConditionType') ?? '';
  if (conditionType === '') reading.error(map, 'a thresholdConfig needs nodeConditionType, such as Ready');
  const trigger = map.has('flap') ? readFlap(reading, map) : readStatuses(reading, map, conditionType);
  const written = reading.durationMs(map, 'nodeConditionPeriod');
  if (written === undefined && !map.has('flap') && !map.has('nodeConditionPeriod'))
    reading.error(map, 'nodeConditionPeriod must be a duration of at least 1s, such as 5s or 3m');
  const clearPeriodMs = written ?? (trigger?.kind === 'flap' ? trigger.windowMs : 0);
  const uses = readUses(reading, map, clearPeriodMs, remedies);
  const heartbeatPeriodMs = readHeartbeat(reading, map, conditionType);
  const limits = {
    maxAttempts: reading.integer(map, 'maxAttempts', 1, REMEDY_LIMITS.attempts) ?? DEFAULT_MAX_ATTEMPTS,
    cooldownMs: reading.durationMs(map, 'cooldown') ?? DEFAULT_COOLDOWN_MS,
    isLatched: map.has('latched') ? reading.isTrue(map, 'latched') : LATCHED_CONDITIONS.has(conditionType),
  };
  if (trigger === undefined || conditionType === '') return undefined;
  if (trigger.kind === 'flap' && limits.isLatched)
    reading.error(
      map,
      `a latched condition never flaps: write latched: false where ${shown(conditionType)} is taken back by whoever posts it`,
      'flap',
    );
  return {
    id: trigger.kind === 'flap' ? `${conditionType}~flap` : `${conditionType}=${trigger.statuses[0] ?? ''}`,
    where: reading.place(map),
    conditionType,
    trigger,
    periodMs: trigger.kind === 'flap' ? 0 : clearPeriodMs,
    clearPeriodMs,
    ...(heartbeatPeriodMs !== undefined && { heartbeatPeriodMs }),
    ...uses,
    ...limits,
  };
}

/** `Ready: false` is how people say that a node is not Ready, and a node that is lost is Unknown. */
function readStatuses(reading: Reading, map: YAMLMap, conditionType: string): Threshold['trigger'] | undefined {
  const status = lookup(STATUSES, (reading.text(map, 'nodeConditionStatus') ?? '').toLowerCase());
  if (status === undefined) {
    reading.error(map, 'nodeConditionStatus must be true, false or Unknown', 'nodeConditionStatus');
    return undefined;
  }
  return { kind: 'status', statuses: conditionType === 'Ready' && status === 'False' ? ['False', 'Unknown'] : [status] };
}

function readFlap(reading: Reading, map: YAMLMap): FlapTrigger | undefined {
  if (map.has('nodeConditionStatus')) reading.error(map, 'a thresholdConfig has nodeConditionStatus or flap, not both', 'flap');
  const flap = reading.map(map.get('flap', true), 'flap');
  if (flap === undefined) return undefined;
  reading.keys(flap, ['changes', 'window']);
  const changes = reading.integer(flap, 'changes', 2, REMEDY_LIMITS.flapChanges);
  const windowMs = reading.durationMs(flap, 'window');
  if (!flap.has('changes') || !flap.has('window')) reading.error(flap, 'flap needs changes and window, such as {changes: 5, window: 1h}');
  return changes === undefined || windowMs === undefined ? undefined : { kind: 'flap', changes, windowMs };
}

function readHeartbeat(reading: Reading, map: YAMLMap, conditionType: string): number | undefined {
  if (reading.text(map, 'heartbeatPeriod') === 'never') return undefined;
  if (!map.has('heartbeatPeriod')) return KUBELET_CONDITIONS.has(conditionType) ? undefined : DEFAULT_HEARTBEAT_PERIOD_MS;
  if (KUBELET_CONDITIONS.has(conditionType)) {
    reading.warning(map, `heartbeatPeriod is ignored: whether ${conditionType} is still true is told by the node's Lease`, 'heartbeatPeriod');
    return undefined;
  }
  return reading.durationMs(map, 'heartbeatPeriod');
}

function readUses(reading: Reading, map: YAMLMap, periodMs: number, remedies: Remedies): Pick<Threshold, 'remedies' | 'recovery'> {
  const written = map.items.flatMap(({ key }) => (isScalar(key) ? [String(key.value)] : [])).filter((key) => REMEDY_NUMBER.test(key));
  reading.keys(map, [...THRESHOLD_KEYS, ...written]);
  const numbers = written.map((key) => Number(REMEDY_NUMBER.exec(key)?.[1])).toSorted((a, b) => a - b);
  if (numbers.length === 0) reading.error(map, 'a thresholdConfig needs remedy1');
  const gap = numbers.findIndex((number, index) => number !== index + 1);
  if (gap >= 0) reading.error(map, `remedy${gap + 1} is missing: number the remedies from 1 without a gap`);
  if (numbers.length > REMEDY_LIMITS.remedies) reading.error(map, `there may be ${REMEDY_LIMITS.remedies} remedies at most`);
  const recovery = map.has('recovery') ? readUse(reading, map, 'recovery', periodMs, remedies) : undefined;
  return {
    remedies: numbers.flatMap((number) => readUse(reading, map, `remedy${number}`, periodMs, remedies) ?? []),
    ...(recovery !== undefined && { recovery }),
  };
}

/** A list of maps with one key each, as the seed writes it, or one map. */
function readUse(reading: Reading, map: YAMLMap, key: string, periodMs: number, remedies: Remedies): RemedyUse | undefined {
  const node = map.get(key, true) as YamlNode | undefined;
  const maps = isSeq(node) ? node.items.map((item) => reading.map(item as YamlNode, key)) : [reading.map(node, key)];
  const given = maps.filter((item) => item !== undefined);
  for (const item of given) reading.keys(item, USE_KEYS);
  for (const known of [['name'], ['period'], CLEAN_KEYS, ['release']]) {
    const holders = given.filter((item) => known.some((one) => item.has(one)));
    if (holders.length > 1) reading.error(holders[1] ?? map, `${key} says ${known[0] ?? ''} twice: keep one of them`);
  }
  const of = (name: string): YAMLMap => given.find((item) => item.has(name)) ?? given[0] ?? map;
  const cleanKey = CLEAN_KEYS.find((one) => given.some((item) => item.has(one)));
  const cleansResources = cleanKey !== undefined && reading.isTrue(of(cleanKey), cleanKey);
  const release = readRelease(
    reading,
    of('release'),
    given.some((item) => item.has('release')),
    cleansResources,
  );
  const period = given.some((item) => item.has('period')) ? reading.durationMs(of('period'), 'period') : undefined;
  const holder = given.find((item) => item.has('name'));
  const name = holder === undefined ? undefined : reading.text(holder, 'name');
  if (holder === undefined || name === undefined) {
    reading.error(map, `${key} needs a name`, key);
    return undefined;
  }
  const remedy = resolve(reading, holder, name, remedies);
  if (remedy === undefined) return undefined;
  if (key === 'recovery' && cleansResources) reading.warning(map, 'recovery lets no pods go: clean-resource is ignored', key);
  return {
    name,
    remedy,
    periodMs: period ?? periodMs,
    cleansResources: cleansResources && key !== 'recovery',
    ...(release !== undefined && { release }),
  };
}

function readRelease(reading: Reading, map: YAMLMap, isWritten: boolean, cleansResources: boolean): ReleaseMode | undefined {
  if (!isWritten) return undefined;
  const release = RELEASES.find((mode) => mode === reading.text(map, 'release'));
  if (release === undefined) reading.error(map, `release must be one of ${RELEASES.join(', ')}`, 'release');
  else if (!cleansResources) reading.warning(map, 'release is ignored: it says how clean-resource lets pods go', 'release');
  return release;
}

function resolve(reading: Reading, holder: YAMLMap, name: string, remedies: Remedies): Remedy | undefined {
  if (remedies.has(name)) return remedies.get(name);
  if (Object.hasOwn(BUILT_IN_REMEDIES, name)) return BUILT_IN_REMEDIES[name];
  const known = [...remedies.keys(), ...Object.keys(BUILT_IN_REMEDIES)];
  reading.error(holder, `remedy ${shown(name)} does not exist: ${didYouMean(name, known, 'add a remedyConfig of that name')}`, 'name');
  return undefined;
}
