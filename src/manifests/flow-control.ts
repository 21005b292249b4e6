import type { KubeObject } from '../ports/objects.ts';
import { GROUP, NODE_FENCE_STOPS } from '../ports/resources.ts';
import { CONTROLLER_ACCOUNT, LABELS, NAMESPACE } from './access.ts';

interface FlowControl extends KubeObject {
  spec: object;
}

const GROUP_VERSION = 'flowcontrol.apiserver.k8s.io/v1';
const LEVEL = 'nodefence';

/**
 * Without it our requests are those of any ServiceAccount (`workload-low`): whoever floods the API server there keeps the Lease from being renewed, stops from being
 * read and nodes from being written. Limited, not exempt: a fault of ours must not take the API server away from everybody else.
 */
const PRIORITY_LEVEL: FlowControl = {
  apiVersion: GROUP_VERSION,
  kind: 'PriorityLevelConfiguration',
  metadata: { name: LEVEL, labels: LABELS },
  spec: {
    type: 'Limited',
    limited: {
      // Beside the 245 shares of the usual levels, and of 600 seats: 45, more than a dozen releases at once take. `workload-low` has 100 shares.
      nominalConcurrencyShares: 20,
      // Lent seats come back within ten seconds, as long as a Lease may go unrenewed: half of them are never lent.
      lendablePercent: 50,
      limitResponse: { type: 'Queue', queuing: { queues: 64, handSize: 6, queueLengthLimit: 50 } },
    },
  },
};

const SUBJECTS = [{ kind: 'ServiceAccount', serviceAccount: { name: CONTROLLER_ACCOUNT, namespace: NAMESPACE } }];

/** Before `service-accounts` (9000), behind what the cluster itself lives of (up to 900). */
function flowSchema(name: string, matchingPrecedence: number, rules: object): FlowControl {
  return {
    apiVersion: GROUP_VERSION,
    kind: 'FlowSchema',
    metadata: { name, labels: LABELS },
    spec: { priorityLevelConfiguration: { name: LEVEL }, matchingPrecedence, rules: [{ subjects: SUBJECTS, ...rules }] },
  };
}

function resources(apiGroups: string[], names: string[], verbs: string[]): object {
  return { apiGroups, resources: names, verbs, clusterScope: true, namespaces: ['*'] };
}

/** Leases and stops are a flow of their own, taken in turn with everything else of ours: our own releases do not starve them either. */
export const FLOW_CONTROL: readonly FlowControl[] = [
  PRIORITY_LEVEL,
  flowSchema('nodefence-leader', 1_000, {
    resourceRules: [
      resources(['coordination.k8s.io'], ['leases'], ['get', 'create', 'update', 'patch']),
      resources([GROUP], [NODE_FENCE_STOPS.plural], ['*']),
    ],
  }),
  flowSchema('nodefence', 1_100, {
    resourceRules: [resources(['*'], ['*'], ['*'])],
    nonResourceRules: [{ nonResourceURLs: ['*'], verbs: ['*'] }],
  }),
];
