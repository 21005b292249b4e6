import type { DeviceEvent } from '../../../laws/trace.ts';
import type { ConfigMap, Secret } from '../../../ports/objects.ts';
import { SimulatedDevice } from '../../../testbed/simulation/devices.ts';
import type { Kernel } from '../../../testbed/simulation/kernel.ts';
import { SHORT_SETTINGS } from '../../run/options.ts';
import { configMap, FENCE_NAMESPACE, POLICIES, policyConfigMaps, properties } from '../../run/scene-configuration.ts';
import { daemonTimes, FAST } from '../configuration.ts';
import type { SimulatedNode } from './node.ts';

/** It must turn up nowhere but in its Secret (P9). */
export const BMC_PASSWORD = 'correct-horse-battery-staple';
const SECRET = 'bmc-credentials';
const TEMPLATE = 'fence-method-template-bmc';

interface Board {
  kernel: Kernel;
  node: SimulatedNode;
  systemUUID: string;
  record: (event: DeviceEvent) => void;
}

/** An honest BMC of that machine. */
export function simulatedBmc({ kernel, node: { name, machine }, systemUUID, record }: Board): SimulatedDevice {
  const device = new SimulatedDevice({
    ...{ name: `bmc-${name}`, node: name, systemUUID, behaviour: 'honest', effectMs: [50, 500] },
    backend: { state: () => machine.state, on: (cause) => machine.powerOn(cause), off: () => machine.powerOff('set') },
    random: kernel.random(`device ${name}`),
    now: () => kernel.nowMs,
    schedule: (delayMs, task) => void kernel.schedule(delayMs, task),
    record,
  });
  device.password = BMC_PASSWORD;
  return device;
}

/** Every node is fenced by its BMC, and found by fast detection. */
export function bmcConfiguration(nodes: readonly string[]): { configMaps: ConfigMap[]; secret: Secret } {
  const plan = { isolation: 'cordon', power_management: 'off on', recovery: 'uncordon' };
  const method = (node: string, action: 'on' | 'off'): string => properties({ template: TEMPLATE, address: `bmc-${node}`, action });
  return {
    secret: { metadata: { name: SECRET, namespace: FENCE_NAMESPACE }, data: { password: Buffer.from(BMC_PASSWORD).toString('base64') } },
    configMaps: [
      configMap('fence-cluster-config', { 'config.properties': properties({ ...SHORT_SETTINGS, ...daemonTimes(), ...FAST }) }),
      ...policyConfigMaps(POLICIES),
      configMap(TEMPLATE, { 'template.properties': properties({ agent_name: 'sim-bmc', secret: SECRET, device_max_latency: '10s' }) }),
      ...nodes.map((node) =>
        configMap(`fence-config-${node}`, {
          'config.properties': properties({ node_name: node, ...plan }),
          'fence-method-off': method(node, 'off'),
          'fence-method-on': method(node, 'on'),
        }),
      ),
    ],
  };
}
