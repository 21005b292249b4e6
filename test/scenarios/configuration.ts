import type { ConfigMap, Secret } from '../../src/ports/objects.ts';
import { SETTINGS } from './settings.ts';

export const FENCE_NAMESPACE = 'nodefence-system';
export const TEMPLATE = 'fence-method-template-redfish';
export const SECRET = 'secret-fence-redfish';

/** What an operator has written into the cluster: ConfigMaps and Secrets by name. A scenario begins with a right one and changes it. */
export class Configuration {
  readonly #configMaps = new Map<string, Record<string, string>>();
  readonly #secrets = new Map<string, Record<string, string>>();

  /** Writes one key of a ConfigMap, anew or in place of another text. */
  write(name: string, key: string, text: string): void {
    this.#configMaps.set(name, { ...this.#configMaps.get(name), [key]: text });
  }

  /** Changes one key of a ConfigMap that is there. */
  edit(name: string, key: string, change: (text: string) => string): void {
    const text = this.#configMaps.get(name)?.[key];
    if (text === undefined) throw new Error(`there is no key ${key} in ConfigMap ${name}`);
    const changed = change(text);
    if (changed === text) throw new Error(`ConfigMap ${name}, key ${key}: the edit changed nothing`);
    this.write(name, key, changed);
  }

  writeSecret(name: string, values: Record<string, string>): void {
    this.#secrets.set(name, values);
  }

  removeSecret(name: string): void {
    if (!this.#secrets.delete(name)) throw new Error(`there is no Secret ${name}`);
  }

  removeConfigMap(name: string): void {
    if (!this.#configMaps.delete(name)) throw new Error(`there is no ConfigMap ${name}`);
  }

  /** Keys of the cluster's ConfigMap, over the scenario's short ones. */
  set(settings: Readonly<Record<string, string>>): void {
    this.write('fence-cluster-config', 'config.properties', properties({ ...SETTINGS, ...settings }));
  }

  get configMaps(): ConfigMap[] {
    return [...this.#configMaps].map(([name, data]) => ({ metadata: { name, namespace: FENCE_NAMESPACE }, data }));
  }

  get secrets(): Secret[] {
    return [...this.#secrets].map(([name, values]) => secretObject(name, values));
  }
}

export interface BmcAccess {
  node: string;
  host: string;
  port: number;
}

export interface Login {
  username: string;
  password: string;
  ca: string;
}

/** The seed's form: `fence-config-<node>` with inline methods, one template, one Secret. */
export function rightConfiguration(bmcs: readonly BmcAccess[], login: Login): Configuration {
  const configuration = new Configuration();
  configuration.set({});
  // A scenario's controller has just started, and what it is about fails at once.
  configuration.write('fence-policy-startup-grace', 'config.properties', properties({ duration: '0' }));
  // On a busy machine the other of two nodes may seem silent for a moment.
  configuration.write('fence-policy-max-unhealthy', 'config.properties', properties({ percentage: '100' }));
  configuration.write(TEMPLATE, 'template.properties', properties({ agent_name: 'redfish', secret: SECRET, device_max_latency: '1s' }));
  configuration.writeSecret(SECRET, { ...login });
  for (const { node, host, port } of bmcs) {
    const name = `fence-config-${node}`;
    const steps = { isolation: 'mark-unschedulable', power_management: 'redfish-off redfish-on', recovery: 'mark-schedulable' };
    configuration.write(name, 'config.properties', properties({ node_name: node, ...steps }));
    for (const action of ['off', 'on']) {
      configuration.write(name, `fence-method-redfish-${action}`, properties({ template: TEMPLATE, ip: host, ipport: String(port), action }));
    }
  }
  return configuration;
}

export function secretObject(name: string, values: Readonly<Record<string, string>>): Secret {
  const data = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]));
  return { metadata: { name, namespace: FENCE_NAMESPACE }, data };
}

export function properties(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([key, value]) => `${key}=${value}\n`)
    .join('');
}
