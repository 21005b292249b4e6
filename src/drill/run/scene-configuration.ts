import type { ConfigMap, Secret } from '../../ports/objects.ts';
import { SHORT_SETTINGS } from './options.ts';
import type { Agent, DrillOptions } from './options.ts';

export const FENCE_NAMESPACE = 'nodefence-system';

export interface Bmc {
  node: string;
  host: string;
  port: number;
  /** SHA-256 of its certificate; empty for a BMC without one. */
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
  { settings, agent }: Pick<DrillOptions, 'settings' | 'agent'>,
): { configMaps: ConfigMap[]; secrets: Secret[] } {
  const cluster = properties({ ...SHORT_SETTINGS, ...settings });
  return {
    configMaps: [
      configMap('fence-cluster-config', { 'config.properties': cluster }),
      configMap(templateName(agent), { 'template.properties': properties(templateOf(agent)) }),
      ...bmcs.map((bmc) => nodeConfiguration(bmc, agent)),
    ],
    secrets: [secretOf(agent, credentials)],
  };
}

/** What the agent logs in with. */
export function secretOf(agent: Agent, { username, password, caPem }: Credentials): Secret {
  const trust = agent === 'redfish' ? { ca: caPem } : {};
  return { metadata: { name: secretName(agent), namespace: FENCE_NAMESPACE }, data: base64({ username, password, ...trust }) };
}

/** `fence-config-<node>`: isolated by a cordon, switched off and on at this BMC. */
export function nodeConfiguration({ node, host, port }: Bmc, agent: Agent): ConfigMap {
  const method = (action: 'on' | 'off'): string => properties({ template: templateName(agent), ip: host, ipport: String(port), action });
  return configMap(`fence-config-${node}`, {
    'config.properties': properties({
      node_name: node,
      isolation: 'mark-unschedulable',
      power_management: `${agent}-off ${agent}-on`,
      recovery: 'mark-schedulable',
    }),
    [`fence-method-${agent}-off`]: method('off'),
    [`fence-method-${agent}-on`]: method('on'),
  });
}

function templateOf(agent: Agent): Record<string, string> {
  // Debian's ipmi_sim knows cipher suite 3 only.
  const own = agent === 'ipmi' ? { cipher: '3' } : {};
  return { agent_name: agent, secret: secretName(agent), device_max_latency: '10s', ...own };
}

function templateName(agent: Agent): string {
  return `fence-method-template-${agent}`;
}

function secretName(agent: Agent): string {
  return `secret-fence-${agent}`;
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
