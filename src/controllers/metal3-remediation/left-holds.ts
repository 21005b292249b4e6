import { BARE_METAL_HOSTS } from '../../ports/metal3.ts';
import type { BareMetalHost } from '../../ports/metal3.ts';
import type { Node } from '../../ports/objects.ts';
import { HOST_VERSION } from '../shared/baremetal-host/host.ts';
import { metal3MachineOf } from '../shared/baremetal-host/host-of.ts';
import { readHost } from '../shared/baremetal-host/read-host.ts';
import { letOn } from '../shared/baremetal-host/reboot.ts';
import { ReadObjects } from '../shared/baremetal-host/write.ts';
import type { ActionEvent, Annotate } from '../shared/remediation/actions.ts';
import { CLUSTER_NAME, isClusterHere, nodeLeftBy, secretOf } from '../shared/remediation/place.ts';
import { leftOff } from '../shared/reconciler/left-off.ts';
import { keyOf } from '../shared/reconciler/kind.ts';
import type { Plan, ReconciledKind } from '../shared/reconciler/kind.ts';
import { activeStopAt } from '../shared/stops.ts';
import type { Metal3RemediationDependencies, NodeCluster } from './dependencies.ts';
import { OUT_OF_SERVICE, remediationOfHold } from './names.ts';

const KIND = 'BareMetalHost';
const NOTHING: Plan<never> = { actions: [], problems: [], perform: () => Promise.resolve() };

type LetOn = Annotate & { event: ActionEvent };
type Hosts = Pick<Metal3RemediationDependencies, 'hosts' | 'remediations' | 'queue'>;

/** Enqueues the host where a hold stands on it that is of no remediation that is known. */
export function enqueueLeft({ remediations, queue }: Hosts, host: BareMetalHost): void {
  const known = new Set([...remediations.lister.all()].map(({ metadata }) => metadata.uid));
  if (leftOn(host, known).length > 0) queue.add(keyOf(KIND, host));
}

/** The same of all hosts. */
export function enqueueAllLeft(dependencies: Hosts): void {
  for (const host of dependencies.hosts.all()) if (isHeldByAny(host)) enqueueLeft(dependencies, host);
}

/**
 * Hosts that are held off by a remediation that is gone: removed by force, or moved to this cluster, where it has another uid. None is left off, unless its Node
 * is out of service: by whom only the remediation knew, and a tainted node is never started by us (P3).
 */
export function leftHoldKind(dependencies: Metal3RemediationDependencies): ReconciledKind<BareMetalHost, LetOn> {
  const { own, remediations, hosts, recorder } = dependencies;
  return {
    kind: KIND,
    known: (key) => hosts.get(key),
    get: (namespace, name) => own.cluster.get(BARE_METAL_HOSTS, name, namespace),
    reconcile: async (_key, host) => {
      if (holdsOn(host).length === 0) return undefined;
      const standing = await own.cluster.list(remediations.resource);
      const left = leftOn(host, new Set(standing.map(({ metadata }) => metadata.uid)));
      return left.length === 0 ? undefined : planFor(dependencies, host, left);
    },
    isReported: (_key, _error, failures) => failures > 1,
    leftOff: (host) => (holdsOn(host).length === 0 ? undefined : `BareMetalHost ${host.metadata.namespace ?? ''}/${host.metadata.name} is held off`),
    record: (_key, { metadata }, problem) => {
      recorder.event({ apiVersion: HOST_VERSION, kind: KIND, metadata }, 'Warning', 'RemediationBlocked', problem);
    },
  };
}

async function planFor(dependencies: Metal3RemediationDependencies, host: BareMetalHost, keys: readonly string[]): Promise<Plan<LetOn>> {
  const { own, recorder } = dependencies;
  const facts = readHost(host);
  const place = await placeOf(dependencies, host);
  const nodeName = place?.node.metadata.name;
  const off = `BareMetalHost ${facts.name} is held off by ${keys.join(', ')} of a Metal3Remediation that is gone`;
  const told = (why: string): Plan<LetOn> => ({
    ...NOTHING,
    problems: [`BareMetalHost ${facts.namespace}/${facts.name}: ${leftOff(`${off}, and ${why}`)}`],
  });
  const stop = await activeStopAt(own.cluster, place, nodeName);
  if (stop !== undefined) return told(`stays so: ${stop}`);
  if (place?.node.spec.taints?.some(({ key }) => key === OUT_OF_SERVICE.key) === true)
    return told(`its node ${nodeName ?? ''} is tainted ${OUT_OF_SERVICE.key}: take that off once nothing rests on it, then the host is let on`);
  const objects = new ReadObjects();
  objects.put({ kind: KIND, name: facts.name, namespace: facts.namespace }, host);
  const message = `BareMetalHost ${facts.name} may be switched on: the Metal3Remediation that held it off is gone`;
  const event: ActionEvent = { type: 'Normal', reason: 'PowerOnRequested', message };
  return {
    ...NOTHING,
    actions: keys.map((key) => ({ ...letOn(facts, key), event })),
    perform: async (action) => {
      await objects.annotate(own.cluster, action);
      recorder.event({ apiVersion: HOST_VERSION, kind: KIND, metadata: host.metadata }, event.type, event.reason, event.message);
    },
  };
}

/** The Node of the Machine that stands on this host, in whichever cluster; `undefined`: there is none, or its cluster is gone. */
async function placeOf(
  { own, nodes, workloads }: Metal3RemediationDependencies,
  { metadata, spec }: BareMetalHost,
): Promise<{ cluster: NodeCluster['cluster']; isOwn: boolean; node: Node } | undefined> {
  const { kind, name, namespace = metadata.namespace ?? '' } = spec?.consumerRef ?? {};
  if (kind !== 'Metal3Machine' || name === undefined) return undefined;
  const base = await metal3MachineOf(own.cluster, { metadata: { name, namespace }, spec: { infrastructureRef: { kind, name } } });
  const machine = base?.metadata.ownerReferences?.find((owner) => owner.kind === 'Machine');
  if (machine === undefined) return undefined;
  const here = await nodeLeftBy(own.cluster, { namespace, name: machine.name });
  if (here !== undefined) return { cluster: own.cluster, isOwn: true, node: here };
  const cluster = base?.metadata.labels?.[CLUSTER_NAME];
  if (cluster === undefined || isClusterHere(nodes.all(), { namespace, name: cluster })) return undefined;
  const other = await workloads({ namespace, name: secretOf(cluster) });
  const there = other && (await nodeLeftBy(other.cluster, { namespace, name: machine.name }));
  return other === undefined || there === undefined ? undefined : { cluster: other.cluster, isOwn: false, node: there };
}

export function isHeldByAny(host: BareMetalHost): boolean {
  return holdsOn(host).length > 0;
}

function holdsOn({ metadata }: BareMetalHost): string[] {
  return Object.keys(metadata.annotations ?? {}).filter((key) => remediationOfHold(key) !== undefined);
}

function leftOn(host: BareMetalHost, uids: ReadonlySet<string | undefined>): string[] {
  return holdsOn(host).filter((key) => !uids.has(remediationOfHold(key)));
}
