/** What the controller uses a right for, and so what does not work without it. */
export interface RightReason {
  /** `cluster`, or a namespace. */
  place: string;
  /** With its group, as in `leases.coordination.k8s.io`. */
  resource: string;
  verbs: readonly string[];
  without: string;
}

const GET = 'get';
const WATCH = ['list', 'watch'];
const LEASES = 'leases.coordination.k8s.io';

function inCluster(resource: string, verbs: readonly string[], without: string): RightReason {
  return { place: 'cluster', resource, verbs, without };
}

function inNamespace(place: string, resource: string, verbs: readonly string[], without: string): RightReason {
  return { place, resource, verbs, without };
}

/** Each right of `config/rbac` to the controller once; a test compares it with the roles, and docs/rights.md shows it. */
export const RIGHT_REASONS: readonly RightReason[] = [
  inCluster('nodes', [GET, ...WATCH], 'no failure is seen, and the last look before a release fails'),
  inCluster('nodes', ['patch'], 'no cordon, no taint, no mark: nothing is isolated and nothing is released'),
  inCluster('pods', WATCH, 'what to release is not known'),
  inCluster('pods', ['delete'], '`release=delete-pods` deletes nothing, and where the taint is used, pods go only after Kubernetes’ own delay'),
  inCluster('pods/eviction', ['create'], '`release=evict`, drains of remedies and of preservation evict nothing'),
  inCluster('persistentvolumeclaims', [GET], 'after a storage was revoked it is not known which pods it frees: none is freed'),
  inCluster('persistentvolumes', [GET], 'the same'),
  inCluster('events', ['create'], 'no Event tells what happens'),
  inCluster('events', ['patch'], 'an Event that repeats is not counted up'),
  inCluster('volumeattachments.storage.k8s.io', WATCH, 'a release does not see when volumes are free, and waits for `release_timeout`'),
  inCluster('volumeattachments.storage.k8s.io', ['delete'], 'volumes of a node that is proven off stay attached until Kubernetes’ own delay'),
  inCluster('nodemaintenances.nodemaintenance.medik8s.io', ['list'], 'a node under maintenance of medik8s is not held'),
  inCluster('daemonsets.apps', [GET], 'a node that kured reboots is not held'),
  inCluster(LEASES, ['list'], 'another installation in this cluster is not found: two would fence the same nodes'),
  inCluster('namespaces', [GET], 'whether Leases of medik8s have to be honoured is not known'),
  inCluster(
    'customresourcedefinitions.apiextensions.k8s.io',
    [GET],
    'fields that the installed kinds would drop are not found before they are needed',
  ),
  inCluster('nodefences.ha.k8s.io', ['create'], 'no fence begins'),
  inCluster('nodefences.ha.k8s.io', [GET, ...WATCH], 'what a fence has done and proven is not known'),
  inCluster('nodefences.ha.k8s.io', ['patch', 'delete'], 'a fence that is over is not let go: its finalizer and its object stay'),
  inCluster('nodefences/status.ha.k8s.io', ['update'], 'no intent is recorded, so no device is called'),
  inCluster('nodefencereports.ha.k8s.io', [GET, ...WATCH], 'the identity of the machines is not known: a device is not compared with them'),
  inCluster('nodefencereports.ha.k8s.io', ['create'], 'nothing is recorded of a node while it is healthy'),
  inCluster('nodefencereports.ha.k8s.io', ['delete'], 'reports of Nodes that are gone pile up'),
  inCluster('nodefencereports/status.ha.k8s.io', ['update'], 'the same, and problems of the configuration are not shown'),
  inCluster('nodefencestops.ha.k8s.io', WATCH, 'a person’s stop is not seen: nothing is called'),
  inCluster('nodefenceacknowledgements.ha.k8s.io', [GET, ...WATCH], 'a person’s word that a machine is off is not seen'),
  inCluster('nodefenceacknowledgements.ha.k8s.io', ['delete'], 'words that are settled pile up'),
  inCluster('nodefenceacknowledgements/status.ha.k8s.io', ['update'], 'a word could count twice: it is not used'),
  inNamespace('nodefence-system', 'configmaps', WATCH, 'how a node is fenced is not known'),
  inNamespace('nodefence-system', 'secrets', [GET], 'no device is logged in to'),
  inNamespace('nodefence-system', 'secrets', WATCH, 'a Secret that is missing is not told before it is needed'),
  inNamespace('nodefence-system', LEASES, [GET, 'create', 'update'], 'nobody leads, and nothing is fenced'),
  inNamespace('nodefence-system', LEASES, WATCH, 'a replica learns late that the Lease is free'),
  inNamespace(
    'nodefence-system',
    LEASES,
    ['patch'],
    'replicas do not say that they could lead: the leader of a failed node has nobody to hand over to',
  ),
  inNamespace('kube-node-lease', LEASES, [GET, ...WATCH], 'the heartbeats of kubelets are not seen: silence cannot be told from life'),
  inNamespace('default', 'endpointslices.discovery.k8s.io', ['list'], 'a controller that is cut off does not notice that it reaches no API server'),
];
