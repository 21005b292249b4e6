import { GROUP } from '../../ports/resources.ts';

export const CLUSTER_NAME_LABEL = 'cluster.x-k8s.io/cluster-name';
/** On a MachineHealthCheck: nothing is evaluated; on a Machine: it is no target. Any value. */
export const PAUSED_ANNOTATION = 'cluster.x-k8s.io/paused';
/** On a Machine: it is no target. Any value. */
export const SKIP_ANNOTATION = 'cluster.x-k8s.io/skip-remediation';
/** On a Machine: unhealthy at once. Whoever remediates takes it away again. */
export const REMEDIATE_ANNOTATION = 'cluster.x-k8s.io/remediate-machine';
export const CLONED_FROM_NAME = 'cluster.x-k8s.io/cloned-from-name';
export const CLONED_FROM_KIND = 'cluster.x-k8s.io/cloned-from-groupkind';
/** On a MachineHealthCheck: how many of its machines may be in remediation at once; a number, or a part of them, rounded up. */
export const MAX_IN_FLIGHT = `${GROUP}/max-in-flight`;

/** OpenShift, on a MachineHealthCheck: how to remediate where there is no template. */
export const STRATEGY_ANNOTATION = 'machine.openshift.io/remediation-strategy';
export const EXTERNAL_STRATEGY = 'external-baremetal';
/** OpenShift, on a Machine: asks whoever power-cycles hosts; until it is gone the machine is not healthy. */
export const EXTERNAL_REMEDIATION = 'host.metal3.io/external-remediation';

export const TEMPLATE_SUFFIX = 'Template';

/** Types of conditions. */
export const HEALTH_CHECK_SUCCEEDED = 'HealthCheckSucceeded';
export const OWNER_REMEDIATED = 'OwnerRemediated';
/** Only among the conditions of v1beta2. */
export const EXTERNALLY_REMEDIATED = 'ExternallyRemediated';
export const REMEDIATION_ALLOWED = 'RemediationAllowed';
/** Only among the conditions of v1beta2. */
export const PAUSED = 'Paused';
/** Of the MachineHealthCheck, only among the conditions of v1beta1. */
export const TEMPLATE_AVAILABLE = 'ExternalRemediationTemplateAvailable';
/** Of the MachineHealthCheck, only among the conditions of v1beta1. */
export const REQUEST_AVAILABLE = 'ExternalRemediationRequestAvailable';
export const CONTROL_PLANE_INITIALIZED = 'ControlPlaneInitialized';
export const INFRASTRUCTURE_READY = 'InfrastructureReady';

/** Reasons of OwnerRemediated and ExternallyRemediated. */
export const WAITING = 'WaitingForRemediation';
export const TEMPLATE_NOT_FOUND = 'RemediationTemplateNotFound';
export const REQUEST_REFUSED = 'RemediationRequestCreationFailed';

/** What a check of Machines may not look at: conditions that follow from the check itself. */
export const FORBIDDEN_MACHINE_CONDITIONS: readonly string[] = [
  'Ready',
  'Available',
  HEALTH_CHECK_SUCCEEDED,
  OWNER_REMEDIATED,
  EXTERNALLY_REMEDIATED,
];

export const DEFAULT_STARTUP_TIMEOUT_MS = 600_000;
/** 0 disables; else at least so much, so that no machine is remediated while it boots. */
export const MIN_STARTUP_TIMEOUT_MS = 30_000;
/** A check that is not yet due is looked at again so much after it is. */
export const RECHECK_MARGIN_MS = 1_000;
