import { NODE_FENCE_ACKNOWLEDGEMENTS, NODE_FENCE_REPORTS, NODE_FENCE_STOPS, NODE_FENCES } from '../ports/resources.ts';
import type { KubeObject } from '../ports/objects.ts';
import type { Resource } from '../ports/cluster.ts';
import { SPEC, STATUS } from './node-fence-schema.ts';
import { ACKNOWLEDGEMENT_SPEC, ACKNOWLEDGEMENT_STATUS, REPORT_SPEC, REPORT_STATUS, STOP_SPEC } from './people-schemas.ts';
import type { JsonSchema, Schema } from './schema.ts';

interface PrinterColumn {
  name: string;
  type: 'string' | 'integer' | 'date' | 'boolean';
  jsonPath: string;
  description: string;
  priority?: number;
}

interface DefinitionVersion {
  name: string;
  served: boolean;
  storage: boolean;
  schema: { openAPIV3Schema: Omit<JsonSchema, 'properties'> & { properties: Record<string, JsonSchema | { type: 'string' | 'object' }> } };
  subresources?: { status: Record<string, never> };
  additionalPrinterColumns: PrinterColumn[];
}

/** An apiextensions.k8s.io/v1 CustomResourceDefinition, as far as ours go. */
export interface CustomResourceDefinition extends KubeObject {
  apiVersion: 'apiextensions.k8s.io/v1';
  kind: 'CustomResourceDefinition';
  spec: {
    group: string;
    scope: 'Cluster' | 'Namespaced';
    names: { kind: string; listKind: string; plural: string; singular: string; shortNames: string[]; categories: string[] };
    versions: DefinitionVersion[];
  };
}

interface Shape {
  resource: Resource;
  shortNames: string[];
  description: string;
  spec: Schema<object>;
  isSpecRequired: boolean;
  status?: Schema<object>;
  columns: PrinterColumn[];
}

const AGE: PrinterColumn = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp', description: 'Time since it was created.' };

/** One column of `kubectl get`. */
export function column(name: string, jsonPath: string, description: string, type: PrinterColumn['type'] = 'string'): PrinterColumn {
  return { name, type, jsonPath, description };
}

/** The definition of one kind with one version; namespaced as its resource says. */
export function definition({ resource, shortNames, description, spec, isSpecRequired, status, columns }: Shape): CustomResourceDefinition {
  const { kind, plural, group } = resource;
  const isProtected = group.endsWith('.k8s.io');
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${group}`,
      labels: { 'app.kubernetes.io/name': 'nodefence', 'app.kubernetes.io/part-of': 'nodefence' },
      // Groups under k8s.io are refused without it.
      ...(isProtected && { annotations: { 'api-approved.kubernetes.io': 'unapproved, nodefence' } }),
    },
    spec: {
      group,
      scope: resource.namespaced ? 'Namespaced' : 'Cluster',
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase(), shortNames, categories: ['fencing'] },
      versions: [
        {
          name: resource.version,
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              description,
              properties: {
                apiVersion: { type: 'string' },
                kind: { type: 'string' },
                metadata: { type: 'object' },
                spec: spec.json,
                ...(status !== undefined && { status: { ...withEmptyTexts(status.json), default: initialOf(status.json) } }),
              },
              ...(isSpecRequired && { required: ['spec'] }),
            },
          },
          ...(status !== undefined && { subresources: { status: {} } }),
          additionalPrinterColumns: [...columns, AGE],
        },
      ],
    },
  };
}

/** The defaults of all members, because a server refuses a default that lacks what is required, even where a default would fill it in. */
function initialOf({ properties = {} }: JsonSchema): object {
  return Object.fromEntries(Object.entries(properties).flatMap(([name, member]) => (member.default === undefined ? [] : [[name, member.default]])));
}

/**
 * Texts that may be empty are nullable too: Kubernetes before 1.22 takes an empty text for null when it was built with Go 1.18 or newer, as
 * Debian's 1.20 is (go-openapi/validate, type.go: reflect.DeepEqual with reflect.Zero), and would refuse every status that has one.
 */
function withEmptyTexts(schema: JsonSchema, keys: readonly string[] = []): JsonSchema {
  const { properties = {}, items } = schema;
  const mayBeEmpty = schema.type === 'string' && schema.enum === undefined && schema.format === undefined && (schema.minLength ?? 0) === 0;
  // Keys of a map list may not be nullable.
  const members = Object.entries(properties).map(([name, member]) => [name, keys.includes(name) ? member : withEmptyTexts(member)] as const);
  return {
    ...schema,
    ...(mayBeEmpty && { nullable: true }),
    ...(members.length > 0 && { properties: Object.fromEntries(members) }),
    ...(items !== undefined && { items: withEmptyTexts(items, schema['x-kubernetes-list-map-keys']) }),
  };
}

export const NODE_FENCE_DEFINITION = definition({
  resource: NODE_FENCES,
  shortNames: ['nf'],
  description: 'The record of fencing one node: what was done, what proves that the node cannot write any more, and what happens next.',
  spec: SPEC,
  isSpecRequired: true,
  status: STATUS,
  columns: [
    column('Node', '.spec.node', 'Node that is fenced.'),
    column('Step', '.status.step', 'Step that is under way or due.'),
    column('Status', '.status.state', 'new, running, done, final or error.'),
    column('Retries', '.status.retries', 'Retries of the current step.', 'integer'),
    column('Hold', '.status.hold.reason', 'Why nothing is done now.'),
    column('Outcome', '.status.outcome', 'How it ended.'),
    // A column shows one value: of a list it prints JSON.
    { ...column('Last job', '.status.jobs[-1]', 'Last run of the current step; status.jobs has all of them.'), priority: 1 },
  ],
});

export const NODE_FENCE_STOP_DEFINITION = definition({
  resource: NODE_FENCE_STOPS,
  shortNames: ['nfstop'],
  description: 'A stop: while it exists nodefence does not act on the node, or on any node. Deleting it resumes.',
  spec: STOP_SPEC,
  isSpecRequired: true,
  columns: [
    column('Node', '.spec.node', 'Node that is stopped.'),
    column('All', '.spec.all', 'Every node is stopped.', 'boolean'),
    column('Reason', '.spec.reason', 'Why.'),
  ],
});

export const NODE_FENCE_ACKNOWLEDGEMENT_DEFINITION = definition({
  resource: NODE_FENCE_ACKNOWLEDGEMENTS,
  shortNames: ['nfack'],
  description: 'Acknowledgement by a person that a node is down, bound to one failure of it. Used once.',
  spec: ACKNOWLEDGEMENT_SPEC,
  isSpecRequired: true,
  status: ACKNOWLEDGEMENT_STATUS,
  columns: [
    column('Node', '.spec.node', 'Node that is down.'),
    column('Incident', '.spec.incident', 'Failure that it speaks of.', 'integer'),
    column('State', '.status.state', 'accepted or refused; empty while it is pending.'),
    column('Reason', '.spec.reason', 'What was seen.'),
  ],
});

export const NODE_FENCE_REPORT_DEFINITION = definition({
  resource: NODE_FENCE_REPORTS,
  shortNames: ['nfreport'],
  description: 'What outlives the fences of one node: its identity while healthy, whether its fence path works, and counters. Named like the node.',
  spec: REPORT_SPEC,
  isSpecRequired: false,
  status: REPORT_STATUS,
  columns: [
    column('Incident', '.status.incident', 'Number of the last failure.', 'integer'),
    column('Failures', '.status.consecutiveFailures', 'Fences in a row without recovery.', 'integer'),
    column('UUID', '.status.identity.systemUUID', 'System UUID of the machine.'),
  ],
});

/** Everything that must stand before the controller starts. */
export const CUSTOM_RESOURCE_DEFINITIONS: readonly CustomResourceDefinition[] = [
  NODE_FENCE_DEFINITION,
  NODE_FENCE_STOP_DEFINITION,
  NODE_FENCE_ACKNOWLEDGEMENT_DEFINITION,
  NODE_FENCE_REPORT_DEFINITION,
];
