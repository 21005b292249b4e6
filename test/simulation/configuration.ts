import type { Cluster } from '../../src/ports/cluster.ts';
import { CONFIG_MAPS, SECRETS } from '../../src/ports/resources.ts';
import type { Dumps } from './dumps/dumps.ts';
import type { DaemonTimes, NodeDaemons } from './node-daemons/node-daemons.ts';
import type { Configuration, Feed, Policies } from './scenario.ts';
import { wayKeys, wayMethods, waySteps } from './ways/configuration.ts';
import type { Ways } from './ways/ways.ts';

export const FENCE_NAMESPACE = 'nodefence-system';
const SECRET_NAME = 'bmc-credentials';
/** The password of every simulated BMC; it must turn up nowhere but in its Secret (P9). */
export const SECRET_TEXT = 'correct-horse-battery-staple';

/** The password after a rotation. */
export const ROTATED_TEXT = 'another-horse-another-staple';

const FAST = { fast_detection: 'yes' };
const TEMPLATE = 'fence-method-template-bmc';
const CLUSTER_MAP = 'fence-cluster-config';
const HELD_POLICY = 'fence-policy-max-unhealthy';

/** What an administrator writes for a world. */
export interface Written {
  nodes: readonly string[];
  configuration: Configuration;
  feed: Feed | undefined;
  withSecret: boolean;
  /** Nodes whose machines are somebody else's to switch. */
  never: readonly string[];
  /** Of the daemons of all nodes; absent: there are none, and no plan names a watchdog. */
  daemons?: Pick<NodeDaemons, 'level' | 'times' | 'isFast'> | undefined;
  /** Of crash kernels; absent: nobody waits for a dump. */
  dumps?: Dumps | undefined;
  /** Of storage, programs and paces; absent: none. */
  ways?: Ways | undefined;
}

/** The ConfigMaps that an administrator would write for these nodes, in the seed's own form. */
export async function createFenceConfiguration(admin: Pick<Cluster, 'create'>, written: Written): Promise<void> {
  const { nodes, configuration, feed } = written;
  await createMap(admin, CLUSTER_MAP, {
    'config.properties': propertiesOf({
      ...clusterSettings(configuration),
      ...dumpKeys(written.dumps),
      ...daemonTimeKeys(written.daemons?.times),
      ...(written.daemons?.isFast === true && FAST),
      ...wayKeys(written.ways),
    }),
  });
  for (const [name, settings] of Object.entries(policySettings(configuration.policies))) {
    await createMap(admin, `fence-policy-${name}`, { 'config.properties': propertiesOf({ policy_name: name, ...settings }) });
  }
  await createMap(admin, TEMPLATE, { 'template.properties': propertiesOf({ agent_name: 'sim-bmc', secret: SECRET_NAME }) });
  if (written.withSecret) {
    // Base64, as the API takes it.
    const data = { password: Buffer.from(SECRET_TEXT).toString('base64') };
    await admin.create(SECRETS, { metadata: { name: SECRET_NAME, namespace: FENCE_NAMESPACE }, data });
  }
  for (const node of written.never)
    await createMap(admin, `fence-config-${node}`, { 'config.properties': propertiesOf({ node_name: node, fence: 'never' }) });
  for (const node of nodes.filter((name) => !written.never.includes(name))) {
    await createMap(admin, `fence-config-${node}`, {
      'config.properties': propertiesOf({
        node_name: node,
        ...waySteps(node, written.ways, {
          isolation: 'cordon',
          ...powerSteps(feed),
          ...watchdogSteps(written.daemons?.level),
          ...dumpSteps(written.dumps?.evidence),
          recovery: 'uncordon',
        }),
      }),
      ...(written.dumps?.evidence !== undefined && { 'fence-method-dump': propertiesOf({ agent_name: 'kdump', action: 'run' }) }),
      ...(written.daemons !== undefined && { 'fence-method-itself': propertiesOf({ agent_name: 'watchdog' }) }),
      'fence-method-cordon': propertiesOf({ agent_name: 'cordon', action: 'run' }),
      'fence-method-uncordon': propertiesOf({ agent_name: 'uncordon', action: 'run' }),
      ...powerMethods(node, feed),
      ...Object.fromEntries(
        Object.entries(wayMethods(node, written.ways, SECRET_NAME)).map(([name, lines]) => [`fence-method-${name}`, propertiesOf(lines)]),
      ),
    });
  }
}

function clusterSettings(configuration: Configuration): Record<string, string> {
  return {
    isolation_delay: inSeconds(configuration.isolationDelayMs),
    power_management_delay: inSeconds(configuration.powerManagementDelayMs),
    step_retries: String(configuration.stepRetries),
    max_restarts: String(configuration.maxRestarts),
    ready_timeout: inSeconds(configuration.readyTimeoutMs),
    healthy_delay: inSeconds(configuration.healthyDelayMs),
    probation: inSeconds(configuration.probationMs),
    power_timeout: inSeconds(configuration.powerTimeoutMs),
    settle: inSeconds(configuration.settleMs),
    release_timeout: inSeconds(configuration.releaseTimeoutMs),
    release: configuration.release,
    ...(configuration.policies === 'off' ? { policies: '' } : {}),
  };
}

/** Policies that differ from their defaults, with their own keys. */
function policySettings(policies: Policies): Record<string, Record<string, string>> {
  const prompt = { 'startup-grace': { duration: '0s' } };
  switch (policies) {
    case 'off':
    case 'default':
      return {};
    case 'prompt':
      return prompt;
    case 'one-at-a-time':
      return { ...prompt, 'max-concurrent': { max: '1' } };
  }
}

function powerSteps(feed: Feed | undefined): Record<string, string> {
  switch (feed?.kind) {
    case undefined:
      return { power_management: 'bmc-off bmc-on' };
    case 'supplies':
      return { power_management: 'outlet-1-off outlet-2-off outlet-1-on outlet-2-on bmc-on' };
    case 'level':
      return { power_management: 'bmc-off bmc-on', 'power_management.2': 'outlet-1-off outlet-1-on bmc-on' };
    case 'two-outlets':
      return { power_management: 'bmc-off bmc-on', 'power_management.2': 'outlet-1-off outlet-2-off outlet-1-on outlet-2-on' };
    case 'outlets-first':
      return { power_management: 'outlet-1-off outlet-2-off outlet-1-on outlet-2-on bmc-on', 'power_management.2': 'bmc-off bmc-on' };
  }
}

/** After the BMC, or without it. */
function watchdogSteps(level: NodeDaemons['level'] | undefined): Record<string, string> {
  if (level === undefined) return {};
  const steps: Record<string, string> = level === 'only' ? { power_management: 'itself' } : { 'power_management.2': 'itself' };
  return { ...steps, minimum_evidence: 'power-off,ack,watchdog' };
}

/** The messages first, then the BMC. */
function dumpSteps(evidence: Dumps['evidence']): Record<string, string> {
  if (evidence === undefined) return {};
  const steps = { power_management: 'dump', 'power_management.2': 'bmc-off bmc-on' };
  return { ...steps, minimum_evidence: evidence === 'admitted' ? 'power-off,ack,kdump' : 'power-off,ack' };
}

function dumpKeys(dumps: Dumps | undefined): Record<string, string> {
  if (dumps === undefined) return {};
  const { startMs, finishedMs, maxMs, isArmed } = dumps.settings;
  return {
    kdump_enabled: 'yes',
    kdump_start_timeout: inSeconds(startMs),
    kdump_finished_timeout: inSeconds(finishedMs),
    kdump_max_duration: inSeconds(maxMs),
    kdump: isArmed ? 'yes' : 'no',
  };
}

function powerMethods(node: string, feed: Feed | undefined): Record<string, string> {
  const devices = ['bmc', ...(feed === undefined ? [] : feed.kind === 'level' ? ['outlet-1'] : ['outlet-1', 'outlet-2'])];
  const entries = devices.flatMap((device) =>
    (['off', 'on'] as const).map((action) => [
      `fence-method-${device}-${action}`,
      propertiesOf({ template: TEMPLATE, address: `${device}-${node}`, action }),
    ]),
  );
  return Object.fromEntries(entries) as Record<string, string>;
}

/** What somebody does to the failed node's configuration by mistake; `other` is another node. What was deleted before stays so. */
export async function editFenceConfiguration(
  admin: Pick<Cluster, 'get' | 'mergePatch' | 'remove'>,
  node: string,
  other: string,
  kind: 'address' | 'agent' | 'deleted',
): Promise<void> {
  const name = `fence-config-${node}`;
  if (kind === 'deleted') {
    await admin.remove(CONFIG_MAPS, name, { namespace: FENCE_NAMESPACE });
    return;
  }
  if ((await admin.get(CONFIG_MAPS, name, FENCE_NAMESPACE)) === undefined) {
    return;
  }
  const method = (action: 'on' | 'off'): string =>
    kind === 'address'
      ? propertiesOf({ template: TEMPLATE, address: `bmc-${other}`, action })
      : propertiesOf({ agent_name: 'no-such-agent', address: `bmc-${node}`, action });
  const data = { 'fence-method-bmc-off': method('off'), 'fence-method-bmc-on': method('on') };
  await admin.mergePatch(CONFIG_MAPS, name, { data }, { namespace: FENCE_NAMESPACE });
}

/** The settings of all nodes become nonsense; what is returned puts them back. */
export async function breakClusterSettings(
  admin: Pick<Cluster, 'mergePatch'>,
  configuration: Configuration,
  { dumps, ways }: Pick<Written, 'dumps' | 'ways'>,
): Promise<() => Promise<unknown>> {
  const write = (settings: Record<string, string>): Promise<unknown> =>
    admin.mergePatch(CONFIG_MAPS, CLUSTER_MAP, { data: { 'config.properties': propertiesOf(settings) } }, { namespace: FENCE_NAMESPACE });
  const right = { ...clusterSettings(configuration), ...dumpKeys(dumps), ...wayKeys(ways) };
  await write({ ...right, settle: 'soon', power_management_delay: '-1s' });
  return () => write(right);
}

/** Other times for the daemons of all nodes that start from now on. */
export function changeDaemonTimes(
  admin: Pick<Cluster, 'mergePatch'>,
  configuration: Configuration,
  { times, isFast }: { times: DaemonTimes; isFast: boolean },
): Promise<unknown> {
  const data = { 'config.properties': propertiesOf({ ...clusterSettings(configuration), ...daemonTimeKeys(times), ...(isFast && FAST) }) };
  return admin.mergePatch(CONFIG_MAPS, CLUSTER_MAP, { data }, { namespace: FENCE_NAMESPACE });
}

function daemonTimeKeys(times: DaemonTimes | undefined): Record<string, string> {
  if (times === undefined) return {};
  const { grantMs, isolationMs, podStopMs } = times;
  return { grant_validity: inSeconds(grantMs), isolation_timeout: inSeconds(isolationMs), pod_stop_max: inSeconds(podStopMs) };
}

/** A policy that holds everything, until what is returned takes it away. Two of one seed may overlap; the second says nothing new. */
export async function holdEverything(admin: Pick<Cluster, 'get' | 'create' | 'remove'>): Promise<() => Promise<unknown>> {
  if ((await admin.get(CONFIG_MAPS, HELD_POLICY, FENCE_NAMESPACE)) !== undefined) return () => Promise.resolve();
  await createMap(admin, HELD_POLICY, { 'config.properties': propertiesOf({ policy_name: 'max-unhealthy', max: '0' }) });
  return () => admin.remove(CONFIG_MAPS, HELD_POLICY, { namespace: FENCE_NAMESPACE });
}

/** The BMCs' password is changed; the devices take it when they take it. Without a Secret nothing happens. */
export async function rotateSecret(admin: Pick<Cluster, 'get' | 'mergePatch'>, password: string): Promise<void> {
  if ((await admin.get(SECRETS, SECRET_NAME, FENCE_NAMESPACE)) !== undefined) {
    const data = { password: Buffer.from(password).toString('base64') };
    await admin.mergePatch(SECRETS, SECRET_NAME, { data }, { namespace: FENCE_NAMESPACE });
  }
}

function createMap(admin: Pick<Cluster, 'create'>, name: string, data: Record<string, string>): Promise<unknown> {
  return admin.create(CONFIG_MAPS, { metadata: { name, namespace: FENCE_NAMESPACE }, data });
}

function propertiesOf(entries: Readonly<Record<string, string>>): string {
  return Object.entries(entries)
    .map(([key, value]) => `${key}=${value}`)
    .join('\n');
}

function inSeconds(milliseconds: number): string {
  return `${milliseconds / 1000}s`;
}
