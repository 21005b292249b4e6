import { describe, expect, it } from 'vitest';
import { DEFAULT_TIMING } from '../../domain/plan.ts';
import type { IncidentRecord } from '../../domain/incident-record.ts';
import type { NodeFenceReport } from '../../ports/resources.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { FenceController } from './controller.ts';
import { endReport } from './report-end.ts';
import { FenceHarness } from './testing/harness.ts';

const HOUR_MS = 3_600_000;

function incidentAt(wallMs: number): IncidentRecord {
  const at = new Date(wallMs).toISOString();
  return { incident: 1, startedAt: at, endedAt: at, outcome: 'node-gone', trigger: 'node-condition', evidence: [], timeline: {}, summary: '' };
}

function harnessWith(incidents: (nowMs: number) => IncidentRecord[]): { harness: FenceHarness; clock: ManualClock; removed: () => string[] } {
  const clock = new ManualClock();
  const harness = new FenceHarness(clock);
  const report: NodeFenceReport = {
    metadata: { name: 'spot-1', uid: 'u', resourceVersion: '7' },
    status: { identity: { nodeUID: 'n', recordedAt: new Date(clock.wallMs()).toISOString() }, incidents: incidents(clock.wallMs()) },
  };
  harness.reports.items = [report];
  harness.cluster.node = undefined;
  return { harness, clock, removed: () => harness.cluster.writes.filter(({ verb }) => verb === 'remove').map(({ name }) => name) };
}

describe('the report of a Node that is gone', () => {
  it('goes at once where no fence of it is on record', async () => {
    const { harness, removed } = harnessWith(() => []);
    expect(await endReport(harness.dependencies, 'spot-1')).toBeUndefined();
    expect(removed()).toEqual(['spot-1']);
    expect(harness.cluster.writes[0]?.body).toEqual({ uid: 'u', resourceVersion: '7' });
  });

  it('stays for the time of its history, and says when to look again', async () => {
    const { harness, clock, removed } = harnessWith((nowMs) => [incidentAt(nowMs - 2 * HOUR_MS)]);
    expect(await endReport(harness.dependencies, 'spot-1')).toBe(DEFAULT_TIMING.historyTtlMs - 2 * HOUR_MS);
    expect(removed()).toEqual([]);
    await clock.advance(DEFAULT_TIMING.historyTtlMs - 2 * HOUR_MS);
    expect(await endReport(harness.dependencies, 'spot-1')).toBeUndefined();
    expect(removed()).toEqual(['spot-1']);
  });

  it('stays where the API still has the Node, whatever the watch shows', async () => {
    const { harness, removed } = harnessWith(() => []);
    harness.cluster.node = { metadata: { name: 'spot-1' }, spec: {}, status: {} };
    expect(await endReport(harness.dependencies, 'spot-1')).toBeUndefined();
    expect(removed()).toEqual([]);
  });

  it('is looked for by a new leader, and removed by its pass', async () => {
    const { harness, removed } = harnessWith(() => []);
    const queued: string[] = [];
    Object.assign(harness.dependencies, { queue: { ...harness.dependencies.queue, add: (name: string) => void queued.push(name) } });
    harness.nodes.items = [];
    const controller = new FenceController(harness.dependencies);
    controller.lookAtAll();
    expect(queued).toContain('spot-1');
    await controller.reconcile('spot-1');
    expect(removed()).toEqual(['spot-1']);
  });
});
