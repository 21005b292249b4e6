import type { Resource } from './cluster.ts';
import type { KubeObject } from './objects.ts';
import { GROUP, VERSION } from './resources.ts';

/** What a request asks for; docs/node-fence-remediation.md has the meaning and the default of each. */
export interface NodeFenceRemediationSpec {
  strategy?: 'fence' | 'fence-and-recover' | 'escalate';
  retryLimit?: number;
  deleteAfterRetries?: number;
  timeoutSeconds?: number;
  powerOffTimeoutSeconds?: number;
  powerOnTimeoutSeconds?: number;
  nodeRemoval?: 'OutOfServiceTaint' | 'DeleteNode' | 'None';
  onExhaustion?: 'Reuse' | 'Retire' | 'LeaveOff';
  cooldownSeconds?: number;
  methodRef?: string;
}

/** metav1.Condition, as remediators write it. */
export interface RemediationCondition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
}

export interface NodeFenceRemediationStatus {
  /** Absent: not begun, or about to begin again. */
  phase?: 'Fencing' | 'Recovering' | 'Succeeded' | 'Failed' | 'Stopped';
  retryCount?: number;
  /** RFC 3339: when the last fence for it was begun. */
  lastRemediated?: string;
  nodeFenceRef?: { name: string };
  conditions?: RemediationCondition[];
}

/** `NodeFenceRemediation` of `ha.k8s.io`, and `Metal3Remediation` of the proposal's `remediation.metal3.io`, which has the same shape. */
export interface NodeFenceRemediation extends KubeObject {
  spec?: NodeFenceRemediationSpec;
  status?: NodeFenceRemediationStatus;
}

export interface NodeFenceRemediationTemplate extends KubeObject {
  spec: { template: { metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> }; spec?: NodeFenceRemediationSpec } };
}

/** A kind of request, and that of its templates. */
export interface RemediationKind {
  requests: Resource<NodeFenceRemediation>;
  templates: Resource<NodeFenceRemediationTemplate>;
}

function kindOf(group: string, version: string, kind: string): RemediationKind {
  const plural = kind.toLowerCase();
  return {
    requests: { group, version, kind, plural: `${plural}s`, namespaced: true },
    templates: { group, version, kind: `${kind}Template`, plural: `${plural}templates`, namespaced: true },
  };
}

export const NODE_FENCE_REMEDIATION = kindOf(GROUP, VERSION, 'NodeFenceRemediation');
/** The kinds that the proposal of health checks prints; its version there is `v1alphaX`. */
export const PROPOSED_REMEDIATION = kindOf('remediation.metal3.io', 'v1alpha1', 'Metal3Remediation');
