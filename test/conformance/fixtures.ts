/** Objects that the cases share: a namespace and a custom kind with every feature of structural schemas that they speak of. */
export const NAMESPACE = { metadata: { name: 'conformance' } };
export const GROUP = 'conformance.example.com';
export const WIDGETS = `/apis/${GROUP}/v1/widgets`;
export const CONFIG_MAPS = '/api/v1/namespaces/conformance/configmaps';
export const PODS = '/api/v1/namespaces/conformance/pods';
export const NODES = '/api/v1/nodes';
export const MERGE = 'application/merge-patch+json';
export const STRATEGIC = 'application/strategic-merge-patch+json';
export const JSON_PATCH = 'application/json-patch+json';
export const APPLY = 'application/apply-patch+yaml';
export const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

export const WIDGET_DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `widgets.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Cluster',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', shortNames: ['wd'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: [
          { name: 'COLOUR', type: 'string', jsonPath: '.spec.colour' },
          { name: 'READY', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
          { name: 'AGE', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            required: ['spec'],
            properties: {
              spec: {
                type: 'object',
                required: ['colour'],
                properties: {
                  colour: { type: 'string', enum: ['red', 'green'] },
                  size: { type: 'integer', minimum: 1, maximum: 9, default: 3 },
                  code: { type: 'string', pattern: '^[a-z]+$', maxLength: 5 },
                  note: { type: 'string', nullable: true },
                  kept: { type: 'string', default: 'kept' },
                  since: { type: 'string', format: 'date-time' },
                  free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                  tags: { type: 'object', additionalProperties: { type: 'string' } },
                  list: { type: 'array', maxItems: 2, items: { type: 'string' } },
                  parts: {
                    type: 'array',
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['name'],
                    items: { type: 'object', required: ['name'], properties: { name: { type: 'string' }, count: { type: 'integer' } } },
                  },
                },
              },
              status: {
                type: 'object',
                properties: {
                  phase: { type: 'string' },
                  conditions: {
                    type: 'array',
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['type'],
                    items: { type: 'object', required: ['type'], properties: { type: { type: 'string' }, status: { type: 'string' } } },
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
};
