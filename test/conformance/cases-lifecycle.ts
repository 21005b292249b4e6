import type { ConformanceCase, RequestStep, Step } from './case.ts';
import { CONFIG_MAPS, MERGE, PODS } from './fixtures.ts';

const CONCEPTS = 'kubernetes.io: API concepts';
const OBSERVED = 'observed on kube-apiserver 1.20';
const BUDGETS = '/apis/policy/v1/namespaces/conformance/poddisruptionbudgets';

function configMap(name: string, data: Record<string, string> = { a: '1' }, metadata: Record<string, unknown> = {}): object {
  return { metadata: { name, ...metadata }, data };
}

function pod(name: string, nodeName?: string): object {
  return {
    metadata: { name, labels: { app: name } },
    spec: { ...(nodeName === undefined ? {} : { nodeName }), containers: [{ name: 'c', image: 'i' }] },
  };
}

/** As the disruption controller writes it. */
function budgetStatus(currentHealthy: number, desiredHealthy: number): RequestStep {
  const status = { observedGeneration: 1, disruptionsAllowed: 0, currentHealthy, desiredHealthy, expectedPods: 3 };
  return { method: 'PATCH', path: `${BUDGETS}/kept/status`, body: { status }, contentType: MERGE, status: 200 };
}

function eviction(name: string, status: 201 | 429): RequestStep {
  return { method: 'POST', path: `${PODS}/${name}/eviction`, body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } }, status };
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
  {
    name: 'a pod that is not ready may be evicted where enough others are healthy, or its budget says so',
    source: 'kubernetes.io: Specifying a Disruption Budget, unhealthy pod eviction policy',
    since: '1.27',
    steps: [
      ...['well', 'unwell', 'unwell-too'].flatMap((name): Step[] => [
        { method: 'POST', path: PODS, body: { ...pod(name, 'n'), metadata: { name, labels: { app: 'kept' } } }, status: 201 },
        {
          method: 'PATCH',
          path: `${PODS}/${name}/status`,
          body: { status: { phase: 'Running', conditions: [{ type: 'Ready', status: name === 'well' ? 'True' : 'False' }] } },
          contentType: MERGE,
          status: 200,
        },
      ]),
      {
        method: 'POST',
        path: BUDGETS,
        body: { metadata: { name: 'kept' }, spec: { minAvailable: 1, selector: { matchLabels: { app: 'kept' } } } },
        status: 201,
      },
      budgetStatus(1, 1),
      eviction('well', 429),
      eviction('unwell', 201),
      budgetStatus(1, 2),
      eviction('unwell-too', 429),
      { method: 'PATCH', path: `${BUDGETS}/kept`, body: { spec: { unhealthyPodEvictionPolicy: 'AlwaysAllow' } }, contentType: MERGE, status: 200 },
      eviction('unwell-too', 201),
      { method: 'DELETE', path: `${BUDGETS}/kept`, status: 200 },
    ],
  },
];
