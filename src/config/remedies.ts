import { isMap, isScalar, isSeq, LineCounter, parseAllDocuments } from 'yaml';
import type { Document, YAMLMap } from 'yaml';
import { REMEDY_LIMITS } from '../domain/remedy/configuration.ts';
import type { AlarmSetting, RemedyConfiguration } from '../domain/remedy/configuration.ts';
import { remediesFor } from '../domain/remedy/reach.ts';
import { place } from './configuration.ts';
import type { NamedConfig, NodeFacts } from './configuration.ts';
import { Problems } from './problems.ts';
import { Reading, shown } from './remedies/reading.ts';
import { readRemedyConfigs } from './remedies/remedy-configs.ts';
import { readThresholds } from './remedies/thresholds.ts';
import { parseSelector, selects } from './selector.ts';

export const REMEDY_GROUP = 'node-remedy';
const API_VERSION = `${REMEDY_GROUP}/v1alpha`;
/** Of an Event. */
const REASON_MAX = 128;
const CONFIGURATION_KEYS = ['apiVersion', 'kind', 'metadata', 'nodeSelector', 'thresholdConfigs', 'remedyConfigs', 'alarms'];

/** One text with Configurations in it, from a key of a ConfigMap or from a file. */
export interface RemedyText {
  /** Names its Configurations, unless they have names of their own. */
  readonly name: string;
  readonly text: string;
  readonly where: (line: number) => string;
}

/** The Configurations of ConfigMaps (`*.yaml`). One with an error is told and left out, whole: half of an escalation is none. */
export function readRemedies(configs: Iterable<NamedConfig>, problems: Problems): RemedyConfiguration[] {
  return readRemedyTexts(remedyTextsOf(configs, problems), problems);
}

export function remedyTextsOf(configs: Iterable<NamedConfig>, problems: Problems): RemedyText[] {
  return [...configs].flatMap((config): RemedyText[] => {
    const keys = Object.keys(config.data).filter((key) => /\.ya?ml$/.test(key));
    if (keys.length === 0) problems.warning(place(config), 'holds no key that ends in .yaml: remedies are read from such keys');
    return keys.map((key) => ({ name: `${config.name}/${key}`, text: config.data[key] ?? '', where: (line) => place(config, key, line) }));
  });
}

export function readRemedyTexts(texts: Iterable<RemedyText>, problems: Problems): RemedyConfiguration[] {
  const found = [...texts].flatMap((text) => readText(text, problems));
  const counts = Map.groupBy(found, ({ name }) => name);
  for (const [name, [first, ...others]] of counts) {
    for (const other of others)
      problems.error(other.where, `there is a Configuration ${shown(name)} already, in ${first?.where ?? ''}: rename one of them`);
  }
  return found.filter(({ name }) => counts.get(name)?.length === 1);
}

/** Two Configurations that answer the same condition of one node are told, with the first such node: neither acts. */
export function checkRemedyReach(
  configurations: readonly RemedyConfiguration[],
  nodes: Iterable<Pick<NodeFacts, 'name' | 'labels'>>,
  problems: Problems,
): void {
  const told = new Set<string>();
  const unmatched = new Set(configurations);
  for (const { name, labels } of nodes) {
    for (const configuration of unmatched) if (configuration.selects(labels)) unmatched.delete(configuration);
    for (const { condition, configurations: several } of remediesFor(configurations, labels).overlaps) {
      const names = several.map((one) => one.name).join(' and ');
      const [first] = several;
      if (first === undefined || told.has(`${condition} ${names}`)) continue;
      told.add(`${condition} ${names}`);
      problems.error(first.where, `${names} both answer ${condition} of node ${name}: neither does until their nodeSelectors differ`);
    }
  }
  for (const { where, selector } of unmatched) problems.warning(where, `its nodeSelector ${shown(selector ?? '')} matches no Node`);
}

function readText({ name, text, where }: RemedyText, problems: Problems): RemedyConfiguration[] {
  const counter = new LineCounter();
  const at = (offset: number): string => where(counter.linePos(offset).line);
  const documents = parseAllDocuments(text, { lineCounter: counter, prettyErrors: false }) as readonly Document[];
  return documents.flatMap((document, index) => {
    const own = new Problems();
    for (const { message, pos } of document.errors) own.error(at(pos[0]), `is not YAML: ${message}`);
    const isRead = document.errors.length === 0 && document.contents !== null;
    const read = isRead ? readConfiguration(new Reading(document, at, own), document, index === 0 ? name : `${name}#${index + 1}`) : undefined;
    const told = own.all();
    problems.take(told);
    return read === undefined || told.some(({ severity }) => severity === 'error') ? [] : [read];
  });
}

function readConfiguration(reading: Reading, { contents }: Document, given: string): RemedyConfiguration | undefined {
  const map = reading.map(contents, 'a Configuration');
  if (map === undefined) return undefined;
  reading.aliases('podTemplate');
  reading.keys(map, CONFIGURATION_KEYS);
  for (const [key, wanted] of [
    ['apiVersion', API_VERSION],
    ['kind', 'Configuration'],
  ] as const) {
    const written = reading.text(map, key);
    if (written !== wanted) reading.error(map, `${key} is ${written === undefined ? 'missing' : shown(written)}: it must be ${wanted}`, key);
  }
  const selector = readSelector(reading, map);
  const requirements = selector === undefined ? [] : parseSelector(selector);
  if (requirements === undefined) reading.error(map, `nodeSelector ${shown(selector ?? '')} is no selector`, 'nodeSelector');
  const metadata = map.get('metadata', true);
  const named = isMap(metadata) ? reading.text(metadata, 'name') : undefined;
  return {
    name: named ?? given,
    where: reading.place(map),
    ...(selector !== undefined && { selector }),
    selects: (labels) => selects(requirements ?? [], labels),
    thresholds: readThresholds(reading, map, readRemedyConfigs(reading, map)),
    alarms: readAlarms(reading, map),
  };
}

/** `type=compute`, a set-based text, a map of labels, or a LabelSelector; undefined: every node. */
function readSelector(reading: Reading, map: YAMLMap): string | undefined {
  const node = map.get('nodeSelector', true);
  if (node === undefined) return undefined;
  if (!isMap(node)) return reading.text(map, 'nodeSelector') ?? '';
  const isLabelSelector = node.has('matchLabels') || node.has('matchExpressions');
  if (isLabelSelector) reading.keys(node, ['matchLabels', 'matchExpressions']);
  const labels = isLabelSelector ? node.get('matchLabels', true) : node;
  const equal = isMap(labels)
    ? labels.items.flatMap(({ key }) => (isScalar(key) ? [`${String(key.value)}=${reading.text(labels, String(key.value)) ?? ' '}`] : []))
    : [];
  return [...equal, ...reading.items(node, 'matchExpressions').map((item) => expression(reading, item as YAMLMap))].join(',');
}

function expression(reading: Reading, item: YAMLMap): string {
  const map = reading.map(item, 'an item of matchExpressions');
  if (map === undefined) return '';
  const [key, operator] = [reading.text(map, 'key') ?? '', reading.text(map, 'operator')];
  const values = map.get('values', true);
  const list = isSeq(values) ? values.items.map((value) => (isScalar(value) ? String(value.value) : ' ')).join(',') : ' ';
  switch (operator) {
    case 'In':
      return `${key} in (${list})`;
    case 'NotIn':
      return `${key} notin (${list})`;
    case 'Exists':
      return key;
    case 'DoesNotExist':
      return `!${key}`;
    default:
      reading.error(map, 'operator must be In, NotIn, Exists or DoesNotExist', 'operator');
      return '';
  }
}

function readAlarms(reading: Reading, map: YAMLMap): AlarmSetting[] {
  const items = reading.items(map, 'alarms');
  if (items.length > REMEDY_LIMITS.alarms) reading.error(map, `there may be ${REMEDY_LIMITS.alarms} alarms at most`, 'alarms');
  return items.flatMap((item) => {
    const own = reading.map(item, 'an alarm');
    if (own === undefined) return [];
    reading.keys(own, ['reason', 'count', 'window']);
    const reason = reading.someText(own, 'reason');
    const count = reading.integer(own, 'count', 1, REMEDY_LIMITS.alarmCount);
    const windowMs = reading.durationMs(own, 'window');
    const missing = ['reason', 'count', 'window'].filter((key) => !own.has(key));
    if (reason !== undefined && reason.length > REASON_MAX) reading.error(own, `a reason has ${REASON_MAX} characters at most`, 'reason');
    if (missing.length > 0) reading.error(own, `an alarm needs ${missing.join(', ')}, such as {reason: KernelOops, count: 3, window: 24h}`);
    return reason === undefined || count === undefined || windowMs === undefined ? [] : [{ reason, count, windowMs, where: reading.place(own) }];
  });
}
