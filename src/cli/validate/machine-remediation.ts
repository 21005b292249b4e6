import type { SurveyProblem } from '../../config/survey.ts';
import { HOLD, REQUEST } from '../../controllers/machine-remediation/names.ts';
import { unmanagedBecause } from '../../controllers/shared/baremetal-host/host.ts';
import { readHost } from '../../controllers/shared/baremetal-host/read-host.ts';
import { MEDIK8S_LEASE_NAMESPACE } from '../../manifests/access.ts';
import { MACHINE_REMEDIATION_ACCESS } from '../../manifests/machine-remediation-access.ts';
import type { ClusterMachine } from '../../ports/cluster-api.ts';
import type { Resource } from '../../ports/cluster.ts';
import { BARE_METAL_HOSTS } from '../../ports/metal3.ts';
import type { BareMetalHost } from '../../ports/metal3.ts';
import { BY_HOST } from '../../controllers/machine-remediation/dependencies.ts';
import { MACHINE_INDEXES, namesOnHost } from '../../controllers/machine-remediation/machine-index.ts';
import type { ClusterAccess } from '../cluster-access.ts';
import { findMachines } from '../../manager/machine-remediation/found-machines.ts';
import { orUndefined } from './permitted.ts';

const NAMESPACES: Resource = { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false };
const BINDINGS: Resource = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRoleBinding',
  plural: 'clusterrolebindings',
  namespaced: false,
};

/** What would keep Machines of this cluster from being remediated, where that is installed: each a warning, for fencing goes on without it. */
export async function machineRemediationWarnings({
  transport,
  cluster,
  clock,
}: Pick<ClusterAccess, 'transport' | 'cluster' | 'clock'>): Promise<SurveyProblem[]> {
  const [role] = MACHINE_REMEDIATION_ACCESS;
  if ((await orUndefined(cluster.get(BINDINGS, role?.metadata.name ?? ''))) === undefined) return [];
  const { groups, operator } = await findMachines(transport, clock.wallMs());
  const hosts = operator !== undefined ? ((await orUndefined(cluster.list(BARE_METAL_HOSTS))) ?? []) : [];
  const machines: ClusterMachine[] = [];
  for (const { served } of groups) {
    if (served === undefined) continue;
    const { group, version } = served;
    const kind: Resource<ClusterMachine> = { group, version, kind: 'Machine', plural: 'machines', namespaced: true };
    machines.push(...((await orUndefined(cluster.list(kind))) ?? []));
  }
  const named = new Set(machines.flatMap(MACHINE_INDEXES[BY_HOST]));
  const standing = new Set(hosts.flatMap(namesOnHost));
  const asked = operator !== undefined ? machines.flatMap((machine) => ofMachine(machine, standing)) : [];
  const namespace = await orUndefined(cluster.get(NAMESPACES, MEDIK8S_LEASE_NAMESPACE));
  const where = `namespace ${MEDIK8S_LEASE_NAMESPACE}`;
  const lock =
    namespace === undefined
      ? [
          warning(
            where,
            'is not there, or not to be seen: without it no node can be locked, and no Machine is remediated: kubectl create namespace medik8s-leases, then kubectl apply -k config/medik8s',
          ),
        ]
      : [];
  return [...lock, ...hosts.flatMap((host) => ofHost(host, named)), ...asked];
}

/** Of a host on which a Machine stands. */
function ofHost(host: BareMetalHost, named: ReadonlySet<string>): SurveyProblem[] {
  const facts = readHost(host);
  const where = `BareMetalHost ${facts.namespace}/${facts.name}`;
  const isHeld = facts.annotations[HOLD] !== undefined;
  if (!namesOnHost(host).some((name) => named.has(name)))
    return isHeld ? [warning(where, `is held off by ${HOLD}, and no Machine uses it: is a controller running?`)] : [];
  const doubt = unmanagedBecause(facts);
  return doubt === undefined ? [] : [warning(where, `its Machine cannot be remediated: ${doubt}`)];
}

/** One that is asked for, and names no host that there is. */
function ofMachine(machine: ClusterMachine, standing: ReadonlySet<string>): SurveyProblem[] {
  const { annotations, namespace = '', name } = machine.metadata;
  const isOnHost = MACHINE_INDEXES[BY_HOST](machine).some((each) => standing.has(each));
  if (annotations?.[REQUEST] === undefined || isOnHost) return [];
  return [warning(`Machine ${namespace}/${name}`, `is requested by ${REQUEST}, and has no BareMetalHost`)];
}

function warning(where: string, message: string): SurveyProblem {
  return { severity: 'warning', where, message, steps: [], nodes: [] };
}
