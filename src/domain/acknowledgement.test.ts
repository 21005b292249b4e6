import { describe, expect, it } from 'vitest';
import { ACKNOWLEDGEMENT_MAX_AGE_MS, refusalOf } from './acknowledgement.ts';
import type { AcknowledgementFacts } from './acknowledgement.ts';
import type { Released } from './node-fence.ts';
import type { JobReport } from './snapshot.ts';
import { method, Model, planOf } from './testing/model.ts';

const WORD = { name: 'ack-a', uid: 'word-1' };

/** The BMC does not answer, restarts are used up: the fence waits for a person. */
function givenUp(model = new Model(planOf({ maxRestarts: 0, stepRetries: 0 }))): Model {
  model.fail();
  expect(model.next()).toBe('run:cordon');
  expect(model.next('unreachable')).toBe('off:off');
  model.runUntil(() => model.status.state === 'error' && model.status.outcome === 'failed');
  return model;
}

function evidence(model: Model): Partial<JobReport> {
  model.proofs.set([...model.inFlight][0] ?? '', model.nowMs);
  const observedAt = new Date(1_700_000_000_000 + model.nowMs).toISOString();
  return { evidence: { kind: 'ack', grade: 'person', detail: 'looked', observedAt, bootID: 'boot-1' }, evidenceAtMs: model.nowMs };
}

/** The word is weighed and counts. */
function accepted(model: Model): void {
  model.acknowledgement = WORD;
  model.runUntil(() => model.inFlight.size > 0);
  expect(model.dispatched.at(-1)?.entry).toMatchObject({ action: 'acknowledge', method: 'ack-a', plug: 'word-1', agent: 'kubernetes' });
  model.finish('succeeded', evidence(model));
  model.acknowledgement = undefined;
}

describe('an acknowledgement', () => {
  const fence = { uid: 'fence-1', status: givenUp().status };
  const facts: AcknowledgementFacts = { nodeFenceUID: 'fence-1', incident: 1, bootID: 'boot-1', ageMs: 1_000 };
  const node = { bootID: 'boot-1' };

  it('counts for the fence, incident and boot that it names', () => {
    expect(refusalOf(facts, fence, node)).toBeUndefined();
    expect(refusalOf({ ...facts, bootID: undefined }, fence, node)).toBeUndefined();
  });

  it.each([
    ['no fence is open', facts, undefined, node, 'no fence of this node is open'],
    ['another NodeFence', { ...facts, nodeFenceUID: 'old' }, fence, node, 'another NodeFence'],
    ['another incident', { ...facts, incident: 2 }, fence, node, 'incident 2; the one that is open is 1'],
    ['another boot', facts, fence, { bootID: 'boot-2' }, 'boot boot-1; the node shows boot-2'],
    ['too old', { ...facts, ageMs: ACKNOWLEDGEMENT_MAX_AGE_MS + 1 }, fence, node, '15 minutes'],
    ['a fence that is done', facts, { ...fence, status: { ...fence.status, state: 'done' as const } }, node, 'state done'],
    [
      'a workload that is released',
      facts,
      { ...fence, status: { ...fence.status, released: { by: 'evict' as const, at: '', pods: 1, evidence: 'x' } } },
      node,
      'released before',
    ],
  ])('is refused for %s', (_what, word, open, now, why) => {
    expect(refusalOf(word, open, now)).toContain(why);
  });

  it.each([
    ['that it is let go on, between two batches', {}, undefined],
    ['that it was let go on, while a volume is kept', { left: 0, keptVolumes: [{ attachment: 'csi-1', by: 'no' }] }, undefined],
    ['that it was let go on, when nothing is left', { left: 0 }, 'the workload was released before'],
    ['that it was let go on, and that was void meanwhile', { voidedAt: '2026-01-01T00:01:00Z' }, 'the workload was released before'],
    ['of which another word lets go', { uid: 'word-2' }, 'the workload was released before'],
  ])('is weighed anew by the workload %s', (_what, { uid = 'word-1', ...more }: { uid?: string } & Partial<Released>, why) => {
    const model = givenUp();
    accepted(model);
    model.step();
    const released = { by: 'delete-pods' as const, at: '', pods: 1, evidence: 'x', left: 1, batch: 1, ...more };
    const said = refusalOf({ ...facts, uid }, { uid: 'fence-1', status: { ...model.status, released } }, node);
    expect(said).toBe(why);
  });

  it('is refused where the configuration admits none, or never releases', () => {
    const strict = givenUp(new Model(planOf({ maxRestarts: 0, stepRetries: 0, minimumEvidence: ['power-off'] })));
    expect(refusalOf(facts, { uid: 'fence-1', status: strict.status }, node)).toContain('does not admit ack');
    const none = givenUp(new Model(planOf({ maxRestarts: 0, stepRetries: 0, release: 'none' })));
    expect(refusalOf(facts, { uid: 'fence-1', status: none.status }, node)).toContain('release=none');
  });
});

describe('a fence whose device is dead', () => {
  it("releases on a person's word, switches nothing, and waits for the person without a timeout", () => {
    const model = givenUp();
    accepted(model);
    expect(model.next()).toBe('release:release');
    model.workload = { pods: 0, terminating: 0, volumeAttachments: 0 };
    expect(model.next()).toBe('release-end:release-end');
    model.runUntil(() => model.rows.at(-1) === 'done-off');
    model.nowMs += 10_000_000;
    expect(model.step().row).toBe('done-off');
    expect(model.dispatched.map(({ entry }) => entry.action)).not.toContain('on');
    expect(model.status.message).toContain('released on an acknowledgement');
    expect(model.status.timeline.poweredOffAt).toBeUndefined();
  });

  it('is not weighed where our own proof has come in the meantime: the node is released on that, and switched on again', () => {
    const model = new Model(planOf({ maxRestarts: 0, stepRetries: 0 }));
    model.fail();
    expect(model.next()).toBe('run:cordon');
    model.runUntil(() => model.inFlight.size > 0);
    model.acknowledgement = WORD;
    model.finish('succeeded');
    expect(model.next()).toBe('release:release');
    model.workload = { pods: 0, terminating: 0, volumeAttachments: 0 };
    expect(model.next()).toBe('release-end:release-end');
    expect(model.next()).toBe('on:on');
  });

  it('ends by itself once the node is healthy on a new boot', () => {
    const model = givenUp();
    accepted(model);
    model.next();
    model.workload = { pods: 0, terminating: 0, volumeAttachments: 0 };
    model.next();
    model.runUntil(() => model.rows.at(-1) === 'done-off');
    for (let beat = 0; beat < 8; beat += 1) {
      model.nowMs += 5_000;
      model.live({ ready: 'True', bootID: 'boot-2' });
      model.step();
      if (model.inFlight.size > 0) model.finish('succeeded');
    }
    model.runUntil(() => model.status.state === 'final');
    expect(model.status.outcome).toBe('recovered');
  });

  it('takes our taint back after a take-over too, from a node that came up by itself and although a hold stands', () => {
    const model = givenUp();
    accepted(model);
    expect(model.next()).toBe('release:release');
    model.holds = [{ policy: 'max-concurrent', reason: 'max-concurrent', message: 'one at a time' }];
    model.proofs.clear();
    model.nowMs += 1_000;
    model.live({ ready: 'True', bootID: 'boot-2' });
    model.step();
    expect(model.rows.at(-1)).toBe('running-power');
    model.workload = { pods: 0, terminating: 0, volumeAttachments: 0 };
    expect(model.next()).toBe('release-end:release-end');
  });

  it('never takes a node for healthy that lives on the boot which was acknowledged as down', () => {
    const model = givenUp();
    accepted(model);
    model.next();
    model.workload = { pods: 0, terminating: 0, volumeAttachments: 0 };
    model.next();
    model.runUntil(() => model.rows.at(-1) === 'done-off');
    for (let beat = 0; beat < 20; beat += 1) {
      model.nowMs += 5_000;
      model.live({ ready: 'True' });
      model.step();
    }
    expect(model.status.state).toBe('done');
    expect(model.rows.at(-1)).toBe('done-off');
    expect(model.status.message).toContain('which was acknowledged as down');
    expect(model.events.filter((reason) => reason === 'AliveAfterPowerOff')).toHaveLength(1);
  });

  it('asks no second time about a word that was refused, and stays where it was', () => {
    const model = givenUp();
    model.acknowledgement = WORD;
    model.runUntil(() => model.inFlight.size > 0);
    model.finish('refused', { message: 'the acknowledgement ack-a is refused: bmc reads on' });
    for (let pass = 0; pass < 5; pass += 1) model.step();
    expect(model.dispatched.filter(({ entry }) => entry.action === 'acknowledge')).toHaveLength(1);
    expect(model.status.state).toBe('error');
    expect(model.status.evidence).toEqual([]);
    model.acknowledgement = { name: 'ack-a', uid: 'word-2' };
    expect(model.next('refused')).toBe('acknowledge:ack-a');
  });

  it('weighs the word anew when the release comes later than two seconds', () => {
    const model = givenUp();
    accepted(model);
    model.nowMs += 5_000;
    model.runUntil(() => model.inFlight.size > 0);
    expect(model.dispatched.at(-1)?.entry.action).toBe('acknowledge');
    model.finish('succeeded', evidence(model));
    expect(model.next()).toBe('release:release');
  });

  it('releases nothing after a word that a device contradicts on the second look', () => {
    const model = givenUp();
    accepted(model);
    model.nowMs += 5_000;
    model.runUntil(() => model.inFlight.size > 0);
    model.finish('refused', { message: 'bmc reads on' });
    model.step();
    expect(model.status.evidence.every((item) => item.voidedAt !== undefined)).toBe(true);
    expect(model.dispatched.map(({ entry }) => entry.action)).not.toContain('release');
  });

  it('is told once, however many batches it is weighed anew for', () => {
    const model = givenUp();
    accepted(model);
    const released = { by: 'delete-pods' as const, at: '2026-01-01T00:00:00.000Z', pods: 1, evidence: 'x', left: 1, batch: 1 };
    expect(model.next('succeeded', { released })).toBe('release:release');
    model.nowMs += 5_000;
    expect(model.next('succeeded', evidence(model))).toBe('acknowledge:ack-a');
    expect(model.next('succeeded', { released: { ...released, pods: 2, left: 0, batch: 2 } })).toBe('release:release');
    expect(model.events.filter((words) => words === 'Acknowledged')).toHaveLength(1);
  });

  it('that counts no more between two batches ends the release loudly: the alarm names what was let go, and nothing is switched', () => {
    const model = givenUp();
    accepted(model);
    const released = { by: 'delete-pods' as const, at: '2026-01-01T00:00:00.000Z', pods: 1, evidence: 'x', left: 1, batch: 1, names: ['web/db-0'] };
    expect(model.next('succeeded', { released })).toBe('release:release');
    model.nowMs += 5_000;
    model.acknowledgement = WORD;
    expect(model.next('refused', { message: 'bmc reads on' })).toBe('acknowledge:ack-a');
    model.acknowledgement = undefined;
    const before = model.dispatched.length;
    model.drained();
    expect(model.next()).toBe('release-end:release-end');
    model.runUntil(() => model.status.state === 'error');
    expect(model.status.released?.voidedAt).toBeDefined();
    expect(model.dispatched.slice(before).map(({ entry }) => entry.action)).not.toContain('off');
    expect(model.status.message).toContain('bmc reads on. 1 pods were released before: web/db-0');
  });

  it('is void in the midst of the release: our taint goes from a node that came back, whatever else its level would begin with', () => {
    const program = method('program', 'ssh', 'run', { kind: 'action', device: 'host' });
    const bmc = { device: 'bmc' };
    const methods = [program, method('off', 'redfish', 'off', bmc), method('on', 'redfish', 'on', bmc)];
    const model = new Model(planOf({ maxRestarts: 0, stepRetries: 0, powerManagement: [{ level: 1, methods }] }));
    model.fail();
    expect(model.next()).toBe('run:cordon');
    expect(model.next('unreachable')).toBe('run:program');
    model.runUntil(() => model.status.state === 'error' && model.status.outcome === 'failed');
    accepted(model);
    const released = { by: 'out-of-service' as const, at: '2026-01-01T00:00:00.000Z', pods: 0, evidence: 'x', left: 1, batch: 1 };
    expect(model.next('succeeded', { released })).toBe('release:release');
    model.nowMs += 5_000;
    model.acknowledgement = WORD;
    expect(model.next('refused', { message: 'taken back' })).toBe('acknowledge:ack-a');
    model.nowMs += 10_000;
    model.live({ ready: 'True', bootID: 'boot-2' });
    model.drained();
    expect(model.next()).toBe('release-end:release-end');
  });

  it('forgets the word with any sign of life', () => {
    const model = givenUp();
    accepted(model);
    model.step();
    model.nowMs += 500;
    model.live();
    model.step();
    expect(model.status.evidence[0]?.voidedBecause).toContain('received after the last off read');
    expect(model.status.released).toBeUndefined();
  });

  it('holds a release on a word as long as a hold applies', () => {
    const model = givenUp();
    accepted(model);
    model.step();
    model.holds = [{ reason: 'storm', policy: 'max-unhealthy', message: 'too many' }];
    expect(model.step().row).toBe('running-held');
    model.holds = [];
    model.runUntil(() => model.inFlight.size > 0);
    expect(['release', 'acknowledge']).toContain(model.dispatched.at(-1)?.entry.action);
  });

  it('ends a release on a word under a hold that came after it: nothing is left to let go, and our taint does not stay', () => {
    const model = givenUp();
    accepted(model);
    expect(model.next()).toBe('release:release');
    model.holds = [{ reason: 'storm', policy: 'max-unhealthy', message: 'too many' }];
    model.drained();
    expect(model.next()).toBe('release-end:release-end');
  });
});

describe('a fence that is still trying', () => {
  it('takes the word between two attempts, and switches nothing after it', () => {
    const model = new Model(planOf({ stepRetries: 5 }));
    model.fail();
    model.next();
    expect(model.next('timeout')).toBe('off:off');
    accepted(model);
    expect(model.next()).toBe('release:release');
    model.workload = { pods: 0, terminating: 0, volumeAttachments: 0 };
    expect(model.next()).toBe('release-end:release-end');
    model.runUntil(() => model.status.state === 'done');
    expect(model.dispatched.filter(({ entry }) => entry.action === 'on' || entry.action === 'off')).toHaveLength(1);
  });

  it('lets a person speak for a node that has no device at all', () => {
    const problem = { step: 'power-management' as const, severity: 'error' as const, where: 'Node a', message: 'nothing is configured' };
    const plan = planOf({ powerManagement: [], recovery: [], maxRestarts: 0, problems: [problem] });
    const model = new Model({ ...plan, isolation: [{ level: 1, methods: [method('cordon', 'cordon', 'run')] }] });
    model.fail();
    model.next();
    model.runUntil(() => model.status.outcome === 'failed');
    accepted(model);
    expect(model.next()).toBe('release:release');
  });
});
