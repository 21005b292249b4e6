import { metal3Remediations } from '../ports/metal3.ts';
import { column, definition } from './definitions.ts';
import type { CustomResourceDefinition } from './definitions.ts';
import { choice, integer, object, open, optional, time } from './schema.ts';

interface Strategy {
  type?: 'Reboot';
  retryLimit?: number;
  timeoutSeconds?: number;
}

interface Spec {
  strategy?: Strategy;
}

interface Status {
  phase?: 'Running' | 'Waiting' | 'Deleting machine' | 'Failed';
  retryCount?: number;
  lastRemediated?: string;
}

interface TemplateSpec {
  template: { spec: Spec };
}

const SPEC = open(
  object<Spec>('How the Machine is remediated.', {
    strategy: optional(
      object<Strategy>('What is done, how often, and how long it may take.', {
        type: optional(choice('What is done. Default: Reboot.', { Reboot: 'its host is power-cycled' })),
        retryLimit: optional(integer('How often it is tried again; then the owner of the Machine is asked to replace it. Default: 1.')),
        timeoutSeconds: optional(integer('From the beginning of a cycle until the Node must be back, at least 100. Default: 600.')),
      }),
    ),
  }),
);

const STATUS = open(
  object<Status>('How far it is.', {
    phase: optional(
      choice('Empty: it has not begun.', {
        Running: 'the host is switched off, and its workload released',
        Waiting: 'the host is switched on, and its Node is awaited',
        'Deleting machine': 'the owner of the Machine is asked to replace it',
        Failed: 'the host is off on purpose, or never switched off',
      }),
    ),
    retryCount: optional(integer('How often it was tried again.')),
    lastRemediated: optional(time('When the last cycle began.')),
  }),
);

const TEMPLATE_SPEC = object<TemplateSpec>('Remediations that are made from this template.', {
  template: object<TemplateSpec['template']>('What each of them says.', { spec: SPEC }),
});

const { requests, templates } = metal3Remediations('v1beta2');

/** That clusterctl knows the kind and which contract of Cluster API its version serves. */
function labelled(plain: CustomResourceDefinition, more: Readonly<Record<string, string>>): CustomResourceDefinition {
  const contracts = { 'cluster.x-k8s.io/v1beta2': requests.version, 'clusterctl.cluster.x-k8s.io': '' };
  const { names } = plain.spec;
  return {
    ...plain,
    metadata: { ...plain.metadata, labels: { ...plain.metadata.labels, ...contracts, ...more } },
    spec: { ...plain.spec, names: { ...names, categories: [...names.categories, 'cluster-api'] } },
  };
}

/**
 * Metal3Remediation for clusters without Metal3's own controller. To be created, never applied: over the definitions of Metal3 it would drop what those say.
 */
export const METAL3_REMEDIATION_DEFINITIONS: readonly CustomResourceDefinition[] = [
  labelled(
    definition({
      resource: requests,
      shortNames: ['m3r', 'm3remediation'],
      description: 'A request to power-cycle the host of its Machine, made by a health check.',
      spec: SPEC,
      isSpecRequired: false,
      status: STATUS,
      columns: [
        column('Strategy', '.spec.strategy.type', 'What is done.'),
        column('Retry limit', '.spec.strategy.retryLimit', 'How often it may be tried again.', 'integer'),
        column('Timeout', '.spec.strategy.timeoutSeconds', 'How long a cycle may take.', 'integer'),
        column('Last remediated', '.status.lastRemediated', 'When the last cycle began.'),
        column('Retry count', '.status.retryCount', 'How often it was tried again.', 'integer'),
        column('Phase', '.status.phase', 'How far it is.'),
      ],
    }),
    {},
  ),
  // Nothing owns a template: without the label clusterctl would leave it behind.
  labelled(
    definition({
      resource: templates,
      shortNames: ['m3rt', 'm3remediationtemplate'],
      description: 'What a health check makes its remediations from.',
      spec: TEMPLATE_SPEC,
      isSpecRequired: true,
      columns: [column('Retry limit', '.spec.template.spec.strategy.retryLimit', 'How often it may be tried again.', 'integer')],
    }),
    { 'clusterctl.cluster.x-k8s.io/move': '' },
  ),
];
