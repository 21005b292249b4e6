import { describe, expect, it } from 'vitest';
import { decide } from './automaton.ts';
import { LIMITS } from './node-fence.ts';
import type { NodeFenceStatus, Restore } from './node-fence.ts';
import { historyOf } from './rows/closing.ts';
import { method, Model, planOf } from './testing/model.ts';

const HOUR_MS = 3_600_000;

/** Its machine is proven off, and its NodeFence is deleted by hand. */
function deleted(more: Partial<NodeFenceStatus> = {}, left: Partial<Restore> = {}): Model {
  const path = method('path', 'fc-switch', 'off', { kind: 'fabric', storage: 'san' });
  const model = new Model(planOf({ stepRetries: 0, maxRestarts: 0, isolation: [{ level: 1, methods: [method('cordon', 'cordon', 'run'), path] }] }));
  model.fail();
  expect([model.next(), model.next(), model.next()]).toEqual(['run:cordon', 'off:path', 'off:off']);
  model.holds = [{ policy: 'max-unhealthy', reason: 'storm', message: 'too many' }];
  model.step();
  model.holds = [];
  const status = { ...model.status, ...more, restore: { ...model.status.restore, ...left } };
  if (model.fence !== undefined) model.fence = { ...model.fence, status, deleting: true };
  return model;
}

/** What is begun until it is gone, or for so long; each fails or succeeds. */
function begun(model: Model, result: 'succeeded' | 'failed' = 'succeeded', beats = 60): string[] {
  const operations: string[] = [];
  for (let beat = 0; beat < beats && model.fence !== undefined; beat += 1) {
    model.nowMs += 5_000;
    model.step();
    if (model.inFlight.size === 0) continue;
    operations.push(model.dispatched.at(-1)?.entry.operation ?? '');
    model.finish(result);
  }
  return operations;
}

describe('what a NodeFence that is deleted by hand takes back', () => {
  it('is no machine while its taint cannot be taken back, however long after its off', () => {
    const model = deleted({}, { taints: [{ key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' }] });
    model.nowMs += HOUR_MS;
    const operations = begun(model, 'failed');
    expect(operations[0]).toBe('release-end');
    expect(operations.filter((operation) => operation.startsWith('on:'))).toEqual([]);
  });

  it('is nothing of another Node that has its name: that one’s machine may be another', () => {
    const model = deleted();
    const before = model.dispatched.length;
    model.node = model.node && { ...model.node, uid: 'uid-another' };
    const { events } = model.step();
    expect([model.fence === undefined, model.dispatched.length]).toEqual([true, before]);
    expect(events.map(({ message }) => message).join()).toContain(
      'LeftOff: off (redfish bmc ) is still off, path (fc-switch bmc-path ) is still closed',
    );
    expect(events.map(({ message }) => message).join(), 'the cordon went with the Node').not.toContain('cordoned');
  });

  it('is nothing while it only observes: it is let go, and says what stays', () => {
    const model = deleted({ state: 'final', outcome: 'fenced-off' });
    const before = model.dispatched.length;
    model.holds = [{ policy: 'observe', reason: 'observe', message: 'nothing is done' }];
    const { events } = model.step();
    expect([model.fence === undefined, model.dispatched.length]).toEqual([true, before]);
    expect(events.map(({ message }) => message).join()).toContain('The node stays cordoned.');
  });

  it('is the way to the storage, not the machine, where that was to end in off', () => {
    const model = deleted({ ending: 'off' });
    model.node = model.node && { ...model.node, bootID: 'boot-2' };
    const operations = begun(model);
    expect(operations).toContain('on:path');
    expect(operations).not.toContain('on:off');
  });

  it('waits for volumes as well as for pods that a release let go', () => {
    const model = deleted();
    const [off] = model.status.journal.filter(({ action }) => action === 'off').slice(-1);
    if (off === undefined || model.fence?.status === undefined) throw new Error('nothing was switched off');
    const release = { ...off, id: 'release-1', operation: 'release', method: 'release', action: 'release' as const, result: 'succeeded' as const };
    model.fence = { ...model.fence, status: { ...model.status, journal: [...model.status.journal, release] } };
    model.workload = { pods: 0, terminating: 0, volumeAttachments: 1 };
    expect(begun(model, 'succeeded', 5)).not.toContain('on:off');
    model.drained();
    expect(begun(model)).toContain('on:off');
  });

  it('waits for pods that are left without a volume, and for a late off where release_timeout is shorter', () => {
    const model = deleted();
    const [off] = model.status.journal.filter(({ action }) => action === 'off').slice(-1);
    const { frozen } = model.status;
    if (off === undefined || frozen === undefined || model.fence?.status === undefined) throw new Error('nothing was switched off');
    const release = { ...off, id: 'release-1', operation: 'release', method: 'release', action: 'release' as const, result: 'succeeded' as const };
    const timing = { ...frozen.plan.timing, releaseTimeoutMs: 1_000, settleMs: 20_000 };
    const status = { ...model.status, journal: [...model.status.journal, release] };
    model.fence = { ...model.fence, status };
    model.workload = { pods: 1, terminating: 0, volumeAttachments: 0 };
    expect(begun(model, 'succeeded', 5), 'a pod is left').not.toContain('on:off');
    model.fence = { ...model.fence, status: { ...model.status, frozen: { ...frozen, plan: { ...frozen.plan, timing } } } };
    model.setAtMs = model.nowMs;
    expect(begun(model, 'succeeded', 3), 'its off may be late').not.toContain('on:off');
    expect(begun(model)).toContain('on:off');
  });

  it('is nothing of a Node that is gone', () => {
    const model = deleted();
    const before = model.dispatched.length;
    model.node = undefined;
    const { events } = model.step();
    expect([model.fence === undefined, model.dispatched.length]).toEqual([true, before]);
    expect(events.map(({ message }) => message).join()).toContain('off (redfish bmc ) is still off');
  });

  it('is all of it under a policy, which blocks no on', () => {
    const model = deleted();
    model.holds = [{ policy: 'max-unhealthy', reason: 'storm', message: 'too many' }];
    expect(begun(model)).toContain('on:off');
  });

  it('does not wait for volumes of a release of an earlier restart, whose end was waited for before its on', () => {
    const model = deleted();
    const journal = model.status.journal.map((entry) => ({ ...entry, restart: 1 }));
    const [off] = model.status.journal.filter(({ action }) => action === 'off').slice(-1);
    if (off === undefined || model.fence?.status === undefined) throw new Error('nothing was switched off');
    const release = { ...off, id: 'release-0', operation: 'release', method: 'release', action: 'release' as const, result: 'succeeded' as const };
    model.fence = { ...model.fence, status: { ...model.status, restarts: 1, journal: [release, ...journal] } };
    model.workload = { pods: 0, terminating: 0, volumeAttachments: 1 };
    expect(begun(model, 'succeeded', 8)).toContain('on:off');
  });
});

describe('when a NodeFence that is deleted by hand takes something back', () => {
  const TAINT = [{ key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' }];
  const nextMs = (model: Model): number => {
    const fromMs = model.nowMs;
    model.runUntil(() => model.inFlight.size > 0);
    return model.nowMs - fromMs;
  };
  const entryOf = (model: Model): NodeFenceStatus['journal'][number] | undefined => model.dispatched.at(-1)?.entry;

  it('each thing is tried at once, and again after settle, as another attempt, by the leader that is one then', () => {
    const model = deleted({}, { taints: TAINT, edges: [] });
    const { settleMs } = model.plan.timing;
    const status = model.fence?.status;
    if (status?.frozen !== undefined && model.fence !== undefined)
      model.fence = { ...model.fence, status: { ...status, frozen: { ...status.frozen, plan: { ...status.frozen.plan, stepRetries: 1 } } } };
    expect([nextMs(model), entryOf(model)?.operation]).toEqual([0, 'release-end']);
    model.finish('failed');
    model.step();
    model.step();
    model.takeOver();
    expect([nextMs(model), entryOf(model)]).toMatchObject([settleMs, { operation: 'release-end', attempt: 2, epoch: model.epoch }]);
    model.finish('failed');
    expect([nextMs(model), entryOf(model)?.operation], 'the next thing has not been tried').toEqual([0, 'run:undo-cordon']);
  });

  it('the machine is not waited for where our taint keeps it off: it is let go, and said what stays', () => {
    const model = deleted({}, { taints: TAINT });
    const fromMs = model.nowMs;
    const [off] = model.status.journal.filter(({ operation }) => operation === 'off:off');
    if (off === undefined || model.fence?.status === undefined) throw new Error('nothing was switched off');
    const release = { ...off, id: 'release-1', operation: 'release', method: 'release', action: 'release' as const };
    model.fence = { ...model.fence, status: { ...model.status, journal: [...model.status.journal, release] } };
    expect(begun(model, 'failed')).not.toContain('on:off');
    expect(model.fence).toBeUndefined();
    expect(model.nowMs - fromMs).toBeLessThan(30_000);
    expect(model.words.at(-1)).toMatch(/could not be undone.*Our taint .* is still on the node.*off \(redfish bmc \) is still off/u);
  });

  it('says in the status what it waits for', () => {
    const model = deleted();
    model.setAtMs = model.nowMs;
    model.runUntil(() => model.status.message?.startsWith('Deleted by hand') === true);
    expect(model.status.message).toContain('is switched on or opened once no late off can hit it');
  });

  it('the machine is switched on by a successor too, which counts from when it saw the journal', () => {
    const model = deleted();
    model.takeOver();
    model.fail();
    expect([nextMs(model), entryOf(model)?.operation]).toEqual([model.plan.timing.settleMs, 'on:off']);
  });

  it('an on that went well before is no reason to wait for another one', () => {
    const model = deleted();
    const [off] = model.status.journal.filter(({ operation }) => operation === 'off:off');
    if (off === undefined || model.fence?.status === undefined) throw new Error('nothing was switched off');
    const on = { ...off, id: 'on-0', operation: 'on:off', action: 'on' as const, result: 'succeeded' as const };
    const { restore } = model.status;
    const edges = restore?.edges?.filter(({ state }) => state === 'off') ?? [];
    model.fence = { ...model.fence, status: { ...model.status, journal: [on, ...model.status.journal], restore: { edges } } };
    model.setAtMs = model.nowMs - model.plan.timing.settleMs;
    expect([nextMs(model), entryOf(model)?.operation]).toEqual([0, 'on:off']);
  });

  it('what this process has not seen the time of counts from now', () => {
    const dueIn = (model: Model): number => (decide({ ...model.snapshot(), since: {} }).requeueAtMs ?? 0) - model.nowMs;
    const model = deleted();
    const edges = model.status.restore?.edges ?? [];
    if (model.fence?.status !== undefined) model.fence = { ...model.fence, status: { ...model.fence.status, restore: { edges } } };
    expect(dueIn(model)).toBe(model.plan.timing.settleMs);
    const [off] = model.status.journal.filter(({ operation }) => operation === 'off:off');
    if (off === undefined || model.fence?.status === undefined) throw new Error('nothing was switched off');
    const release = { ...off, id: 'release-1', operation: 'release', method: 'release', action: 'release' as const };
    model.fence = { ...model.fence, status: { ...model.status, journal: [...model.status.journal, release] } };
    expect(dueIn(model)).toBe(model.plan.timing.releaseTimeoutMs);
  });

  it('tells nothing of our taint where the Node that it stood on is gone', () => {
    const model = deleted({}, { taints: TAINT });
    model.node = undefined;
    model.step();
    expect(model.words.at(-1)).toContain('off (redfish bmc ) is still off');
    expect(model.words.at(-1)).not.toContain('Our taint');
  });
});

describe('the history of a NodeFence', () => {
  it('has no more entries than one takes, the newest', () => {
    const old = Array.from({ length: LIMITS.history }, (_entry, index) => ({
      incident: index,
      outcome: 'recovered' as const,
      from: '',
      to: '',
      summary: '',
    }));
    const history = historyOf({ ...deleted().status, incident: 99, history: old });
    expect([history.length, history[0]?.incident, history.at(-1)?.incident]).toEqual([LIMITS.history, 1, 99]);
  });
});
