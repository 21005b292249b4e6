import { BY_NODE } from '../../controllers/fence/dependencies.ts';
import type { FenceListers } from '../../controllers/fence/dependencies.ts';
import { MachineRemediationController } from '../../controllers/machine-remediation/controller.ts';
import type { MachineRemediationDependencies, WatchedMachines } from '../../controllers/machine-remediation/dependencies.ts';
import { MACHINE_INDEXES } from '../../controllers/machine-remediation/machine-index.ts';
import { DEFAULT_POWER_OFF_TIMEOUT_MS, LOCK_HOLDER } from '../../controllers/machine-remediation/names.ts';
import { NodeLock } from '../../controllers/shared/claims/node-lock.ts';
import type { ClusterMachine } from '../../ports/cluster-api.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { Leadership } from '../../ports/leadership.ts';
import { BARE_METAL_HOSTS } from '../../ports/metal3.ts';
import type { StormHolds } from '../../ports/storm.ts';
import type { ControllerOptions, ControllerPorts } from '../composition.ts';
import { partQueue, servedPart, watchBase, watching } from '../served-part.ts';
import type { ServedPart } from '../served-part.ts';
import { hasOutOfService } from '../server-version.ts';
import { readFacts } from './found-facts.ts';
import type { OwnPart } from './mode.ts';
import { partDetector } from './part-detector.ts';
import { WatchedMachineRemediation } from './watched-machine-remediation.ts';

export interface MachineRemediationSources {
  cluster: Cluster;
  listers: Pick<FenceListers, 'nodes' | 'leases' | 'fences' | 'volumeAttachments'>;
  leadership: Pick<Leadership, 'isLeading' | 'mayBegin'>;
  stormHolds: StormHolds;
}

const VERSION_DEADLINE_MS = 10_000;

/** Where the fence controller neither honours nor takes node leases, nobody could be kept off a node. */
const NO_LOCK: ReturnType<MachineRemediationDependencies['lockOn']> = {
  take: () => Promise.resolve('--node-lease-namespace is empty, so that no node can be locked'),
  giveBack: () => Promise.resolve(),
};

/** Machine remediation over whichever groups are ours; `undefined` when it is switched off. */
export function composeMachineRemediation(
  ports: ControllerPorts,
  options: ControllerOptions,
  sources: MachineRemediationSources,
): WatchedMachineRemediation | undefined {
  const { machineRemediation: choice = 'off' } = options;
  if (choice === 'off') return undefined;
  const { clock, logger: log, transport } = ports;
  return new WatchedMachineRemediation({
    detectorOf: (onPart) =>
      partDetector({ clock, log, onPart, leastRestMs: options.detectionRestMs, read: () => readFacts(transport, clock.wallMs()) }),
    run: (part, hasOperator) => runPart(part, hasOperator, ports, { ...options, machineRemediation: choice }, sources),
  });
}

function runPart(
  { groups, hasHosts }: OwnPart,
  hasOperator: () => boolean,
  ports: ControllerPorts,
  options: ControllerOptions & { machineRemediation: 'incident' | 'seed-table' },
  { cluster, listers: { nodes, leases, fences, volumeAttachments }, leadership, stormHolds }: MachineRemediationSources,
): ServedPart {
  const { clock, logger: log, recorder, transport } = ports;
  const { watch, reflectors } = watching(watchBase(ports, options));
  const machines = groups.map(({ group, version }): WatchedMachines => {
    const resource: WatchedMachines['resource'] = { group, version, kind: 'Machine', plural: 'machines', namespaced: true };
    return { resource, lister: watch<ClusterMachine>(resource, { indexes: MACHINE_INDEXES }) };
  });
  const { nodeLeaseNamespace: namespace, mode, ownNode, machineRemediation } = options;
  const queue = partQueue(ports, 'machine-remediation', (key) => controller.reconcile(key));
  const controller: MachineRemediationController = new MachineRemediationController({
    ...{ clock, cluster, recorder, log, leadership, machines, nodes, leases, fences, stormHolds, queue },
    metrics: ports.metrics.machineRemediation,
    volumesOn: (node) => volumeAttachments.byIndex(BY_NODE, node).length,
    servesOutOfService: () => hasOutOfService(transport, VERSION_DEADLINE_MS),
    ...(hasHosts && { hosts: watch(BARE_METAL_HOSTS) }),
    lockOn: (gated) => (namespace === undefined ? NO_LOCK : new NodeLock({ cluster: gated, clock, namespace, holder: LOCK_HOLDER })),
    options: {
      enforce: mode === 'enforce',
      ownNode,
      nodeLeaseNamespace: namespace,
      hasOperator,
      // Our own agents read the BMC under a NodeFence alone, by the plan of the Node.
      settings: { mode: machineRemediation, powerOffTimeoutMs: DEFAULT_POWER_OFF_TIMEOUT_MS, canReadBmc: false },
    },
  });
  return servedPart(controller, queue, reflectors);
}
