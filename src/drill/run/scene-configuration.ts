import type { ConfigMap, Secret } from '../../ports/objects.ts';
import { SHORT_SETTINGS } from './options.ts';

export const FENCE_NAMESPACE = 'nodefence-system';
const TEMPLATE = 'fence-method-template-redfish';
const SECRET = 'secret-fence-redfish';

export interface Bmc {
  node: string;
  host: string;
  port: number;
  /** SHA-256 of its certificate. */
  fingerprint: string;
}

export interface Credentials {
  username: string;
  password: string;
  caPem: string;
}

/** The seed's ConfigMaps for every node: `fence-config-<node>` with inline methods, one template, one Secret, the cluster's settings. */
export function fenceConfiguration(
  bmcs: readonly Bmc[],
  credentials: Credentials,
  settings: Readonly<Record<string, string>>,
): { configMaps: ConfigMap[]; secrets: Secret[] } {
  const cluster = properties({ ...SHORT_SETTINGS, ...settings });
  const template = properties({ agent_name: 'redfish', secret: SECRET, device_max_latency: '10s' });
  return {
    configMaps: [
      configMap('fence-cluster-config', { 'config.properties': cluster }),
      configMap(TEMPLATE, { 'template.properties': template }),
      ...bmcs.map(nodeConfiguration),
    ],
    secrets: [
      {
        metadata: { name: SECRET, namespace: FENCE_NAMESPACE },
        data: base64({ username: credentials.username, password: credentials.password, ca: credentials.caPem }),
      },
    ],
  };
}

function nodeConfiguration({ node, host, port }: Bmc): ConfigMap {
  const method = (action: 'on' | 'off'): string => properties({ template: TEMPLATE, ip: host, ipport: String(port), action });
  return configMap(`fence-config-${node}`, {
    'config.properties': properties({
      node_name: node,
      isolation: 'mark-unschedulable',
      power_management: 'redfish-off redfish-on',
      recovery: 'mark-schedulable',
    }),
    'fence-method-redfish-off': method('off'),
    'fence-method-redfish-on': method('on'),
  });
}

function configMap(name: string, data: Record<string, string>): ConfigMap {
  return { metadata: { name, namespace: FENCE_NAMESPACE }, data };
}

function properties(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([key, value]) => `${key}=${value}\n`)
    .join('');
}

function base64(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]));
}
