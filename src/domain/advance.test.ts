import { describe, expect, it } from 'vitest';
import { advance, spoiling } from './advance.ts';
import { decide } from './automaton.ts';
import type { NodeFenceStatus } from './node-fence.ts';
import { DEFAULT_TIMING } from './plan.ts';
import type { PlanProblem } from './plan.ts';
import { begun, isolated, levels, lives, OFF, ON, SSH } from './testing/course.ts';
import { method, planOf } from './testing/model.ts';
import type { Model } from './testing/model.ts';
import { released, revoked } from './testing/revoked.ts';
import { accepted, givenUp, WORD } from './testing/word.ts';
import type { Context } from './transition.ts';

const STORM = { reason: 'storm', policy: 'max-unhealthy', message: 'too many' };
const END = method('end', 'aws', 'delete', { device: 'cloud', plug: 'i-1', evidence: 'power-off' });
const OUTLETS = ['one', 'two', 'three'].map((name, index) => method(name, 'pdu', 'reboot', { device: 'pdu', plug: String(index) }));

function contextOf(model: Model, more: Partial<Context> = {}): Context {
  const { node, fence, plan, status } = model;
  if (fence === undefined) throw new Error('there is no fence');
  const seen = { healthy: false, triggered: true, failing: true, provenAtMs: undefined };
  return { snapshot: model.snapshot(), node, fence, status, plan, ...seen, ...more };
}

function written(model: Model, change: Partial<NodeFenceStatus>): void {
  const { fence } = model;
  model.fence = fence && { ...fence, status: { ...model.status, ...change } };
}

describe('a step', () => {
  it.each([
    ['power-management', isolated, 'off:off'],
    ['power-management, on a word', onWord, 'release'],
  ])('begins nothing beside a run that has no result yet: %s', (_what, beginning, operation) => {
    const model = beginning();
    model.runUntil(() => model.inFlight.size > 0);
    expect(model.dispatched.at(-1)?.entry.operation).toBe(operation);
    const ends: string[] = [];
    const end = (what: string) => (): object => (ends.push(what), {});
    const next = advance(contextOf(model), 'power-management', { finished: end('finished'), failed: end('failed') });
    expect([next.dispatch, next.status, ends]).toEqual([undefined, model.status, []]);
  });

  it('that was tried in vain too often says what failed last', () => {
    const model = isolated({ stepRetries: 1, maxRestarts: 0 });
    expect([model.next('unreachable', { message: 'no route' }), model.next('timeout', { message: 'no answer in 8 s' })]).toEqual([
      'off:off',
      'off:off',
    ]);
    model.runUntil(() => model.status.state === 'error');
    expect(model.status.message).toContain('no answer in 8 s');
  });

  it('that was tried in vain too often names the failure, not what came after it and said nothing of the device', () => {
    const model = isolated({ stepRetries: 1, maxRestarts: 0 });
    expect([model.next('unreachable', { message: 'no route' }), model.next('not-sent', { message: 'nothing was sent' })]).toEqual([
      'off:off',
      'off:off',
    ]);
    model.step();
    written(model, { retries: 2 });
    model.runUntil(() => model.status.state === 'error');
    expect(model.status.message).toContain('no route');
  });

  it('of recovery takes our cordon back where it names nothing that does', () => {
    const model = isolated({ recovery: [] });
    expect(begun(model, 9)).toEqual(['off:off', 'release', 'release-end', 'on:on']);
    expect(lives(model, 'boot-2')).toEqual(['run:undo-cordon']);
    expect(model.status).toMatchObject({ outcome: 'recovered' });
    expect(model.status.restore).toBeUndefined();
  });

  it.each([
    ['an error of this step', { step: 'recovery' }, true],
    ['an error of no step', {}, true],
    ['an error of another step', { step: 'isolation' }, false],
    ['a warning of this step', { severity: 'warning', step: 'recovery' }, false],
    ['a warning of no step', { severity: 'warning' }, false],
  ] as [string, Partial<PlanProblem>, boolean][])('is spoilt by what is wrong with it, or with no step alone: %s', (_what, more, isSpoilt) => {
    const problem: PlanProblem = { severity: 'error', where: 'ConfigMap a', message: 'no such agent', ...more };
    expect(spoiling(planOf({ problems: [problem] }), 'recovery')).toBe(isSpoilt ? problem : undefined);
  });
});

function onWord(): Model {
  const model = givenUp();
  accepted(model);
  return model;
}

describe('the next level', () => {
  const PDU = method('pdu', 'pdu', 'reboot', { device: 'pdu' });

  it('is decided at once', () => {
    const model = isolated({ ...levels([OFF], [PDU]), stepRetries: 0 });
    expect(model.next('unreachable')).toBe('off:off');
    const passes = Array.from({ length: 9 }, () => {
      const { nowMs } = model;
      const { events, requeueAtMs = 0 } = model.step();
      model.nowMs = Math.max(nowMs, requeueAtMs);
      return { hasFailed: events.some(({ reason }) => reason === 'LevelFailed'), isDueNow: requeueAtMs === nowMs };
    });
    expect(passes.find(({ hasFailed }) => hasFailed)).toEqual({ hasFailed: true, isDueNow: true });
  });

  it('waits for a late off from when that was sent, not from when its failure was known', () => {
    const slow = method('slow', 'redfish', 'off', { device: 'bmc', deviceMaxLatencyMs: 45_000 });
    const model = isolated({ ...levels([slow], [PDU]), stepRetries: 0 });
    model.runUntil(() => model.inFlight.size > 0);
    const sentAtMs = model.nowMs;
    model.nowMs += 40_000;
    model.finish('timeout', { edge: 'off' });
    model.step();
    model.step();
    expect(model.next()).toBe('off:pdu');
    expect(model.nowMs - sentAtMs).toBe(40_000 + DEFAULT_TIMING.settleMs);
  });

  it('switches off also a node that came back, where an off may be on its way to it: what was begun is carried through', () => {
    const model = isolated({ ...levels([OFF, ON], [PDU]), stepRetries: 0, release: 'none' });
    expect(model.next('timeout', { edge: 'off' })).toBe('off:off');
    model.live({ ready: 'True' });
    expect(begun(model, 1)).toEqual(['off:pdu']);
  });

  it.each([
    ['on another level', levels([ON], [OFF], [PDU]), 0],
    ['in an earlier restart', levels([OFF, ON], [PDU]), 1],
  ])('is tried of a node that came back although an on failed before, %s', (_where, plan, restarts) => {
    const model = isolated({ ...plan, stepRetries: 0, maxRestarts: 1, release: 'none' });
    const answers = restarts === 1 ? ['succeeded', 'refused'] : ['refused'];
    for (const result of answers) model.next(result as 'succeeded');
    model.runUntil(() => model.inFlight.size > 0);
    while (model.status.restarts < restarts || model.dispatched.at(-1)?.entry.operation !== 'off:off') {
      model.finish(model.dispatched.at(-1)?.entry.action === 'off' ? 'refused' : 'succeeded');
      model.runUntil(() => model.inFlight.size > 0);
    }
    model.finish('timeout', { edge: 'off' });
    model.live({ ready: 'True' });
    expect(begun(model, 1)).toEqual(['off:pdu']);
  });

  it('of recovery is tried although power-management has switched the node on', () => {
    const mend = (name: string) => method(name, 'ssh', 'run', { kind: 'action', device: 'host' });
    const recovery = ['first', 'second'].map((name, index) => ({ level: index + 1, methods: [mend(name)] }));
    const model = isolated({ recovery, stepRetries: 0, release: 'none' });
    expect(begun(model, 9)).toEqual(['off:off', 'on:on']);
    const operations: string[] = [];
    for (let beat = 0; beat < 20 && model.status.state === 'done'; beat += 1) {
      model.nowMs += 5_000;
      model.live({ ready: 'True', bootID: 'boot-2' });
      model.step();
      if (model.inFlight.size === 0) continue;
      operations.push(model.dispatched.at(-1)?.entry.operation ?? '');
      model.finish(operations.at(-1) === 'run:first' ? 'failed' : 'succeeded');
    }
    expect(operations.slice(0, 2)).toEqual(['run:first', 'run:second']);
  });

  it('is none for a machine that somebody has started since it was proven off: nothing switches it off for a deletion', () => {
    const model = isolated({ ...levels([END], [OFF, ON]), maxRestarts: 0 });
    expect(begun(model, 3)).toEqual(['off:end', 'release', 'release-end']);
    if (model.node !== undefined) model.node = { ...model.node, bootID: 'boot-2' };
    expect(begun(model, 9)).toEqual([]);
    expect(model.status).toMatchObject({ state: 'error', level: 1 });
  });

  it('is none for a node that came up on another boot although its deletion was refused', () => {
    const model = isolated({ ...levels([END], [OFF, ON]), maxRestarts: 0 });
    expect(begun(model, 4, ({ action }) => (action === 'delete' ? ['refused'] : undefined))).toContain('delete:end');
    model.live({ ready: 'True', bootID: 'boot-2' });
    expect(begun(model, 9)).toEqual([]);
    expect(model.status.level).toBe(1);
  });
});

describe('a restart', () => {
  it('closes, or reads closed, the ways to a storage whose pods were let go before: it opens none', () => {
    const model = revoked({ stepRetries: 0, maxRestarts: 1 });
    released(model);
    expect(model.next('refused')).toBe('off:off');
    model.runUntil(() => model.status.restarts === 1);
    expect(begun(model, 2)).toEqual(['confirm off:close-1', 'confirm off:close-2']);
  });

  it('of a node that came back takes our taint back, which an earlier one left, and has no kernel dump', () => {
    const diag = method('diag', 'redfish', 'diag', { device: 'bmc' });
    const model = isolated({ ...levels([diag, OFF, ON]), ...{ timing: { ...DEFAULT_TIMING, powerManagementDelayMs: 0 } } });
    model.step();
    model.inFlight.clear();
    const taints = [{ key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' }];
    written(model, { restore: { taints }, journal: model.status.journal.filter(({ action }) => action !== 'diag') });
    model.live({ ready: 'True' });
    expect(begun(model, 1)).toEqual(['release-end']);
  });
});

describe('under a hold', () => {
  it('only the off is read that was cut off, of several, and again where that read was cut off too', () => {
    const model = isolated(levels(OUTLETS));
    expect([model.next('succeeded', { edge: 'off' }), model.next('interrupted', { edge: 'off', offSent: true })]).toEqual(['off:one', 'off:two']);
    model.holds = [STORM];
    expect(model.next('interrupted')).toBe('confirm:two');
    expect(model.next()).toBe('confirm:two');
    expect(model.next()).toBe('on:one');
  });

  it('an off that never left is not read', () => {
    const model = isolated(levels(OUTLETS.slice(0, 2)));
    expect([model.next('succeeded', { edge: 'off' }), model.next('interrupted', { offSent: false })]).toEqual(['off:one', 'off:two']);
    model.holds = [STORM];
    expect(model.next()).toBe('on:one');
  });

  it.each(['succeeded', 'timeout'] as const)('an off that was cut off, and then sent again and %s, is not read once more', (result) => {
    const model = isolated();
    expect([model.next('interrupted', { edge: 'off', offSent: true }), model.next(result)]).toEqual(['off:off', 'off:off']);
    model.holds = [STORM];
    expect(model.next()).toBe('on:on');
  });

  it('an off that was cut off, and is found not to have come about, is neither read nor sent again', () => {
    const model = isolated();
    expect(model.next('interrupted', { edge: 'off', offSent: true })).toBe('off:off');
    model.holds = [STORM];
    expect([model.next('found-not-done'), model.next()]).toEqual(['confirm:off', 'on:on']);
  });

  it('what is begun shows no hold any more', () => {
    const model = isolated();
    expect(model.next()).toBe('off:off');
    model.holds = [STORM];
    model.runUntil(() => model.status.hold !== undefined);
    model.runUntil(() => model.inFlight.size > 0);
    expect(model.dispatched.at(-1)?.entry.operation).toBe('on:on');
    expect(model.status.hold).toBeUndefined();
  });
});

describe('an intent', () => {
  it('bears the epoch of the leader that writes it', () => {
    const model = isolated();
    model.step();
    model.takeOver();
    model.fail();
    model.runUntil(() => model.inFlight.size > 0);
    expect(model.dispatched.at(-1)?.entry).toMatchObject({ operation: 'off:off', epoch: model.epoch });
  });

  it('stands among the last sixteen jobs', () => {
    const model = isolated();
    model.step();
    written(model, { jobs: Array.from({ length: 16 }, (_job, index) => `job-${index}`) });
    model.runUntil(() => model.inFlight.size > 0);
    expect([model.status.jobs.length, model.status.jobs[0], model.status.jobs.at(-1)]).toEqual([16, 'job-1', [...model.inFlight][0]]);
  });

  it('takes a slot again where it cuts the node off, and where a word is weighed it does not', () => {
    const model = isolated();
    model.step();
    written(model, { slotGivenAway: true });
    model.acknowledgement = WORD;
    model.runUntil(() => model.inFlight.size > 0);
    expect([model.dispatched.at(-1)?.entry.operation, model.status.slotGivenAway]).toEqual(['acknowledge', true]);
    model.finish('refused');
    model.runUntil(() => model.inFlight.size > 0);
    expect([model.dispatched.at(-1)?.entry.operation, model.status.slotGivenAway]).toEqual(['off:off', undefined]);
  });

  it('of anything but a permit for a daemon says nothing of one', () => {
    const model = isolated(levels([SSH, OFF]));
    begun(model, 9);
    expect(model.events).not.toContain('UnfencePermitted');
  });
});

describe('what a process has not seen the time of', () => {
  const { settleMs, releaseTimeoutMs, lifeWaitMs, powerManagementDelayMs } = DEFAULT_TIMING;
  const AT_ONCE = { timing: { ...DEFAULT_TIMING, powerManagementDelayMs: 0 } };
  const diag = method('diag', 'redfish', 'diag', { device: 'bmc', diagWaitMs: 70_000 });
  /** When it looks again, from now on. */
  const dueIn = (model: Model): number => (decide({ ...model.snapshot(), since: {} }).requeueAtMs ?? 0) - model.nowMs;
  const after = (model: Model, ...answers: Parameters<Model['next']>[]): Model => {
    for (const answer of answers) model.next(...answer);
    model.step();
    return model;
  };

  it.each<[what: string, model: () => Model, afterMs: number]>([
    ['a failure', () => after(isolated(), ['timeout']), settleMs],
    ['what was cut off', () => after(isolated(), ['interrupted', { offSent: true }]), 1_000],
    ['what was stopped', () => after(isolated(AT_ONCE), ['stopped']), 1_000],
    ['what was not sent', () => after(isolated(AT_ONCE), ['not-sent']), 1_000],
    ['a dump', () => after(isolated({ ...levels([diag, OFF]), ...AT_ONCE }), ['succeeded']), 70_000],
    ['an off before an on', () => after(isolated({ release: 'none' }), ['succeeded']), settleMs],
    ['an off before the next level', () => after(isolated({ ...levels([OFF], [ON]), stepRetries: 0 }), ['refused']), 30_000],
    ['isolation', () => after(isolated()), powerManagementDelayMs],
  ])('counts from now: %s', (_what, model, afterMs) => {
    expect(dueIn(model())).toBe(afterMs);
  });

  it('counts from now: a batch, and the end of a release', () => {
    const released = { by: 'delete-pods' as const, at: '', pods: 1, evidence: 'x', batch: 1, left: 1 };
    const paced = after(isolated({ release: 'delete-pods', podsPerMinute: 6 }), ['succeeded'], ['succeeded', { released }]);
    expect(dueIn(paced)).toBe(10_000);
    const kept = { ...released, kept: [{ pod: 'web/a-0', by: 'no' }], againInMs: 7_000 };
    expect(dueIn(after(isolated({ release: 'delete-pods' }), ['succeeded'], ['succeeded', { released: kept }]))).toBe(7_000);
    const whole = after(isolated(), ['succeeded'], ['succeeded']);
    expect(dueIn(whole)).toBe(releaseTimeoutMs);
  });

  it('counts from now: a hold after the first off', () => {
    const model = isolated();
    model.next();
    model.holds = [STORM];
    model.step();
    expect(dueIn(model)).toBe(lifeWaitMs);
  });
});
