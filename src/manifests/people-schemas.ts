import type { AcknowledgementStatus, NodeFenceAcknowledgement, NodeFenceReport, NodeFenceStop } from '../ports/resources.ts';
import { RECORDS_MAX } from '../domain/incident-record.ts';
import { PROBED_MAX } from '../domain/device-paths.ts';
import { REMEDY_STATUS_LIMITS } from '../ports/remedies.ts';
import type { IncidentRecord, Revoked } from '../domain/incident-record.ts';
import { PROBLEM_COUNTS } from './problem-schema.ts';
import { OUTCOME, TIMELINE, TRIGGER_KIND } from './node-fence-schema.ts';
import { evidenceKind } from './plan-schema.ts';
import { REMEDIES_STATUS } from './remedies-schema.ts';
import { choice, flag, integer, list, listByKey, NAME_LENGTH_MAX, nodeName, object, optional, text, time, token } from './schema.ts';
import type { Schema } from './schema.ts';

const stopSpec = object<NodeFenceStop['spec']>('What is stopped. Name one node, or all of them.', {
  node: optional(nodeName('Name of the Node on which nothing acts.')),
  all: optional(flag('true: nothing acts on any node.')),
  reason: text('Reason, shown to others.', { minLength: 1 }),
});

/** Exactly one of `node` and `all: true`. */
export const STOP_SPEC: Schema<NodeFenceStop['spec']> = {
  json: {
    ...stopSpec.json,
    properties: { ...stopSpec.json.properties, all: { ...flag('true: nothing acts on any node.').json, enum: [true] } },
    oneOf: [{ required: ['node'] }, { required: ['all'] }],
  },
};

export const ACKNOWLEDGEMENT_SPEC = object<NodeFenceAcknowledgement['spec']>(
  'Who looked at which failure of which node. Counts once, for 15 minutes.',
  {
    node: nodeName('Name of the Node that a person has seen to be down.'),
    nodeFenceUID: token('metadata.uid of its NodeFence.', { minLength: 1 }),
    incident: integer('status.incident of its NodeFence.'),
    bootID: optional(token('Boot ID of the node when it failed.')),
    reason: text('What was seen.', { minLength: 1 }),
  },
);

export const ACKNOWLEDGEMENT_STATUS = object<AcknowledgementStatus>('What the controller made of it; empty while it is pending.', {
  state: optional(choice('Whether it counts.', { accepted: 'it is evidence now', refused: 'it is none' })),
  message: optional(text('Why.')),
  at: optional(time('When.')),
  usedBy: optional(token('Journal id of the run that used it.', { maxLength: 320 })),
});

type ReportStatus = NonNullable<NodeFenceReport['status']>;
type Element<K extends keyof ReportStatus> = NonNullable<ReportStatus[K]> extends (infer E)[] ? E : never;

export const REPORT_SPEC = object<NonNullable<NodeFenceReport['spec']>>('What people have decided about this node.', {
  resumed: optional(
    object<NonNullable<NonNullable<NodeFenceReport['spec']>['resumed']>>('Who allows the node to be fenced again after too many or failed fences.', {
      incident: integer('Incidents up to this number no longer count against any limit.'),
      reason: text('Why.', { minLength: 1 }),
    }),
  ),
  resumedRemedies: optional(
    list(
      'Who says to go on with remedies that asked for a person.',
      object<NonNullable<NonNullable<NodeFenceReport['spec']>['resumedRemedies']>[number]>('One word; counts once.', {
        threshold: token('The condition: KernelDeadlock=True.', { maxLength: 320 }),
        episode: token('status.remedies.positions[].episode.'),
        reason: text('Why.', { minLength: 1 }),
      }),
      REMEDY_STATUS_LIMITS.positions,
    ),
  ),
});

const INCIDENT = object<IncidentRecord>('One fence of this node.', {
  incident: integer('Its number.'),
  startedAt: time('Its beginning.'),
  endedAt: optional(time('Its end.')),
  outcome: optional(OUTCOME),
  cordonedOnly: optional(flag('true: it is over, and its node was at most cordoned; max_fences_per_day does not count it.')),
  trigger: TRIGGER_KIND,
  evidence: list('Kinds of evidence that were found.', evidenceKind('Kind of evidence.'), 8),
  heldBy: optional(text('What last held it, or stopped it.')),
  revoked: optional(
    object<Revoked>('Pods were let go, or may have been, because storage was closed to this boot: a later fence opens none to it.', {
      bootID: token('Boot ID.'),
      storages: list('The storages.', token('Its id.'), 32),
    }),
  ),
  timeline: TIMELINE,
  summary: text('Its last words.'),
});

export const REPORT_STATUS = object<ReportStatus>('What outlives a fence of this node.', {
  identity: optional(
    object<NonNullable<ReportStatus['identity']>>('Who the machine is, recorded while it was healthy; compared before anything is switched.', {
      nodeUID: token('uid of the Node.'),
      systemUUID: optional(token('System UUID of the machine.')),
      providerID: optional(token('providerID of the Node.', { maxLength: 1024 })),
      addresses: optional(list('Addresses of the Node inside the cluster.', token('An address.', { maxLength: 64 }), 16)),
      bootID: optional(token('Boot ID.')),
      recordedAt: time('When it was recorded.'),
    }),
  ),
  incident: optional(integer('Number of the last failure.')),
  consecutiveFailures: optional(integer('Fences in a row that did not end in recovery.')),
  fencesStartedAt: optional(list('When the last fences began.', time('Beginning of a fence.'), 64)),
  incidents: optional(list('Its fences, the newest last.', INCIDENT, RECORDS_MAX)),
  conditions: optional(
    listByKey(
      'Facts about the fence path of this node.',
      object<Element<'conditions'>>('One fact.', {
        type: token('Which fact.'),
        status: choice('Whether it holds.', { True: '', False: '', Unknown: '' }),
        reason: token('One word in UpperCamelCase.'),
        message: text('In words.', { maxLength: 4096 }),
        lastTransitionTime: time('When the status last changed.'),
      }),
      16,
      'type',
    ),
  ),
  devices: optional(
    list(
      'What the probes last found of every device that the fence of this node depends on; written when it changes.',
      object<Element<'devices'>>('One plug of one device.', {
        agent: token('Its agent.'),
        device: token('Its address.', { maxLength: 512 }),
        plug: token('Its plug; empty where it has one machine only.', { maxLength: 512 }),
        methods: list('Methods that use it.', token('Name.', { maxLength: NAME_LENGTH_MAX }), 32),
        path: choice('Whether a fence can use it.', { working: '', broken: 'a fence would fail on it, or hit another machine' }),
        message: optional(text('What is wrong, in the words of the device.')),
        since: time('Since when that is so.'),
        certificateExpiresAt: optional(time('When the certificate of the device ends.')),
        credentialExpiresAt: optional(time('When the password or key in use ends.')),
        expiresSoon: optional(flag('One of them ends within three weeks.')),
      }),
      PROBED_MAX,
    ),
  ),
  trusted: optional(
    list(
      'What devices showed when they were first seen: they are believed by it, where trust_on_first_use asks for that.',
      object<Element<'trusted'>>('One device.', {
        device: token('Its address.', { maxLength: 512 }),
        shown: token('Fingerprint of its certificate or host key.', { maxLength: 128 }),
        since: time('When it was recorded.'),
      }),
      PROBED_MAX,
    ),
  ),
  exhibits: optional(
    list(
      'What a device showed right before the off of the last incident.',
      object<Element<'exhibits'>>('One thing that a device recorded.', {
        incident: integer('Incident before whose off it was read.'),
        takenAt: time('When it was read.'),
        agent: token('Agent of the device.'),
        device: token('Its address.', { maxLength: 512 }),
        name: token('What it is: sel, screenshot.', { maxLength: 64 }),
        mediaType: token('Its form.', { maxLength: 64 }),
        bytes: integer('How much the device gave.'),
        text: optional(text('Its newest part, where it is text.', { maxLength: 4096 })),
      }),
      8,
    ),
  ),
  remedies: optional(REMEDIES_STATUS),
  problems: optional(
    list(
      'What is wrong with the configuration of this node.',
      object<Element<'problems'>>('One problem.', {
        severity: choice('How bad.', { error: 'the step fails', warning: 'the step goes ahead' }),
        where: text('ConfigMap, key and line.'),
        message: text('What is wrong and what to do.'),
      }),
      64,
    ),
  ),
  problemCounts: optional(PROBLEM_COUNTS),
  fence: optional(choice('Whether it is to be fenced at all; absent: yes.', { never: 'fence=never: it is never fenced' })),
});
