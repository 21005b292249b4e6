import { decoded } from '../../config/manifests/decode.ts';
import type { SurveyProblem } from '../../config/survey.ts';
import { BARE_METAL_HOSTS } from '../../ports/metal3.ts';
import type { ConfigMap } from '../../ports/objects.ts';
import { CONFIG_MAPS, LEASES, NODE_FENCE_REPORTS, NODES, SECRETS } from '../../ports/resources.ts';
import type { ClusterAccess } from '../cluster-access.ts';
import { leaderOf } from '../commands/leader.ts';
import { daemonOf } from '../commands/node-daemon.ts';
import { readLease } from '../commands/read-lease.ts';
import { LEADER_LEASE } from '../../manager/composition.ts';
import { healthCheckDrivers } from '../health-checks/drivers.ts';
import type { MachineFlags } from '../preservation/machine-flags.ts';
import { healthCheckWarnings } from './health-checks.ts';
import { installationProblems } from './installation.ts';
import type { Input } from './input.ts';
import { machineRemediationWarnings } from './machine-remediation.ts';
import { metal3RemediationWarnings } from './metal3-remediation.ts';
import { nodeDaemonWarnings } from './node-daemons.ts';
import { orUndefined } from './permitted.ts';
import { preservationWarnings } from './preservation.ts';
import { requestersOf } from './requesters.ts';

/** Where kubectl puts what names no namespace. */
const USUAL = 'default';

function elsewhere(found: readonly ConfigMap[], namespace: string): SurveyProblem[] {
  const meant = found.filter(({ metadata }) => /^fence-(?:config|cluster-config|method|policy)/.test(metadata.name));
  return meant.map(({ metadata }) => ({
    severity: 'error',
    where: `ConfigMap ${metadata.name}`,
    message: `is in namespace ${USUAL}, and only ${namespace} is read: create it there, and delete it here`,
    steps: [],
    nodes: [],
  }));
}

/** The configuration as it stands in the cluster. Secrets and reports may be out of the caller's reach: less is checked then, and a note says so. */
export async function inputFromCluster(access: ClusterAccess, flags: MachineFlags): Promise<Input> {
  const { cluster, namespace, server } = access;
  const notes: string[] = [];
  const [configMaps, nodes, secrets, reports, hosts, leases, stray] = await Promise.all([
    cluster.list(CONFIG_MAPS, { namespace }),
    cluster.list(NODES),
    orUndefined(cluster.list(SECRETS, { namespace })),
    orUndefined(cluster.list(NODE_FENCE_REPORTS)),
    orUndefined(cluster.list(BARE_METAL_HOSTS)),
    orUndefined(cluster.list(LEASES, { namespace })),
    namespace === USUAL ? [] : orUndefined(cluster.list(CONFIG_MAPS, { namespace: USUAL })),
  ]);
  if (secrets === undefined) {
    const right = `kubectl -n ${namespace} create role fence-secrets --verb=get,list --resource=secrets`;
    notes.push(`you may not read Secrets of namespace ${namespace}: which of them exist, and what they hold, is not checked (the right: ${right})`);
  }
  if (configMaps.length === 0)
    notes.push(`namespace ${namespace} holds no ConfigMap: is it the fence namespace? Name another with --fence-namespace`);
  const recorded = (reports ?? []).flatMap(({ metadata, status }): [string, string][] => {
    const uuid = status?.identity?.systemUUID;
    return uuid === undefined ? [] : [[metadata.name, uuid]];
  });
  const { lease, unread } = await readLease(access, LEADER_LEASE);
  if (unread !== undefined) notes.push(`you may not read ${unread}: what the leader says of itself, and what node daemons attest, is not checked`);
  const leader = leaderOf(lease, access.clock.wallMs(), unread);
  notes.push(...(await healthCheckDrivers(access, leader)));
  const configs = configMaps.map(({ metadata, data = {} }) => ({ name: metadata.name, data, labels: metadata.labels }));
  return {
    source: `the cluster at ${server}, namespace ${namespace}`,
    configMaps: configs,
    secrets: secrets === undefined ? undefined : new Map(secrets.map((secret) => [secret.metadata.name, decoded(secret)])),
    nodes,
    recordedUUIDs: new Map(recorded),
    ...((reports ?? []).length > 0 && { hearsDaemons: reports?.some((report) => daemonOf(report) !== undefined) === true }),
    trusted: new Map((reports ?? []).map(({ metadata, status }) => [metadata.name, status?.trusted ?? []])),
    problems: [],
    found: [
      ...elsewhere(stray ?? [], namespace),
      ...nodeDaemonWarnings(leases ?? [], configs),
      ...(await installationProblems(access, notes)),
      ...(await preservationWarnings(access, nodes, flags)),
      ...(await healthCheckWarnings(access)),
      ...(await machineRemediationWarnings(access)),
      ...(await metal3RemediationWarnings(access)),
    ],
    operated: hosts ?? [],
    ...(leader.programs === undefined ? {} : { programs: leader.programs }),
    ...(leader.addresses === undefined ? {} : { addresses: leader.addresses }),
    requesters: await requestersOf(access),
    notes,
    locate: () => undefined,
  };
}
