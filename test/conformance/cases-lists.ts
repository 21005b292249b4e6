import type { ConformanceCase } from './case.ts';
import { CONFIG_MAPS, MERGE, PODS, WIDGETS } from './fixtures.ts';

const CONCEPTS = 'kubernetes.io: API concepts';
const OBSERVED = 'observed on kube-apiserver 1.20';

function labelled(name: string, list: string, more: Record<string, string> = {}): object {
  return { metadata: { name, labels: { list, ...more } } };
}

const THREE = (list: string): ConformanceCase['steps'] =>
  ['1', '2', '3'].map((number) => ({
    method: 'POST' as const,
    path: CONFIG_MAPS,
    body: labelled(`${list}-${number}`, list, { number }),
    status: 201,
    save: { [`version${number}`]: 'metadata.resourceVersion' },
  }));

/** Lists, selectors, paging, watches. */
export const LIST_CASES: readonly ConformanceCase[] = [
  {
    name: 'a list is in order of names, has a resource version and leaves the type out of built-in items',
    source: CONCEPTS,
    since: '1.20',
    steps: [
      ...THREE('order'),
      {
        method: 'GET',
        path: `${CONFIG_MAPS}?labelSelector=list%3Dorder`,
        status: 200,
        expect: {
          kind: 'ConfigMapList',
          apiVersion: 'v1',
          metadata: { resourceVersion: /^\d+$/ },
          items: [{ metadata: { name: 'order-1' } }, { metadata: { name: 'order-2' } }, { metadata: { name: 'order-3' } }],
        },
        absent: ['items.0.kind', 'items.0.apiVersion'],
      },
    ],
  },
  {
    name: 'one name is listed across all namespaces',
    source: 'apiserver: registry/generic/registry/store.go, ListPredicate: without a namespace there is no key to look one object up by',
    since: '1.20',
    steps: [
      { method: 'POST', path: CONFIG_MAPS, body: { metadata: { name: 'everywhere' } }, status: 201 },
      {
        method: 'GET',
        path: '/api/v1/configmaps?fieldSelector=metadata.name%3Deverywhere',
        status: 200,
        expect: { items: [{ metadata: { name: 'everywhere' } }] },
      },
    ],
  },
  {
    name: 'label selectors know equality, sets and existence',
    source: 'kubernetes.io: Labels and selectors',
    since: '1.20',
    steps: [
      ...THREE('labels'),
      ...(
        [
          ['list=labels,number!=2', ['1', '3']],
          ['list==labels,number in (1, 2)', ['1', '2']],
          ['list=labels,number notin (1,2)', ['3']],
          ['list=labels,number', ['1', '2', '3']],
          ['list=labels,!number', []],
        ] as const
      ).map(([selector, numbers]) => ({
        method: 'GET' as const,
        path: `${CONFIG_MAPS}?labelSelector=${encodeURIComponent(selector)}`,
        status: 200,
        expect: { items: numbers.map((number) => ({ metadata: { name: `labels-${number}` } })) },
      })),
      { method: 'GET', path: `${CONFIG_MAPS}?labelSelector=${encodeURIComponent('a in b')}`, status: 400, expect: { reason: 'BadRequest' } },
    ],
  },
  {
    name: 'field selectors know the fields of the kind and refuse others',
    source: 'kubernetes.io: Field selectors',
    since: '1.20',
    steps: [
      {
        method: 'POST',
        path: PODS,
        body: { metadata: { name: 'fields' }, spec: { nodeName: 'fields-node', containers: [{ name: 'c', image: 'i' }] } },
        status: 201,
      },
      {
        method: 'GET',
        path: `${PODS}?fieldSelector=spec.nodeName%3Dfields-node`,
        status: 200,
        expect: { items: [{ metadata: { name: 'fields' } }] },
      },
      { method: 'GET', path: `${PODS}?fieldSelector=spec.nodeName%3Dfields-node,metadata.name!%3Dfields`, status: 200, expect: { items: [] } },
      {
        method: 'GET',
        path: `${PODS}?fieldSelector=spec.hostname%3Da`,
        status: 400,
        expect: { reason: 'BadRequest', message: /field label not supported: spec\.hostname/ },
      },
    ],
  },
  {
    name: 'a paged list goes on where it stopped, as things stood at its first page',
    source: CONCEPTS,
    since: '1.20',
    steps: [
      ...THREE('page'),
      {
        method: 'GET',
        path: `${CONFIG_MAPS}?labelSelector=list%3Dpage&limit=2`,
        status: 200,
        save: { token: 'metadata.continue', version: 'metadata.resourceVersion' },
        expect: { items: [{ metadata: { name: 'page-1' } }, { metadata: { name: 'page-2' } }], metadata: { continue: /.+/ } },
      },
      { method: 'DELETE', path: `${CONFIG_MAPS}/page-3`, status: 200 },
      {
        method: 'GET',
        path: `${CONFIG_MAPS}?labelSelector=list%3Dpage&limit=2&continue=\${token}`,
        status: 200,
        expect: { items: [{ metadata: { name: 'page-3' } }], metadata: { resourceVersion: '${version}' } },
      },
      {
        method: 'GET',
        path: `${CONFIG_MAPS}?labelSelector=list%3Dpage&limit=2&resourceVersion=5&continue=\${token}`,
        status: 400,
        expect: { message: 'specifying resource version is not allowed when using continue' },
      },
      { method: 'GET', path: `${CONFIG_MAPS}?limit=2&continue=nonsense`, status: 400, expect: { message: /continue key is not valid/ } },
    ],
  },
  {
    name: 'a continue token is 410 after a compaction and brings one to go on inconsistently',
    source: CONCEPTS,
    since: '1.20',
    steps: [
      ...THREE('compact'),
      { method: 'GET', path: `${CONFIG_MAPS}?labelSelector=list%3Dcompact&limit=2`, status: 200, save: { token: 'metadata.continue' } },
      { method: 'PATCH', path: `${CONFIG_MAPS}/compact-3`, body: { data: { a: '2' } }, contentType: MERGE, status: 200 },
      { compact: true },
      {
        method: 'GET',
        path: `${CONFIG_MAPS}?labelSelector=list%3Dcompact&limit=2&continue=\${token}`,
        status: 410,
        // From 1.34 on a server pages from what it has cached, and looks every 15 s for what was compacted.
        eventually: 20_000,
        save: { fresh: 'metadata.continue' },
        expect: { reason: 'Expired', code: 410, message: /^The provided continue parameter is too old/ },
      },
      {
        method: 'GET',
        path: `${CONFIG_MAPS}?labelSelector=list%3Dcompact&limit=2&continue=\${fresh}`,
        status: 200,
        expect: { items: [{ metadata: { name: 'compact-3' }, data: { a: '2' } }] },
      },
    ],
  },
  {
    name: 'a limit is ignored with resourceVersion 0',
    source: OBSERVED,
    since: '1.20',
    steps: [
      ...THREE('cached'),
      // Version 0 is whatever the server's cache has: this one waits until it has all of them.
      {
        method: 'GET',
        path: `${CONFIG_MAPS}?labelSelector=list%3Dcached&resourceVersion=\${version3}`,
        status: 200,
        expect: { items: [{}, {}, {}] },
      },
      { method: 'GET', path: `${CONFIG_MAPS}?labelSelector=list%3Dcached&limit=2&resourceVersion=0`, status: 200, expect: { items: [{}, {}, {}] } },
    ],
  },
  {
    name: 'resourceVersionMatch Exact shows the past, and needs a resource version',
    source: CONCEPTS,
    since: '1.20',
    steps: [
      ...THREE('exact'),
      {
        method: 'GET',
        path: `${CONFIG_MAPS}?labelSelector=list%3Dexact&resourceVersion=\${version2}&resourceVersionMatch=Exact&limit=10`,
        status: 200,
        expect: { items: [{ metadata: { name: 'exact-1' } }, { metadata: { name: 'exact-2' } }] },
      },
      {
        method: 'GET',
        path: `${CONFIG_MAPS}?resourceVersionMatch=Exact`,
        status: 422,
        expect: { reason: 'Invalid', message: /resourceVersionMatch is forbidden unless resourceVersion is provided/ },
      },
    ],
  },
  {
    name: 'a resource version of the future is refused with 504 and a time to try again',
    source: CONCEPTS,
    since: '1.20',
    steps: [
      {
        method: 'GET',
        path: `${CONFIG_MAPS}?resourceVersion=99999999`,
        status: 504,
        expect: { reason: 'Timeout', code: 504, message: /Too large resource version/, details: { retryAfterSeconds: 1 } },
      },
    ],
  },
  {
    name: 'a watch gives what happened after its resource version, in order, and turns leaving a selector into a deletion',
    source: CONCEPTS,
    since: '1.20',
    steps: [
      ...THREE('watch'),
      { method: 'PATCH', path: `${CONFIG_MAPS}/watch-1`, body: { data: { a: '1' } }, contentType: MERGE, status: 200 },
      {
        watch: `${CONFIG_MAPS}?watch=true&labelSelector=list%3Dwatch&resourceVersion=\${version3}`,
        meanwhile: [
          { method: 'PATCH', path: `${CONFIG_MAPS}/watch-2`, body: { metadata: { labels: { list: null } } }, contentType: MERGE, status: 200 },
          { method: 'PATCH', path: `${CONFIG_MAPS}/watch-2`, body: { metadata: { labels: { list: 'watch' } } }, contentType: MERGE, status: 200 },
          { method: 'DELETE', path: `${CONFIG_MAPS}/watch-3`, status: 200 },
        ],
        events: [
          { type: 'MODIFIED', object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'watch-1' } } },
          { type: 'DELETED', object: { metadata: { name: 'watch-2', labels: { list: 'watch' } } } },
          { type: 'ADDED', object: { metadata: { name: 'watch-2' } } },
          { type: 'DELETED', object: { metadata: { name: 'watch-3' } } },
        ],
      },
    ],
  },
  {
    name: 'a watch without a resource version, or from 0, begins with what is there',
    source: CONCEPTS,
    since: '1.20',
    steps: [
      ...THREE('zero'),
      {
        watch: `${CONFIG_MAPS}?watch=true&labelSelector=list%3Dzero&resourceVersion=0`,
        events: [{ type: 'ADDED' }, { type: 'ADDED' }, { type: 'ADDED' }],
      },
      { watch: `${CONFIG_MAPS}?watch=true&labelSelector=list%3Dzero`, events: [{ type: 'ADDED' }, { type: 'ADDED' }, { type: 'ADDED' }] },
    ],
  },
  {
    name: 'a watch that asks for initial events begins with what is there, says that it was all, and goes on',
    source: 'https://kubernetes.io/docs/reference/using-api/api-concepts/#streaming-lists',
    since: '1.34',
    steps: [
      ...THREE('streamed'),
      {
        watch: `${CONFIG_MAPS}?watch=true&labelSelector=list%3Dstreamed&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
        events: [
          { type: 'ADDED' },
          { type: 'ADDED' },
          { type: 'ADDED' },
          {
            type: 'BOOKMARK',
            object: { kind: 'ConfigMap', metadata: { resourceVersion: /^[1-9]\d*$/, annotations: { 'k8s.io/initial-events-end': 'true' } } },
          },
        ],
      },
      {
        watch: `${CONFIG_MAPS}?watch=true&labelSelector=list%3Dnowhere&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
        events: [{ type: 'BOOKMARK', object: { metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } } }],
      },
      {
        watch: `${CONFIG_MAPS}?watch=true&labelSelector=list%3Dstreamed&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`,
        events: [{ type: 'ADDED' }, { type: 'ADDED' }, { type: 'ADDED' }],
      },
    ],
  },
  {
    name: 'initial events are asked for with resourceVersionMatch NotOlderThan, which no other watch takes',
    source: 'kubernetes source, apimachinery ValidateListOptions',
    since: '1.34',
    steps: [
      {
        method: 'GET',
        path: `${CONFIG_MAPS}?watch=true&sendInitialEvents=true`,
        status: 422,
        expect: { reason: 'Invalid', message: /sendInitialEvents requires setting resourceVersionMatch to NotOlderThan/ },
      },
      {
        method: 'GET',
        path: `${CONFIG_MAPS}?watch=true&resourceVersionMatch=NotOlderThan&resourceVersion=1`,
        status: 422,
        expect: { reason: 'Invalid', message: /resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided/ },
      },
      {
        method: 'GET',
        path: `${CONFIG_MAPS}?sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=1`,
        status: 422,
        expect: { reason: 'Invalid', message: /sendInitialEvents is forbidden for list/ },
      },
    ],
  },
  {
    name: 'a watch from a version that is still to come is opened and hears nothing, not even a bookmark',
    source: 'seen on 1.36, as after a restore of etcd; lists from there are refused',
    since: '1.32',
    steps: [
      {
        watch: `${CONFIG_MAPS}?watch=true&allowWatchBookmarks=true&timeoutSeconds=3&resourceVersion=99999999`,
        meanwhile: [{ method: 'POST', path: CONFIG_MAPS, body: { metadata: { name: 'unheard' } }, status: 201 }],
        events: [],
      },
    ],
  },
  {
    name: 'a watch that asked for bookmarks gets one before its time is up, once there is a newer version than it began with',
    source: 'kubernetes source, cacher.go and cache_watcher.go; a 1.20 server sends none within 8 seconds',
    since: '1.27',
    steps: [
      {
        method: 'POST',
        path: WIDGETS,
        body: { apiVersion: 'conformance.example.com/v1', kind: 'Widget', metadata: { name: 'marked' }, spec: { colour: 'red' } },
        status: 201,
      },
      { method: 'GET', path: WIDGETS, status: 200, save: { version: 'metadata.resourceVersion' } },
      {
        watch: `${WIDGETS}?watch=true&allowWatchBookmarks=true&timeoutSeconds=2&resourceVersion=\${version}`,
        events: [],
      },
      {
        watch: `${WIDGETS}?watch=true&allowWatchBookmarks=true&timeoutSeconds=5&fieldSelector=metadata.name%3Dother&resourceVersion=\${version}`,
        meanwhile: [
          {
            method: 'PATCH',
            path: `${WIDGETS}/marked`,
            body: { spec: { colour: 'green' } },
            contentType: MERGE,
            status: 200,
            save: { later: 'metadata.resourceVersion' },
          },
        ],
        events: [
          { type: 'BOOKMARK', object: { kind: 'Widget', apiVersion: 'conformance.example.com/v1', metadata: { resourceVersion: '${later}' } } },
        ],
      },
    ],
  },
];
