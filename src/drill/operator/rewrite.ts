import { CLUSTER_CONFIG, CONFIG_KEY, NODE_CONFIG_PREFIX } from '../../config/configuration.ts';
import { canonicalKey } from '../../config/properties.ts';
import type { ConfigMap } from '../../ports/objects.ts';
import { FENCE_NAMESPACE } from '../run/scene-configuration.ts';

/** The text with the chosen keys' lines made comments, so that all others keep their numbers, and new lines at its end. */
export function rewritten(text: string, isReplaced: (key: string) => boolean, added: Readonly<Record<string, string>>): string {
  const lines = text.split(/\r\n|\n|\r/).map((line) => {
    const key = line.slice(0, Math.max(0, line.indexOf('='))).trim();
    return key !== '' && !key.startsWith('#') && isReplaced(key) ? '# replaced by the drill' : line;
  });
  return [...lines, ...Object.entries(added).map(([key, value]) => `${key}=${value}`)].join('\n');
}

/** `--set` over what is written: out of every ConfigMap of a node or a group, into the cluster's. */
export function withSettings(configMaps: readonly ConfigMap[], settings: Readonly<Record<string, string>>): ConfigMap[] {
  const keys = new Map(Object.entries(settings).map(([key, value]) => [canonicalKey(key), value]));
  if (keys.size === 0) return [...configMaps];
  const cluster = configMaps.some(({ metadata }) => metadata.name === CLUSTER_CONFIG)
    ? []
    : [{ metadata: { name: CLUSTER_CONFIG, namespace: FENCE_NAMESPACE }, data: { [CONFIG_KEY]: '' } }];
  return [...configMaps, ...cluster].map((configMap) => {
    const { name } = configMap.metadata;
    const text = configMap.data?.[CONFIG_KEY];
    if (text === undefined || (name !== CLUSTER_CONFIG && !name.startsWith(NODE_CONFIG_PREFIX))) return configMap;
    const added = name === CLUSTER_CONFIG ? Object.fromEntries(keys) : {};
    const data = { ...configMap.data, [CONFIG_KEY]: rewritten(text, (key) => keys.has(canonicalKey(key)), added) };
    return { ...configMap, data };
  });
}
