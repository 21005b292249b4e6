import { NODE_FENCE_REMEDIATION, PROPOSED_REMEDIATION } from '../ports/remediation.ts';
import type {
  NodeFenceRemediationSpec,
  NodeFenceRemediationStatus,
  NodeFenceRemediationTemplate,
  RemediationCondition,
  RemediationKind,
} from '../ports/remediation.ts';
import { column, definition } from './definitions.ts';
import type { CustomResourceDefinition } from './definitions.ts';
import { choice, integer, listByKey, NAME_LENGTH_MAX, object, optional, text, texts, time, token } from './schema.ts';

type Template = NodeFenceRemediationTemplate['spec']['template'];

const seconds = (what: string) => optional(integer(`${what} Seconds.`));

const SPEC = object<NodeFenceRemediationSpec>('How the node is remediated.', {
  strategy: optional(
    choice('What is done. Default: fence-and-recover.', {
      fence: 'the node is switched off, proven off, its workload released; it stays off until this request is deleted',
      'fence-and-recover': 'and it is switched on again',
      escalate: 'as that, and at the limit of retries its owner is asked to replace the Machine',
    }),
  ),
  retryLimit: optional(integer('How often it is tried again. Default: 1.')),
  deleteAfterRetries: optional(integer('The same, by the name that the proposal of health checks gives it.')),
  timeoutSeconds: seconds('How long the node may stay unhealthy after a fence that succeeded, before it is tried again. Default: 600.'),
  powerOffTimeoutSeconds: seconds('From the beginning of the fence to the proof of its off. Default: timeoutSeconds.'),
  powerOnTimeoutSeconds: seconds('From there to the end of the fence. Default: timeoutSeconds.'),
  nodeRemoval: optional(
    choice('How the workload is released. Default: OutOfServiceTaint.', {
      OutOfServiceTaint: "as the node's own configuration says",
      DeleteNode: 'and the Node is deleted for good; with strategy fence only',
      None: 'refused: a fence always releases the workload',
    }),
  ),
  onExhaustion: optional(
    choice('What becomes of the machine when nothing more is tried. Default: Reuse.', {
      Reuse: 'its fence is withdrawn',
      Retire: 'and its BareMetalHost is marked as unhealthy',
      LeaveOff: 'its fence stays as it is',
    }),
  ),
  cooldownSeconds: seconds('Between the beginnings of two fences. Default: 0.'),
  methodRef: optional(token('Refused: a node is fenced by its own configuration only.', { maxLength: NAME_LENGTH_MAX })),
});

const CONDITION = object<RemediationCondition>('What is true of the remediation.', {
  type: token('Processing, Succeeded or PermanentNodeDeletionExpected.', { minLength: 1 }),
  status: choice('Whether it is.', { True: '', False: '', Unknown: '' }),
  reason: optional(token('Why, in one word.')),
  message: optional(text('Why.')),
  lastTransitionTime: optional(time('When the status changed.')),
});

const STATUS = object<NodeFenceRemediationStatus>('How far it is.', {
  phase: optional(
    choice('Empty: it waits for the node or for its turn.', {
      Fencing: 'its fence has begun',
      Recovering: 'the node is proven off',
      Succeeded: 'its fence has succeeded',
      Failed: 'nothing more is tried',
      Stopped: 'timed out by the health check',
    }),
  ),
  retryCount: optional(integer('How often it was tried again.')),
  lastRemediated: optional(time('When the last fence for it began.')),
  nodeFenceRef: optional(
    object<NonNullable<NodeFenceRemediationStatus['nodeFenceRef']>>('Its NodeFence.', { name: token('Its name.', { maxLength: NAME_LENGTH_MAX }) }),
  ),
  conditions: optional(listByKey('What health checks read.', CONDITION, 16, 'type')),
});

const METADATA = object<NonNullable<Template['metadata']>>('Of the requests that are made from it.', {
  labels: optional(texts('Labels.', 63, 64)),
  annotations: optional(texts('Annotations.', 1024, 64)),
});

const TEMPLATE_SPEC = object<NodeFenceRemediationTemplate['spec']>('Requests that are made from this template.', {
  template: object<Template>('What each of them says.', { metadata: optional(METADATA), spec: optional(SPEC) }),
});

/** Which version serves which contract of Cluster API, and that clusterctl knows the kind. */
function labelled(plain: CustomResourceDefinition, more: Readonly<Record<string, string>>): CustomResourceDefinition {
  const version = plain.spec.versions.map(({ name }) => name).join('_');
  const contracts = { 'cluster.x-k8s.io/v1beta1': version, 'cluster.x-k8s.io/v1beta2': version, 'clusterctl.cluster.x-k8s.io': '' };
  const { names } = plain.spec;
  return {
    ...plain,
    metadata: { ...plain.metadata, labels: { ...plain.metadata.labels, ...contracts, ...more } },
    spec: { ...plain.spec, names: { ...names, categories: [...names.categories, 'cluster-api'] } },
  };
}

function definitionsOf({ requests, templates }: RemediationKind, shortName: string): readonly CustomResourceDefinition[] {
  const request = definition({
    resource: requests,
    shortNames: [shortName],
    description: 'A request to remediate one node, made by a health check or a person: the node is fenced in its name. Deleting it ends it.',
    spec: SPEC,
    isSpecRequired: false,
    status: STATUS,
    columns: [
      column('Phase', '.status.phase', 'How far it is.'),
      column('Retries', '.status.retryCount', 'How often it was tried again.', 'integer'),
      column('Fence', '.status.nodeFenceRef.name', 'Its NodeFence.'),
      column('Strategy', '.spec.strategy', 'What is done.'),
    ],
  });
  const template = definition({
    resource: templates,
    shortNames: [`${shortName}t`],
    description: 'What a health check makes its requests from.',
    spec: TEMPLATE_SPEC,
    isSpecRequired: true,
    columns: [column('Strategy', '.spec.template.spec.strategy', 'What is done.')],
  });
  // Nothing owns a template: without the second label clusterctl would leave it behind.
  return [labelled(request, {}), labelled(template, { 'clusterctl.cluster.x-k8s.io/move': '' })];
}

export const REMEDIATION_DEFINITIONS = definitionsOf(NODE_FENCE_REMEDIATION, 'nfr');

/** The kinds of the proposal of health checks, of the same shape. */
export const PROPOSED_REMEDIATION_DEFINITIONS = definitionsOf(PROPOSED_REMEDIATION, 'm3nfr');
