import type { Wiring } from '../../testbed/devices/bmc/wiring.ts';
import { fleetLabels, zoneName } from '../../testbed/operators/fleet.ts';
import { hostProviderID } from '../../testbed/operators/host-fleet.ts';
import type { ManagerOptions } from '../../testbed/operators/machine-manager.ts';
import type { ClusterOptions } from '../../testbed/cluster/options.ts';
import type { DetectorOptions } from '../../testbed/cluster/problem-detector.ts';
import type { ConfigMap, Secret } from '../../ports/objects.ts';
import { EXPECTED, WORLD } from '../faults/names.ts';
import type { Expected, Fault } from '../faults/names.ts';
import { RACK, sceneOf } from '../faults/scenes.ts';
import type { FaultScene, SceneHosts } from '../faults/scenes.ts';
import { seeded, SHORT_SETTINGS } from './options.ts';
import type { DrillOptions } from './options.ts';
import { cloudConfiguration, fenceConfiguration, STRANGER } from './scene-configuration.ts';
import type { Bmc, Credentials } from './scene-configuration.ts';

/** One machine of the drill with its BMC. What is absent is made up. */
export interface Machine {
  node: string;
  systemUUID?: string;
  serial?: string;
  labels?: Readonly<Record<string, string>>;
  /** Zone of the drill's worker pool; with it a Machine stands for the node. */
  zone?: string;
  /** As the kubelet registers it. */
  providerID?: string;
  /** Its address inside the cluster. */
  address?: string;
  /** Of its BMC; the drill's own otherwise. */
  credentials?: { username: string; password: string };
  /** What switches it; its BMC alone when absent. */
  wiring?: Wiring;
  /** The node-problem-detector that runs on it. */
  detector?: Omit<DetectorOptions, 'node'>;
  /** It stands in the same room, and is no node of the cluster. */
  isStranger?: true;
}

/** What a drill is made of, known before anything starts: the drill's own cluster, or the operator's configuration. */
export interface DrillSetting {
  machines: readonly Machine[];
  /** Nodes that may be broken: something says how they are fenced. */
  victims: readonly string[];
  /** How the cluster's own controllers differ from those of every drill. */
  cluster?: Partial<ClusterOptions>;
  /** An MCM is at work, this patient. */
  manager?: ManagerOptions;
  /** Machines of Cluster API stand for all nodes. */
  hosts?: SceneHosts;
  /** The controllers hear the messages of crash kernels. */
  hearsKdump?: boolean;
  /** Remedies are configured, and Jobs are run. */
  hasRemedies?: boolean;
  /** What the audience is told first. */
  says: readonly string[];
  /** What the API server is loaded with once the BMCs listen. `filer`: makes the drill's filer and gives its parameters; `cloud`: keys of the cluster's configuration that the cloud of all machines wants; `says`: what was changed in it. */
  configuration(
    bmcs: readonly Bmc[],
    credentials: Credentials,
    more?: { filer?: () => Record<string, string>; cloud?: Readonly<Record<string, string>> },
  ): { configMaps: ConfigMap[]; secrets: Secret[]; says?: readonly string[] };
  expected(fault: Fault): Expected;
}

/** The drill's own machines, `worker-1` and so on, each configured as the seed has it. */
export function ownSetting(options: DrillOptions): DrillSetting {
  const scene = sceneOf(options.fault);
  const count = options.nodes ?? scene.nodes;
  const nodes = Array.from({ length: count }, (_unused, index) => `${scene.isControlPlane === true ? 'control-plane' : 'worker'}-${index + 1}`);
  const delays = { ...SHORT_SETTINGS, ...scene.settings, ...options.settings };
  const first = nodes[Math.floor(seeded(options.seed)() * count)] ?? '';
  const neighbour = nodes[(nodes.indexOf(first) + 1) % count] ?? '';
  const device = { stranger: STRANGER, neighbour };
  const led = scene.leadsTo === undefined ? undefined : { node: first, to: device[scene.leadsTo] };
  return {
    machines: [
      ...nodes.map((node, index) => machineOf(node, index, scene)),
      ...(scene.leadsTo === 'stranger' ? [{ node: STRANGER, isStranger: true } as const] : []),
    ],
    victims: led === undefined ? nodes : [first],
    ...(scene.hasFiler === true ? { cluster: { forceDetachMs: WORLD.forceDetachMs } } : {}),
    ...(scene.hasManager === true ? { manager: { healthTimeoutMs: WORLD.managerPatienceMs, preserveTimeoutMs: WORLD.managerKeepsMs } } : {}),
    ...(scene.hosts === undefined ? {} : { hosts: scene.hosts }),
    ...(scene.hearsKdump === true ? { hearsKdump: true } : {}),
    ...(scene.remedies === undefined ? {} : { hasRemedies: true }),
    says: [`delays: ${Object.entries(delays).map((pair) => pair.join('=')).join(' ')}`], // oxfmt-ignore
    configuration: (bmcs, credentials, { filer, cloud } = {}) =>
      cloud === undefined
        ? fenceConfiguration(bmcs, credentials, {
            ...options,
            scene,
            led,
            ...(scene.hasFiler === true && filer !== undefined ? { filer: filer() } : {}),
          })
        : cloudConfiguration({ ...options, scene }, cloud),
    expected: (fault) => EXPECTED[fault],
  };
}

/** In seconds what takes minutes elsewhere. */
const DETECTOR: Omit<DetectorOptions, 'node'> = { conditions: ['KernelDeadlock', 'ReadonlyFilesystem'], heartbeatMs: 1_000 };

function machineOf(node: string, index: number, { racks, isControlPlane, wiring, pool, hosts, remedies }: FaultScene): Machine {
  const zone = pool === undefined ? undefined : zoneName(index % pool.zones);
  const labels = {
    ...(zone === undefined ? {} : fleetLabels(zone)),
    ...(racks === undefined ? {} : { [RACK]: `rack-${(index % racks) + 1}` }),
    ...(isControlPlane === true ? { 'node-role.kubernetes.io/control-plane': '' } : {}),
  };
  const providerID = hosts === undefined ? {} : { providerID: hostProviderID(node) };
  const detector = remedies === undefined ? {} : { detector: DETECTOR };
  return { node, labels, ...providerID, ...detector, ...(zone === undefined ? {} : { zone }), ...(wiring === undefined ? {} : { wiring }) };
}
