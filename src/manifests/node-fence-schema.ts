import { LIMITS } from '../domain/node-fence.ts';
import type {
  AskedMethods,
  Evidence,
  FenceCondition,
  FenceState,
  Frozen,
  HistoryEntry,
  Hold,
  KeptPod,
  KeptVolume,
  NodeFenceSpec,
  NodeFenceStatus,
  OtherHold,
  Outcome,
  Released,
  Restore,
  StorageRelease,
  Timeline,
  Trigger,
} from '../domain/node-fence.ts';
import { JOURNAL_ENTRY } from './journal-schema.ts';
import { evidenceKind, PLAN, releaseMode, step } from './plan-schema.ts';
import {
  choice,
  flag,
  integer,
  list,
  listByKey,
  NAME_LENGTH_MAX,
  nodeName,
  object,
  optional,
  text,
  texts,
  time,
  token,
  withDefault,
} from './schema.ts';
import type { Schema } from './schema.ts';

const RUNS_MAX = 64;

const METHODS_MAX = 16;

function methods(description: string): Schema<string[]> {
  return list(description, token('Name of a method.', { maxLength: NAME_LENGTH_MAX }), METHODS_MAX);
}

export const SPEC = object<NodeFenceSpec>('What was asked for.', {
  node: nodeName('Name of the Node that is fenced. The object is called node-fence-<node>.'),
  requestedBy: optional(
    object<NonNullable<NodeFenceSpec['requestedBy']>>('Remediation object that asked for the fence, if any.', {
      apiVersion: token('Its API version.'),
      kind: token('Its kind.'),
      namespace: optional(token('Its namespace.', { maxLength: NAME_LENGTH_MAX })),
      name: token('Its name.', { maxLength: NAME_LENGTH_MAX }),
      uid: token('Its uid.'),
    }),
  ),
  ending: optional(
    choice<NonNullable<NodeFenceSpec['ending']>>('What the fence that requestedBy asks for ends in. Absent: the node is brought back.', {
      off: 'switched off, proven off, its workload released; then it stays off',
    }),
  ),
  release: optional(
    releaseMode("How the node's workload is released in the fence that requestedBy asks for. Absent: as the node's configuration says."),
  ),
  lastStep: optional(
    choice<NonNullable<NodeFenceSpec['lastStep']>>('The step that the fence that requestedBy asks for goes no further than. Absent: it goes on.', {
      isolation: 'the node stays isolated, and on, for as long as this is asked for and the node does not fail by itself',
    }),
  ),
  methods: optional(
    methods("Methods of the node's configuration that the fence that requestedBy asks for has, in this order. Absent: its steps are as configured."),
  ),
});

export const TRIGGER_KIND = choice<Trigger['kind']>('Kind of trigger.', {
  'node-condition': 'a condition of the Node',
  heartbeat: 'silence of its daemon, confirmed by others (fast_detection)',
  remediation: 'a remediation object',
  person: 'a person',
});

const TRIGGER = object<Trigger>('What started the fence.', {
  kind: TRIGGER_KIND,
  conditionType: optional(token('Type of the condition, such as Ready.')),
  status: optional(token('Its status: True, False or Unknown.')),
  reason: optional(text('Its reason.')),
  since: time('When we first saw it.'),
  bootID: optional(token('Boot ID of the node at that time.')),
  requestUID: optional(token('uid of the request (spec.requestedBy) that this incident serves.')),
});

const FROZEN = object<Frozen>('What the fence was begun with; a later edit of the configuration counts from the next restart.', {
  nodeUID: token('uid of the Node.'),
  systemUUID: optional(token('System UUID of the machine, recorded while it was healthy.')),
  providerID: optional(token('providerID of the Node.', { maxLength: 1024 })),
  addresses: optional(list('Addresses of the Node inside the cluster, recorded while it was healthy.', token('An address.', { maxLength: 64 }), 16)),
  bootID: optional(token('Boot ID of the node.')),
  plan: PLAN,
  asked: optional(
    object<NonNullable<Frozen['asked']>>('The plan was made of this. Absent: of the configured steps.', {
      methods: methods('spec.methods.'),
      lastStep: optional(choice<NonNullable<AskedMethods['lastStep']>>('spec.lastStep.', { isolation: '' })),
    }),
  ),
});

const EVIDENCE = object<Evidence>('An observation that proves that the node, or its access to one storage, is gone.', {
  kind: evidenceKind('What was observed.'),
  grade: choice<Evidence['grade']>('How good it is.', {
    'read-back': 'read from the device after our own off',
    person: 'a person said so',
    inferred: 'concluded from other signs',
  }),
  source: token('Id of the run that gave it.', { maxLength: 320 }),
  detail: text('Reads, witnesses and identity check, as text.', { maxLength: LIMITS.message }),
  identity: optional(
    choice<NonNullable<Evidence['identity']>>('Whether the machine showed who it is.', {
      verified: 'over the same session',
      unverified: 'it did not',
    }),
  ),
  observedAt: time('When the last read was received.'),
  bootID: optional(token('Boot ID of the node that it speaks of.')),
  deviceTime: optional(token("The device's own clock at the last read.")),
  storages: optional(list('Storages that are revoked.', token('Its id.'), 32)),
  terminated: optional(flag('The instance is gone and cannot come back.')),
  voidedAt: optional(time('When a sign of life voided it.')),
  voidedBecause: optional(text('Which sign of life.')),
});

const OTHER_HOLD = object<OtherHold>('Another hold that applies too.', {
  reason: token('Short reason.'),
  policy: token('Name of the policy that holds.', { maxLength: NAME_LENGTH_MAX }),
  message: text('In words.'),
  until: optional(time('When it ends by time alone.')),
});

const HOLD = object<Hold>('Why nothing is done now.', {
  reason: token('Short reason, such as observe or stopped.'),
  policy: token('Name of the policy that holds; empty when none does.', { maxLength: NAME_LENGTH_MAX }),
  message: text('In words.'),
  since: time('Since when.'),
  checkedAt: optional(time('When the message last changed; at most once a minute. Absent: at since.')),
  alarmedAt: optional(time('When an Event last said that the fence waits for too long: for this hold, or for one right before it.')),
  until: optional(time('When it ends by time alone. Absent: only a change ends it, or it is unknown.')),
  besides: optional(list('What else holds.', OTHER_HOLD, LIMITS.besides)),
  freeSince: optional(time('In mode observe: since when nothing else holds. Absent: something does.')),
});

const RESTORE = object<Restore>('What nodefence set and must take back.', {
  cordoned: optional(flag('The node was cordoned by us.')),
  taints: optional(
    list(
      'Taints that we set.',
      object<NonNullable<Restore['taints']>[number]>('A taint.', {
        key: token('Key.', { maxLength: 320 }),
        value: token('Value.'),
        effect: token('Effect.'),
      }),
      16,
    ),
  ),
  annotations: optional(texts('Annotations that we set.', 4096, 16)),
  edges: optional(
    list(
      'What we left off or closed.',
      object<NonNullable<Restore['edges']>[number]>('A plug or port.', {
        method: token('Method that did it.', { maxLength: NAME_LENGTH_MAX }),
        agent: token('Its agent.'),
        device: token('Its device.', { maxLength: 512 }),
        plug: token('Its plug.', { maxLength: 512 }),
        state: choice<'off' | 'closed'>('What it was left as.', { off: '', closed: '' }),
      }),
      32,
    ),
  ),
});

const BATCHES = {
  left: optional(integer('Pods that later batches still have to release.')),
  batch: optional(integer('Number of the last batch that released something.')),
  kept: optional(
    list(
      'Pods whose release was requested and is not done, the first of them.',
      object<KeptPod>('A pod that is kept.', {
        pod: token('Pod, namespace/name.', { maxLength: 2 * NAME_LENGTH_MAX + 1 }),
        by: text('What the API server answered, or that it has not answered.', { maxLength: LIMITS.message }),
        isUnsure: optional(flag('It is unknown whether it was released nevertheless.')),
      }),
      LIMITS.podNames,
    ),
  ),
  againInMs: optional(integer('Nothing but kept pods or volumes is left: milliseconds until they are asked for again. 0: other pods follow.')),
  names: optional(list('The first of the pods, namespace/name.', token('Pod.', { maxLength: 2 * NAME_LENGTH_MAX + 1 }), LIMITS.podNames)),
};

const STORAGE_RELEASE = object<StorageRelease>('What was released because its storages were revoked.', {
  at: time('When it began.'),
  pods: integer('Pods released.'),
  evidence: token('Source of the evidence that it rests on.', { maxLength: 320 }),
  ...BATCHES,
  storages: list('The storages.', token('Its id.'), 32),
  bootID: optional(token("The node's boot ID at that time: on this boot it is not healthy, and no port of it is opened.")),
});

const RELEASED = object<Released>('The release of the workload.', {
  by: choice<Released['by']>('How.', { 'out-of-service': 'by the taint', 'delete-pods': 'by deletion', evict: 'by eviction' }),
  at: time('When it began.'),
  pods: integer('Pods of the node at that time.'),
  evidence: token('Source of the evidence that it rests on.', { maxLength: 320 }),
  ...BATCHES,
  keptVolumes: optional(
    list(
      'VolumeAttachments that were to be deleted after the last pod and still stand, the first of them.',
      object<KeptVolume>('A VolumeAttachment that is kept.', {
        attachment: token('Its name.', { maxLength: NAME_LENGTH_MAX }),
        by: text('What the API server answered, or that it has not answered.', { maxLength: LIMITS.message }),
        isUnsure: optional(flag('It is unknown whether it was deleted nevertheless.')),
      }),
      LIMITS.podNames,
    ),
  ),
  volumesDetachedAt: optional(time('When no terminating pod and no VolumeAttachment was left.')),
  timedOut: optional(flag('release_timeout passed before that.')),
  voidedAt: optional(time('When its evidence was voided: nothing is switched on by itself any more.')),
});

export const TIMELINE = object<Timeline>('When each thing happened.', {
  failedAt: optional(time('The node failed, as far as its conditions say.')),
  noticedAt: optional(time('The controller saw it.')),
  isolatedAt: optional(time('Isolation was done.')),
  poweredOffAt: optional(time('The last off was proven.')),
  releasedAt: optional(time('The workload was released.')),
  volumesDetachedAt: optional(time('No terminating pod and no VolumeAttachment was left.')),
  poweredOnAt: optional(time('The machine was on again.')),
  readyAt: optional(time('The node was Ready again.')),
  finalAt: optional(time('The fence was over.')),
});

const CONDITION = object<FenceCondition>('One fact about the fence.', {
  type: choice<FenceCondition['type']>('Which fact.', {
    Isolated: '',
    PoweredOff: '',
    WorkloadReleased: '',
    Recovered: '',
    Held: '',
    Stopped: 'a person stopped the fence',
    ConfigurationValid: '',
    LeftOff: 'something that we switched off or closed still is',
  }),
  status: choice<FenceCondition['status']>('Whether it holds.', { True: '', False: '', Unknown: '' }),
  reason: token('One word in UpperCamelCase.'),
  message: text('In words.', { maxLength: 4096 }),
  lastTransitionTime: time('When the status last changed.'),
});

export const OUTCOME = choice<Outcome>('How the fence ended.', {
  recovered: 'fenced, back and healthy',
  untouched: 'healthy again before anything was done',
  replaced: 'its instance was terminated and another takes its place',
  'fenced-off': 'left off on purpose',
  'node-gone': 'the Node was deleted or replaced meanwhile',
  failed: 'an operator must act',
  stopped: 'a person stopped it',
});

const HISTORY_ENTRY = object<HistoryEntry>('An earlier fence of this node.', {
  incident: integer('Its number.'),
  outcome: OUTCOME,
  from: time('Its beginning.'),
  to: time('Its end.'),
  summary: text('One line.'),
});

const state = choice<FenceState>('State of the fence.', {
  new: 'the node misbehaves',
  running: 'isolated, power management is due or under way',
  done: 'safe, waiting for the node to come back',
  final: 'over',
  error: 'a step failed',
});

export const STATUS = object<NodeFenceStatus>('What was done and what is known; written by the controller only.', {
  fenceUID: optional(token('uid of the NodeFence that this was written for. In another object, such as a restored one, nothing of it counts.')),
  state: withDefault(state, 'new'),
  step: withDefault(step('Step that is under way or due.'), 'isolation'),
  level: withDefault(integer('Fallback level of the step that is being tried.', 1), 1),
  incident: withDefault(integer('Number of this failure of this node.'), 0),
  epoch: withDefault(integer("The leader's term; never falls."), 0),
  frozen: optional(FROZEN),
  ending: optional(
    choice<NonNullable<NodeFenceStatus['ending']>>('What this fence ends in. Absent: the node is brought back.', {
      off: 'off, as spec.ending asks',
      deleted: 'its Machine or Node is being deleted: nothing is switched on any more',
    }),
  ),
  lastStep: optional(
    choice<NonNullable<NodeFenceStatus['lastStep']>>('The step that this fence goes no further than. Absent: it goes on.', {
      isolation: 'as spec.lastStep asks',
    }),
  ),
  retries: withDefault(integer('Retries of the current step.'), 0),
  restarts: withDefault(integer('Restarts of the whole fence.'), 0),
  outcome: optional(OUTCOME),
  trigger: optional(TRIGGER),
  jobs: withDefault(list('Ids of the runs of the current step.', token('Id of a run: <method>-<uuid>.', { maxLength: 320 }), RUNS_MAX), []),
  journal: withDefault(list('Every run, written before it begins and after it ended.', JOURNAL_ENTRY, LIMITS.journal), []),
  evidence: withDefault(list('What proves that the node cannot write, kept with what voided it.', EVIDENCE, LIMITS.evidence), []),
  hold: optional(HOLD),
  slotGivenAway: optional(flag('Others may be fenced in its place: it waits for its turn before it isolates or switches anything more.')),
  restore: optional(RESTORE),
  released: optional(RELEASED),
  storageRelease: optional(STORAGE_RELEASE),
  timeline: withDefault(TIMELINE, {}),
  conditions: withDefault(listByKey('Facts about the fence, one per type.', CONDITION, LIMITS.conditions, 'type'), []),
  history: withDefault(list('Earlier fences of this node, the newest last.', HISTORY_ENTRY, LIMITS.history), []),
  message: optional(text('What happens next, or what an operator must do.', { maxLength: 4096 })),
});
