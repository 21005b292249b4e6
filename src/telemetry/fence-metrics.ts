import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { FENCE_STATES } from '../domain/node-fence.ts';
import type { DeviceMetrics, FenceMetrics } from '../ports/metrics.ts';

/** From a device that answers at once to one that takes ten minutes. */
const DURATIONS_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 60, 120, 300, 600];

/** The fence timeline. */
export function fenceMetrics(registry: Registry): FenceMetrics {
  const registers = [registry];
  const transitions = new Counter({
    name: 'nodefence_fence_transitions_total',
    help: 'Transitions of fences, by state left, state entered and step.',
    labelNames: ['from', 'to', 'step'] as const,
    registers,
  });
  const fences = new Gauge({ name: 'nodefence_fences', help: 'Fences now, by state.', labelNames: ['state'] as const, registers });
  const held = new Gauge({ name: 'nodefence_fences_held', help: 'Fences held now, by reason.', labelNames: ['reason'] as const, registers });
  const seconds = <L extends string>(name: string, help: string, labelNames: readonly L[]): Histogram<L> =>
    new Histogram({ name, help, labelNames: [...labelNames], buckets: DURATIONS_SECONDS, registers });
  const steps = seconds('nodefence_step_duration_seconds', 'Time that a step of a fence took.', ['step', 'result']);
  const runs = seconds('nodefence_run_duration_seconds', 'Time that one run of a method or release took.', ['agent', 'action', 'result']);
  const phases = seconds('nodefence_fence_phase_seconds', 'Time from the failure of the node to a point of the timeline.', ['phase']);
  const outcomes = seconds('nodefence_fence_duration_seconds', 'Time that a whole fence took.', ['outcome']);
  const gained = new Counter({ name: 'nodefence_evidence_total', help: 'Evidence gained.', labelNames: ['kind', 'grade'] as const, registers });
  const voided = new Counter({
    name: 'nodefence_evidence_voided_total',
    help: 'Evidence voided by signs of life.',
    labelNames: ['kind'] as const,
    registers,
  });
  const policies = policyGauges(registry);
  const problems = new Counter({
    name: 'nodefence_problems_total',
    help: 'Things that a person should look at.',
    labelNames: ['reason'] as const,
    registers,
  });
  return {
    transitioned: (from, to, step) => transitions.inc({ from, to, step }),
    fences: (counts) => {
      for (const state of FENCE_STATES) {
        fences.set({ state }, counts[state] ?? 0);
      }
    },
    held: (counts) => {
      held.reset();
      for (const [reason, count] of Object.entries(counts)) {
        held.set({ reason }, count);
      }
    },
    stepFinished: (step, result, durationMs) => steps.observe({ step, result }, durationMs / 1000),
    runFinished: (agent, action, result, durationMs) => runs.observe({ agent, action, result }, durationMs / 1000),
    phaseReached: (phase, sinceFailedMs) => phases.observe({ phase }, sinceFailedMs / 1000),
    fenceFinished: (outcome, durationMs) => outcomes.observe({ outcome }, durationMs / 1000),
    evidenceGained: (kind, grade) => gained.inc({ kind, grade }),
    evidenceVoided: (kind) => voided.inc({ kind }),
    policies,
    problem: (reason) => problems.inc({ reason }),
  };
}

/** Storm policies, by their own names. */
function policyGauges(registry: Registry): FenceMetrics['policies'] {
  const registers = [registry];
  const tripped = new Gauge({
    name: 'nodefence_policy_tripped',
    help: '1 while a storm policy holds a failed node, by the policy.',
    labelNames: ['policy'] as const,
    registers,
  });
  const heldByPolicy = new Gauge({
    name: 'nodefence_policy_held_nodes',
    help: 'Failed nodes that a storm policy holds now, by the policy.',
    labelNames: ['policy'] as const,
    registers,
  });
  return (counts) => {
    tripped.reset();
    heldByPolicy.reset();
    for (const [policy, count] of counts) {
      tripped.set({ policy }, count > 0 ? 1 : 0);
      heldByPolicy.set({ policy }, count);
    }
  };
}

/** Devices, by agent. */
export function deviceMetrics(registry: Registry): DeviceMetrics {
  const registers = [registry];
  const devices = new Gauge({
    name: 'nodefence_devices',
    help: 'Devices, by agent and reachability.',
    labelNames: ['agent', 'reachable'] as const,
    registers,
  });
  const probe = new Gauge({
    name: 'nodefence_device_probe_age_seconds',
    help: 'Age of the oldest probe.',
    labelNames: ['agent'] as const,
    registers,
  });
  const expiry = new Gauge({
    name: 'nodefence_credential_expiry_seconds',
    help: 'Time until the first credential or certificate of the devices expires.',
    labelNames: ['agent'] as const,
    registers,
  });
  return {
    devices: (agent, { reachable, unreachable }) => {
      devices.set({ agent, reachable: 'true' }, reachable);
      devices.set({ agent, reachable: 'false' }, unreachable);
    },
    oldestProbe: (agent, ageMs) => probe.set({ agent }, ageMs / 1000),
    credentialExpiry: (agent, remainingMs) => expiry.set({ agent }, remainingMs / 1000),
  };
}
