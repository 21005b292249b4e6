import { OUT_OF_SERVICE_KEY } from '../shared/baremetal-host/out-of-service.ts';
import { ANNOTATIONS_BACKUP, CORDON_BACKUP, LABELS_BACKUP } from '../shared/baremetal-host/node-backup.ts';

/** On a Machine: it needs remediation. Whoever may write it may switch the machine off: see RBAC in docs/machine-remediation.md. */
export const REQUEST = 'host.metal3.io/external-remediation';
/** On a BareMetalHost: our hold. */
export const HOLD = 'reboot.metal3.io/machine-remediation';
/** On a Machine, incident mode: it was proven off for this incident, and its Node is gone. Stands until the Node is back. */
export const POWERED_OFF = 'remediation.metal3.io/powered-off-for-remediation';
/** On a Machine, RFC 3339: until when its Node may take to come back. */
export const TIMES_OUT_AT = 'remediation.metal3.io/power-on-will-timeout-at';
/** On a Machine, incident mode: why nothing more is done until the request is taken away. */
export const GAVE_UP = 'ha.k8s.io/machine-remediation-gave-up';

/** On a Node whose volumes are taken from it before it is deleted. By its value it is known for ours. */
export const OUT_OF_SERVICE = { key: OUT_OF_SERVICE_KEY, value: 'machine-remediation', effect: 'NoExecute' } as const;

/** Of the node leases that are ours. */
export const LOCK_HOLDER = 'nodefence-machine-remediation';

/** All that is cleared when an incident is over, the request included, in one write. */
export const MARKS: readonly string[] = [REQUEST, POWERED_OFF, TIMES_OUT_AT, GAVE_UP, ANNOTATIONS_BACKUP, LABELS_BACKUP, CORDON_BACKUP];

/** Those that nobody else writes. */
export const MARKS_OF_OURS: readonly string[] = MARKS.filter((key) => key !== REQUEST);

/** How often a state is looked at again in which somebody else is to do something. */
export const POLL_MS = 5_000;
/** After a Node was deleted. */
export const DELETED_POLL_MS = 2_000;
/** While its volumes are being detached. */
export const DETACH_POLL_MS = 1_000;
export const DEFAULT_POWER_OFF_TIMEOUT_MS = 10 * 60_000;
/** Where no MachineHealthCheck says how long a node may take to start. */
export const DEFAULT_POWER_ON_TIMEOUT_MS = 20 * 60_000;
