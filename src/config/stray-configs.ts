import type { PlanProblem } from '../domain/plan.ts';
import { CLUSTER_CONFIG, CONFIG_KEY, METHOD_KEY, NODE_CONFIG_PREFIX, place, TEMPLATE_KEY } from './configuration.ts';
import type { Configuration, ConfigText } from './configuration.ts';
import { isRemedies } from './cluster-checks.ts';
import { nearest } from './nearest.ts';
import { POLICY_PREFIX } from './policies-written.ts';
import { Problems } from './problems.ts';

const METHOD_PREFIX = 'fence-method-';
const KINDS = [NODE_CONFIG_PREFIX, METHOD_PREFIX, POLICY_PREFIX].map((prefix) => prefix.slice(0, -1));
const DATA_KEYS: readonly string[] = [CONFIG_KEY, METHOD_KEY, TEMPLATE_KEY];

/** ConfigMaps that are meant for fencing, by their name or their keys, and that nobody reads. */
export function strayProblems(configuration: Configuration): PlanProblem[] {
  const problems = new Problems();
  const named = new Set([...configuration.configMaps.values()].flatMap(namedIn));
  for (const config of configuration.configMaps.values()) {
    if (isRead(config) || named.has(config.name)) continue;
    const isMeant = /^fenc/.test(config.name) || Object.keys(config.data).some((key) => DATA_KEYS.includes(key) || key.startsWith(METHOD_PREFIX));
    if (isMeant) problems.error(place(config), `nobody reads a ConfigMap of this name: ${meantName(config)}`);
  }
  return problems.all();
}

/** Keys of what configures nodes that nobody reads: what stands there looks as if it counted. */
export function strayKeys(configuration: Configuration): PlanProblem[] {
  const problems = new Problems();
  for (const config of configuration.configMaps.values()) {
    if (isRemedies(config) || (config.name !== CLUSTER_CONFIG && !config.name.startsWith(NODE_CONFIG_PREFIX))) continue;
    const isNodes = config.name !== CLUSTER_CONFIG;
    for (const key of Object.keys(config.data)) {
      if (key === CONFIG_KEY || (isNodes && key.startsWith(METHOD_PREFIX))) continue;
      problems.warning(place(config, key), `nobody reads a key of this name: ${meantKey(key, isNodes)}`);
    }
  }
  return problems.all();
}

function meantKey(key: string, isNodes: boolean): string {
  if (nearest(key, [CONFIG_KEY]) !== undefined) return `did you mean ${CONFIG_KEY}?`;
  if (!isNodes) return `everything stands under ${CONFIG_KEY}`;
  const [first = '', second = '', ...rest] = key.split(/[-_.]/);
  const isMethod = rest.length > 0 && nearest(`${first}-${second}`, [METHOD_PREFIX.slice(0, -1)]) !== undefined;
  return isMethod ? `did you mean ${METHOD_PREFIX}${rest.join('-')}?` : `steps stand under ${CONFIG_KEY}, a method under ${METHOD_PREFIX}<method>`;
}

/** Is there anything in it that is meant for fencing? */
export function holdsFencing(configuration: Configuration): boolean {
  return strayProblems(configuration).length > 0 || [...configuration.configMaps.values()].some((config) => isRead(config));
}

function isRead(config: ConfigText): boolean {
  const { name } = config;
  return name === CLUSTER_CONFIG || isRemedies(config) || KINDS.some((kind) => name.startsWith(`${kind}-`));
}

/** Of an agent that runs pods: `<ConfigMap>/<key>`, in a method, a template, a remedy, or for all nodes behind the agent's name. */
const POD_TEMPLATE = /(?:^|\.)(?:pod[_-]template|podTemplate)$/;

/** ConfigMaps that this one names. */
function namedIn(config: ConfigText): string[] {
  return Object.keys(config.data).flatMap((key) =>
    (config.properties(key)?.entries ?? []).flatMap((entry) => {
      if (entry.key === 'template') return [entry.value];
      return POD_TEMPLATE.test(entry.key) ? entry.value.split('/').slice(0, 1) : [];
    }),
  );
}

/** `fence-config-worker-1` for `fence-conf-worker-1`. */
function meantName({ name }: ConfigText): string {
  const [first = '', second = '', ...rest] = name.split('-');
  const kind = nearest(`${first}-${second}`, [...KINDS, 'fence-cluster']) ?? (/^fenc/.test(name) && /^conf/.test(second) ? KINDS[0] : undefined);
  if (kind === 'fence-cluster') return `did you mean ${CLUSTER_CONFIG}?`;
  if (kind !== undefined && rest.length > 0) return `did you mean ${kind}-${rest.join('-')}?`;
  return `${NODE_CONFIG_PREFIX}<node>, ${METHOD_PREFIX}<method>, ${POLICY_PREFIX}<policy>, ${CLUSTER_CONFIG}, or a name that template= or pod_template= gives`;
}
