import type { ConformanceCase } from './case.ts';
import { CONFIG_MAPS, MERGE, PODS } from './fixtures.ts';

const CONCEPTS = 'kubernetes.io: API concepts';
const OBSERVED = 'observed on kube-apiserver 1.20';

function configMap(name: string, data: Record<string, string> = { a: '1' }, metadata: Record<string, unknown> = {}): object {
  return { metadata: { name, ...metadata }, data };
}

function pod(name: string, nodeName?: string): object {
  return {
    metadata: { name, labels: { app: name } },
    spec: { ...(nodeName === undefined ? {} : { nodeName }), containers: [{ name: 'c', image: 'i' }] },
  };
}

/** How objects end, and how pods get to their node. */
export const LIFECYCLE_CASES: readonly ConformanceCase[] = [
  {
    name: 'an object with finalizers is only marked by a deletion and goes with the last finalizer',
    source: CONCEPTS,
    since: '1.20',
    steps: [
      { method: 'POST', path: CONFIG_MAPS, body: configMap('final', {}, { finalizers: ['example.com/a'] }), status: 201 },
      {
        method: 'DELETE',
        path: `${CONFIG_MAPS}/final`,
        status: 200,
        expect: { kind: 'ConfigMap', metadata: { deletionTimestamp: /Z$/, deletionGracePeriodSeconds: 0 } },
      },
      {
        method: 'PATCH',
        path: `${CONFIG_MAPS}/final`,
        body: { metadata: { finalizers: ['example.com/a', 'example.com/b'] } },
        contentType: MERGE,
        status: 422,
        expect: { message: /no new finalizers can be added if the object is being deleted/ },
      },
      { method: 'PATCH', path: `${CONFIG_MAPS}/final`, body: { metadata: { finalizers: null } }, contentType: MERGE, status: 200 },
      { method: 'GET', path: `${CONFIG_MAPS}/final`, status: 404 },
    ],
  },
  {
    name: 'a deletion is bound to a uid and a resource version by its preconditions, and tells what it deleted',
    source: CONCEPTS,
    since: '1.20',
    steps: [
      { method: 'POST', path: CONFIG_MAPS, body: configMap('pre'), status: 201, save: { uid: 'metadata.uid' } },
      {
        method: 'DELETE',
        path: `${CONFIG_MAPS}/pre`,
        body: { preconditions: { uid: 'deadbeef' } },
        status: 409,
        expect: {
          reason: 'Conflict',
          message: /^Operation cannot be fulfilled on ConfigMap "pre": the UID in the precondition \(deadbeef\) does not match the UID in record \(/,
        },
      },
      {
        method: 'DELETE',
        path: `${CONFIG_MAPS}/pre`,
        body: { preconditions: { resourceVersion: '1' } },
        status: 409,
        expect: { reason: 'Conflict' },
      },
      {
        method: 'DELETE',
        path: `${CONFIG_MAPS}/pre`,
        body: { preconditions: { uid: '${uid}' } },
        status: 200,
        expect: { kind: 'Status', status: 'Success', details: { name: 'pre', kind: 'configmaps', uid: '${uid}' } },
      },
    ],
  },
  {
    name: 'a pod on a node stays with a deletion time until it is deleted with grace 0; a pending one goes at once',
    source: 'kubernetes.io: Pod lifecycle',
    since: '1.20',
    steps: [
      {
        method: 'POST',
        path: PODS,
        body: pod('bound', 'somewhere'),
        status: 201,
        expect: {
          status: { phase: 'Pending' },
          spec: {
            terminationGracePeriodSeconds: 30,
            tolerations: [
              { key: 'node.kubernetes.io/not-ready', tolerationSeconds: 300 },
              { key: 'node.kubernetes.io/unreachable', tolerationSeconds: 300 },
            ],
          },
        },
      },
      {
        method: 'DELETE',
        path: `${PODS}/bound`,
        status: 200,
        expect: { kind: 'Pod', metadata: { deletionTimestamp: /Z$/, deletionGracePeriodSeconds: 30 } },
      },
      {
        method: 'DELETE',
        path: `${PODS}/bound`,
        body: { gracePeriodSeconds: 5 },
        status: 200,
        expect: { metadata: { deletionGracePeriodSeconds: 5 } },
      },
      {
        method: 'DELETE',
        path: `${PODS}/bound`,
        body: { gracePeriodSeconds: 20 },
        status: 200,
        expect: { metadata: { deletionGracePeriodSeconds: 5 } },
      },
      { method: 'DELETE', path: `${PODS}/bound`, body: { gracePeriodSeconds: 0 }, status: 200 },
      { method: 'GET', path: `${PODS}/bound`, status: 404 },
      { method: 'POST', path: PODS, body: pod('loose'), status: 201 },
      { method: 'DELETE', path: `${PODS}/loose`, status: 200 },
      { method: 'GET', path: `${PODS}/loose`, status: 404 },
    ],
  },
  {
    name: 'a binding sets the node once',
    source: OBSERVED,
    since: '1.20',
    steps: [
      { method: 'POST', path: PODS, body: pod('bind'), status: 201 },
      {
        method: 'POST',
        path: `${PODS}/bind/binding`,
        body: { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'bind' }, target: { kind: 'Node', name: 'n1' } },
        status: 201,
        expect: { kind: 'Status', status: 'Success' },
      },
      {
        method: 'GET',
        path: `${PODS}/bind`,
        status: 200,
        expect: { spec: { nodeName: 'n1' }, status: { conditions: [{ type: 'PodScheduled', status: 'True' }] } },
      },
      {
        method: 'POST',
        path: `${PODS}/bind/binding`,
        body: { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'bind' }, target: { kind: 'Node', name: 'n2' } },
        status: 409,
        expect: { reason: 'Conflict' },
      },
    ],
  },
];
