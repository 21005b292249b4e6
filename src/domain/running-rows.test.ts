import { describe, expect, it } from 'vitest';
import type { NodeFenceStatus } from './node-fence.ts';
import { DEFAULT_TIMING } from './plan.ts';
import type { Plan } from './plan.ts';
import type { JobReport } from './snapshot.ts';
import { method, Model, planOf } from './testing/model.ts';
import { released, revoked } from './testing/revoked.ts';

const STORM = { reason: 'storm', policy: 'max-unhealthy', message: 'too many' };
const WORD = { name: 'ack-a', uid: 'word-1' };

function failed(plan: Partial<Plan> = {}): Model {
  const model = new Model(planOf(plan));
  model.fail();
  expect(model.next()).toBe('run:cordon');
  return model;
}

function written(model: Model, change: Partial<NodeFenceStatus>): void {
  const { fence } = model;
  model.fence = fence && { ...fence, status: { ...model.status, ...change } };
}

/** Healthy on another boot, for as long as that takes. */
function healthy(model: Model): void {
  const { healthyDelayMs, settleMs } = DEFAULT_TIMING;
  for (const passedMs of [1_000, 1_000, 1_000, Math.max(healthyDelayMs, settleMs) + 1_000]) {
    model.nowMs += passedMs;
    model.live({ ready: 'True', bootID: 'boot-2' });
    model.step();
  }
}

describe('a node that is healthy again while its fence runs', () => {
  it('loses our taint first after a release on a word, also where its Machine is being deleted meanwhile, which ends the fence as it stands', () => {
    const model = givenUp();
    accepted(model);
    model.acknowledgement = undefined;
    expect(model.next()).toBe('release:release');
    model.step();
    model.takeOver();
    written(model, { ending: 'deleted' });
    healthy(model);
    expect(model.status.state).toBe('running');
    model.drained();
    expect(model.next()).toBe('release-end:release-end');
  });

  it('gets its other supply back, which did not answer when it was to be switched on', () => {
    const outlets = ['1', '2'].map((plug) => method(`outlet-${plug}`, 'pdu', 'reboot', { device: 'pdu', plug }));
    const model = failed({ powerManagement: [{ level: 1, methods: outlets }] });
    expect([model.next(), model.next(), model.next()]).toEqual(['off:outlet-1', 'off:outlet-2', 'release:release']);
    model.drained();
    expect([model.next(), model.next(), model.next('unreachable')]).toEqual(['release-end:release-end', 'on:outlet-1', 'on:outlet-2']);
    healthy(model);
    model.finish('succeeded');
    expect(model.dispatched.at(-1)?.entry, 'read back').toMatchObject({ operation: 'on:outlet-1', action: 'confirm' });
    expect(model.next()).toBe('on:outlet-2');
  });
});

describe('what is to be done while the machine is off', () => {
  const evacuate = method('evacuate', 'nova-service-down', 'run', { kind: 'action', whileOff: true });
  const bmc = { device: 'bmc' };
  const methods = [method('off', 'redfish', 'off', bmc), evacuate, method('on', 'redfish', 'on', bmc)];

  it.each([
    [undefined, 'run:evacuate'],
    ['deleted', 'release-end'],
  ] as const)('is done where its end is %s, and not where the machine goes for good', (ending, last) => {
    const model = failed({ powerManagement: [{ level: 1, methods }] });
    if (ending !== undefined) written(model, { ending });
    expect([model.next(), model.next()]).toEqual(['off:off', 'release:release']);
    model.drained();
    expect(model.next()).toBe('release-end:release-end');
    for (let count = 0; count < 5; count += 1) model.step();
    expect(model.dispatched.map(({ entry }) => entry.operation).at(-1)).toBe(last);
  });
});

describe('a hold after the first off', () => {
  it('delays no on where nothing is to be released', () => {
    const model = failed({ release: 'none' });
    expect(model.next()).toBe('off:off');
    model.holds = [STORM];
    model.step();
    expect(model.rows.at(-1)).toBe('running-power');
  });

  it.each(['not-sent', 'stopped', 'found-not-done'] as const)('gives nothing up within life_wait where the release was %s', (result) => {
    const model = failed();
    expect([model.next(), model.next(result)]).toEqual(['off:off', 'release:release']);
    model.holds = [STORM];
    const metMs = model.nowMs;
    for (; model.nowMs < metMs + DEFAULT_TIMING.lifeWaitMs; model.nowMs += 1_000) {
      model.step();
      expect([...model.inFlight], `${model.nowMs - metMs} ms after it came`).toEqual([]);
    }
    model.holds = [];
    expect([model.next(), model.next()]).toEqual(['confirm:off', 'release:release']);
    expect(model.dispatched.map(({ entry }) => entry.action)).not.toContain('on');
  });

  it('gives nothing up within life_wait after what only its storage let go', () => {
    const model = revoked();
    released(model);
    expect(model.next()).toBe('off:off');
    model.holds = [STORM];
    model.step();
    expect(model.rows.at(-1)).toBe('running-held-off');
  });

  it('is another thing than one before it, which is waited for as long as it stands', () => {
    const model = failed();
    model.step();
    model.live({ ready: 'Unknown' });
    model.holds = [STORM];
    model.step();
    expect(model.rows.at(-1)).toBe('running-not-triggered');
  });
});

/** The device did not answer, and the fence has failed; a person gives a word. */
function givenUp(plan: Partial<Plan> = {}): Model {
  const model = failed({ maxRestarts: 0, stepRetries: 0, ...plan });
  expect(model.next('unreachable')).toBe('off:off');
  model.runUntil(() => model.status.state === 'error' && model.status.outcome === 'failed');
  model.acknowledgement = WORD;
  return model;
}

function isWeighed(model: Model): boolean {
  model.step();
  return model.dispatched.some(({ entry }) => entry.action === 'acknowledge');
}

function accepted(model: Model): void {
  model.runUntil(() => model.inFlight.size > 0);
  model.proofs.set([...model.inFlight][0] ?? '', model.nowMs);
  const evidence: JobReport['evidence'] = { kind: 'ack', grade: 'person', detail: 'looked', observedAt: '2026-01-01T00:00:00Z', bootID: 'boot-1' };
  model.finish('succeeded', { evidence, evidenceAtMs: model.nowMs });
}

describe('a person’s word', () => {
  it('is weighed where nothing speaks against that', () => {
    expect(isWeighed(givenUp())).toBe(true);
  });

  it('is not weighed of a node that has come back', () => {
    const model = givenUp();
    model.live({ ready: 'True' });
    expect(isWeighed(model)).toBe(false);
  });

  it('is not weighed under a hold', () => {
    const model = givenUp();
    model.holds = [STORM];
    expect(isWeighed(model)).toBe(false);
  });

  it('is not weighed where it would be no proof', () => {
    expect(isWeighed(givenUp({ minimumEvidence: ['power-off'] }))).toBe(false);
  });

  it('is not weighed once the workload was released', () => {
    const model = givenUp();
    written(model, { released: { by: 'out-of-service', at: '2026-01-01T00:00:00Z', pods: 1, evidence: 'x' } });
    expect(isWeighed(model)).toBe(false);
  });

  it('is weighed of a fence that failed with its proof: nothing else is let go on that', () => {
    const model = failed({ maxRestarts: 0, stepRetries: 0 });
    expect([model.next(), model.next('failed')]).toEqual(['off:off', 'release:release']);
    model.runUntil(() => model.status.state === 'error' && model.status.outcome === 'failed');
    model.acknowledgement = WORD;
    expect(isWeighed(model)).toBe(true);
  });

  it('lets nothing go under a hold between two batches, and keeps our taint for the pods that are left', () => {
    const model = givenUp();
    accepted(model);
    model.acknowledgement = undefined;
    const batch = { by: 'out-of-service' as const, at: '2026-01-01T00:00:00.000Z', pods: 1, evidence: 'x', left: 1, batch: 1 };
    expect(model.next('succeeded', { released: batch })).toBe('release:release');
    model.holds = [STORM];
    model.drained();
    model.step();
    expect(model.rows.at(-1)).toBe('running-held');
    expect(model.inFlight.size).toBe(0);
  });
});
