import { ownerOf } from '../../controllers/shared/claims/claim.ts';
import { describeLease, nodeOfLease, NODE_LEASE_HOLDER } from '../../controllers/shared/claims/node-lease.ts';
import { GAVE_UP, POWERED_OFF, REQUEST, TIMES_OUT_AT } from '../../controllers/machine-remediation/names.ts';
import { NODE_NAME } from '../../controllers/node-remediation/names.ts';
import { FENCE_NAME_PREFIX } from '../../domain/node-fence.ts';
import type { ClusterCondition, ClusterMachine } from '../../ports/cluster-api.ts';
import type { KubeObject, Lease } from '../../ports/objects.ts';
import type { NodeFence } from '../../ports/resources.ts';

/** An object of any kind, as it was listed. */
export interface Found<T extends KubeObject = KubeObject> {
  kind: string;
  object: T;
}

export interface RemediationObject extends KubeObject {
  status?: { phase?: string; retryCount?: number; lastRemediated?: string; nodeFenceRef?: { name?: string } };
}

export interface CheckObject extends KubeObject {
  status?: {
    expectedMachines?: number;
    currentHealthy?: number;
    remediationsAllowed?: number;
    conditions?: readonly ClusterCondition[];
  };
}

/** Everything from which it is told, of this cluster. */
export interface OwnershipObjects {
  leases: readonly Lease[];
  remediations: readonly Found<RemediationObject>[];
  machines: readonly ClusterMachine[];
  checks: readonly Found<CheckObject>[];
  /** What the caller may not read, in words. */
  unreadable: readonly string[];
}

/** Somebody beside the fence controller who has a node, or asks for it; also the shape of `-o json`. */
export interface OwnershipRow {
  /** `NodeFenceRemediation default/m1`. */
  who: string;
  node?: string;
  /** `default/m1`. */
  machine?: string;
  /** What it is at. */
  state: string;
}

/** A MachineHealthCheck that has something to tell; also the shape of `-o json`. */
export interface CheckRow {
  name: string;
  expectedMachines: number;
  currentHealthy: number;
  /** Why nothing is remediated by it. */
  blocked?: string;
}

/** Also the shape of `-o json`. */
export interface NodeOwnership {
  rows: readonly OwnershipRow[];
  checks: readonly CheckRow[];
  unreadable: readonly string[];
  /** Who drives the health checks of each group that is served, in words; absent: it was not looked at. */
  drivers?: readonly string[];
}

/** Phases in which a remediation has nothing more to do. */
const OVER: ReadonlySet<string> = new Set(['Succeeded']);

/** Who has which node or Machine besides the fences. */
export function nodeOwnershipOf({ leases, remediations, machines, checks, unreadable }: OwnershipObjects): NodeOwnership {
  const byName = new Map(machines.map((machine) => [nameOf(machine), machine]));
  const rows = [
    ...leases.flatMap(leaseRow),
    ...remediations.flatMap((found) => remediationRow(found, byName)),
    ...machines.flatMap((machine) => annotatedRow(machine)),
  ];
  return { rows, checks: checks.flatMap(checkRow), unreadable };
}

/** Who has this node, in words, the one that acts first. */
export function holdersOf(nodeOwnership: NodeOwnership, fence: NodeFence | undefined, node: string): string[] {
  const owner = fence === undefined ? undefined : ownerOf(fence);
  const others = nodeOwnership.rows.filter((row) => row.node === node).map(({ who, state }) => `${who}: ${state}`);
  return owner === undefined ? others : [`${owner}, by ${fence?.metadata.name ?? ''}`, ...others];
}

function leaseRow(lease: Lease): OwnershipRow[] {
  const node = nodeOfLease(lease);
  const { holderIdentity = '', leaseDurationSeconds = 0, renewTime } = lease.spec;
  if (node === undefined || holderIdentity === '' || holderIdentity === NODE_LEASE_HOLDER) return [];
  const who = describeLease(lease.metadata.namespace ?? '', node, holderIdentity);
  return [{ who, node, state: `renewed ${renewTime ?? 'never'}, for ${leaseDurationSeconds} s each time` }];
}

function remediationRow({ kind, object }: Found<RemediationObject>, machines: ReadonlyMap<string, ClusterMachine>): OwnershipRow[] {
  const { phase = '', retryCount = 0, lastRemediated, nodeFenceRef } = object.status ?? {};
  if (OVER.has(phase) && object.metadata.deletionTimestamp === undefined) return [];
  const owner = object.metadata.ownerReferences?.find((each) => each.kind === 'Machine');
  const machine = owner === undefined ? undefined : `${object.metadata.namespace ?? ''}/${owner.name}`;
  const fenced = nodeFenceRef?.name?.slice(FENCE_NAME_PREFIX.length);
  const named = object.metadata.annotations?.[NODE_NAME] ?? fenced;
  const node = named ?? (machine === undefined ? object.metadata.name : machines.get(machine)?.status?.nodeRef?.name);
  // Metal3 leaves the phase as it is: that all is done shows the finalizer, which is gone.
  const isFinished = kind === 'Metal3Remediation' && phase === 'Waiting' && (object.metadata.finalizers ?? []).length === 0;
  const words = [
    isFinished ? 'finished, and to be deleted by who made it' : phase === '' ? 'waits for its turn' : phase,
    ...(retryCount > 0 ? [`retry ${retryCount}`] : []),
    ...(lastRemediated === undefined ? [] : [`begun ${lastRemediated}`]),
    ...(object.metadata.deletionTimestamp === undefined ? [] : ['being deleted']),
  ];
  const row = { who: `${kind} ${nameOf(object)}`, state: words.join(', ') };
  return [{ ...row, ...(node !== undefined && { node }), ...(machine !== undefined && { machine }) }];
}

function annotatedRow(machine: ClusterMachine): OwnershipRow[] {
  const { [REQUEST]: request, [GAVE_UP]: why, [POWERED_OFF]: offSince, [TIMES_OUT_AT]: until } = machine.metadata.annotations ?? {};
  if (request === undefined && offSince === undefined) return [];
  const off = `proven off ${offSince ?? ''}, its node is to be back ${until === undefined ? 'soon' : `until ${until}`}`;
  const state =
    why !== undefined
      ? `has given up: ${why}`
      : offSince !== undefined
        ? off
        : `asked for by ${REQUEST}; Events of the Machine and of its host say what is done`;
  const node = machine.status?.nodeRef?.name;
  const name = nameOf(machine);
  return [{ who: `machine remediation of ${name}`, machine: name, state, ...(node !== undefined && { node }) }];
}

/** Nobody wants to read of those under which all is well. */
function checkRow({ kind, object }: Found<CheckObject>): CheckRow[] {
  const { expectedMachines = 0, currentHealthy = 0, conditions = [] } = object.status ?? {};
  const refusal = conditions.find(({ type, status }) => type === 'RemediationAllowed' && status === 'False');
  if (refusal === undefined && currentHealthy >= expectedMachines) return [];
  const name = `${kind} ${nameOf(object)}`;
  const blocked = refusal === undefined ? undefined : (refusal.message ?? refusal.reason ?? 'RemediationAllowed is False');
  return [{ name, expectedMachines, currentHealthy, ...(blocked !== undefined && { blocked }) }];
}

function nameOf({ metadata }: KubeObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`;
}
