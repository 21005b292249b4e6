import { describe, expect, it } from 'vitest';
import { DEFAULT_STANDS } from '../../domain/plan-problems.ts';
import { DEFAULT_TIMING } from '../../domain/plan.ts';
import { Model, planOf } from '../../domain/testing/model.ts';
import type { NodeFenceStatus } from '../../domain/node-fence.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { NodeFenceReport } from '../../ports/resources.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { fenceRecord, recordHealthy, recordIncident } from './report.ts';
import { FenceHarness, nodeOf } from './testing/harness.ts';

/** A harness whose reports are written, and seen again by the watch when `seen` is called. */
function harnessWith(report: NodeFenceReport): { harness: FenceHarness; writes: NodeFenceReport[]; stored: () => NodeFenceReport; seen: () => void } {
  const harness = new FenceHarness(new ManualClock());
  const writes: NodeFenceReport[] = [];
  let stored = report;
  const cluster: Cluster = {
    ...harness.dependencies.cluster,
    get: () => Promise.resolve(stored as never),
    replaceStatus: (_resource, object) => {
      stored = object;
      writes.push(stored);
      return Promise.resolve(object);
    },
  };
  Object.assign(harness.dependencies, { cluster });
  const seen = (): void => {
    harness.reports.items = [stored];
  };
  seen();
  return { harness, writes, stored: () => stored, seen };
}

/** A fence that isolated, and whose off was refused until it gave up. */
function givenUp(): NodeFenceStatus {
  const model = new Model(planOf({ timing: DEFAULT_TIMING, stepRetries: 0, maxRestarts: 0 }));
  model.lastIncident = 4;
  model.fail();
  model.next();
  model.next('refused');
  model.runUntil(() => model.status.outcome === 'failed');
  return model.status;
}

const EMPTY: NodeFenceReport = { metadata: { name: 'a', resourceVersion: '1' }, status: {} };

describe('what is wrong with the plan of a healthy node', () => {
  it('is also that fast_detection has no effect, where node daemons are not served', async () => {
    const { harness, stored } = harnessWith(EMPTY);
    harness.plan = planOf({ fastDetectionMs: 3_000 });
    await recordHealthy(harness.dependencies, nodeOf({ ready: 'True' }));
    expect(stored().status?.problems).toMatchObject([{ severity: 'warning', where: 'fast_detection' }]);
    const served = harnessWith(EMPTY);
    served.harness.plan = planOf({ fastDetectionMs: 3_000 });
    Object.assign(served.harness.dependencies, { fastDetection: { failureOf: () => undefined, heardAtMs: () => undefined } });
    await recordHealthy(served.harness.dependencies, nodeOf({ ready: 'True' }));
    expect(served.stored().status?.problems).toEqual([]);
  });

  it.each([
    ['FenceConfigurationInvalid', 'error' as const, 'no method of that name'],
    ['FenceSettingIgnored', 'warning' as const, `healthy_delay=soon must be a duration; ${DEFAULT_STANDS}`],
  ])('is told on the Node by %s, once, when it arises', async (reason, severity, message) => {
    const { harness, seen } = harnessWith(EMPTY);
    const told: string[] = [];
    Object.assign(harness.dependencies, { recorder: { event: (_about: unknown, _type: unknown, word: string) => told.push(word) } });
    const node = nodeOf({ ready: 'True' });
    await recordHealthy(harness.dependencies, node);
    seen();
    expect(told).toEqual([]);
    harness.plan = planOf({ problems: [{ severity, where: 'ConfigMap fence-config-a', message }] });
    for (let pass = 0; pass < 3; pass += 1) {
      await recordHealthy(harness.dependencies, node);
      seen();
    }
    expect(told).toEqual([reason]);
  });
});

describe('a node that nobody is to fence', () => {
  it('is said to be so by its report, until its ConfigMap says otherwise', async () => {
    const { harness, writes, stored, seen } = harnessWith(EMPTY);
    const node = nodeOf({ ready: 'True' });
    harness.plan = planOf({ trigger: 'never' });
    for (let pass = 0; pass < 2; pass += 1) {
      await recordHealthy(harness.dependencies, node);
      seen();
    }
    expect(stored().status).toMatchObject({ fence: 'never' });
    expect(writes).toHaveLength(1);
    harness.plan = planOf({});
    await recordHealthy(harness.dependencies, node);
    expect(stored().status).not.toHaveProperty('fence');
  });
});

describe('what a report keeps of a fence', () => {
  it('is its number, its record, and how many in a row were in vain', async () => {
    const { harness, stored } = harnessWith(EMPTY);
    await recordIncident(harness.dependencies, 'a', givenUp());
    expect(stored().status).toMatchObject({
      incident: 5,
      consecutiveFailures: 1,
      incidents: [{ incident: 5, outcome: 'failed', trigger: 'node-condition' }],
    });
    expect(stored().status?.fencesStartedAt).toHaveLength(1);
  });

  it('is written once, however often the fence is looked at, and also when the watch is late', async () => {
    const { harness, writes, seen } = harnessWith(EMPTY);
    const status = givenUp();
    await recordIncident(harness.dependencies, 'a', status);
    seen();
    for (let pass = 0; pass < 3; pass += 1) await recordIncident(harness.dependencies, 'a', status);
    expect(writes).toHaveLength(1);
  });

  it('says that the NodeFence was deleted by hand, when, and keeps an outcome that stood before', async () => {
    const { harness, stored } = harnessWith(EMPTY);
    const status = givenUp();
    const { outcome: _outcome, ...open } = status;
    await recordIncident(harness.dependencies, 'a', open, true);
    const record = stored().status?.incidents?.[0];
    expect(record).toMatchObject({ outcome: 'stopped', heldBy: 'its NodeFence was deleted by hand' });
    expect(record?.endedAt).toBeDefined();
    const again = harnessWith(EMPTY);
    await recordIncident(again.harness.dependencies, 'a', status, true);
    expect(again.stored().status?.incidents?.[0]?.outcome).toBe('failed');
  });

  it('says of a NodeFence that was withdrawn whether more than a cordon was done', async () => {
    const { journal, ...status } = givenUp();
    const { harness, stored } = harnessWith(EMPTY);
    await recordIncident(harness.dependencies, 'a', { ...status, journal: journal.slice(0, 1) }, true);
    expect(stored().status?.incidents?.[0]).toMatchObject({ cordonedOnly: true });
    const tried = harnessWith(EMPTY);
    await recordIncident(tried.harness.dependencies, 'a', { ...status, journal }, true);
    expect(tried.stored().status?.incidents?.[0]).not.toHaveProperty('cordonedOnly');
  });

  it('counts no more in a row once a fence ended with the node back', async () => {
    const { harness, stored, seen } = harnessWith(EMPTY);
    const status = givenUp();
    await recordIncident(harness.dependencies, 'a', status);
    seen();
    await recordIncident(harness.dependencies, 'a', { ...status, incident: 6, state: 'final', outcome: 'recovered' });
    expect(stored().status).toMatchObject({ incident: 6, consecutiveFailures: 0 });
  });

  it("tells the automaton of a person's word", () => {
    expect(fenceRecord(undefined)).toEqual({ incidents: [] });
    expect(fenceRecord({ ...EMPTY, spec: { resumed: { incident: 5, reason: 'new board' } } })).toEqual({ incidents: [], resumedAfter: 5 });
  });
});
