import { MACHINE_NODE_LABEL } from '../../ports/machines.ts';
import type { Machine, MachineDeployment, MachineSet } from '../../ports/machines.ts';
import type { KubeObject } from '../../ports/objects.ts';
import { HIBERNATED, MACHINE_PRIORITY, MARKED_FOR_DELETION } from './names.ts';
import { present, timeMs } from './node-facts.ts';
import type { MachineDeploymentFacts, MachineFacts, MachinePhase, MachineSetFacts } from './snapshot.ts';

const PHASES: ReadonlySet<string> = new Set<MachinePhase>([
  'Pending',
  'Available',
  'Running',
  'Terminating',
  'Unknown',
  'Failed',
  'CrashLoopBackOff',
  'InPlaceUpdating',
  'InPlaceUpdateSuccessful',
  'InPlaceUpdateFailed',
]);

const UNIT_MS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1, us: 1e-3, µs: 1e-3, ns: 1e-6 };
const DURATION = /^(?:\d+(?:\.\d+)?(?:h|ms|m|s|us|µs|ns))+$/;
/** 290 years, as long as a duration of Go can be: what is longer has no end that can be written. */
const LONGEST_MS = 290 * 365 * 86_400_000;
const DURATION_PART = /(\d+(?:\.\d+)?)(h|ms|m|s|us|µs|ns)/g;

/** metav1.Duration, e.g. `72h0m0s`; undefined where it is absent or nothing that can be read. */
function durationMs(text: string | undefined): number | undefined {
  if (text === undefined || !DURATION.test(text)) return undefined;
  const ms = [...text.matchAll(DURATION_PART)].reduce((sum, [, value, unit]) => sum + Number(value) * (UNIT_MS[unit ?? ''] ?? 0), 0);
  return ms <= LONGEST_MS ? ms : undefined;
}

function numberOf(text: string | undefined): number | undefined {
  const value = text === undefined || text === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : undefined;
}

function controllerOf({ metadata }: KubeObject, kind: string): string | undefined {
  return metadata.ownerReferences?.find((owner) => owner.kind === kind && owner.controller === true)?.name;
}

/** A phase that nobody knows yet is none that anything may be done about: it counts as Pending. */
function phaseOf(text: string | undefined): MachinePhase {
  if (text === undefined || text === '') return '';
  return PHASES.has(text) ? (text as MachinePhase) : 'Pending';
}

export function machineFacts(machine: Machine): MachineFacts {
  const { metadata, spec } = machine;
  const { annotations = {}, labels = {} } = metadata;
  const current = machine.status?.currentStatus;
  const node = labels[MACHINE_NODE_LABEL];
  return {
    name: metadata.name,
    namespace: metadata.namespace ?? '',
    uid: metadata.uid ?? '',
    annotations,
    labels,
    createdMs: timeMs(metadata.creationTimestamp) ?? 0,
    isDeleting: metadata.deletionTimestamp !== undefined,
    phase: phaseOf(current?.phase),
    ...present<
      Pick<MachineFacts, 'phaseSinceMs' | 'expiryMs' | 'nodeName' | 'machineSet' | 'preserveTimeoutMs' | 'priority' | 'markedForDeletionMs'>
    >({
      phaseSinceMs: timeMs(current?.lastUpdateTime),
      expiryMs: timeMs(current?.preserveExpiryTime),
      nodeName: node === '' ? undefined : node,
      machineSet: controllerOf(machine, 'MachineSet'),
      preserveTimeoutMs: durationMs(spec?.machinePreserveTimeout),
      priority: numberOf(annotations[MACHINE_PRIORITY]),
      markedForDeletionMs: timeMs(annotations[MARKED_FOR_DELETION]),
    }),
  };
}

export function machineSetFacts(set: MachineSet): MachineSetFacts {
  const { metadata, spec, status } = set;
  const { autoPreserveFailedMachineCount: automatic = 0, preservedFailedReplicas: preservedFailed = 0 } = status ?? {};
  return {
    name: metadata.name,
    namespace: metadata.namespace ?? '',
    uid: metadata.uid ?? '',
    counts: { automatic, preservedFailed },
    ...present<Pick<MachineSetFacts, 'replicas' | 'deployment' | 'autoPreserveMax'>>({
      replicas: spec?.replicas,
      deployment: controllerOf(set, 'MachineDeployment'),
      autoPreserveMax: spec?.autoPreserveFailedMachineMax,
    }),
  };
}

export function machineDeploymentFacts({ metadata, spec, status }: MachineDeployment): MachineDeploymentFacts {
  return {
    name: metadata.name,
    namespace: metadata.namespace ?? '',
    uid: metadata.uid ?? '',
    labels: metadata.labels ?? {},
    isHibernated: metadata.annotations?.[HIBERNATED] === 'true' || spec?.replicas === 0,
    ...present<Pick<MachineDeploymentFacts, 'replicas' | 'maxUnavailable' | 'availableReplicas' | 'autoPreserveMax' | 'preservedFailed'>>({
      replicas: spec?.replicas,
      maxUnavailable: partOf(spec?.strategy?.rollingUpdate?.maxUnavailable, spec?.replicas),
      availableReplicas: status?.availableReplicas,
      autoPreserveMax: spec?.autoPreserveFailedMachineMax,
      preservedFailed: status?.preservedFailedReplicas,
    }),
  };
}

/** A part of the replicas is rounded down, as Kubernetes does with what may be unavailable. */
function partOf(value: number | string | undefined, replicas = 0): number | undefined {
  if (typeof value !== 'string') return value;
  const percent = /^(\d+)%$/.exec(value)?.[1];
  return percent === undefined ? numberOf(value) : Math.floor((replicas * Number(percent)) / 100);
}
