import type { ConformanceCase } from './case.ts';
import { CONFIG_MAPS, MERGE, NODES, TABLE } from './fixtures.ts';

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

/** Objects, their metadata, and updates. */
export const OBJECT_CASES: readonly ConformanceCase[] = [
  {
    name: 'a new object gets a uid, a creation time and a resource version, and its type in the answer',
    source: CONCEPTS,
    since: '1.20',
    steps: [
      {
        method: 'POST',
        path: CONFIG_MAPS,
        body: configMap('new'),
        status: 201,
        expect: {
          kind: 'ConfigMap',
          apiVersion: 'v1',
          metadata: {
            namespace: 'conformance',
            uid: /^[0-9a-f-]{36}$/,
            resourceVersion: /^\d+$/,
            creationTimestamp: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
          },
        },
      },
      {
        method: 'POST',
        path: CONFIG_MAPS,
        body: configMap('new'),
        status: 409,
        expect: {
          kind: 'Status',
          status: 'Failure',
          reason: 'AlreadyExists',
          code: 409,
          message: 'configmaps "new" already exists',
          details: { name: 'new', kind: 'configmaps' },
        },
      },
    ],
  },
  {
    name: 'generateName makes a name of five more characters',
    source: CONVENTIONS,
    since: '1.20',
    steps: [
      {
        method: 'POST',
        path: CONFIG_MAPS,
        body: { metadata: { generateName: 'gen-' } },
        status: 201,
        expect: { metadata: { name: /^gen-[a-z0-9]{5}$/ } },
      },
    ],
  },
  {
    name: 'an object without a name, or with a bad one, is refused',
    source: OBSERVED,
    since: '1.20',
    steps: [
      {
        method: 'POST',
        path: CONFIG_MAPS,
        body: { data: {} },
        status: 422,
        expect: { reason: 'Invalid', message: /name or generateName is required/ },
      },
      {
        method: 'POST',
        path: CONFIG_MAPS,
        body: configMap('Bad_Name'),
        status: 422,
        expect: { reason: 'Invalid', message: /^ConfigMap "Bad_Name" is invalid: metadata\.name: Invalid value: "Bad_Name": / },
      },
    ],
  },
  {
    name: 'an object for a namespace that does not exist is refused with 404',
    source: OBSERVED,
    since: '1.20',
    steps: [
      {
        method: 'POST',
        path: '/api/v1/namespaces/absent/configmaps',
        body: configMap('x'),
        status: 404,
        expect: { reason: 'NotFound', message: 'namespaces "absent" not found' },
      },
    ],
  },
  {
    name: 'a body of another namespace than the path is refused',
    source: OBSERVED,
    since: '1.20',
    steps: [
      {
        method: 'POST',
        path: CONFIG_MAPS,
        body: configMap('x', {}, { namespace: 'other' }),
        status: 400,
        expect: { message: 'the namespace of the provided object does not match the namespace sent on the request' },
      },
    ],
  },
  {
    name: 'what is not there answers 404 with its name and resource',
    source: CONVENTIONS,
    since: '1.20',
    steps: [
      {
        method: 'GET',
        path: `${CONFIG_MAPS}/absent`,
        status: 404,
        expect: { reason: 'NotFound', message: 'configmaps "absent" not found', details: { name: 'absent', kind: 'configmaps' } },
      },
      { method: 'DELETE', path: `${NODES}/absent`, status: 404, expect: { message: 'nodes "absent" not found' } },
      { method: 'PATCH', path: `${CONFIG_MAPS}/absent`, body: {}, contentType: MERGE, status: 404 },
    ],
  },
  {
    name: 'a PUT with an old resource version is a conflict, one with the current version or none is not',
    source: CONCEPTS,
    since: '1.20',
    steps: [
      { method: 'POST', path: CONFIG_MAPS, body: configMap('put'), status: 201, save: { old: 'metadata.resourceVersion', uid: 'metadata.uid' } },
      {
        method: 'PUT',
        path: `${CONFIG_MAPS}/put`,
        body: configMap('put', { a: '2' }, { resourceVersion: '${old}' }),
        status: 200,
        save: { next: 'metadata.resourceVersion' },
        differ: ['old', 'next'],
      },
      {
        method: 'PUT',
        path: `${CONFIG_MAPS}/put`,
        body: configMap('put', { a: '3' }, { resourceVersion: '${old}' }),
        status: 409,
        expect: {
          reason: 'Conflict',
          message:
            'Operation cannot be fulfilled on configmaps "put": the object has been modified; please apply your changes to the latest version and try again',
        },
      },
      {
        method: 'PUT',
        path: `${CONFIG_MAPS}/put`,
        body: configMap('put', { a: '4' }),
        status: 200,
        expect: { data: { a: '4' }, metadata: { uid: '${uid}' } },
      },
    ],
  },
  {
    name: 'a PUT with another uid is a conflict',
    source: OBSERVED,
    since: '1.20',
    steps: [
      { method: 'POST', path: CONFIG_MAPS, body: configMap('uid'), status: 201 },
      {
        method: 'PUT',
        path: `${CONFIG_MAPS}/uid`,
        body: configMap('uid', {}, { uid: 'deadbeef' }),
        status: 409,
        expect: { reason: 'Conflict', message: /Precondition failed: UID in precondition: deadbeef, UID in object meta: / },
      },
    ],
  },
  {
    name: 'a PUT whose name is not that of the path is refused',
    source: OBSERVED,
    since: '1.20',
    steps: [
      { method: 'POST', path: CONFIG_MAPS, body: configMap('named'), status: 201 },
      {
        method: 'PUT',
        path: `${CONFIG_MAPS}/named`,
        body: configMap('other'),
        status: 400,
        expect: { message: 'the name of the object (other) does not match the name on the URL (named)' },
      },
    ],
  },
  {
    name: 'a write that changes nothing keeps the resource version',
    source: OBSERVED,
    since: '1.20',
    steps: [
      { method: 'POST', path: CONFIG_MAPS, body: configMap('same'), status: 201, save: { one: 'metadata.resourceVersion' } },
      {
        method: 'PATCH',
        path: `${CONFIG_MAPS}/same`,
        body: { data: { a: '1' } },
        contentType: MERGE,
        status: 200,
        save: { two: 'metadata.resourceVersion' },
        same: ['one', 'two'],
      },
    ],
  },
  {
    name: 'a Lease can be made by PUT, and its PUT needs a resource version',
    source: OBSERVED,
    since: '1.20',
    steps: [
      {
        method: 'PUT',
        path: '/apis/coordination.k8s.io/v1/namespaces/conformance/leases/l',
        body: { metadata: { name: 'l' }, spec: { holderIdentity: 'a' } },
        status: 201,
      },
      {
        method: 'PUT',
        path: '/apis/coordination.k8s.io/v1/namespaces/conformance/leases/l',
        body: { metadata: { name: 'l' }, spec: { holderIdentity: 'b' } },
        status: 422,
        expect: {
          message: /^leases\.coordination\.k8s\.io "l" is invalid: metadata\.resourceVersion: Invalid value: .*: must be specified for an update$/,
        },
      },
    ],
  },
  {
    name: 'dryRun=All answers as if, and writes nothing',
    source: CONCEPTS,
    since: '1.20',
    steps: [
      { method: 'POST', path: `${CONFIG_MAPS}?dryRun=All`, body: configMap('dry'), status: 201, expect: { metadata: { name: 'dry' } } },
      { method: 'GET', path: `${CONFIG_MAPS}/dry`, status: 404 },
    ],
  },
  {
    name: 'a Secret takes text in stringData and gives it as base64 in data',
    source: 'kubernetes.io: Secret',
    since: '1.20',
    steps: [
      {
        method: 'POST',
        path: '/api/v1/namespaces/conformance/secrets',
        body: { metadata: { name: 's' }, stringData: { password: 'p' } },
        status: 201,
        expect: { type: 'Opaque', data: { password: 'cA==' } },
        absent: ['stringData'],
      },
    ],
  },
  {
    name: 'a Table has the columns that kubectl prints',
    source: CONCEPTS,
    since: '1.20',
    steps: [
      { method: 'POST', path: NODES, body: node('table'), status: 201 },
      {
        method: 'GET',
        path: `${NODES}?fieldSelector=metadata.name%3Dtable`,
        accept: TABLE,
        status: 200,
        expect: {
          kind: 'Table',
          apiVersion: 'meta.k8s.io/v1',
          columnDefinitions: [
            { name: 'Name', format: 'name' },
            { name: 'Status' },
            { name: 'Roles' },
            { name: 'Age' },
            { name: 'Version' },
            { name: 'Internal-IP', priority: 1 },
            { name: 'External-IP' },
            { name: 'OS-Image' },
            { name: 'Kernel-Version' },
            { name: 'Container-Runtime' },
          ],
          rows: [{ object: { kind: 'PartialObjectMetadata', metadata: { name: 'table' } } }],
        },
      },
      { method: 'GET', path: `${NODES}/table`, accept: TABLE, status: 200, expect: { rows: [{ cells: { 0: 'table', 1: 'Ready', 2: '<none>' } }] } },
    ],
  },
  {
    name: 'a node that no kubelet has spoken for has a spec and a status all the same, with empty texts for IDs',
    source: 'k8s.io/api core/v1 types: spec, status and nodeInfo are no pointers, so that they are never left out',
    since: '1.20',
    steps: [
      {
        method: 'POST',
        path: NODES,
        body: { metadata: { name: 'bare' } },
        status: 201,
        expect: {
          status: { daemonEndpoints: { kubeletEndpoint: { Port: 0 } }, nodeInfo: { bootID: '', systemUUID: '', machineID: '', osImage: '' } },
        },
      },
      { method: 'GET', path: `${NODES}/bare`, status: 200, expect: { spec: {}, status: { nodeInfo: { bootID: '', kubeletVersion: '' } } } },
    ],
  },
];
