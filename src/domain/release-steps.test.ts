import { describe, expect, it } from 'vitest';
import type { Released } from './node-fence.ts';
import { DEFAULT_TIMING } from './plan.ts';
import type { Plan } from './plan.ts';
import { compile, provingOperation } from './program.ts';
import { Model, planOf } from './testing/model.ts';
import { CLOSE_1, released, revoked, REVOKING } from './testing/revoked.ts';

const AT = '2026-01-01T00:00:00.000Z';
const HELD = [{ reason: 'storm', policy: 'max-unhealthy', message: 'too many' }];

function batch(number: number, left: number, more: Partial<Released> = {}): { released: Released } {
  return { released: { by: 'delete-pods', at: AT, pods: number, evidence: 'x', batch: number, left, names: ['web/a'], ...more } };
}

/** A fence of the node, up to its proven off. */
function provenOff(more: Partial<Plan> = {}): Model {
  const model = new Model(planOf(more));
  model.fail();
  expect(model.next()).toBe('run:cordon');
  expect(model.next()).toBe('off:off');
  return model;
}

it('a release whose watches hang is not over because they show nothing: it ends with release_timeout', () => {
  const model = provenOff();
  expect(model.next()).toBe('release:release');
  model.workload = { pods: 0, terminating: 0, volumeAttachments: 0, isUnsure: true };
  const beganAtMs = model.nowMs;
  model.step();
  model.step();
  expect(model.next()).toBe('release-end:release-end');
  expect(model.nowMs - beganAtMs).toBe(model.plan.timing.releaseTimeoutMs);
  expect(model.next()).toBe('on:on');
});

describe('a paced release', () => {
  it('is several operations, each resting on reads of its own, at the pace of the plan', () => {
    const model = provenOff({ release: 'delete-pods', podsPerMinute: 6 });
    expect(model.next('succeeded', batch(1, 2))).toBe('release:release');
    const begunAtMs = model.nowMs;
    model.step();
    expect(model.next(), 'the device is read again').toBe('confirm:off');
    expect(model.nowMs - begunAtMs).toBe(10_000);
    expect(model.next('succeeded', batch(2, 1))).toBe('release:release');
    expect(model.next()).toBe('confirm:off');
    expect(model.next('succeeded', batch(3, 0))).toBe('release:release');
    model.workload = { pods: 0, terminating: 0, volumeAttachments: 0 };
    expect(model.next()).toBe('release-end:release-end');
    expect(model.status.released).toMatchObject({ batch: 3, left: 0 });
    expect(model.events.filter((reason) => reason === 'NodePoweredOff')).toHaveLength(1);
  });

  it('gives up pods that are kept, release_timeout after the last that was let go, and says of each once what keeps it', () => {
    const model = provenOff({ release: 'delete-pods' });
    const kept = [{ pod: 'web/a-0', by: 'webhook "x" cannot be called' }];
    expect(model.next('succeeded', batch(1, 2, { kept: [], againInMs: 0 }))).toBe('release:release');
    expect(model.next('succeeded', batch(2, 1, { kept, againInMs: 5_000 }))).toBe('release:release');
    const lastFreedAtMs = model.nowMs;
    const askedAfterMs: number[] = [];
    for (let next = '', runs = 0; next !== 'release-end:release-end' && runs < 20; runs += 1) {
      model.step();
      next = model.next('succeeded', batch(2, 1, { kept, againInMs: 20_000 }));
      if (next === 'release:release') askedAfterMs.push(model.nowMs - lastFreedAtMs);
    }
    expect(askedAfterMs).toEqual([5_000, 25_000, 45_000]);
    expect(model.nowMs - lastFreedAtMs).toBe(DEFAULT_TIMING.releaseTimeoutMs);
    expect(model.events.filter((words) => words.includes('PodNotReleased'))).toHaveLength(1);
    expect(
      model.events.filter((words) => words.includes('WorkloadReleased')),
      'asking in vain is no release',
    ).toHaveLength(2);
    expect(model.next()).toBe('on:on');
  });

  it('asks at once when the last kept pod is gone', () => {
    const model = provenOff({ release: 'delete-pods' });
    model.next('succeeded', batch(1, 1, { kept: [{ pod: 'web/a-0', by: 'no' }], againInMs: 60_000 }));
    const freedAtMs = model.nowMs;
    model.step();
    model.workload = { pods: 0, terminating: 0, volumeAttachments: 0 };
    model.next('succeeded', batch(1, 0, { kept: [], againInMs: 0 }));
    expect(model.nowMs - freedAtMs).toBeLessThan(1_000);
  });

  it('gives up volumes that are kept, release_timeout after the last pod was let go, and says of each once what keeps it', () => {
    const model = provenOff({ release: 'delete-pods' });
    const keptVolumes = [{ attachment: 'csi-1', by: 'webhook "x" denied the request' }];
    model.workload = { pods: 0, terminating: 0, volumeAttachments: 1 };
    const report = batch(1, 0, { keptVolumes, againInMs: 20_000 });
    expect(model.next('succeeded', report)).toBe('release:release');
    const freedAtMs = model.nowMs;
    const askedAfterMs: number[] = [];
    for (let next = '', runs = 0; next !== 'release-end:release-end' && runs < 20; runs += 1) {
      model.step();
      next = model.next('succeeded', report);
      if (next === 'release:release') askedAfterMs.push(model.nowMs - freedAtMs);
    }
    expect(askedAfterMs).toEqual([20_000, 40_000]);
    expect(model.nowMs - freedAtMs).toBe(DEFAULT_TIMING.releaseTimeoutMs);
    expect(model.events.filter((words) => words.includes('VolumeNotReleased'))).toHaveLength(1);
    expect(
      model.events.filter((words) => words.includes('WorkloadReleased')),
      'asking in vain is no release',
    ).toHaveLength(1);
    expect(model.next()).toBe('on:on');
  });

  it('asks at once when the last kept volume is gone, whoever detached it', () => {
    const model = provenOff({ release: 'delete-pods' });
    model.workload = { pods: 0, terminating: 0, volumeAttachments: 1 };
    model.next('succeeded', batch(1, 0, { keptVolumes: [{ attachment: 'csi-1', by: 'no' }], againInMs: 60_000 }));
    const keptAtMs = model.nowMs;
    model.step();
    model.drained();
    expect(model.next('succeeded', batch(1, 0, { keptVolumes: [], againInMs: 0 }))).toBe('release:release');
    expect(model.nowMs - keptAtMs).toBeLessThan(1_000);
    expect(model.next()).toBe('release-end:release-end');
  });

  it('stops under a hold and goes on after it, and our taint is taken back behind the last of it', () => {
    const model = provenOff({ release: 'delete-pods', podsPerMinute: 6 });
    model.next('succeeded', batch(1, 2));
    model.holds = HELD;
    expect(model.next(), 'no batch under a hold').toBe('release-end:release-end');
    model.holds = [];
    expect(model.next()).toBe('confirm:off');
    expect(model.next('succeeded', batch(2, 0, { by: 'out-of-service' }))).toBe('release:release');
    expect(model.next()).toBe('release-end:release-end');
  });

  it('takes our taint back once more when a batch after its end was begun and let nothing go: no on while restore.taints stands', () => {
    const model = provenOff({ release: 'delete-pods', podsPerMinute: 6 });
    model.next('succeeded', batch(1, 2));
    model.holds = HELD;
    expect(model.next()).toBe('release-end:release-end');
    model.holds = [];
    expect(model.next()).toBe('confirm:off');
    model.runUntil(() => model.inFlight.size > 0);
    expect(model.dispatched.at(-1)?.entry.operation, 'the intent of the second batch').toBe('release');
    model.takeOver();
    model.holds = HELD;
    expect(model.next('found-not-done'), 'recovered by the next leader').toBe('release:release');
    expect(model.next()).toBe('release-end:release-end');
    expect(model.next()).toBe('on:on');
    expect(model.status.restore?.taints).toBeUndefined();
  });

  it('takes the taint of its last batch back, although a crash left the end of an earlier one to be found done', () => {
    const model = provenOff({ release: 'delete-pods', podsPerMinute: 6 });
    model.next('succeeded', batch(1, 1));
    model.holds = HELD;
    expect(model.next('found-done')).toBe('release-end:release-end');
    model.holds = [];
    expect(model.next()).toBe('confirm:off');
    expect(model.next('succeeded', batch(2, 0, { by: 'out-of-service' }))).toBe('release:release');
    expect(model.next()).toBe('release-end:release-end');
    expect(model.next()).toBe('on:on');
  });

  it('stops at a sign of life between two batches: nothing is switched on by itself, and the alarm names the pods', () => {
    const model = provenOff({ release: 'delete-pods', podsPerMinute: 6 });
    model.next('succeeded', batch(1, 2));
    model.step();
    model.nowMs += 1_000;
    model.live();
    const decision = model.step();
    expect(decision.events[0]?.message).toContain('1 pods were released before: web/a.');
    expect(model.status.released?.voidedAt).toBeDefined();
    expect(model.next()).toBe('release-end:release-end');
    model.step();
    expect(model.status.state).toBe('error');
    expect(model.dispatched.map(({ entry }) => entry.action)).not.toContain('on');
  });

  it('is voided too when a consistent read shows the life that the watch did not', () => {
    const model = provenOff({ release: 'delete-pods', podsPerMinute: 6 });
    model.next('succeeded', batch(1, 2));
    expect(model.next()).toBe('confirm:off');
    expect(model.next('voided')).toBe('release:release');
    expect(model.next()).toBe('release-end:release-end');
    expect(model.status.released?.voidedAt).toBeDefined();
  });

  it('is resumed by a successor, after it has read the device itself', () => {
    const model = provenOff({ release: 'delete-pods', podsPerMinute: 6 });
    model.next('succeeded', batch(1, 2));
    expect(model.next()).toBe('confirm:off');
    model.runUntil(() => model.inFlight.size > 0);
    model.takeOver();
    expect(model.next('found-not-done'), 'what the crash left open').toBe('release:release');
    expect(model.next()).toBe('confirm:off');
    expect(model.next('succeeded', batch(2, 0))).toBe('release:release');
  });

  it('asks again for pods that a budget keeps, and for no longer than release_timeout', () => {
    const model = provenOff({ release: 'evict' });
    model.next('succeeded', batch(1, 1, { by: 'evict' }));
    const begunAtMs = model.nowMs;
    let asked = 0;
    for (let next = model.next(); next !== 'release-end:release-end'; next = model.next('succeeded', batch(asked + 2, 1, { by: 'evict' })))
      asked += 1;
    expect(asked).toBeGreaterThan(5);
    expect(model.nowMs - begunAtMs).toBeGreaterThanOrEqual(DEFAULT_TIMING.releaseTimeoutMs);
    expect(model.nowMs - begunAtMs).toBeLessThan(DEFAULT_TIMING.releaseTimeoutMs + 10_000);
  });
});

describe('a node that somebody else started after the release', () => {
  it('keeps our taint until nothing of the old boot is left in the API, and does not wait for Ready', () => {
    const model = provenOff();
    model.next();
    model.step();
    model.nowMs += 5_000;
    model.live({ bootID: 'boot-2' });
    model.step();
    expect(model.inFlight.size, 'pods and volumes are left').toBe(0);
    model.workload = { pods: 0, terminating: 0, volumeAttachments: 0 };
    expect(model.next()).toBe('release-end:release-end');
  });

  it('loses our taint at once when it is the very boot that was declared off', () => {
    const model = provenOff();
    model.next();
    model.step();
    model.nowMs += 5_000;
    model.live();
    expect(model.next()).toBe('release-end:release-end');
  });
});

describe('storage that is revoked', () => {
  it('is proven by the last method that closes a path, whose reads are of all of them together', () => {
    const plan = planOf(REVOKING);
    const program = compile(plan, 'isolation', 1);
    expect(program.map(({ key }) => key)).toEqual(['off:close-1', 'off:close-2', 'run:cordon', 'release']);
    expect(provingOperation(plan, 'isolation', 1)).toMatchObject({ key: 'off:close-2', together: [CLOSE_1] });
    expect(program.map(({ revokes }) => revokes)).toEqual([undefined, ['san', 'nas'], undefined, undefined]);
  });

  it('frees nothing where the configuration does not admit it', () => {
    const keys = (more: Partial<Plan>): string[] => compile(planOf({ ...REVOKING, ...more }), 'isolation', 1).map(({ key }) => key);
    expect(keys({ minimumEvidence: ['power-off'] })).not.toContain('release');
    expect(keys({ release: 'none' })).not.toContain('release');
  });

  it('and then power is one release to the pace of the plan: the first pod of the machine that is off waits as any other', () => {
    const nextAfterMs = (plan: Partial<Plan>): number => {
      const model = revoked({ release: 'delete-pods', timing: { ...DEFAULT_TIMING, powerManagementDelayMs: 0 }, ...plan });
      released(model);
      const freedAtMs = model.nowMs;
      for (let key = ''; key !== 'release:release'; key = model.next()) expect(model.nowMs - freedAtMs).toBeLessThan(60_000);
      return model.nowMs - freedAtMs;
    };
    expect([nextAfterMs({}) < 30_000, nextAfterMs({ podsPerMinute: 2 })]).toEqual([true, 30_000]);
  });

  it('frees in isolation, sets no taint of ours into what is to be taken back, and goes on to power-management', () => {
    const model = revoked();
    released(model);
    expect(model.status.restore?.taints).toBeUndefined();
    expect(model.status.timeline.poweredOffAt).toBeUndefined();
    expect(model.next()).toBe('off:off');
    expect(model.next(), 'the whole workload is let go once the machine is proven off').toBe('release:release');
  });

  it('is read again before a release that comes later', () => {
    const model = revoked();
    model.nowMs += 3_000;
    expect(model.next()).toBe('confirm:close-2');
  });

  it('frees nothing after a sign of life', () => {
    const model = revoked();
    model.nowMs += 100;
    model.live();
    model.step();
    expect(model.status.evidence[0]?.voidedBecause).toContain('was received');
    model.step();
    expect(model.dispatched.map(({ entry }) => entry.action)).not.toContain('release');
  });
});

describe('a machine that is switched on under a hold, its workload not let go', () => {
  const told = (model: Model): number => model.events.filter((reason) => reason === 'NotReleased').length;

  it('says so once, whatever is tried again', () => {
    const model = provenOff();
    model.holds = HELD;
    expect(model.next('timeout')).toBe('on:on');
    expect(model.status.message).toBe(
      'Proven off, but held by max-unhealthy: too many. Its workload is not released; the machine is switched on again.',
    );
    expect(model.next()).toBe('on:on');
    expect(told(model)).toBe(1);
  });

  it('says so too when a crash has left the off found and not proven', () => {
    const model = new Model(planOf());
    model.fail();
    expect(model.next()).toBe('run:cordon');
    model.runUntil(() => model.inFlight.size > 0);
    model.takeOver();
    model.fail();
    model.holds = HELD;
    expect(model.next('found-done')).toBe('off:off');
    expect(model.next()).toBe('on:on');
    expect(told(model)).toBe(1);
  });

  it('says so too when a crash cut the release off and the hold keeps it from being done again', () => {
    const model = provenOff({ release: 'delete-pods' });
    expect(model.next('interrupted', batch(0, 1))).toBe('release:release');
    model.holds = HELD;
    expect(model.next()).toBe('release-end:release-end');
    expect(model.next()).toBe('on:on');
    expect(model.status.message).toBe(
      'Proven off, but held by max-unhealthy: too many. Its workload is not completely released; the machine is switched on again.',
    );
    expect(told(model)).toBe(1);
  });

  it('has an off that a hand-over cut off read before anything is switched on: nothing is sent again', () => {
    const model = new Model(planOf());
    model.fail();
    expect(model.next()).toBe('run:cordon');
    model.runUntil(() => model.inFlight.size > 0);
    model.holds = HELD;
    expect(model.next('interrupted', { edge: 'off', offSent: true })).toBe('off:off');
    expect(model.next()).toBe('confirm:off');
    expect(model.next()).toBe('on:on');
    expect(told(model)).toBe(1);
  });

  it('says nothing when nothing was to be let go, or it was let go before', () => {
    const none = provenOff({ release: 'none' });
    none.holds = HELD;
    expect(none.next()).toBe('on:on');
    const released = provenOff();
    expect(released.next()).toBe('release:release');
    released.holds = HELD;
    released.workload = { pods: 0, terminating: 0, volumeAttachments: 0 };
    expect(released.next()).toBe('release-end:release-end');
    expect(released.next()).toBe('on:on');
    expect(told(none) + told(released)).toBe(0);
  });
});
