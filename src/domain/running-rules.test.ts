import { describe, expect, it } from 'vitest';
import type { NodeFenceStatus } from './node-fence.ts';
import { DEFAULT_TIMING } from './plan.ts';
import { begun, failing, isolated, levels, lives, OFF, ON } from './testing/course.ts';
import { method } from './testing/model.ts';
import type { Model } from './testing/model.ts';
import { revoked } from './testing/revoked.ts';
import { accepted, givenUp, weighed, WORD } from './testing/word.ts';

const { lifeWaitMs, settleMs, powerManagementDelayMs } = DEFAULT_TIMING;
const STORM = { reason: 'storm', policy: 'max-unhealthy', message: 'too many' };
const OTHER = { reason: 'rate', policy: 'rate', message: 'too often' };

function written(model: Model, change: Partial<NodeFenceStatus>): void {
  const { fence } = model;
  model.fence = fence && { ...fence, status: { ...model.status, ...change } };
}

describe('a node that is healthy again', () => {
  it('whose off has switched nothing goes to recovery at once, which opens what isolation closed', () => {
    const model = revoked({ stepRetries: 5, release: 'none', timing: { ...DEFAULT_TIMING, settleMs: 60_000 } });
    expect(model.next('timeout')).toBe('off:off');
    const healthy: (number | undefined)[] = [];
    for (let beat = 0; beat < 11 && healthy.length === 0; beat += 1) {
      model.nowMs += 5_000;
      model.live({ ready: 'True' });
      const { row, requeueAtMs } = model.step();
      if (row === 'running-healthy') healthy.push(requeueAtMs);
    }
    expect([healthy, model.status.state, model.inFlight.size]).toEqual([[model.nowMs], 'done', 0]);
    expect(lives(model, 'boot-1')).toContain('on:open-1');
  });
});

describe('a hold that comes after the first off', () => {
  /** How long what is begun next has waited behind this. */
  const waited = (model: Model): number => {
    const fromMs = model.nowMs;
    expect(begun(model, 1)).toHaveLength(1);
    return model.nowMs - fromMs;
  };

  it('is waited for in each restart, whatever an earlier one had switched on', () => {
    const model = isolated({ maxRestarts: 1, release: 'delete-pods' });
    model.holds = [STORM];
    model.holds = [];
    expect(begun(model, 4)).toEqual(['off:off', 'release', 'release-end', 'on:on']);
    model.fail();
    model.runUntil(() => model.status.restarts === 1 && model.status.state === 'running');
    while (model.dispatched.at(-1)?.entry.restart !== 1 || model.dispatched.at(-1)?.entry.operation !== 'off:off') begun(model, 1);
    model.holds = [STORM];
    model.step();
    expect(model.rows.at(-1)).toBe('running-held-off');
  });

  it('keeps a machine off for life_wait and no longer, also where one hold takes turns with another', () => {
    const model = isolated();
    expect(model.next()).toBe('off:off');
    const offAtMs = model.nowMs;
    const rows: (string | undefined)[] = [];
    for (let turn = 0; turn < 6 && !rows.includes('running-power'); turn += 1) {
      model.holds = [turn % 2 === 0 ? STORM : OTHER];
      for (let passes = 0; passes < 2; passes += 1) rows.push(model.step().row);
      if (rows.at(-1) === 'running-held-off') model.nowMs += lifeWaitMs / 2;
    }
    expect([rows[0], rows.includes('running-power')]).toEqual(['running-held-off', true]);
    expect(model.nowMs - offAtMs).toBeLessThanOrEqual(1.5 * lifeWaitMs);
  });

  it('keeps no on that is tried again', () => {
    const model = isolated();
    expect(model.next()).toBe('off:off');
    model.holds = [STORM];
    expect(model.next('timeout')).toBe('on:on');
    model.holds = [OTHER];
    model.step();
    expect(waited(model)).toBeLessThan(lifeWaitMs);
  });

  it('keeps no taint of a release that was begun, of which nobody knows how far it came', () => {
    const model = isolated();
    expect([model.next(), model.next('interrupted')]).toEqual(['off:off', 'release:release']);
    model.drained();
    model.holds = [STORM];
    model.step();
    expect(model.rows.at(-1)).toBe('running-power');
    expect(waited(model)).toBeLessThan(settleMs);
  });

  it.each([
    ['its alarm comes first', 5_000, 5_000],
    ['life_wait is over first', 60_000, lifeWaitMs],
  ])('is looked at again when %s', (_what, alarmAfterMs, afterMs) => {
    const model = isolated({ timing: { ...DEFAULT_TIMING, alarmAfterMs } });
    expect(model.next()).toBe('off:off');
    model.holds = [STORM];
    const { row, requeueAtMs = 0 } = model.step();
    expect([row, requeueAtMs - model.nowMs]).toEqual(['running-held-off', afterMs]);
  });
});

describe('a machine that is preserved', () => {
  it('is held no more once its node came back by itself', () => {
    const model = isolated();
    model.preservation = { kind: 'isolate-and-hold', cause: 'user' };
    for (let passes = 0; passes < 3; passes += 1) model.step();
    expect([model.rows.at(-1), model.status.hold?.policy]).toEqual(['running-preserved', 'preservation']);
    model.live({ ready: 'True' });
    model.step();
    expect(model.rows.at(-1)).toBe('running-not-triggered');
  });
});

describe('a person’s word', () => {
  it('is weighed once, however long its object stands', () => {
    const model = givenUp();
    accepted(model);
    model.acknowledgement = WORD;
    model.runUntil(() => model.inFlight.size > 0);
    expect(model.dispatched.at(-1)?.entry.operation).toBe('release');
  });

  it('is weighed again where that was cut off', () => {
    const model = givenUp();
    model.acknowledgement = WORD;
    expect([model.next('interrupted'), model.next('refused')]).toEqual(['acknowledge:ack-a', 'acknowledge:ack-a']);
  });

  it('of a machine without a device is done with when its release has ended, though the node has come back by then', () => {
    const problem = { step: 'power-management' as const, severity: 'error' as const, where: 'Node a', message: 'nothing is configured' };
    const model = isolated({ powerManagement: [], recovery: [], maxRestarts: 0, problems: [problem] });
    model.runUntil(() => model.status.outcome === 'failed');
    accepted(model);
    expect(begun(model, 1, ({ action }) => (action === 'acknowledge' ? ['succeeded', weighed(model)] : undefined))).toEqual(['release']);
    model.step();
    model.takeOver();
    model.drained();
    model.live({ ready: 'True', bootID: 'boot-2' });
    expect(begun(model, 2).at(-1)).toBe('release-end');
    model.step();
    expect(model.status.state).toBe('done');
  });
});

describe('power_management_delay', () => {
  it('counts from isolation, not from a failure that came after it, where the fence was asked for', () => {
    const model = failing();
    if (model.node !== undefined) model.node = { ...model.node, ready: 'True', lifeAtMs: model.nowMs };
    const requestedBy = { apiVersion: 'v1', kind: 'Person', name: 'x', uid: 'r-1' };
    model.fence = { uid: 'fence-1', spec: { node: 'a', requestedBy }, status: undefined, deleting: false, finalized: true };
    expect(model.next()).toBe('run:cordon');
    model.step();
    model.step();
    const isolatedAtMs = model.nowMs;
    model.nowMs += powerManagementDelayMs / 2;
    model.fail();
    model.step();
    model.runUntil(() => model.inFlight.size > 0);
    expect(model.dispatched.at(-1)?.entry.operation).toBe('off:off');
    expect(model.nowMs - isolatedAtMs).toBe(powerManagementDelayMs);
  });
});

describe('what is said at the end of power-management', () => {
  const END = method('end', 'aws', 'delete', { device: 'cloud', plug: 'i-1', evidence: 'power-off' });
  const ended = (model: Model): Model => {
    begun(model, 9);
    return model;
  };
  const asked = (): Model => {
    const model = isolated(levels([OFF, ON]));
    model.step();
    written(model, { ending: 'off' });
    return ended(model);
  };

  it.each<[string, () => Model, string]>([
    ['off on purpose', () => ended(isolated({ ...levels([OFF]), release: 'none' })), 'The node is off on purpose; a person switches it on.'],
    ['asked to end in off', asked, 'The node is off on purpose, and stays off.'],
    ['switched on again', () => ended(isolated()), 'Power-management is finished; waiting for the node to become healthy.'],
    [
      'switched on again, its storage closed',
      () => ended(revoked({ release: 'none' })),
      'Power-management is finished; waiting for the node to become healthy.',
    ],
    ['deleted', () => ended(isolated(levels([END]))), 'The instance is deleted: its Node goes with it, and another takes its place.'],
  ])('is what has become of the machine: %s', (_what, end, words) => {
    const model = end();
    expect(model.words).toContain(words);
    expect(model.events).toContain('PowerManagementFinished');
  });

  it('is followed by the next look at once', () => {
    const model = isolated({ release: 'none' });
    expect([model.next(), model.next()]).toEqual(['off:off', 'on:on']);
    const passes = Array.from({ length: 3 }, () => model.step());
    const end = passes.find(({ events }) => events.some(({ reason }) => reason === 'PowerManagementFinished'));
    expect(end).toMatchObject({ requeueAtMs: model.nowMs });
  });

  it('names why the newest proof is void where a release had begun on it', () => {
    const model = isolated({ maxRestarts: 1, stepRetries: 0 });
    expect([model.next(), model.next('failed')]).toEqual(['off:off', 'release:release']);
    model.runUntil(() => model.status.restarts === 1 && model.status.state === 'running');
    while (model.dispatched.at(-1)?.entry.restart !== 1 || model.dispatched.at(-1)?.entry.operation !== 'release') begun(model, 1);
    model.step();
    expect(model.status.evidence[0]?.voidedBecause).toBe('a restart reads everything again');
    model.nowMs += 1_000;
    model.live();
    begun(model, 3);
    model.runUntil(() => model.status.state === 'error');
    expect(model.status.message).toContain('a lease renewal or heartbeat of the node was received after the last off read');
  });
});
