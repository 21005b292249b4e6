import { isAlias, isMap, isScalar, isSeq } from 'yaml';
import type { YAMLMap } from 'yaml';
import { REMEDY_LIMITS } from '../../domain/remedy/configuration.ts';
import type { ContainerReferences, Json, PodTemplateRemedy, Remedy } from '../../domain/remedy/configuration.ts';
import type { Reading } from './reading.ts';
import { shown } from './reading.ts';

const DOES = ['podTemplate', 'fenceMethods', 'fence'];
const REMEDY_KEYS = ['name', ...DOES, 'runOn'];
const CONTAINERS = ['containers', 'initContainers'] as const;

/** The remedyConfigs of one Configuration by name. One with an error has a name too: what uses it is not told twice. */
export function readRemedyConfigs(reading: Reading, map: YAMLMap): ReadonlyMap<string, Remedy | undefined> {
  const found = new Map<string, Remedy | undefined>();
  for (const item of reading.items(map, 'remedyConfigs')) {
    const config = reading.map(item, 'a remedyConfig');
    if (config === undefined) continue;
    const remedy = readRemedy(reading, config);
    const name = reading.text(config, 'name');
    if (name === undefined) reading.error(config, 'a remedyConfig needs a name');
    else if (found.has(name)) reading.error(config, `there is a remedyConfig ${shown(name)} already: rename one of them`, 'name');
    else found.set(name, remedy);
  }
  return found;
}

function readRemedy(reading: Reading, map: YAMLMap): Remedy | undefined {
  reading.keys(map, REMEDY_KEYS);
  const [does, ...more] = DOES.filter((key) => map.has(key));
  if (does === undefined || more.length > 0) {
    reading.error(map, `a remedyConfig needs exactly one of ${DOES.join(', ')}`);
    return undefined;
  }
  if (does === 'podTemplate') return readTemplate(reading, map);
  if (map.has('runOn')) reading.error(map, 'runOn is for a podTemplate', 'runOn');
  if (does === 'fence') {
    if (!reading.isTrue(map, 'fence')) reading.error(map, 'fence must be true: leave the remedyConfig out otherwise', 'fence');
    return { kind: 'fence' };
  }
  const methods = reading.names(map, 'fenceMethods');
  if (methods.length > REMEDY_LIMITS.methods) reading.error(map, `fenceMethods may name ${REMEDY_LIMITS.methods} methods at most`, 'fenceMethods');
  return { kind: 'fenceMethods', methods };
}

function readTemplate(reading: Reading, config: YAMLMap): PodTemplateRemedy | undefined {
  const where = config.get('runOn') === undefined ? 'other' : reading.text(config, 'runOn');
  if (where !== 'other' && where !== 'target') reading.error(config, 'runOn must be target: without it the pod never runs on the sick node', 'runOn');
  const template = reading.map(config.get('podTemplate', true), 'podTemplate');
  if (template === undefined) return undefined;
  reading.keys(template, ['metadata', 'spec']);
  const spec = template.get('spec', true);
  if (!isMap(spec)) {
    reading.error(config, 'podTemplate needs spec.containers', 'podTemplate');
    return undefined;
  }
  const references = CONTAINERS.flatMap((key) => readContainers(reading, spec, key));
  if (reading.items(spec, 'containers').length === 0) reading.error(spec, 'podTemplate needs spec.containers');
  if (reading.someText(spec, 'restartPolicy') === 'Always')
    reading.error(spec, 'restartPolicy must be Never or OnFailure: the Job must come to an end', 'restartPolicy');
  if (spec.has('nodeName')) reading.error(spec, 'nodeName must not be there: runOn says whether the pod runs on the sick node', 'nodeName');
  if (template.has('metadata') && !isMap(template.get('metadata', true))) reading.error(template, 'metadata must be a map', 'metadata');
  return {
    kind: 'podTemplate',
    template: {
      ...(isMap(template.get('metadata', true)) && { metadata: objectOf(reading.json(template, 'metadata')) }),
      spec: withoutReferences(objectOf(reading.json(template, 'spec'))),
    },
    references,
    runOn: where === 'target' ? 'target' : 'other',
  };
}

function readContainers(reading: Reading, spec: YAMLMap, key: (typeof CONTAINERS)[number]): ContainerReferences[] {
  return reading.items(spec, key).flatMap((item): ContainerReferences[] => {
    const container = reading.map(item, 'a container');
    if (container === undefined) return [];
    for (const needed of ['name', 'image'] as const) {
      if ((reading.text(container, needed) ?? '') === '') reading.error(container, `a container needs ${needed === 'name' ? 'a name' : 'an image'}`);
    }
    const env = container.get('env', true);
    if (isAlias(env) || (isSeq(env) && env.items.some(isAlias)))
      reading.error(container, 'env must be written out: a name behind an alias is read by nobody', 'env');
    const secrets = isSeq(env) ? env.items.flatMap((one) => (isScalar(one) ? String(one.value) : [])) : [];
    const configMaps = container.has('configmaps') ? reading.names(container, 'configmaps') : [];
    if (secrets.length === 0 && configMaps.length === 0) return [];
    return [{ container: reading.text(container, 'name') ?? '', isInit: key === 'initContainers', secrets, configMaps }];
  });
}

type JsonObject = Readonly<Record<string, Json>>;

function objectOf(value: Json | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

/** What is left is a pod as Kubernetes knows it. */
function withoutReferences(spec: JsonObject): JsonObject {
  const cleaned = CONTAINERS.flatMap((key) => {
    const list = spec[key];
    return Array.isArray(list) ? [[key, list.map((one) => withoutNames(objectOf(one as Json)))] as const] : [];
  });
  return { ...spec, ...Object.fromEntries(cleaned) };
}

function withoutNames({ configmaps: _configmaps, env, ...rest }: JsonObject): JsonObject {
  const kept: readonly Json[] = Array.isArray(env) ? (env as readonly Json[]).filter((one) => typeof one === 'object') : [];
  return { ...rest, ...(kept.length > 0 && { env: kept }) };
}
