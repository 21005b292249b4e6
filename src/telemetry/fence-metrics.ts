import type { Registry } from 'prom-client';
import { FENCE_STATES } from '../domain/node-fence.ts';
import type { DeviceMetrics, FenceMetrics } from '../ports/metrics.ts';
import { Meters, setAll, setOrRemove } from './meters.ts';

/** From a device that answers at once to one that takes ten minutes. */
const DURATIONS_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 60, 120, 300, 600];

/** The fence timeline. */
export function fenceMetrics(registry: Registry): FenceMetrics {
  const meters = new Meters(registry);
  const seconds = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    meters.seconds(name, help, DURATIONS_SECONDS, labelNames);
  const transitions = meters.counter('nodefence_fence_transitions_total', 'Transitions of fences, by state left, state entered and step.', [
    'from',
    'to',
    'step',
  ]);
  const fences = meters.gauge('nodefence_fences', 'Fences now, by state.', ['state']);
  const held = meters.gauge('nodefence_fences_held', 'Fences held now, by reason.', ['reason']);
  const steps = seconds('nodefence_step_duration_seconds', 'Time that a step of a fence took.', ['step', 'result']);
  const runs = seconds('nodefence_run_duration_seconds', 'Time that one run of a method or release took.', ['agent', 'action', 'result']);
  const phases = seconds('nodefence_fence_phase_seconds', 'Time from when the failure of the node was noticed to a point of the timeline.', [
    'phase',
  ]);
  const outcomes = seconds('nodefence_fence_duration_seconds', 'Time that a whole fence took.', ['outcome']);
  const gained = meters.counter('nodefence_evidence_total', 'Evidence gained.', ['kind', 'grade']);
  const voided = meters.counter('nodefence_evidence_voided_total', 'Evidence voided by signs of life.', ['kind']);
  const policies = policyGauges(meters);
  const fenceable = meters.gauge('nodefence_node_fenceable', 'Nodes, by what prevents fencing them as configured; reported by the leader.', [
    'reason',
  ]);
  const problems = meters.counter('nodefence_problems_total', 'Problems that need attention, by reason.', ['reason']);
  return {
    transitioned: (from, to, step) => transitions.inc({ from, to, step }),
    fences: (counts) => {
      for (const state of FENCE_STATES) fences.set({ state }, counts[state] ?? 0);
    },
    held: (counts) => {
      setAll(held, 'reason', Object.entries(counts));
    },
    stepFinished: (step, result, durationMs) => steps.observe({ step, result }, durationMs / 1000),
    runFinished: (agent, action, result, durationMs) => runs.observe({ agent, action, result }, durationMs / 1000),
    phaseReached: (phase, sinceNoticedMs) => phases.observe({ phase }, sinceNoticedMs / 1000),
    fenceFinished: (outcome, durationMs) => outcomes.observe({ outcome }, durationMs / 1000),
    evidenceGained: (kind, grade) => gained.inc({ kind, grade }),
    evidenceVoided: (kind) => voided.inc({ kind }),
    policies,
    fenceable: (counts) => {
      setAll(fenceable, 'reason', Object.entries(counts));
    },
    problem: (reason) => problems.inc({ reason }),
  };
}

/** Storm policies, by their own names. */
function policyGauges(meters: Meters): FenceMetrics['policies'] {
  const tripped = meters.gauge('nodefence_policy_tripped', '1 while a storm policy holds a failed node, by the policy.', ['policy']);
  const held = meters.gauge('nodefence_policy_held_nodes', 'Failed nodes that a storm policy holds now, by the policy.', ['policy']);
  return (counts) => {
    setAll(
      tripped,
      'policy',
      [...counts].map(([policy, count]) => [policy, count > 0 ? 1 : 0]),
    );
    setAll(held, 'policy', counts);
  };
}

/** Devices, by agent. */
export function deviceMetrics(registry: Registry): DeviceMetrics {
  const meters = new Meters(registry);
  const devices = meters.gauge('nodefence_devices', 'Devices, by agent and reachability.', ['agent', 'reachable']);
  const probe = meters.gauge('nodefence_device_probe_age_seconds', 'Age of the oldest probe.', ['agent']);
  const strangers = meters.gauge(
    'nodefence_device_strangers',
    'Devices that show another certificate or host key than the one on record, by agent: nobody logs in to them.',
    ['agent'],
  );
  const expiry = meters.gauge('nodefence_credential_expiry_seconds', 'Time until the first credential or certificate of the devices expires.', [
    'agent',
  ]);
  return {
    devices: (agent, { reachable, unreachable }) => {
      devices.set({ agent, reachable: 'true' }, reachable);
      devices.set({ agent, reachable: 'false' }, unreachable);
    },
    oldestProbe: (agent, ageMs) => setOrRemove(probe, { agent }, ageMs),
    strangers: (agent, count) => strangers.set({ agent }, count),
    credentialExpiry: (agent, remainingMs) => setOrRemove(expiry, { agent }, remainingMs),
  };
}
