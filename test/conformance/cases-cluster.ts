import type { ConformanceCase } from './case.ts';
import { MERGE, NODES, PODS, STRATEGIC, WIDGET_DEFINITION } from './fixtures.ts';

const OBSERVED = 'observed on kube-apiserver 1.20';
const KUBELET = 'what pkg/kubelet sends, answered by kube-apiserver 1.20';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/conformance/leases';
const ATTACHMENTS = '/apis/storage.k8s.io/v1/volumeattachments';

function pod(name: string, nodeName?: string): object {
  return {
    metadata: { name, labels: { app: name } },
    spec: { ...(nodeName === undefined ? {} : { nodeName }), containers: [{ name: 'c', image: 'i' }] },
  };
}

function withSchema(name: string, properties: object): object {
  const { names, versions } = WIDGET_DEFINITION.spec;
  const [version] = versions;
  const plural = `${name}s`;
  return {
    ...WIDGET_DEFINITION,
    metadata: { name: `${plural}.${WIDGET_DEFINITION.spec.group}` },
    spec: {
      ...WIDGET_DEFINITION.spec,
      names: { ...names, plural, singular: name, kind: name.replace(/^./, (first) => first.toUpperCase()), shortNames: [] },
      versions: [{ ...version, schema: { openAPIV3Schema: { type: 'object', properties } } }],
    },
  };
}

/** What kubelets, a scheduler, an attacher and a fence do to nodes, pods, leases and volumes. */
export const CLUSTER_CASES: readonly ConformanceCase[] = [
  {
    name: 'a new node is tainted not-ready until somebody finds it Ready',
    source: 'kubernetes.io: TaintNodesByCondition admission',
    since: '1.20',
    steps: [
      {
        method: 'POST',
        path: NODES,
        body: { metadata: { name: 'fresh-node' }, spec: {}, status: {} },
        status: 201,
        expect: { spec: { taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] } },
      },
    ],
  },
  {
    name: 'a kubelet posts its status in parts: volumes in use are replaced, conditions merged, the rest left alone',
    source: KUBELET,
    since: '1.20',
    steps: [
      { method: 'POST', path: NODES, body: { metadata: { name: 'posting' } }, status: 201 },
      {
        method: 'PATCH',
        path: `${NODES}/posting/status`,
        contentType: STRATEGIC,
        body: {
          status: {
            conditions: [
              { type: 'Ready', status: 'True', lastHeartbeatTime: '2026-11-21T10:00:00.123Z', lastTransitionTime: '2026-11-21T10:00:00Z' },
            ],
            volumesInUse: ['kubernetes.io/csi/d^a', 'kubernetes.io/csi/d^b'],
            nodeInfo: {
              bootID: 'one',
              machineID: '',
              systemUUID: 'u',
              kernelVersion: '',
              osImage: '',
              containerRuntimeVersion: '',
              kubeletVersion: 'v1',
              kubeProxyVersion: '',
              operatingSystem: 'linux',
              architecture: 'amd64',
            },
          },
        },
        status: 200,
        expect: { status: { nodeInfo: { bootID: 'one' }, conditions: [{ type: 'Ready', lastHeartbeatTime: '2026-11-21T10:00:00Z' }] } },
      },
      {
        method: 'PATCH',
        path: `${NODES}/posting/status`,
        contentType: STRATEGIC,
        body: { status: { conditions: [{ type: 'MemoryPressure', status: 'False' }] } },
        status: 200,
        expect: { status: { conditions: [{}, {}], volumesInUse: ['kubernetes.io/csi/d^a', 'kubernetes.io/csi/d^b'], nodeInfo: { bootID: 'one' } } },
      },
      {
        method: 'PATCH',
        path: `${NODES}/posting/status`,
        contentType: MERGE,
        body: { status: { volumesInUse: [] } },
        status: 200,
        expect: { status: { nodeInfo: { bootID: 'one' } } },
        absent: ['status.volumesInUse.0'],
      },
    ],
  },
  {
    name: 'pods of one node are watched by their spec.nodeName: a binding adds one, an end with grace 0 removes it',
    source: KUBELET,
    since: '1.20',
    steps: [
      // Pods of a Node that is not there are collected.
      { method: 'POST', path: NODES, body: { metadata: { name: 'watched-node' } }, status: 201 },
      { method: 'POST', path: PODS, body: pod('watched-pod'), status: 201 },
      {
        watch: `${PODS}?watch=true&fieldSelector=spec.nodeName%3Dwatched-node`,
        meanwhile: [
          {
            method: 'POST',
            path: `${PODS}/watched-pod/binding`,
            body: { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'watched-pod' }, target: { kind: 'Node', name: 'watched-node' } },
            status: 201,
          },
          { method: 'DELETE', path: `${PODS}/watched-pod`, status: 200 },
          { method: 'DELETE', path: `${PODS}/watched-pod`, body: { gracePeriodSeconds: 0 }, status: 200 },
          { method: 'POST', path: PODS, body: pod('watched-other', 'watched-node'), status: 201 },
          { method: 'DELETE', path: `${PODS}/watched-other`, body: { gracePeriodSeconds: 0 }, status: 200 },
          { method: 'POST', path: PODS, body: pod('watched-last', 'watched-node'), status: 201 },
        ],
        events: [
          { type: 'ADDED', object: { metadata: { name: 'watched-pod' }, spec: { nodeName: 'watched-node' } } },
          { type: 'MODIFIED', object: { metadata: { deletionTimestamp: /Z$/, deletionGracePeriodSeconds: 30 } } },
          { type: 'MODIFIED', object: { metadata: { deletionTimestamp: /Z$/, deletionGracePeriodSeconds: 0 } } },
          { type: 'DELETED', object: { metadata: { name: 'watched-pod' } } },
          { type: 'ADDED', object: { metadata: { name: 'watched-other' } } },
          { type: 'MODIFIED', object: { metadata: { name: 'watched-other', deletionTimestamp: /Z$/, deletionGracePeriodSeconds: 0 } } },
          { type: 'DELETED', object: { metadata: { name: 'watched-other' } } },
          { type: 'ADDED', object: { metadata: { name: 'watched-last' } } },
        ],
      },
    ],
  },
  {
    name: 'watchers see a pod marked before it goes, also one that is on no node yet',
    source: 'pkg/registry/core/pod CheckGracefulDelete, kube-apiserver 1.20',
    since: '1.20',
    steps: [
      {
        watch: `${PODS}?watch=true&labelSelector=app%3Dmarked-loose`,
        meanwhile: [
          { method: 'POST', path: PODS, body: pod('marked-loose'), status: 201 },
          { method: 'DELETE', path: `${PODS}/marked-loose`, status: 200 },
        ],
        events: [
          { type: 'ADDED', object: { metadata: { name: 'marked-loose' } } },
          { type: 'MODIFIED', object: { metadata: { deletionTimestamp: /Z$/, deletionGracePeriodSeconds: 0 } } },
          { type: 'DELETED', object: { metadata: { name: 'marked-loose' } } },
        ],
      },
    ],
  },
  {
    name: 'a pod deleted with grace 0 and its uid is gone at once; another pod of its name is not touched',
    source: OBSERVED,
    since: '1.20',
    steps: [
      { method: 'POST', path: PODS, body: pod('forced', 'dead-node'), status: 201, save: { uid: 'metadata.uid' } },
      {
        method: 'DELETE',
        path: `${PODS}/forced`,
        body: { gracePeriodSeconds: 0, preconditions: { uid: '${uid}' } },
        status: 200,
        expect: { kind: 'Pod', metadata: { name: 'forced' } },
      },
      { method: 'GET', path: `${PODS}/forced`, status: 404 },
      { method: 'POST', path: PODS, body: pod('forced', 'other-node'), status: 201 },
      {
        method: 'DELETE',
        path: `${PODS}/forced`,
        body: { gracePeriodSeconds: 0, preconditions: { uid: '${uid}' } },
        status: 409,
        expect: { reason: 'Conflict' },
      },
      { method: 'GET', path: `${PODS}/forced`, status: 200, expect: { spec: { nodeName: 'other-node' } } },
    ],
  },
  {
    name: 'a pod with a finalizer outlives grace 0',
    source: OBSERVED,
    since: '1.20',
    steps: [
      {
        method: 'POST',
        path: PODS,
        body: { ...pod('held', 'dead-node'), metadata: { name: 'held', finalizers: ['example.com/hold'] } },
        status: 201,
      },
      {
        method: 'DELETE',
        path: `${PODS}/held`,
        body: { gracePeriodSeconds: 0 },
        status: 200,
        expect: { kind: 'Pod', metadata: { deletionTimestamp: /Z$/, deletionGracePeriodSeconds: 0 } },
      },
      { method: 'PATCH', path: `${PODS}/held`, contentType: MERGE, body: { metadata: { finalizers: null } }, status: 200 },
      { method: 'GET', path: `${PODS}/held`, status: 404 },
    ],
  },
  {
    name: 'a pod status is patched under its uid, and under another uid refused',
    source: KUBELET,
    since: '1.20',
    steps: [
      { method: 'POST', path: PODS, body: pod('posted', 'n'), status: 201, save: { uid: 'metadata.uid' } },
      {
        method: 'PATCH',
        path: `${PODS}/posted/status`,
        contentType: STRATEGIC,
        body: { metadata: { uid: '${uid}' }, status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } },
        status: 200,
        expect: { status: { phase: 'Running' } },
      },
      {
        method: 'PATCH',
        path: `${PODS}/posted/status`,
        contentType: STRATEGIC,
        body: { metadata: { uid: 'another' }, status: { phase: 'Failed' } },
        status: 422,
        expect: { reason: 'Invalid', message: /metadata\.uid: Invalid value: "another": field is immutable/ },
      },
    ],
  },
  {
    name: 'of two who renew a Lease at one resource version one gets a conflict',
    source: 'client-go tools/leaderelection',
    since: '1.20',
    steps: [
      {
        method: 'POST',
        path: LEASES,
        body: { metadata: { name: 'two' }, spec: { holderIdentity: '', leaseDurationSeconds: 15, renewTime: '2026-11-21T10:00:00.123456Z' } },
        status: 201,
        expect: { spec: { renewTime: '2026-11-21T10:00:00.123456Z' } },
        save: { version: 'metadata.resourceVersion' },
      },
      {
        method: 'PUT',
        path: `${LEASES}/two`,
        body: {
          metadata: { name: 'two', resourceVersion: '${version}' },
          spec: { holderIdentity: 'a', leaseDurationSeconds: 15, leaseTransitions: 1, acquireTime: '2026-11-21T10:00:01.000000Z' },
        },
        status: 200,
        expect: { spec: { holderIdentity: 'a', leaseTransitions: 1 } },
      },
      {
        method: 'PUT',
        path: `${LEASES}/two`,
        body: { metadata: { name: 'two', resourceVersion: '${version}' }, spec: { holderIdentity: 'b', leaseDurationSeconds: 15 } },
        status: 409,
        expect: { reason: 'Conflict', details: { name: 'two', group: 'coordination.k8s.io', kind: 'leases' } },
      },
      {
        method: 'POST',
        path: LEASES,
        body: { metadata: { name: 'short' }, spec: { holderIdentity: 'a', leaseDurationSeconds: 0 } },
        status: 422,
        expect: { message: /spec\.leaseDurationSeconds: Invalid value: 0: must be greater than 0/ },
      },
    ],
  },
  {
    name: 'a volume attachment says by its status subresource that it is attached, and goes with the finalizer of its attacher',
    source: OBSERVED,
    since: '1.20',
    steps: [
      {
        method: 'POST',
        path: ATTACHMENTS,
        body: {
          metadata: { name: 'csi-1', finalizers: ['external-attacher/d'] },
          spec: { attacher: 'd', nodeName: 'n', source: { persistentVolumeName: 'disk' } },
        },
        status: 201,
        expect: { status: { attached: false } },
      },
      {
        method: 'PATCH',
        path: `${ATTACHMENTS}/csi-1/status`,
        contentType: MERGE,
        body: { status: { attached: true } },
        status: 200,
        expect: { status: { attached: true } },
      },
      { method: 'DELETE', path: `${ATTACHMENTS}/csi-1`, status: 200 },
      { method: 'GET', path: `${ATTACHMENTS}/csi-1`, status: 200, expect: { metadata: { deletionTimestamp: /Z$/ }, status: { attached: true } } },
      { method: 'PATCH', path: `${ATTACHMENTS}/csi-1`, contentType: MERGE, body: { metadata: { finalizers: null } }, status: 200 },
      { method: 'GET', path: `${ATTACHMENTS}/csi-1`, status: 404 },
    ],
  },
  {
    name: 'an eviction of before 1.22 needs its beta version',
    source: OBSERVED,
    since: '1.20',
    until: '1.21',
    steps: [
      { method: 'POST', path: PODS, body: pod('old-evicted', 'n'), status: 201 },
      {
        method: 'POST',
        path: `${PODS}/old-evicted/eviction`,
        body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'old-evicted' } },
        status: 400,
        expect: { reason: 'BadRequest', message: /policy\/v1/ },
      },
      {
        method: 'POST',
        path: `${PODS}/old-evicted/eviction`,
        body: { apiVersion: 'policy/v1beta1', kind: 'Eviction', metadata: { name: 'old-evicted' } },
        status: 201,
        expect: { kind: 'Status', status: 'Success' },
      },
    ],
  },
  {
    name: 'a token review tells who the owner of a token is',
    source: OBSERVED,
    since: '1.20',
    steps: [
      {
        method: 'POST',
        path: '/apis/authentication.k8s.io/v1/tokenreviews',
        as: 'stranger',
        body: { spec: { token: 'x' } },
        status: 403,
        expect: {
          message:
            'tokenreviews.authentication.k8s.io is forbidden: User "stranger" cannot create resource "tokenreviews" in API group "authentication.k8s.io" at the cluster scope',
        },
      },
      {
        method: 'POST',
        path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
        as: 'stranger',
        body: { spec: { resourceAttributes: { verb: 'delete', resource: 'nodes' } } },
        status: 201,
        expect: { status: { allowed: false } },
      },
      {
        method: 'DELETE',
        path: `${NODES}/any`,
        as: 'stranger',
        status: 403,
        expect: { message: 'nodes "any" is forbidden: User "stranger" cannot delete resource "nodes" in API group "" at the cluster scope' },
      },
      {
        method: 'POST',
        path: `${PODS}/any/eviction`,
        as: 'stranger',
        body: {},
        status: 403,
        expect: {
          message: 'pods "any" is forbidden: User "stranger" cannot create resource "pods/eviction" in API group "" in the namespace "conformance"',
        },
      },
    ],
  },
  {
    name: 'a default that lacks what its schema requires is refused with the definition',
    source: OBSERVED,
    since: '1.20',
    steps: [
      {
        method: 'POST',
        path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
        body: withSchema('lacking', {
          status: { type: 'object', required: ['phase'], properties: { phase: { type: 'string', default: 'new' } }, default: {} },
        }),
        status: 422,
        expect: { message: /openAPIV3Schema\.properties\[status\]\.default\.phase: Required value/ },
      },
    ],
  },
  {
    name: 'a key of a map list that may be null is refused with the definition',
    source: OBSERVED,
    since: '1.20',
    steps: [
      {
        method: 'POST',
        path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
        body: withSchema('nullkey', {
          parts: {
            type: 'array',
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['name'],
            items: { type: 'object', required: ['name'], properties: { name: { type: 'string', nullable: true } } },
          },
        }),
        status: 422,
        expect: { message: /properties\[parts\]\.items\.properties\[name\]\.nullable: Forbidden/ },
      },
    ],
  },
];
