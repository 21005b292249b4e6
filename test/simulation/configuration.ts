import type { Cluster } from '../../src/ports/cluster.ts';
import { CONFIG_MAPS, SECRETS } from '../../src/ports/resources.ts';
import type { Configuration } from './scenario.ts';

export const FENCE_NAMESPACE = 'nodefence-system';
const SECRET_NAME = 'bmc-credentials';
/** The password of every simulated BMC; it must turn up nowhere but in its Secret (P9). */
export const SECRET_TEXT = 'correct-horse-battery-staple';

/** The password after a rotation. */
export const ROTATED_TEXT = 'another-horse-another-staple';

/** The ConfigMaps that an administrator would write for these nodes, in the seed's own form. */
export async function createFenceConfiguration(
  admin: Pick<Cluster, 'create'>,
  nodes: readonly string[],
  configuration: Configuration,
  withSecret: boolean,
): Promise<void> {
  const clusterProperties = propertiesOf({
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
  });
  await createMap(admin, 'fence-cluster-config', { 'config.properties': clusterProperties });
  await createMap(admin, 'fence-method-template-bmc', { 'template.properties': propertiesOf({ agent_name: 'sim-bmc', secret: SECRET_NAME }) });
  if (withSecret) {
    // Base64, as the API takes it.
    const data = { password: Buffer.from(SECRET_TEXT).toString('base64') };
    await admin.create(SECRETS, { metadata: { name: SECRET_NAME, namespace: FENCE_NAMESPACE }, data });
  }
  for (const node of nodes) {
    await createMap(admin, `fence-config-${node}`, {
      'config.properties': propertiesOf({ node_name: node, isolation: 'cordon', power_management: 'bmc-off bmc-on', recovery: 'uncordon' }),
      'fence-method-cordon': propertiesOf({ agent_name: 'cordon', action: 'run' }),
      'fence-method-uncordon': propertiesOf({ agent_name: 'uncordon', action: 'run' }),
      'fence-method-bmc-off': propertiesOf({ template: 'fence-method-template-bmc', address: `bmc-${node}`, action: 'off' }),
      'fence-method-bmc-on': propertiesOf({ template: 'fence-method-template-bmc', address: `bmc-${node}`, action: 'on' }),
    });
  }
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
      ? propertiesOf({ template: 'fence-method-template-bmc', address: `bmc-${other}`, action })
      : propertiesOf({ agent_name: 'no-such-agent', address: `bmc-${node}`, action });
  const data = { 'fence-method-bmc-off': method('off'), 'fence-method-bmc-on': method('on') };
  await admin.mergePatch(CONFIG_MAPS, name, { data }, { namespace: FENCE_NAMESPACE });
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
