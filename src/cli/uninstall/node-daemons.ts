import { nodeAttestedBy, parseAttestation, ATTESTATION } from '../../domain/node-daemon/attestation.ts';
import { CONTROLLERS_TOLD, EXCHANGE_KEY_SECRET } from '../../domain/node-daemon/controllers.ts';
import { ApiStatusError } from '../../ports/api-transport.ts';
import type { Resource } from '../../ports/cluster.ts';
import type { Lease } from '../../ports/objects.ts';
import { CONFIG_MAPS, LEASES, SECRETS } from '../../ports/resources.ts';
import type { ClusterAccess } from '../cluster-access.ts';
import { listServed } from './removal.ts';

type Access = Pick<ClusterAccess, 'cluster' | 'namespace'>;

const DAEMON_SETS: Resource = { group: 'apps', version: 'v1', kind: 'DaemonSet', plural: 'daemonsets', namespaced: true };
const DAEMON_SET = 'nodefence-node';
const CONFLICT = 409;

/** Why the controllers must not go yet: a node that takes itself down when nobody grants it to go on would, and an armed watchdog could not be told off any more. */
export async function daemonsInTheWay({ cluster, namespace }: Access): Promise<string[]> {
  const [daemonSet, leases] = await Promise.all([cluster.get(DAEMON_SETS, DAEMON_SET, namespace), listServed(cluster, LEASES, { namespace })]);
  const pods = `DaemonSet ${namespace}/${DAEMON_SET} runs node daemons: kubectl -n ${namespace} delete daemonset ${DAEMON_SET} --cascade=foreground`;
  return [...(daemonSet === undefined ? [] : [pods]), ...leases.flatMap((lease) => standing(lease, namespace))];
}

/** A daemon that was stopped cleanly says that it keeps nothing up any more. */
function standing(lease: Lease, namespace: string): string[] {
  const node = nodeAttestedBy(lease.metadata.name);
  if (node === undefined || lease.metadata.annotations?.[ATTESTATION] === undefined) return [];
  const attestation = parseAttestation(lease);
  const isArmed = attestation?.watchdog !== undefined && attestation.watchdog.state !== 'disarmed' && attestation.watchdog.state !== 'none';
  const states = [
    ...(attestation === undefined ? ['its attestation is not whole'] : []),
    ...(isArmed ? [`its watchdog is ${attestation.watchdog?.state ?? ''}`] : []),
    ...(attestation?.selfFence === undefined ? [] : ['it takes itself down when no controller grants it to go on']),
  ];
  const remedy = `stop its daemon cleanly (systemctl disable --now nodefence-node there); if the machine is off or gone: kubectl -n ${namespace} delete lease ${lease.metadata.name}`;
  return states.length === 0 ? [] : [`node ${node}: ${states.join(', ')}: ${remedy}`];
}

/** What the daemons and the controllers' side of them left. A Lease that was written since it was judged stays, and is told. */
export async function* removeDaemonObjects({ cluster, namespace }: Access): AsyncGenerator<string> {
  for (const lease of await listServed(cluster, LEASES, { namespace })) {
    const { name, uid, resourceVersion } = lease.metadata;
    if (nodeAttestedBy(name) === undefined || standing(lease, namespace).length > 0) continue;
    const version = { ...(uid === undefined ? {} : { uid }), ...(resourceVersion === undefined ? {} : { resourceVersion }) };
    try {
      if (await cluster.remove(LEASES, name, { namespace, ...version })) yield `Lease ${namespace}/${name} deleted`;
    } catch (error) {
      if (!(error instanceof ApiStatusError) || error.status !== CONFLICT) throw error;
      yield `LEFT: Lease ${namespace}/${name}: a daemon still writes it; stop that daemon, then delete it`;
    }
  }
  if (await cluster.remove(SECRETS, EXCHANGE_KEY_SECRET, { namespace })) yield `Secret ${namespace}/${EXCHANGE_KEY_SECRET} deleted`;
  if (!(await cluster.remove(CONFIG_MAPS, CONTROLLERS_TOLD, { namespace }))) return;
  yield `ConfigMap ${namespace}/${CONTROLLERS_TOLD} deleted`;
  yield 'Rights of node daemons stay: kubectl delete -k config/node-daemon --ignore-not-found';
}
