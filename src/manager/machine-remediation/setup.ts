import { BY_NODE } from '../../controllers/fence/dependencies.ts';
import type { FenceListers } from '../../controllers/fence/dependencies.ts';
import { machineRemediationController } from '../../controllers/machine-remediation/controller.ts';
import type { MachineRemediationDependencies, WatchedMachines } from '../../controllers/machine-remediation/dependencies.ts';
import { MACHINE_INDEXES } from '../../controllers/machine-remediation/machine-index.ts';
import { DEFAULT_POWER_OFF_TIMEOUT_MS, LOCK_HOLDER } from '../../controllers/machine-remediation/names.ts';
import { NodeLock } from '../../controllers/shared/claims/node-lock.ts';
import type { OffsOnRequest } from '../../controllers/shared/remediation/offs-on-request.ts';
import type { ClusterMachine } from '../../ports/cluster-api.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { Leadership } from '../../ports/leadership.ts';
import { BARE_METAL_HOSTS } from '../../ports/metal3.ts';
import type { StormHolds } from '../../ports/storm.ts';
import type { ControllerOptions, ControllerPorts } from '../composition.ts';
import { Owners } from '../detection/ownership.ts';
import { GatedController, overQueue } from '../gated-controller.ts';
import type { Built } from '../gated-controller.ts';
import { hasOutOfService } from '../server-version.ts';
import { rightsOf } from '../self-check/installed.ts';
import { watchBase, watching } from '../watching.ts';
import { findMachines } from './found-machines.ts';
import type { FoundMachines, ServedMachines } from './found-machines.ts';
import { MACHINES_CLAIM } from './mode.ts';

export interface MachineRemediationSources {
  cluster: Cluster;
  listers: Pick<FenceListers, 'nodes' | 'leases' | 'fences' | 'volumeAttachments'>;
  leadership: Pick<Leadership, 'isLeading' | 'mayBegin'>;
  stormHolds: StormHolds;
  offsOnRequest: OffsOnRequest;
}

/** Whose Machines are ours, and whether there are hosts. */
interface Kinds {
  groups: readonly ServedMachines[];
  hasHosts: boolean;
}

const VERSION_DEADLINE_MS = 10_000;

/** Where the fence controller neither honours nor takes node leases, nobody could be kept off a node. */
const NO_LOCK: ReturnType<MachineRemediationDependencies['lockOn']> = {
  take: () => Promise.resolve('--node-lease-namespace is empty, so that no node can be locked'),
  giveBack: () => Promise.resolve(),
};

/** Machine remediation over whichever groups are ours; `undefined` when it is switched off. */
export function setUpMachineRemediation(
  ports: ControllerPorts,
  options: ControllerOptions,
  sources: MachineRemediationSources,
): GatedController<FoundMachines, Kinds> | undefined {
  const { machineRemediation = 'off' } = options;
  if (machineRemediation === 'off') return undefined;
  const { clock, logger: log, transport } = ports;
  const owners = new Owners<ServedMachines>({ clock, log, claim: MACHINES_CLAIM, message: 'machine remediation mode' });
  return new GatedController<FoundMachines, Kinds>(ports, options, {
    question: 'who owns machine remediation',
    find: () => findMachines(transport, clock.wallMs()),
    gate: ({ groups, operator }, run) => {
      const { own, restMs } = owners.judge(groups, operator);
      run(own.length === 0 ? [] : [{ groups: own, hasHosts: operator !== undefined }]);
      return restMs;
    },
    build: (kinds) => build(kinds, () => owners.hasOperator, ports, { ...options, machineRemediation }, sources),
  });
}

function build(
  { groups, hasHosts }: Kinds,
  hasOperator: () => boolean,
  ports: ControllerPorts,
  options: ControllerOptions & { machineRemediation: 'incident' | 'seed-table' },
  { cluster, listers: { nodes, leases, fences, volumeAttachments }, leadership, stormHolds, offsOnRequest }: MachineRemediationSources,
): Built {
  const { clock, logger: log, recorder, transport } = ports;
  const { watch, reflectors } = watching(watchBase(ports, options));
  const machines = groups.map(({ group, version }): WatchedMachines => {
    const resource: WatchedMachines['resource'] = { group, version, kind: 'Machine', plural: 'machines', namespaced: true };
    return { resource, lister: watch<ClusterMachine>(resource, { indexes: MACHINE_INDEXES }) };
  });
  const { nodeLeaseNamespace: namespace, mode, ownNode, machineRemediation } = options;
  const hosts = hasHosts && { hosts: watch(BARE_METAL_HOSTS) };
  const controller = overQueue(ports, 'machine-remediation', (queue) =>
    machineRemediationController({
      ...{ clock, cluster, recorder, log, leadership, machines, nodes, leases, fences, stormHolds, offsOnRequest, queue, ...hosts },
      metrics: ports.metrics.machineRemediation,
      mend: rightsOf('machine-remediation', options.namespace),
      volumesOn: (node) => volumeAttachments.byIndex(BY_NODE, node).length,
      servesOutOfService: () => hasOutOfService(transport, VERSION_DEADLINE_MS),
      lockOn: (gated) => (namespace === undefined ? NO_LOCK : new NodeLock({ cluster: gated, clock, namespace, holder: LOCK_HOLDER })),
      options: {
        enforce: mode === 'enforce',
        ...{ ownNode, hasOperator, nodeLeaseNamespace: namespace },
        // Our own agents read the BMC under a NodeFence alone, by the plan of the Node.
        settings: { mode: machineRemediation, powerOffTimeoutMs: DEFAULT_POWER_OFF_TIMEOUT_MS, canReadBmc: false },
      },
    }),
  );
  return { controller, reflectors };
}
