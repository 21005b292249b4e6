import type {
  AgentKind,
  EvidenceKind,
  KdumpPlan,
  MethodAction,
  Plan,
  PlanLevel,
  PlanMethod,
  PlanProblem,
  ReleaseMode,
  Step,
  Timing,
} from '../domain/plan.ts';
import { choice, flag, integer, list, milliseconds, NAME_LENGTH_MAX, object, optional, text, texts, token } from './schema.ts';
import type { Schema } from './schema.ts';

const LEVELS_MAX = 8;
const METHODS_MAX = 32;
const PROBLEMS_MAX = 64;
const PARAMETERS_MAX = 64;
const PARAMETER_LENGTH_MAX = 16_384;

export function step(description: string): Schema<Step> {
  return choice<Step>(description, {
    isolation: 'the node gets no new work, or no storage',
    'power-management': 'it is switched off, proven off, its workload released, and switched on again',
    recovery: 'what isolation did is undone',
  });
}

export function releaseMode(description: string): Schema<ReleaseMode> {
  return choice<ReleaseMode>(description, {
    auto: 'out-of-service where the server has it, else delete-pods',
    'out-of-service': 'by the out-of-service taint',
    'delete-pods': 'by deleting the pods',
    evict: 'by evicting the pods',
    none: 'not at all',
  });
}

export function evidenceKind(description: string): Schema<EvidenceKind> {
  return choice<EvidenceKind>(description, {
    'power-off': 'nothing runs there: our own off, then a stable off read back',
    'instance-stopped': 'the same for a cloud instance, from a control plane whose own agent there is alive',
    'host-off': "the same for a virtual machine, by its host's off",
    'storage-revoked': 'no writes to the named storages, read back from the storage or the switch',
    'booted-anew': 'the old processes are gone: another boot ID of the same machine',
    ack: 'an operator saw it',
    watchdog: 'an attested hardware watchdog has reset it',
    kdump: 'its old kernel stopped and sends kdump messages',
  });
}

const METHOD = object<PlanMethod>('One use of an agent on this node.', {
  name: token('Name of the method, as the step lists it.', { maxLength: NAME_LENGTH_MAX }),
  agent: token('Canonical name of the agent.'),
  kind: choice<AgentKind>('What kind of thing the agent drives.', {
    power: 'a power switch',
    fabric: 'a port or a storage',
    action: 'anything else',
  }),
  action: choice<MethodAction>('What the method does.', {
    on: 'power on, or open the port',
    off: 'power off, or close the port',
    reboot: 'off, proof, release, on',
    delete: 'off, proof, release, and the machine is deleted for good',
    diag: 'make the kernel dump, before the off',
    run: 'run the action',
  }),
  device: token('Address of the device: calls to one device never overlap. Empty for agents without one.', { maxLength: 512 }),
  plug: token('Outlet, port or instance; empty where the device has one machine only.', { maxLength: 512 }),
  parameters: texts('Parameters of the agent, without any secret.', PARAMETER_LENGTH_MAX, PARAMETERS_MAX),
  secret: optional(token('Secret whose keys become parameters when the method runs.', { maxLength: NAME_LENGTH_MAX })),
  secretFile: optional(token('File on the machine of the controller that has these keys, in place of a Secret.')),
  secretProgram: optional(token('Program on the machine of the controller that prints these keys, in place of a Secret.')),
  storage: optional(token('Storage that this fabric method revokes, as declared.')),
  storageMatch: optional(text('Which PersistentVolumes are on that storage, as declared.')),
  identity: optional(
    choice<Plan['identity']>('Whether its device must show whose machine it switches. Absent: as the plan says.', {
      verified: 'yes',
      unverified: 'written down that it does not',
    }),
  ),
  deviceMaxLatencyMs: milliseconds('Worst case from an accepted set to its effect.'),
  evidence: optional(evidenceKind('What its proven off, or the end of its run, is evidence of. Absent: power-off of a power agent, else nothing.')),
  runMaxMs: optional(milliseconds('How long a run that only waits may take. Absent: the deadline of a set.')),
  whileOff: optional(flag('It runs only while the machine is proven off, behind the release and before the first on.')),
  diagWaitMs: optional(milliseconds('Pause between a dump that was ordered and the off.')),
});

function levels(stepName: string): Schema<PlanLevel[]> {
  const level = object<PlanLevel>('Methods that are tried together; the next level is tried when one of them fails.', {
    level: integer('1 for the first, 2 for its fallback, and so on.', 1),
    methods: list('Methods, run one at a time in this order.', METHOD, METHODS_MAX),
  });
  return list(`Levels of the step ${stepName}, tried in this order.`, level, LEVELS_MAX);
}

const TIMING = object<Timing>('Delays and deadlines, measured by the monotonic clock of the controller.', {
  isolationDelayMs: milliseconds('From our first observation to isolation.'),
  powerManagementDelayMs: milliseconds('From isolation to power management.'),
  notReadyPeriodMs: milliseconds('How long Ready=False must last while the kubelet is alive.'),
  readyTimeoutMs: milliseconds('From the on that was sent to a healthy node.'),
  healthyDelayMs: milliseconds('How long every sign of health must last.'),
  probationMs: milliseconds('A failure this soon after the end counts as a restart.'),
  historyTtlMs: milliseconds('How long the finished record stays.'),
  powerTimeoutMs: milliseconds('Reading until a stable off.'),
  setDeadlineMs: milliseconds('A single set on a device.'),
  offStableMs: milliseconds('At least three reads must agree over this time.'),
  settleMs: milliseconds('Pause before the next level, a take-over and on.'),
  intentMaxAgeMs: milliseconds('An older intent is never sent again.'),
  releaseTimeoutMs: milliseconds('Waiting for pods and volumes to go.'),
  lifeWaitMs: milliseconds('How long the node must be silent after the last off read when the identity is unverified.'),
  alarmAfterMs: milliseconds('A hold or wait longer than this alarms.'),
  restartBackoffMs: milliseconds('First pause before a restart of the fence; doubles.'),
});

const PROBLEM = object<PlanProblem>('Something wrong with the configuration.', {
  step: optional(step('Step that it spoils; absent: every step.')),
  severity: choice<PlanProblem['severity']>('How bad.', { error: 'the step fails', warning: 'the step goes ahead' }),
  where: text('ConfigMap, key and line.'),
  message: text('What is wrong and what to do.'),
});

const KDUMP = object<KdumpPlan>('What waits while a crash kernel dumps. Absent: kdump_enabled is off.', {
  startTimeoutMs: milliseconds('How long a first message of an armed node is waited for before its power management.'),
  finishedTimeoutMs: milliseconds('Silence after which the dump is over.'),
  maxDurationMs: milliseconds('The longest that a dump holds, from its first message.'),
  isArmed: optional(flag('Its crash kernel is armed and notifies, whatever its daemon attests.')),
});

export const PLAN = object<Plan>('How the node is fenced, as resolved from its configuration when the fence began.', {
  source: choice<Plan['source']>('Where the steps came from.', {
    node: "the node's own ConfigMap",
    group: 'a ConfigMap with a node_selector',
    default: "the cloud's default",
    none: 'nothing is known of the node: cordon only',
  }),
  isolation: levels('isolation'),
  powerManagement: levels('power-management'),
  recovery: levels('recovery'),
  timing: TIMING,
  stepRetries: integer('Retries of a step before the fence goes to error.'),
  maxRestarts: integer('Restarts of the whole fence; -1: without limit.', -1),
  maxFencesPerDay: optional(integer('Fences of this node within 24 hours; absent: 3.', 1)),
  trigger: choice<Plan['trigger']>('What starts a fence.', { 'not-ready': 'the node is not Ready', never: 'nothing: this node is never fenced' }),
  release: releaseMode('How the workload is released.'),
  preserved: optional(
    choice<NonNullable<Plan['preserved']>>('What the preservation of its machine means for the fence. Absent: isolate-and-hold.', {
      'isolate-and-hold': 'isolated, then held before it is switched off',
      'power-off': 'the same, but switched off where it cannot be isolated: its pods must move',
      ignore: 'nothing',
    }),
  ),
  podsPerMinute: optional(integer('Pods are released in batches at this pace first; the taint follows for the rest.', 1)),
  priorityOrder: optional(list('PriorityClasses that are released first, in this order.', token('Name.', { maxLength: NAME_LENGTH_MAX }), 32)),
  minimumEvidence: list('Kinds of evidence that permit a release.', evidenceKind('Kind of evidence.'), 8),
  identity: choice<Plan['identity']>('Whether the machine behind a plug must show who it is.', {
    verified: 'yes, or the outlet has to name the node',
    unverified: 'written down that it does not',
  }),
  supplies: optional(integer('Power supplies of the machine, all of which must be off. Absent: the distinct plugs count.', 1)),
  fastDetectionMs: optional(milliseconds('Silence of the node daemon after which the node is suspected; absent: fast_detection is off.')),
  kdump: optional(KDUMP),
  probeIntervalMs: optional(milliseconds('How often its devices are read while nothing is wrong; absent: 10 minutes.')),
  problems: list('What is wrong with the configuration.', PROBLEM, PROBLEMS_MAX),
});
