import { CONFIG_KEY, METHOD_KEY, NODE_CONFIG_PREFIX } from '../../config/configuration.ts';
import { parameterNames } from '../../config/parameter-names.ts';
import type { MergedMethod } from '../../config/merged-method.ts';
import type { ConfigMap, Secret } from '../../ports/objects.ts';
import { FENCE_NAMESPACE } from '../run/scene-configuration.ts';
import type { Bmc } from '../run/scene-configuration.ts';
import type { PlayedPlan, RedfishMethod } from './played-plan.ts';
import { rewritten } from './rewrite.ts';

/** Where the device is, how it is trusted, and where in its tree the machine stands. Who the machine is stays as written. */
const REPLACED = new Set(['ip', 'ipport', 'ssl', 'scheme', 'ca', 'ssl_fingerprint', 'ssl_insecure', 'systems_uri', 'redfish_uri']);
/** Emptied where they are given: the pinned certificate stands instead. */
const EMPTIED = ['ssl', 'scheme', 'ca', 'ssl_insecure'];
const EMULATED_PATHS: Readonly<Record<string, string>> = { systems_uri: '/redfish/v1/Systems/1', redfish_uri: '/redfish/v1/' };

/**
 * A copy of the ConfigMaps in which every redfish method of these plans points to the node's emulated BMC. It stands inline in the node's own
 * ConfigMap, which comes first when a method is looked up: shared methods, groups and templates stay as they are.
 */
export function emulatedCopy(configMaps: readonly ConfigMap[], plans: readonly PlayedPlan[], bmcs: ReadonlyMap<string, Bmc>): ConfigMap[] {
  const copy = new Map(configMaps.map((configMap) => [configMap.metadata.name, configMap]));
  for (const { node, methods } of plans) {
    const bmc = bmcs.get(node);
    if (bmc === undefined) throw new Error(`no BMC was started for node ${node}`);
    const name = NODE_CONFIG_PREFIX + node;
    const own = copy.get(name) ?? { metadata: { name, namespace: FENCE_NAMESPACE }, data: { [CONFIG_KEY]: '' } };
    const inline = Object.fromEntries(methods.map((method) => [`fence-method-${method.name}`, pointed(method, bodyOf(method, configMaps), bmc)]));
    copy.set(name, { ...own, data: { ...own.data, ...inline } });
  }
  return [...copy.values()];
}

/** Secrets without what says how a device is trusted; the credentials stay. */
export function emulatedSecrets(secrets: readonly Secret[], plans: readonly PlayedPlan[]): Secret[] {
  const method = plans.flatMap(({ methods }) => methods)[0];
  const nameOf = method === undefined ? (): undefined => undefined : parameterNames(method.merged.definition);
  return secrets.map((secret) => ({
    ...secret,
    data: Object.fromEntries(Object.entries(secret.data ?? {}).filter(([key]) => !REPLACED.has(nameOf(key) ?? ''))),
  }));
}

function pointed({ merged }: RedfishMethod, body: string, bmc: Bmc): string {
  const nameOf = parameterNames(merged.definition);
  const emptied = EMPTIED.filter((name) => merged.parameters.has(name)).map((name): [string, string] => [name, '']);
  const paths = Object.entries(EMULATED_PATHS).filter(([name]) => merged.parameters.has(name));
  return rewritten(body, (key) => REPLACED.has(nameOf(key) ?? ''), {
    ...Object.fromEntries([...emptied, ...paths]),
    ip: bmc.host,
    ipport: String(bmc.port),
    ssl_fingerprint: bmc.fingerprint,
  });
}

/** The text of the method at the place that its `where` names. */
function bodyOf({ name, merged }: RedfishMethod, configMaps: readonly ConfigMap[]): string {
  const [config, key] = placeOf(merged);
  const data = configMaps.find(({ metadata }) => metadata.name === config)?.data ?? {};
  const text = data[key] ?? (key === METHOD_KEY ? Object.values(data)[0] : undefined);
  if (text === undefined) throw new Error(`method ${name} was not found at ${merged.where}`);
  return text;
}

function placeOf({ where }: MergedMethod): [config: string, key: string] {
  const [, config = '', key = ''] = /^ConfigMap (\S+), key (\S+)$/.exec(where) ?? [];
  return [config, key];
}
