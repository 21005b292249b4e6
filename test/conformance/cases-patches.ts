import type { ConformanceCase } from './case.ts';
import { CONFIG_MAPS, JSON_PATCH, MERGE, NODES, STRATEGIC } from './fixtures.ts';

const CONCEPTS = 'kubernetes.io: API concepts';
const CONVENTIONS = 'sig-architecture api-conventions.md';
const OBSERVED = 'observed on kube-apiserver 1.20';

function configMap(name: string, data: Record<string, string> = { a: '1' }, metadata: Record<string, unknown> = {}): object {
  return { metadata: { name, ...metadata }, data };
}

function node(name: string): object {
  return {
    metadata: { name },
    spec: {
      taints: [
        { key: 'a', effect: 'NoSchedule' },
        { key: 'b', effect: 'NoSchedule' },
      ],
    },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  };
}

/** Patches of built-in kinds. */
export const PATCH_CASES: readonly ConformanceCase[] = [
  {
    name: 'a merge patch with a resource version is a compare and swap, and does not change a uid',
    source: CONCEPTS,
    since: '1.20',
    steps: [
      { method: 'POST', path: CONFIG_MAPS, body: configMap('swap'), status: 201, save: { old: 'metadata.resourceVersion' } },
      {
        method: 'PATCH',
        path: `${CONFIG_MAPS}/swap`,
        body: { metadata: { resourceVersion: '${old}' }, data: { b: '2' } },
        contentType: MERGE,
        status: 200,
        expect: { data: { a: '1', b: '2' } },
      },
      {
        method: 'PATCH',
        path: `${CONFIG_MAPS}/swap`,
        body: { metadata: { resourceVersion: '${old}' }, data: { b: '3' } },
        contentType: MERGE,
        status: 409,
        expect: { reason: 'Conflict' },
      },
      {
        method: 'PATCH',
        path: `${CONFIG_MAPS}/swap`,
        body: { metadata: { uid: 'deadbeef' }, data: { b: '3' } },
        contentType: MERGE,
        status: 422,
        expect: { message: /metadata\.uid: Invalid value: "deadbeef": field is immutable/ },
      },
      { method: 'PATCH', path: `${CONFIG_MAPS}/swap`, body: { data: { a: null } }, contentType: MERGE, status: 200, absent: ['data.a'] },
    ],
  },
  {
    name: 'a JSON patch does its operations in order and fails whole when a test fails',
    source: 'RFC 6902',
    since: '1.20',
    steps: [
      { method: 'POST', path: CONFIG_MAPS, body: configMap('json', { a: '1' }, { annotations: { 'x/y': 'z' } }), status: 201 },
      {
        method: 'PATCH',
        path: `${CONFIG_MAPS}/json`,
        body: [
          { op: 'test', path: '/data/a', value: '1' },
          { op: 'replace', path: '/data/a', value: '2' },
          { op: 'move', from: '/metadata/annotations/x~1y', path: '/data/moved' },
          { op: 'copy', from: '/data/a', path: '/data/b' },
        ],
        contentType: JSON_PATCH,
        status: 200,
        expect: { data: { a: '2', b: '2', moved: 'z' } },
        absent: ['metadata.annotations'],
      },
      {
        method: 'PATCH',
        path: `${CONFIG_MAPS}/json`,
        body: [
          { op: 'test', path: '/data/a', value: '1' },
          { op: 'remove', path: '/data/a' },
        ],
        contentType: JSON_PATCH,
        status: 422,
        expect: { reason: 'Invalid' },
      },
      { method: 'GET', path: `${CONFIG_MAPS}/json`, status: 200, expect: { data: { a: '2' } } },
    ],
  },
  {
    name: 'node taints are one value for a strategic patch, conditions are merged by type',
    source: OBSERVED,
    since: '1.20',
    steps: [
      {
        method: 'POST',
        path: NODES,
        body: node('strategic'),
        status: 201,
        expect: { spec: { taints: [{ key: 'a' }, { key: 'b' }, { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] } },
      },
      {
        method: 'PATCH',
        path: `${NODES}/strategic`,
        body: { spec: { taints: [{ key: 'c', effect: 'NoExecute' }] } },
        contentType: STRATEGIC,
        status: 200,
        expect: { spec: { taints: [{ key: 'c', effect: 'NoExecute' }] } },
      },
      {
        method: 'PATCH',
        path: `${NODES}/strategic/status`,
        body: {
          status: {
            conditions: [
              { type: 'DiskPressure', status: 'False' },
              { type: 'Ready', status: 'Unknown' },
            ],
          },
        },
        contentType: STRATEGIC,
        status: 200,
        expect: {
          status: {
            conditions: [
              { type: 'DiskPressure', status: 'False' },
              { type: 'Ready', status: 'Unknown' },
            ],
          },
        },
      },
      {
        method: 'PATCH',
        path: `${NODES}/strategic/status`,
        body: { status: { conditions: [{ type: 'DiskPressure', $patch: 'delete' }] } },
        contentType: STRATEGIC,
        status: 200,
        expect: { status: { conditions: [{ type: 'Ready' }] } },
      },
    ],
  },
  {
    name: 'a taint with an unknown effect is refused by name',
    source: OBSERVED,
    since: '1.20',
    steps: [
      { method: 'POST', path: NODES, body: node('tainted'), status: 201 },
      {
        method: 'PATCH',
        path: `${NODES}/tainted`,
        body: { spec: { taints: [{ key: 'x', effect: 'Never' }] } },
        contentType: MERGE,
        status: 422,
        expect: { message: /metadata\.taints\[0\]\.effect: Unsupported value: "Never"/ },
      },
    ],
  },
  {
    name: 'the main resource of a node does not change its status, nor the status subresource its spec',
    source: CONVENTIONS,
    since: '1.20',
    steps: [
      { method: 'POST', path: NODES, body: node('isolated'), status: 201 },
      {
        method: 'PATCH',
        path: `${NODES}/isolated`,
        body: { status: { phase: 'Running' }, spec: { unschedulable: true } },
        contentType: MERGE,
        status: 200,
        expect: { spec: { unschedulable: true } },
        absent: ['status.phase'],
      },
      {
        method: 'PATCH',
        path: `${NODES}/isolated/status`,
        body: { status: { phase: 'Running' }, spec: { unschedulable: false } },
        contentType: MERGE,
        status: 200,
        expect: { spec: { unschedulable: true }, status: { phase: 'Running' } },
      },
    ],
  },
];
