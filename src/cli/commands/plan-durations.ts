import { WRITE_DEADLINE_MS } from '../../controllers/shared/write-gate.ts';
import { levelsOf } from '../../domain/plan.ts';
import type { EvidenceKind, Plan, Step, Timing } from '../../domain/plan.ts';
import { compile, provingOperation } from '../../domain/program.ts';
import type { Operation } from '../../domain/program.ts';

/** One line of a plan: a wait or an operation, in the order in which they come. */
export interface Stage {
  step: Step;
  /** The level that is tried first is 1. */
  level: number;
  /** Absent: a wait. */
  operation?: Operation;
  /** What is waited for. */
  wait?: string;
  typicalMs: number;
  worstMs: number;
  /** What a success proves. */
  evidence?: EvidenceKind;
}

/** A call of the Kubernetes API, or one request to a device that is well. */
const CALL_MS = 500;
/** The API server's controllers delete and detach a workload. */
const LETTING_GO_MS = 3_000;

/**
 * Every wait and operation of a plan with the time it takes when all goes well, and at worst when it succeeds at the first attempt. Levels after
 * the first come only when the one before failed.
 */
export function stagesOf(plan: Plan): Stage[] {
  const { timing } = plan;
  return [
    { step: 'isolation', level: 1, wait: 'the lease is silent for life_wait', typicalMs: 0, worstMs: timing.lifeWaitMs },
    { step: 'isolation', level: 1, wait: 'isolation_delay', typicalMs: timing.isolationDelayMs, worstMs: timing.isolationDelayMs },
    ...operationsOf(plan, 'isolation'),
    {
      step: 'power-management',
      level: 1,
      wait: 'power_management_delay',
      typicalMs: timing.powerManagementDelayMs,
      worstMs: timing.powerManagementDelayMs,
    },
    ...operationsOf(plan, 'power-management'),
    { step: 'recovery', level: 1, wait: 'the machine boots (at most ready_timeout)', typicalMs: 0, worstMs: timing.readyTimeoutMs },
    { step: 'recovery', level: 1, wait: 'healthy_delay', typicalMs: timing.healthyDelayMs, worstMs: timing.healthyDelayMs },
    ...operationsOf(plan, 'recovery'),
  ];
}

/** Sums of the first levels, up to and with the last stage that `until` picks. */
export function totalOf(stages: readonly Stage[], until: (stage: Stage) => boolean): { typicalMs: number; worstMs: number } | undefined {
  const first = stages.filter(({ level }) => level === 1);
  const last = first.findLastIndex(until);
  if (last < 0) return undefined;
  const counted = first.slice(0, last + 1);
  return { typicalMs: sum(counted.map((stage) => stage.typicalMs)), worstMs: sum(counted.map((stage) => stage.worstMs)) };
}

function operationsOf(plan: Plan, step: Step): Stage[] {
  return levelsOf(plan, step).flatMap(({ level }) => {
    const cordons = plan.isolation.some(({ methods }) => methods.some((method) => method.agent === 'cordon'));
    const operations = compile(plan, step, level, { cordoned: cordons }).filter(
      (operation) => plan.release !== 'none' || operation.method !== undefined,
    );
    const proving = provingOperation(plan, step, level)?.key;
    return operations.map((operation) => ({
      step,
      level,
      operation,
      ...timeOf(operation, plan.timing),
      ...(step === 'power-management' && operation.key === proving ? evidenceOf(operation, plan) : {}),
    }));
  });
}

function timeOf(operation: Operation, timing: Timing): { typicalMs: number; worstMs: number } {
  const callsMs = 3 * timing.setDeadlineMs;
  switch (operation.action) {
    case 'off':
      return { typicalMs: 2 * CALL_MS + timing.offStableMs, worstMs: callsMs + timing.powerTimeoutMs };
    case 'on': {
      const lateMs = Math.max(timing.settleMs, operation.method?.deviceMaxLatencyMs ?? 0);
      const typicalMs = Math.max(0, timing.settleMs - timing.offStableMs) + 2 * CALL_MS + timing.offStableMs;
      return { typicalMs, worstMs: lateMs + callsMs + timing.powerTimeoutMs };
    }
    case 'delete':
      return { typicalMs: 3 * CALL_MS, worstMs: callsMs + timing.powerTimeoutMs };
    case 'release':
      return { typicalMs: CALL_MS, worstMs: 2 * WRITE_DEADLINE_MS };
    case 'release-end':
      return { typicalMs: LETTING_GO_MS, worstMs: timing.releaseTimeoutMs };
    case 'diag': {
      const waitMs = operation.method?.diagWaitMs ?? 0;
      return { typicalMs: 2 * CALL_MS + waitMs, worstMs: 2 * timing.setDeadlineMs + waitMs };
    }
    default: {
      const waitMs = operation.method?.runMaxMs;
      return { typicalMs: waitMs ?? CALL_MS, worstMs: waitMs ?? timing.setDeadlineMs };
    }
  }
}

/** A machine that reads off, on every supply; or what an action waits for. */
function evidenceOf({ method }: Operation, plan: Plan): { evidence?: EvidenceKind } {
  const evidence = method?.evidence ?? (method?.kind === 'power' ? 'power-off' : undefined);
  return evidence !== undefined && plan.minimumEvidence.includes(evidence) ? { evidence } : {};
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
