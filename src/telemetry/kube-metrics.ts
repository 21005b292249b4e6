import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { EventMetrics, LeaseMetrics, WatchMetrics, WorkqueueMetrics } from '../ports/metrics.ts';

const SHORT_SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60];

export function watchMetrics(registry: Registry): WatchMetrics {
  const registers = [registry];
  const labelNames = ['resource'] as const;
  const lists = new Counter({ name: 'nodefence_lists_total', help: 'Whole lists read from the API server.', labelNames, registers });
  const objects = new Gauge({ name: 'nodefence_list_objects', help: 'Objects in the last whole list.', labelNames, registers });
  const durations = new Histogram({
    name: 'nodefence_list_duration_seconds',
    help: 'Time that a whole list took.',
    labelNames,
    buckets: SHORT_SECONDS,
    registers,
  });
  const events = new Counter({
    name: 'nodefence_watch_events_total',
    help: 'Events received from watches.',
    labelNames: ['resource', 'type'] as const,
    registers,
  });
  const ends = new Counter({
    name: 'nodefence_watch_ends_total',
    help: 'Watches that ended, by cause.',
    labelNames: ['resource', 'end'] as const,
    registers,
  });
  return {
    listed: (resource, count, durationMs) => {
      lists.inc({ resource });
      objects.set({ resource }, count);
      durations.observe({ resource }, durationMs / 1000);
    },
    watchEvent: (resource, type) => events.inc({ resource, type }),
    watchEnded: (resource, end) => ends.inc({ resource, end }),
  };
}

export function workqueueMetrics(registry: Registry): WorkqueueMetrics {
  const registers = [registry];
  const waiting = new Gauge({
    name: 'nodefence_workqueue_depth',
    help: 'Keys that are due and wait for a worker.',
    labelNames: ['queue'] as const,
    registers,
  });
  const busy = new Gauge({ name: 'nodefence_workqueue_in_flight', help: 'Keys that are worked on.', labelNames: ['queue'] as const, registers });
  const retries = new Counter({
    name: 'nodefence_workqueue_retries_total',
    help: 'Keys that came back after a failure.',
    labelNames: ['queue'] as const,
    registers,
  });
  const seconds = (name: string, help: string): Histogram<'queue' | 'result'> =>
    new Histogram({ name, help, labelNames: ['queue', 'result'] as const, buckets: SHORT_SECONDS, registers });
  const waits = seconds('nodefence_workqueue_wait_seconds', 'Time from due to started.');
  const durations = seconds('nodefence_workqueue_duration_seconds', 'Time that the work of one key took.');
  return {
    depth: (queue, ready, inFlight) => {
      waiting.set({ queue }, ready);
      busy.set({ queue }, inFlight);
    },
    finished: (queue, result, waitMs, durationMs) => {
      waits.observe({ queue, result }, waitMs / 1000);
      durations.observe({ queue, result }, durationMs / 1000);
    },
    retried: (queue) => retries.inc({ queue }),
  };
}

export function leaseMetrics(registry: Registry): LeaseMetrics {
  const registers = [registry];
  const leading = new Gauge({ name: 'nodefence_leader', help: '1 while this process leads.', registers });
  const epochs = new Gauge({
    name: 'nodefence_leader_epoch',
    help: 'Epoch (leaseTransitions) under which this process leads; 0 while it does not.',
    registers,
  });
  const renewals = new Histogram({
    name: 'nodefence_lease_renewal_duration_seconds',
    help: 'Time that a renewal took.',
    buckets: SHORT_SECONDS,
    registers,
  });
  const failures = new Counter({ name: 'nodefence_lease_renewal_failures_total', help: 'Writes or reads of the lease that failed.', registers });
  return {
    leading: (isLeading, epoch) => {
      leading.set(isLeading ? 1 : 0);
      epochs.set(epoch);
    },
    renewed: (durationMs) => renewals.observe(durationMs / 1000),
    renewFailed: () => failures.inc(),
  };
}

export function eventMetrics(registry: Registry): EventMetrics {
  const events = new Counter({
    name: 'nodefence_events_total',
    help: 'Kubernetes Events, by what became of them.',
    labelNames: ['result'] as const,
    registers: [registry],
  });
  return { event: (result) => events.inc({ result }) };
}
