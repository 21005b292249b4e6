import type { ConformanceCase } from './case.ts';
import { CONFIG_MAPS, MERGE, STRATEGIC, TABLE, WIDGET_DEFINITION, WIDGETS } from './fixtures.ts';

const SCHEMAS = 'kubernetes.io: CustomResourceDefinition, structural schemas';
const OBSERVED = 'observed on kube-apiserver 1.20';
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

function widget(name: string, spec: Record<string, unknown> = { colour: 'red' }, more: Record<string, unknown> = {}): object {
  return { apiVersion: 'conformance.example.com/v1', kind: 'Widget', metadata: { name }, spec, ...more };
}

function refusal(name: string, spec: Record<string, unknown>, message: RegExp, since = '1.20', until?: string): ConformanceCase {
  return {
    name: `a custom object is refused: ${name}`,
    source: SCHEMAS,
    since,
    ...(until === undefined ? {} : { until }),
    steps: [{ method: 'POST', path: WIDGETS, body: widget('refused', spec), status: 422, expect: { reason: 'Invalid', message } }],
  };
}

/** `shown`: what a server says of the version that was not given (apimachinery prints values as JSON from 1.33 on). */
function unconditional(shown: string, versions: Pick<ConformanceCase, 'since' | 'until'>): ConformanceCase {
  const problem = `metadata.resourceVersion: Invalid value: ${shown}: must be specified for an update`;
  return {
    name: 'a PUT of a custom object needs a resource version',
    source: OBSERVED,
    ...versions,
    steps: [
      { method: 'POST', path: WIDGETS, body: widget('unconditional'), status: 201 },
      {
        method: 'PUT',
        path: `${WIDGETS}/unconditional`,
        body: widget('unconditional', { colour: 'green' }),
        status: 422,
        expect: { message: `widgets.conformance.example.com "unconditional" is invalid: ${problem}` },
      },
    ],
  };
}

const LONG = 'github.com/kubernetes/enhancements/pull/1111';

/** Definitions and their objects. */
export const CUSTOM_CASES: readonly ConformanceCase[] = [
  {
    name: 'a custom object is pruned, filled with defaults and numbered by generation',
    source: SCHEMAS,
    since: '1.20',
    steps: [
      {
        method: 'POST',
        path: WIDGETS,
        body: widget('shaped', { colour: 'red', unknown: 1, kept: null, free: { any: [1] } }, { status: { phase: 'set' } }),
        status: 201,
        expect: { spec: { size: 3, kept: 'kept', free: { any: [1] } }, metadata: { generation: 1 } },
        absent: ['spec.unknown', 'status'],
      },
      {
        method: 'PATCH',
        path: `${WIDGETS}/shaped`,
        body: { spec: { size: 4 } },
        contentType: MERGE,
        status: 200,
        expect: { metadata: { generation: 2 } },
      },
      {
        method: 'PATCH',
        path: `${WIDGETS}/shaped`,
        body: { metadata: { labels: { a: 'b' } } },
        contentType: MERGE,
        status: 200,
        expect: { metadata: { generation: 2 } },
      },
    ],
  },
  {
    name: 'the status subresource changes the status only, and the main resource everything else',
    source: SCHEMAS,
    since: '1.20',
    steps: [
      { method: 'POST', path: WIDGETS, body: widget('status'), status: 201, save: { version: 'metadata.resourceVersion' } },
      {
        method: 'PUT',
        path: `${WIDGETS}/status/status`,
        body: {
          ...widget('status', { colour: 'green' }, { status: { phase: 'on' } }),
          metadata: { name: 'status', resourceVersion: '${version}', labels: { a: 'b' } },
        },
        status: 200,
        expect: { spec: { colour: 'red' }, status: { phase: 'on' }, metadata: { generation: 1 } },
        absent: ['metadata.labels'],
      },
      {
        method: 'PATCH',
        path: `${WIDGETS}/status`,
        body: { status: { phase: 'off' } },
        contentType: MERGE,
        status: 200,
        expect: { status: { phase: 'on' } },
      },
      {
        method: 'PUT',
        path: `${WIDGETS}/status/status`,
        body: { ...widget('status', { colour: 'red' }, { status: { phase: 'off' } }), metadata: { name: 'status', resourceVersion: '${version}' } },
        status: 409,
        expect: { reason: 'Conflict' },
      },
    ],
  },
  unconditional('0x0', { since: '1.20', until: '1.32' }),
  unconditional('0', { since: '1.33' }),
  refusal(
    'an enum',
    { colour: 'blue' },
    /^Widget\.conformance\.example\.com "refused" is invalid: spec\.colour: Unsupported value: "blue": supported values: "red", "green"$/,
  ),
  refusal('a required member', {}, /spec\.colour: Required value/),
  refusal('a type', { colour: 'red', size: 'x' }, /spec\.size: Invalid value: "string": spec\.size in body must be of type integer: "string"/),
  refusal('a bound', { colour: 'red', size: 10 }, /spec\.size: Invalid value: 10: spec\.size in body should be less than or equal to 9/),
  refusal('a pattern', { colour: 'red', code: 'A' }, /spec\.code: Invalid value: "A": spec\.code in body should match '\^\[a-z\]\+\$'/),
  refusal('a long text', { colour: 'red', code: 'abcdef' }, /spec\.code: Too long: may not be more than 5 bytes/, '1.32'),
  refusal('a long list', { colour: 'red', list: ['a', 'b', 'c'] }, /spec\.list: Too many: 3: must have at most 2 items/, '1.24'),
  refusal('a date', { colour: 'red', since: 'soon' }, /spec\.since: Invalid value: "soon": spec\.since in body must be of type date-time: "soon"/),
  {
    name: 'a nullable member keeps its null, another without a default loses it',
    source: SCHEMAS,
    since: '1.20',
    steps: [
      {
        method: 'POST',
        path: WIDGETS,
        body: widget('nullable', { colour: 'red', note: null, code: null }),
        status: 201,
        expect: { spec: { note: null } },
        absent: ['spec.code'],
      },
    ],
  },
  refusal(
    'a map list with the same key twice',
    { colour: 'red', parts: [{ name: 'a' }, { name: 'a' }] },
    /spec\.parts\[1\]: Duplicate value: map\[string\]interface \{\}\{"name":"a"\}$/,
    '1.20',
    '1.32',
  ),
  refusal(
    'a map list with the same key twice',
    { colour: 'red', parts: [{ name: 'a' }, { name: 'a' }] },
    /spec\.parts\[1\]: Duplicate value: \{"name":"a"\}$/,
    '1.33',
  ),
  {
    name: 'a strategic patch of a custom object is 415',
    source: OBSERVED,
    since: '1.20',
    steps: [
      { method: 'POST', path: WIDGETS, body: widget('strategic'), status: 201 },
      {
        method: 'PATCH',
        path: `${WIDGETS}/strategic`,
        body: {},
        contentType: STRATEGIC,
        status: 415,
        expect: {
          reason: 'UnsupportedMediaType',
          message: /accepted media types include: application\/json-patch\+json, application\/merge-patch\+json, application\/apply-patch\+yaml/,
        },
      },
    ],
  },
  {
    name: 'an unknown member is refused when the client asks for strict validation, else only reported',
    source: 'kubernetes.io: Field validation',
    since: '1.27',
    steps: [
      {
        method: 'POST',
        path: `${WIDGETS}?fieldValidation=Strict`,
        body: widget('strict', { colour: 'red', colr: 'x' }),
        status: 400,
        expect: { reason: 'BadRequest', message: /strict decoding error: unknown field "spec\.colr"/ },
      },
      {
        method: 'POST',
        path: `${CONFIG_MAPS}?fieldValidation=Strict`,
        body: { metadata: { name: 'strict' }, datum: {} },
        status: 400,
        expect: { message: 'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "datum"' },
      },
    ],
  },
  {
    name: 'printer columns become cells of a Table, by JSONPath',
    source: SCHEMAS,
    since: '1.20',
    steps: [
      { method: 'POST', path: WIDGETS, body: widget('columns'), status: 201 },
      {
        method: 'PATCH',
        path: `${WIDGETS}/columns/status`,
        body: {
          status: {
            conditions: [
              { type: 'A', status: 'No' },
              { type: 'Ready', status: 'Yes' },
            ],
          },
        },
        contentType: MERGE,
        status: 200,
      },
      {
        method: 'GET',
        path: `${WIDGETS}/columns`,
        accept: TABLE,
        status: 200,
        expect: {
          columnDefinitions: [{ name: 'Name' }, { name: 'COLOUR' }, { name: 'READY' }, { name: 'AGE' }],
          rows: [{ cells: ['columns', 'red', 'Yes', /^\d+s$/] }],
        },
      },
    ],
  },
  {
    name: 'a definition is established, and its objects are listed with their type',
    source: SCHEMAS,
    since: '1.20',
    steps: [
      {
        method: 'GET',
        path: `${DEFINITIONS}/${WIDGET_DEFINITION.metadata.name}`,
        status: 200,
        expect: {
          spec: { names: { listKind: 'WidgetList', singular: 'widget' } },
          status: {
            acceptedNames: { kind: 'Widget' },
            storedVersions: ['v1'],
            conditions: [
              { type: 'NamesAccepted', status: 'True' },
              { type: 'Established', status: 'True' },
            ],
          },
        },
      },
      { method: 'POST', path: WIDGETS, body: widget('listed'), status: 201 },
      {
        method: 'GET',
        path: `${WIDGETS}?fieldSelector=metadata.name%3Dlisted`,
        status: 200,
        expect: {
          kind: 'WidgetList',
          apiVersion: 'conformance.example.com/v1',
          items: [{ kind: 'Widget', apiVersion: 'conformance.example.com/v1' }],
        },
      },
    ],
  },
  {
    name: 'a definition in a protected group needs an approval annotation',
    source: 'KEP-1111',
    since: '1.20',
    steps: [
      {
        method: 'POST',
        path: DEFINITIONS,
        body: {
          ...WIDGET_DEFINITION,
          metadata: { name: 'widgets.conformance.k8s.io' },
          spec: { ...WIDGET_DEFINITION.spec, group: 'conformance.k8s.io' },
        },
        status: 422,
        expect: {
          message: new RegExp(
            `metadata\\.annotations\\[api-approved\\.kubernetes\\.io\\]: Required value: protected groups must have approval annotation "api-approved\\.kubernetes\\.io", see https://${LONG.replaceAll('.', '\\.')}`,
          ),
        },
      },
    ],
  },
  {
    name: 'a definition with a bad name or no schema is refused',
    source: SCHEMAS,
    since: '1.20',
    steps: [
      {
        method: 'POST',
        path: DEFINITIONS,
        body: { ...WIDGET_DEFINITION, metadata: { name: 'other' } },
        status: 422,
        expect: { message: /metadata\.name: Invalid value: "other": must be spec\.names\.plural\+"\."\+spec\.group/ },
      },
    ],
  },
];
