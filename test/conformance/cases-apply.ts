import type { ConformanceCase } from './case.ts';
import { APPLY, CONFIG_MAPS, WIDGETS } from './fixtures.ts';

const APPLIES = 'kubernetes.io: Server-side apply';

function widget(name: string, spec: Record<string, unknown> = { colour: 'red' }, more: Record<string, unknown> = {}): object {
  return { apiVersion: 'conformance.example.com/v1', kind: 'Widget', metadata: { name }, spec, ...more };
}

/** Server-side apply. */
export const APPLY_CASES: readonly ConformanceCase[] = [
  {
    name: 'server-side apply creates, owns what it applied, and removes what it no longer names',
    source: APPLIES,
    since: '1.20',
    steps: [
      {
        method: 'PATCH',
        path: `${CONFIG_MAPS}/applied?fieldManager=one`,
        body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied' }, data: { a: '1', b: '1' } },
        contentType: APPLY,
        status: 201,
        expect: {
          data: { a: '1', b: '1' },
          metadata: {
            managedFields: [
              { manager: 'one', operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:data': { 'f:a': {}, 'f:b': {} } } },
            ],
          },
        },
      },
      {
        method: 'PATCH',
        path: `${CONFIG_MAPS}/applied?fieldManager=one`,
        body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied' }, data: { a: '2' } },
        contentType: APPLY,
        status: 200,
        expect: { data: { a: '2' } },
        absent: ['data.b'],
      },
    ],
  },
  {
    name: 'two appliers conflict over a value, not over the same value, and force takes it',
    source: APPLIES,
    since: '1.20',
    steps: [
      {
        method: 'PATCH',
        path: `${CONFIG_MAPS}/fought?fieldManager=one`,
        body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'fought' }, data: { a: '1' } },
        contentType: APPLY,
        status: 201,
      },
      {
        method: 'PATCH',
        path: `${CONFIG_MAPS}/fought?fieldManager=two`,
        body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'fought' }, data: { a: '2' } },
        contentType: APPLY,
        status: 409,
        expect: {
          reason: 'Conflict',
          message: 'Apply failed with 1 conflict: conflict with "one": .data.a',
          details: { causes: [{ reason: 'FieldManagerConflict', field: '.data.a' }] },
        },
      },
      {
        method: 'PATCH',
        path: `${CONFIG_MAPS}/fought?fieldManager=two`,
        body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'fought' }, data: { a: '1' } },
        contentType: APPLY,
        status: 200,
      },
      {
        method: 'PATCH',
        path: `${CONFIG_MAPS}/fought?fieldManager=two&force=true`,
        body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'fought' }, data: { a: '3' } },
        contentType: APPLY,
        status: 200,
        expect: { data: { a: '3' } },
      },
    ],
  },
  {
    name: 'an applier conflicts with a manager that updated',
    source: APPLIES,
    since: '1.20',
    steps: [
      {
        method: 'POST',
        path: `${CONFIG_MAPS}?fieldManager=writer`,
        body: { metadata: { name: 'updated' }, data: { a: '1' } },
        status: 201,
        expect: { metadata: { managedFields: [{ manager: 'writer', operation: 'Update' }] } },
      },
      {
        method: 'PATCH',
        path: `${CONFIG_MAPS}/updated?fieldManager=applier`,
        body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'updated' }, data: { a: '2' } },
        contentType: APPLY,
        status: 409,
        expect: { message: /^Apply failed with 1 conflict: conflict with "writer" using v1.*: \.data\.a$/ },
      },
    ],
  },
  {
    name: 'appliers share a map list, each with its items, an apply without a manager is refused',
    source: APPLIES,
    since: '1.20',
    steps: [
      {
        method: 'PATCH',
        path: `${WIDGETS}/shared?fieldManager=one`,
        body: widget('shared', { colour: 'red', parts: [{ name: 'a', count: 1 }] }),
        contentType: APPLY,
        status: 201,
      },
      {
        method: 'PATCH',
        path: `${WIDGETS}/shared?fieldManager=two`,
        body: widget('shared', { colour: 'red', parts: [{ name: 'b', count: 2 }] }),
        contentType: APPLY,
        status: 200,
        expect: {
          spec: {
            parts: [
              { name: 'a', count: 1 },
              { name: 'b', count: 2 },
            ],
          },
        },
      },
      {
        method: 'PATCH',
        path: `${WIDGETS}/shared?fieldManager=one`,
        body: widget('shared', { colour: 'red' }),
        contentType: APPLY,
        status: 200,
        expect: { spec: { parts: [{ name: 'b', count: 2 }] } },
      },
      {
        method: 'PATCH',
        path: `${CONFIG_MAPS}/nobody`,
        body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'nobody' } },
        contentType: APPLY,
        status: 422,
        expect: { message: /fieldManager: Required value: is required for apply patch/ },
      },
    ],
  },
];
