import type { Wiring } from '../../testbed/devices/bmc/wiring.ts';
import type { ConfigMap, Secret } from '../../ports/objects.ts';
import { CSI_DRIVER } from '../../testbed/cluster/kinds.ts';
import type { HostDevice } from '../../testbed/operators/power/host-power.ts';
import { FILER } from './filer.ts';
import { POOL } from '../../testbed/operators/fleet.ts';
import type { FaultScene, ScenePool } from '../faults/scenes.ts';
import { SHORT_SETTINGS } from './options.ts';
import type { Agent, DrillOptions } from './options.ts';

export const FENCE_NAMESPACE = 'nodefence-system';
/** A machine in the same room that is no node of the cluster. */
export const STRANGER = 'stranger-1';

/** Where a device is reached. */
export interface DeviceAddress {
  host: string;
  port: number;
  /** SHA-256 of its certificate; empty for a BMC without one. */
  fingerprint: string;
}

export interface Bmc extends DeviceAddress {
  node: string;
  /** Further devices on the same machine, as its wiring has them. */
  others?: readonly DeviceAddress[];
}

export interface Credentials {
  username: string;
  password: string;
  caPem: string;
}

/** `scene`: what the fault wants to be otherwise; `led`: a node whose methods name another machine's device. */
export interface ConfigurationWishes extends Pick<DrillOptions, 'settings' | 'agent'> {
  scene: FaultScene;
  /** Parameters of the filer that a scene with one has. */
  filer?: Record<string, string>;
  led: { node: string; to: string } | undefined;
}

/** Storm policies of every drill: its controllers have just started, and its delays are short. All others are as an installation has them. */
export const POLICIES: NonNullable<FaultScene['policies']> = { 'startup-grace': { enabled: 'no' }, cooldown: { duration: '8s' } };

/** The seed's ConfigMaps for every node: `fence-config-<node>` with inline methods, one template, one Secret, the cluster's settings, storm policies. */
export function fenceConfiguration(
  bmcs: readonly Bmc[],
  credentials: Credentials,
  { settings, agent, scene, led, filer }: ConfigurationWishes,
): { configMaps: ConfigMap[]; secrets: Secret[] } {
  const cluster = properties({ ...SHORT_SETTINGS, ...scene.settings, ...settings });
  const devices = bmcs.map((bmc) => ({ ...(bmcs.find(({ node }) => led?.node === bmc.node && led.to === node) ?? bmc), node: bmc.node }));
  return {
    configMaps: [
      configMap('fence-cluster-config', { 'config.properties': cluster }),
      configMap(templateName(agent), { 'template.properties': properties({ ...templateOf(agent), ...scene.template }) }),
      ...policyConfigMaps({ ...POLICIES, ...scene.policies }),
      ...(scene.pool === undefined ? [] : [poolConfiguration(scene.pool)]),
      ...(scene.remedies === undefined ? [] : [configMap('fence-remedies', { 'remedies.yaml': scene.remedies })]),
      ...(filer === undefined ? [] : [configMap(templateName(FILER), { 'template.properties': properties(filer) })]),
      ...devices
        .filter(({ node }) => node !== STRANGER)
        .map((device) => nodeConfiguration(device, agent, scene.wiring))
        .map((each, index) => (filer === undefined ? each : withFiler(each, devices[index]?.node ?? ''))),
    ],
    secrets: [secretOf(agent, credentials)],
  };
}

/** Of a cluster whose machines are instances of a cloud: times and policies, and not a word of how a node is fenced. */
export function cloudConfiguration(
  { settings, scene }: Pick<ConfigurationWishes, 'settings' | 'scene'>,
  ofCloud: Readonly<Record<string, string>>,
): { configMaps: ConfigMap[]; secrets: Secret[] } {
  const cluster = properties({ ...SHORT_SETTINGS, ...ofCloud, ...scene.settings, ...settings });
  const policies = policyConfigMaps({ ...POLICIES, ...scene.policies });
  return { configMaps: [configMap('fence-cluster-config', { 'config.properties': cluster }), ...policies], secrets: [] };
}

/** Storm policies as ConfigMaps, by their names. */
export function policyConfigMaps(policies: NonNullable<FaultScene['policies']>): ConfigMap[] {
  return Object.entries(policies).map(([name, keys]) =>
    configMap(`fence-policy-${name}`, { 'config.properties': properties({ policy_name: name, ...keys }) }),
  );
}

/** ConfigMap `preservation-pools`, the one pool of the drill under its name. */
export function poolConfiguration({ zones: _zones, ...settings }: ScenePool): ConfigMap {
  return configMap('preservation-pools', { [POOL]: JSON.stringify(settings) });
}

/** What the agent logs in with. */
export function secretOf(agent: Agent, { username, password, caPem }: Credentials): Secret {
  const trust = agent === 'redfish' ? { ca: caPem } : {};
  return { metadata: { name: secretName(agent), namespace: FENCE_NAMESPACE }, data: base64({ username, password, ...trust }) };
}

/** How somebody else than the fence controller reaches a BMC. */
export function hostDevice({ host, port }: DeviceAddress, { username, password, caPem }: Credentials, agent: Agent): HostDevice {
  return { protocol: agent, host, port, username, password, caPem };
}

/** `fence-config-<node>`: isolated by a cordon, switched off and on at its devices. */
export function nodeConfiguration({ node, others = [], ...bmc }: Bmc, agent: Agent, wiring: Wiring = 'bmc'): ConfigMap {
  const names = NAMES[wiring](agent);
  const devices = [bmc, ...others];
  const method = ({ host, port }: DeviceAddress, action: 'on' | 'off'): string =>
    properties({ template: templateName(agent), ip: host, ipport: String(port), action });
  return configMap(`fence-config-${node}`, {
    'config.properties': properties({
      node_name: node,
      isolation: 'mark-unschedulable',
      ...levelsOf(names, wiring),
      recovery: 'mark-schedulable',
    }),
    ...Object.fromEntries(
      names.flatMap((name, index) => {
        const device = devices[index];
        if (device === undefined) throw new Error(`${node} has no device ${name}`);
        return (['off', 'on'] as const).map((action) => [`fence-method-${name}-${action}`, method(device, action)]);
      }),
    ),
  });
}

/** The same, and the node is shut out of the filer after its cordon, and let in before that is undone. */
function withFiler({ metadata, data = {} }: ConfigMap, node: string): ConfigMap {
  const method = (more: Record<string, string>): string => properties({ template: templateName(FILER), plug: node, client: node, ...more });
  const nodeKeys = (data['config.properties'] ?? '')
    .replace('isolation=mark-unschedulable', 'isolation=mark-unschedulable shut-out')
    .replace('recovery=mark-schedulable', 'recovery=let-in mark-schedulable');
  return {
    metadata,
    data: {
      ...data,
      'config.properties': nodeKeys,
      'fence-method-shut-out': method({ action: 'off', storage: FILER, storage_match: `driver:${CSI_DRIVER}` }),
      'fence-method-let-in': method({ action: 'on' }),
    },
  };
}

/** What the methods of a machine's devices are called, in the order of the devices. */
const NAMES: Readonly<Record<Wiring, (agent: Agent) => readonly string[]>> = {
  bmc: (agent) => [agent],
  supplies: () => ['supply-a', 'supply-b'],
  outlet: (agent) => [agent, 'outlet'],
};

/** Two supplies are one level, all off before the first on; an outlet is the second level after the BMC. */
function levelsOf(names: readonly string[], wiring: Wiring): Record<string, string> {
  const offAndOn = (together: readonly string[]): string =>
    (['off', 'on'] as const).flatMap((action) => together.map((name) => `${name}-${action}`)).join(' ');
  if (wiring !== 'outlet') return { power_management: offAndOn(names) };
  return { power_management: offAndOn(names.slice(0, 1)), 'power_management.2': offAndOn(names.slice(1)) };
}

function templateOf(agent: Agent): Record<string, string> {
  // Debian's ipmi_sim knows cipher suite 3 only.
  const own = agent === 'ipmi' ? { cipher: '3' } : {};
  return { agent_name: agent, secret: secretName(agent), device_max_latency: '10s', ...own };
}

function templateName(agent: string): string {
  return `fence-method-template-${agent}`;
}

function secretName(agent: Agent): string {
  return `secret-fence-${agent}`;
}

/** In the namespace of the fence configuration. */
export function configMap(name: string, data: Record<string, string>): ConfigMap {
  return { metadata: { name, namespace: FENCE_NAMESPACE }, data };
}

/** Lines of `key=value`. */
export function properties(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([key, value]) => `${key}=${value}\n`)
    .join('');
}

function base64(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]));
}
