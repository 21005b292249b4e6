import type { ConformanceCase } from './case.ts';
import { CONFIG_MAPS, MERGE, NODES, PODS } from './fixtures.ts';

const OBSERVED = 'observed on kube-apiserver 1.20';
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const SECRETS = '/api/v1/namespaces/conformance/secrets';
const BUDGETS = '/apis/policy/v1/namespaces/conformance/poddisruptionbudgets';

/** Who may do what, what is found where, and requests that make no sense. */
export const ACCESS_CASES: readonly ConformanceCase[] = [
  {
    name: 'an unknown token is 401',
    source: OBSERVED,
    since: '1.20',
    steps: [
      {
        method: 'GET',
        path: NODES,
        as: 'nobody',
        status: 401,
        expect: { kind: 'Status', reason: 'Unauthorized', message: 'Unauthorized', code: 401 },
      },
    ],
  },
  {
    name: 'who has no role is refused with 403 in words',
    source: 'kubernetes.io: RBAC',
    since: '1.20',
    steps: [
      {
        method: 'GET',
        path: NODES,
        as: 'stranger',
        status: 403,
        expect: {
          reason: 'Forbidden',
          message: 'nodes is forbidden: User "stranger" cannot list resource "nodes" in API group "" at the cluster scope',
          details: { kind: 'nodes' },
        },
      },
      {
        method: 'GET',
        path: `${PODS}/p`,
        as: 'stranger',
        status: 403,
        expect: { message: 'pods "p" is forbidden: User "stranger" cannot get resource "pods" in API group "" in the namespace "conformance"' },
      },
      {
        method: 'PUT',
        path: `${NODES}/a/status`,
        as: 'stranger',
        body: {},
        status: 403,
        expect: { message: 'nodes "a" is forbidden: User "stranger" cannot update resource "nodes/status" in API group "" at the cluster scope' },
      },
      { method: 'GET', path: '/metrics', as: 'stranger', status: 403, expect: { message: 'forbidden: User "stranger" cannot get path "/metrics"' } },
      { method: 'GET', path: '/version', as: 'stranger', status: 200 },
    ],
  },
  {
    name: 'a right to one name covers a list that selects exactly that name, and no other list',
    source: 'kubernetes.io: RBAC, referring to resources; apiserver RequestInfo',
    since: '1.20',
    steps: [
      {
        method: 'POST',
        path: `${RBAC}/namespaces/conformance/roles`,
        body: { metadata: { name: 'one-lister' }, rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['list'], resourceNames: ['mine'] }] },
        status: 201,
      },
      {
        method: 'POST',
        path: `${RBAC}/namespaces/conformance/rolebindings`,
        body: {
          metadata: { name: 'one-lister' },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'one-lister' },
          subjects: [{ kind: 'User', name: 'stranger', apiGroup: 'rbac.authorization.k8s.io' }],
        },
        status: 201,
      },
      { method: 'GET', path: `${SECRETS}?fieldSelector=metadata.name%3Dmine`, as: 'stranger', status: 200, eventually: 5_000 },
      { method: 'GET', path: `${SECRETS}?fieldSelector=metadata.name%3Dother`, as: 'stranger', status: 403 },
      { method: 'GET', path: SECRETS, as: 'stranger', status: 403 },
      { method: 'DELETE', path: `${RBAC}/namespaces/conformance/rolebindings/one-lister`, status: 200 },
    ],
  },
  {
    name: 'a role binding grants in its namespace only, for the names and verbs of its rules',
    source: 'kubernetes.io: RBAC',
    since: '1.20',
    steps: [
      {
        method: 'POST',
        path: `${RBAC}/namespaces/conformance/roles`,
        body: { metadata: { name: 'reader' }, rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'], resourceNames: ['granted'] }] },
        status: 201,
      },
      {
        method: 'POST',
        path: `${RBAC}/namespaces/conformance/rolebindings`,
        body: {
          metadata: { name: 'reader' },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
          subjects: [{ kind: 'User', name: 'granted-user', apiGroup: 'rbac.authorization.k8s.io' }],
        },
        status: 201,
      },
      ...(
        [
          ['get', 'configmaps', 'granted', 'conformance', true],
          ['get', 'configmaps', 'other', 'conformance', false],
          ['list', 'configmaps', 'granted', 'conformance', false],
          ['get', 'configmaps', 'granted', 'default', false],
        ] as const
      ).map(([verb, resource, name, namespace, allowed]) => ({
        method: 'POST' as const,
        path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
        body: { spec: { user: 'granted-user', resourceAttributes: { verb, resource, name, namespace } } },
        status: 201,
        eventually: 5_000 as const,
        expect: { kind: 'SubjectAccessReview', status: { allowed } },
      })),
    ],
  },
  {
    name: 'a rules review tells what one may do in a namespace, rule by rule as the roles have them',
    source: 'observed on kube-apiserver 1.36',
    since: '1.28',
    steps: [
      {
        method: 'POST',
        path: '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
        body: { spec: { namespace: 'elsewhere' } },
        status: 201,
        eventually: 5_000,
        expect: {
          kind: 'SelfSubjectRulesReview',
          status: {
            incomplete: false,
            // A server goes through its bindings in no order.
            resourceRules: new Set([
              { verbs: ['create'], apiGroups: ['authorization.k8s.io'], resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'] },
              { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'] },
              { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
            ]),
          },
        },
        absent: ['metadata.name', 'spec.namespace'],
      },
      {
        method: 'POST',
        path: '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
        body: { spec: {} },
        status: 400,
        expect: { reason: 'BadRequest', message: 'no namespace on request' },
      },
    ],
  },
  {
    name: 'a token review tells who a token is',
    source: OBSERVED,
    since: '1.20',
    steps: [
      {
        method: 'POST',
        path: '/apis/authentication.k8s.io/v1/tokenreviews',
        body: { spec: { token: 'nonsense' } },
        status: 201,
        expect: { kind: 'TokenReview', status: { user: {} } },
        absent: ['status.authenticated'],
      },
    ],
  },
  {
    name: 'an eviction is 429 while a budget forbids it and deletes the pod when none does',
    source: 'kubernetes.io: API-initiated eviction',
    since: '1.22',
    steps: [
      {
        method: 'POST',
        path: PODS,
        body: { metadata: { name: 'evicted', labels: { app: 'evicted' } }, spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] } },
        status: 201,
      },
      {
        method: 'PATCH',
        path: `${PODS}/evicted/status`,
        body: { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } },
        contentType: MERGE,
        status: 200,
      },
      {
        method: 'POST',
        path: BUDGETS,
        body: { metadata: { name: 'evicted' }, spec: { minAvailable: 1, selector: { matchLabels: { app: 'evicted' } } } },
        status: 201,
      },
      {
        method: 'POST',
        path: `${PODS}/evicted/eviction`,
        body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'evicted' } },
        status: 429,
        expect: {
          reason: 'TooManyRequests',
          message: "Cannot evict pod as it would violate the pod's disruption budget.",
          details: { causes: [{ reason: 'DisruptionBudget' }] },
        },
      },
      { method: 'DELETE', path: `${BUDGETS}/evicted`, status: 200 },
      {
        method: 'POST',
        path: `${PODS}/evicted/eviction`,
        body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'evicted' } },
        status: 201,
        expect: { kind: 'Status', status: 'Success' },
      },
      { method: 'GET', path: `${PODS}/evicted`, status: 200, expect: { metadata: { deletionTimestamp: /Z$/ } } },
    ],
  },
  {
    name: 'discovery lists groups, versions and resources with their short names and verbs',
    source: 'kubernetes.io: API discovery',
    since: '1.20',
    steps: [
      { method: 'GET', path: '/api', status: 200, expect: { kind: 'APIVersions', versions: ['v1'] } },
      {
        method: 'GET',
        path: '/apis/apps',
        status: 200,
        expect: { kind: 'APIGroup', name: 'apps', preferredVersion: { groupVersion: 'apps/v1', version: 'v1' } },
      },
      {
        method: 'GET',
        path: '/apis/conformance.example.com/v1',
        status: 200,
        expect: {
          kind: 'APIResourceList',
          groupVersion: 'conformance.example.com/v1',
          resources: [
            { name: 'widgets', singularName: 'widget', namespaced: false, kind: 'Widget', shortNames: ['wd'] },
            { name: 'widgets/status', kind: 'Widget' },
          ],
        },
      },
      { method: 'GET', path: '/version', status: 200, expect: { major: '1', gitVersion: /^v1\./ } },
      { method: 'GET', path: '/readyz', status: 200 },
    ],
  },
  {
    name: 'unknown paths, methods, bodies and content types are refused each in its way',
    source: OBSERVED,
    since: '1.20',
    steps: [
      { method: 'GET', path: '/api/v1/gadgets', status: 404 },
      { method: 'GET', path: '/apis/none.example.com/v1/gadgets', status: 404 },
      { method: 'POST', path: CONFIG_MAPS, body: '{"metadata":', status: 400, expect: { kind: 'Status', reason: 'BadRequest' } },
      { method: 'POST', path: CONFIG_MAPS, body: { kind: 'Secret', apiVersion: 'v1', metadata: { name: 'x' } }, status: 400 },
      { method: 'POST', path: CONFIG_MAPS, body: 'x', contentType: 'text/plain', status: 415, expect: { reason: 'UnsupportedMediaType' } },
      { method: 'PATCH', path: `${NODES}/absent`, body: '{}', contentType: 'application/json', status: 415 },
      {
        method: 'POST',
        path: NODES,
        body: { metadata: { name: 'mistyped' }, spec: { unschedulable: 'yes' } },
        status: 400,
        expect: { reason: 'BadRequest', message: /^Node in version "v1" cannot be handled as a Node: / },
      },
    ],
  },
  {
    name: 'an object that is too large is refused',
    source: OBSERVED,
    since: '1.20',
    steps: [
      {
        method: 'POST',
        path: CONFIG_MAPS,
        body: { metadata: { name: 'large' }, data: { a: 'x'.repeat(2_000_000) } },
        status: 422,
        expect: { message: /Too long: / },
      },
    ],
  },
];
