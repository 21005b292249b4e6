import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Telemetry, type Freshness } from './telemetry.ts';

describe('the metrics', () => {
  let freshness: Freshness[];
  let telemetry: Telemetry;

  beforeEach(() => {
    freshness = [];
    telemetry = new Telemetry({ version: '1.2.3', freshness: () => freshness });
  });

  afterEach(() => {
    telemetry.close();
  });

  const scrape = async (): Promise<string> => (await telemetry.scrape()).body;

  it('are served in the text format of Prometheus', async () => {
    expect((await telemetry.scrape()).contentType).toMatch(/^text\/plain; version=0\.0\.4/);
  });

  it('say what runs and how late the event loop is', async () => {
    const text = await scrape();
    expect(text).toContain(`nodefence_build_info{version="1.2.3",runtime="${process.version}"} 1`);
    expect(text).toMatch(/nodefence_event_loop_lag_seconds\{quantile="0.99"\} [\d.e-]+/);
    expect(text).toMatch(/process_resident_memory_bytes \d+/);
  });

  it('show the fence timeline in seconds', async () => {
    const { fence } = telemetry.metrics;
    fence.transitioned('none', 'new', 'isolation');
    fence.stepFinished('isolation', 'done', 1500);
    fence.runFinished('redfish', 'off', 'succeeded', 300);
    fence.phaseReached('poweredOffAt', 4000);
    fence.fenceFinished('recovered', 90_000);
    fence.evidenceGained('power-off', 'read-back');
    fence.evidenceVoided('power-off');
    fence.problem('BmcUnreachable');
    const text = await scrape();
    expect(text).toContain('nodefence_fence_transitions_total{from="none",to="new",step="isolation"} 1');
    expect(text).toContain('nodefence_step_duration_seconds_sum{step="isolation",result="done"} 1.5');
    expect(text).toContain('nodefence_run_duration_seconds_bucket{le="0.5",agent="redfish",action="off",result="succeeded"} 1');
    expect(text).toContain('nodefence_fence_phase_seconds_sum{phase="poweredOffAt"} 4');
    expect(text).toContain('nodefence_fence_duration_seconds_count{outcome="recovered"} 1');
    expect(text).toContain('nodefence_evidence_total{kind="power-off",grade="read-back"} 1');
    expect(text).toContain('nodefence_evidence_voided_total{kind="power-off"} 1');
    expect(text).toContain('nodefence_problems_total{reason="BmcUnreachable"} 1');
  });

  it('show what is preserved, until when, and what was done about it', async () => {
    const { preservation } = telemetry.metrics;
    preservation.preserved([{ pool: 'a', cause: 'user', phase: 'Failed', count: 2 }]);
    preservation.preserved([{ pool: 'a', cause: 'automatic', phase: 'Failed', count: 1 }]);
    preservation.expiry(new Map([['a', 90_000]]));
    preservation.acted('annotate', 'done');
    const text = await scrape();
    expect(text).toContain('nodefence_preserved_machines{pool="a",cause="automatic",phase="Failed"} 1');
    expect(text).not.toContain('cause="user"');
    expect(text).toContain('nodefence_preservation_expiry_seconds{pool="a"} 90');
    expect(text).toContain('nodefence_controller_actions_total{controller="preservation",kind="annotate",result="done"} 1');
  });

  it('show what health checks find, what remediation is at, and what each controller does and complains of', async () => {
    const { healthChecks, remediation, machineRemediation, metal3Remediation } = telemetry.metrics;
    healthChecks.checks({ allowed: 2, paused: 1 });
    healthChecks.checks({ 'short-circuited': 1 });
    healthChecks.machines({ expected: 10, failed: 3, waiting: 1 });
    remediation.requests({ Fencing: 2 });
    remediation.acted('request-fence', 'conflict');
    healthChecks.problems(4);
    machineRemediation.acted('annotate', 'failed');
    metal3Remediation.problems(1);
    const text = await scrape();
    for (const line of [
      'nodefence_health_checks{state="allowed"} 0',
      'nodefence_health_checks{state="short-circuited"} 1',
      'nodefence_health_check_machines{state="failed"} 3',
      'nodefence_remediation_requests{phase="Fencing"} 2',
      'nodefence_remediation_requests{phase="Waiting"} 0',
      'nodefence_controller_actions_total{controller="remediation",kind="request-fence",result="conflict"} 1',
      'nodefence_controller_actions_total{controller="machine-remediation",kind="annotate",result="failed"} 1',
      'nodefence_controller_problems{controller="health-checks"} 4',
      'nodefence_controller_problems{controller="metal3-remediation"} 1',
    ]) {
      expect(text).toContain(`${line}\n`);
    }
  });

  it('forget states and reasons that no longer hold', async () => {
    const { fence } = telemetry.metrics;
    fence.fences({ running: 2 });
    fence.held({ storm: 3, stop: 1 });
    fence.fences({ done: 1 });
    fence.held({ stop: 2 });
    const text = await scrape();
    expect(text).toContain('nodefence_fences{state="running"} 0');
    expect(text).toContain('nodefence_fences{state="done"} 1');
    expect(text).toContain('nodefence_fences_held{reason="stop"} 2');
    expect(text).not.toContain('reason="storm"');
  });

  it('count the events of a watch from one scrape to the next', async () => {
    const { watch } = telemetry.metrics;
    watch.watchEvent('leases', 'MODIFIED');
    watch.watchEvent('leases', 'MODIFIED');
    watch.watchEvent('leases', 'ADDED');
    expect(await scrape()).toContain('nodefence_watch_events_total{resource="leases",type="MODIFIED"} 2\n');
    watch.watchEvent('leases', 'MODIFIED');
    const text = await scrape();
    expect(text).toContain('nodefence_watch_events_total{resource="leases",type="MODIFIED"} 3\n');
    expect(text).toContain('nodefence_watch_events_total{resource="leases",type="ADDED"} 1\n');
  });

  it('show nothing of an agent that is configured no more, of a credential that ends no more, and of a collection that is watched no more', async () => {
    const { device } = telemetry.metrics;
    freshness = [{ resource: 'machines', isSynced: true, ageMs: 2_500 }];
    device.oldestProbe('redfish', 60_000);
    device.credentialExpiry('redfish', -5_000);
    expect(await scrape()).toMatch(/credential_expiry_seconds\{agent="redfish"\} -5\n/);
    device.oldestProbe('redfish', undefined);
    device.credentialExpiry('redfish', undefined);
    freshness = [];
    const text = await scrape();
    for (const gone of ['agent="redfish"', 'resource="machines"']) expect(text).not.toContain(gone);
  });

  it('show watches, queue, lease, devices and Events', async () => {
    const { watch, workqueue, lease, device, event } = telemetry.metrics;
    freshness = [
      { resource: 'nodes', isSynced: true, ageMs: 2500 },
      { resource: 'pods', isSynced: false, ageMs: Infinity },
    ];
    watch.listed('nodes', 5000, 1200);
    watch.watchEvent('nodes', 'BOOKMARK');
    watch.watchEnded('nodes', 'idle');
    workqueue.depth('fence', 3, 2);
    workqueue.finished('fence', 'done', 5, 20);
    workqueue.retried('fence');
    lease.leading(true, 7);
    lease.renewed(12);
    lease.renewFailed();
    device.devices('redfish', { reachable: 9, unreachable: 1 });
    device.oldestProbe('redfish', 60_000);
    device.credentialExpiry('redfish', 86_400_000);
    event.event('created', 'outcome');
    const text = await scrape();
    for (const line of [
      'nodefence_watch_age_seconds{resource="nodes"} 2.5',
      'nodefence_watch_age_seconds{resource="pods"} +Inf',
      'nodefence_watch_synced{resource="pods"} 0',
      'nodefence_lists_total{resource="nodes"} 1',
      'nodefence_list_objects{resource="nodes"} 5000',
      'nodefence_watch_events_total{resource="nodes",type="BOOKMARK"} 1',
      'nodefence_watch_ends_total{resource="nodes",end="idle"} 1',
      'nodefence_workqueue_depth{queue="fence"} 3',
      'nodefence_workqueue_in_flight{queue="fence"} 2',
      'nodefence_workqueue_retries_total{queue="fence"} 1',
      'nodefence_leader 1',
      'nodefence_leader_epoch 7',
      'nodefence_lease_renewal_failures_total 1',
      'nodefence_devices{agent="redfish",reachable="false"} 1',
      'nodefence_device_probe_age_seconds{agent="redfish"} 60',
      'nodefence_credential_expiry_seconds{agent="redfish"} 86400',
      'nodefence_events_total{result="created",importance="outcome"} 1',
    ]) {
      expect(text).toContain(`${line}\n`);
    }
  });

  it('of our own have names with units, help, and no label for pods or nodes', async () => {
    const own = (await scrape()).split('\n').filter((line) => line.startsWith('# HELP nodefence_'));
    expect(own.length).toBeGreaterThan(25);
    for (const line of own) {
      expect(line).toMatch(/^# HELP nodefence_[a-z]+(_[a-z]+)* [A-Z1].*\.$/);
    }
    expect(await scrape()).not.toMatch(/nodefence_\w+\{[^}]*\b(pod|node)="/);
  });

  it('of two instances in one process do not meet', async () => {
    const second = new Telemetry({ version: '9', freshness: () => [] });
    second.metrics.fence.problem('Only');
    expect(await scrape()).not.toContain('Only');
    second.close();
  });
});
