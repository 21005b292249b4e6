import type { Registry } from 'prom-client';
import { SELF_CHECK_RESULTS } from '../ports/metrics.ts';
import type { EventMetrics, LeaseMetrics, SelfCheckMetrics, WatchMetrics, WorkqueueMetrics } from '../ports/metrics.ts';
import { Meters } from './meters.ts';

const SHORT_SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60];

export function watchMetrics(registry: Registry): WatchMetrics {
  const meters = new Meters(registry);
  const lists = meters.counter('nodefence_lists_total', 'Whole lists read from the API server.', ['resource']);
  const objects = meters.gauge('nodefence_list_objects', 'Objects in the last whole list.', ['resource']);
  const durations = meters.seconds('nodefence_list_duration_seconds', 'Time that a whole list took.', SHORT_SECONDS, ['resource']);
  const events = meters.tally('nodefence_watch_events_total', 'Events received from watches.', ['resource', 'type']);
  const ends = meters.counter('nodefence_watch_ends_total', 'Watches that ended, by cause.', ['resource', 'end']);
  const wentBack = meters.counter(
    'nodefence_watch_went_back_total',
    'Times that the API server showed an older state than before: etcd was restored from a backup. Everything is listed again.',
    ['resource'],
  );
  return {
    listed: (resource, count, durationMs) => {
      lists.inc({ resource });
      objects.set({ resource }, count);
      durations.observe({ resource }, durationMs / 1000);
    },
    watchEvent: events,
    watchEnded: (resource, end) => ends.inc({ resource, end }),
    wentBack: (resource) => wentBack.inc({ resource }),
  };
}

export function workqueueMetrics(registry: Registry): WorkqueueMetrics {
  const meters = new Meters(registry);
  const waiting = meters.gauge('nodefence_workqueue_depth', 'Keys that are due and wait for a worker.', ['queue']);
  const busy = meters.gauge('nodefence_workqueue_in_flight', 'Keys that are worked on.', ['queue']);
  const retries = meters.counter('nodefence_workqueue_retries_total', 'Keys that came back after a failure.', ['queue']);
  const waits = meters.seconds('nodefence_workqueue_wait_seconds', 'Time from due to started.', SHORT_SECONDS, ['queue', 'result']);
  const durations = meters.seconds('nodefence_workqueue_duration_seconds', 'Time that the work of one key took.', SHORT_SECONDS, ['queue', 'result']);
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
  const meters = new Meters(registry);
  const leading = meters.gauge('nodefence_leader', '1 while this process leads.');
  const epochs = meters.gauge('nodefence_leader_epoch', 'Epoch (leaseTransitions) under which this process leads; 0 while it does not.');
  const renewals = meters.seconds('nodefence_lease_renewal_duration_seconds', 'Time that a renewal took.', SHORT_SECONDS);
  const failures = meters.counter('nodefence_lease_renewal_failures_total', 'Writes or reads of the lease that failed.');
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
  const help =
    'Kubernetes Events, by result and by who misses one that is lost: a person who must act, whoever asks what became of a node, whoever follows each step.';
  const events = new Meters(registry).counter('nodefence_events_total', help, ['result', 'importance']);
  return { event: (result, importance) => events.inc({ result, importance }) };
}

export function selfCheckMetrics(registry: Registry): SelfCheckMetrics {
  const help =
    '1 for the last result of the self-check: whether the API server accepts what the controller must write. A replica whose writes are refused does not lead.';
  const results = new Meters(registry).gauge('nodefence_self_check', help, ['result']);
  const selfChecked: SelfCheckMetrics['selfChecked'] = (result) => {
    for (const each of SELF_CHECK_RESULTS) results.set({ result: each }, each === result ? 1 : 0);
  };
  selfChecked('unanswered');
  return { selfChecked };
}
