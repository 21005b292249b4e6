export const API_FLOW = '/apis/flowcontrol.apiserver.k8s.io/v1';
const apiVersion = 'flowcontrol.apiserver.k8s.io/v1';
const metadata = { name: 'nodefence-limited' };

/** It neither lends nor borrows, and what does not fit is answered 429 at once. */
export function levelOf(shares: number): object {
  const limited = { nominalConcurrencyShares: shares, lendablePercent: 0, borrowingLimitPercent: 0, limitResponse: { type: 'Reject' } };
  return { apiVersion, kind: 'PriorityLevelConfiguration', metadata, spec: { type: 'Limited', limited } };
}

/** All that this ServiceAccount asks, before any schema of Kubernetes itself. */
export function flowOf(namespace: string, name: string): object {
  const every = ['*'];
  const rule = {
    subjects: [{ kind: 'ServiceAccount', serviceAccount: { namespace, name } }],
    resourceRules: [{ verbs: every, apiGroups: every, resources: every, clusterScope: true, namespaces: every }],
  };
  const spec = { priorityLevelConfiguration: metadata, matchingPrecedence: 10, rules: [rule] };
  return { apiVersion, kind: 'FlowSchema', metadata, spec };
}
