import { CORDON_BY_PRESERVATION } from '../../ports/preservation.ts';
import { GROUP } from '../../ports/resources.ts';

/** What a user writes on a Node or a Machine. */
export const PRESERVE = 'node.machine.sapcloud.io/preserve';
/** The value last taken over from the Node; on Machines only. */
export const LAST_APPLIED = 'node.machine.sapcloud.io/last-applied-node-preserve-value';
/** Of a Machine, beside the value above: uid of that Node. One that was made anew since has removed nothing. */
export const TAKEN_FROM = `${GROUP}/preserve-taken-from`;
export const SCALE_DOWN_DISABLED = 'cluster-autoscaler.kubernetes.io/scale-down-disabled';
/** Says that the annotation above is ours to remove. */
export const SCALE_DOWN_MARKER = 'cluster-autoscaler.kubernetes.io/scale-down-disabled-by-mcm';
/** Effect NoSchedule, no value. */
export const PRESERVED_TAINT = 'node.machine.sapcloud.io/preserved';
export const FORCE_DRAIN_LABEL = 'force-drain';
export const POOL_LABELS: readonly string[] = ['worker.gardener.cloud/pool', 'worker.garden.sapcloud.io/group'];
export const ZONE_LABEL = 'topology.kubernetes.io/zone';

/** What scale-down-disabled said before us; it says so again when the preservation stops. */
export const SCALE_DOWN_BEFORE = `${GROUP}/preserve-scale-down-before`;
/** spec.unschedulable is ours to take back. */
export const CORDON_MARK = CORDON_BY_PRESERVATION;
/** RFC 3339; the expiry of a Node that has no Machine. */
export const NODE_EXPIRY = `${GROUP}/preserve-expiry`;
/** A Node without a Machine is not preserved automatically again before it was healthy: its last preservation of this failure has ended. */
export const NODE_ENDED = `${GROUP}/preserve-ended`;
/** uid of the fence for whose sake we wrote `when-failed`. */
export const REQUEST_MARK = `${GROUP}/preserve-requested`;

/** The guide writes `auto-preserve`, the released MCM `auto-preserved`: both are read, the one of the MCM that is there is written. */
export type AutomaticSpelling = 'auto-preserve' | 'auto-preserved';

export const DEFAULT_PRESERVE_TIMEOUT_MS = 72 * 3_600_000;
/** MCM's machineHealthTimeout: Unknown for so long is Failed. */
export const HEALTH_TIMEOUT_MS = 10 * 60_000;
/** MCM's machineCreationTimeout. */
export const CREATION_TIMEOUT_MS = 20 * 60_000;
export const DRAIN_RETRY_MS = 5_000;
export const DRAIN_TIMEOUT_MS = 2 * 3_600_000;
/** MCM lets one machine of a MachineDeployment be replaced at a time. */
export const MAX_REPLACEMENTS = 1;

/** Of a Machine: lower goes first when replicas are scaled down. */
export const MACHINE_PRIORITY = 'machinepriority.machine.sapcloud.io';
/** Of a Machine: RFC 3339. */
export const MARKED_FOR_DELETION = 'machine.sapcloud.io/marked-for-deletion-time';
/** Of a MachineDeployment: `true` while the cluster sleeps; no replicas say the same. */
export const HIBERNATED = `${GROUP}/hibernated`;
