import { describe, expect, it } from 'vitest';

import { Model, planOf } from './testing/model.ts';
import { decide } from './automaton.ts';

const NOBODY = planOf({ trigger: 'never', isolation: [], powerManagement: [], recovery: [] });

describe('a node that nobody is to fence', () => {
  it('fails, and no fence of it begins; nobody waits to look again', () => {
    const model = new Model(NOBODY);
    model.fail();
    model.nowMs += 3_600_000;
    const decision = decide(model.snapshot());
    expect(decision).toMatchObject({ row: 'none' });
    expect(decision.create).toBeUndefined();
    expect(decision.requeueAtMs).toBeUndefined();
  });

  it('is not fenced for whoever asks, and no request ends as if it had been', () => {
    const model = new Model(NOBODY);
    const requestedBy = { apiVersion: 'ha.k8s.io/v1', kind: 'NodeFenceRemediation', namespace: 'apps', name: 'a', uid: 'request-1' };
    model.fence = { uid: 'fence-1', spec: { node: 'a', requestedBy }, status: undefined, deleting: false, finalized: true };
    for (let pass = 0; pass < 100; pass += 1) {
      model.nowMs += 10_000;
      model.live({ ready: 'True' });
      model.step();
    }
    expect(model.status).toMatchObject({
      state: 'error',
      outcome: 'failed',
      message: expect.stringContaining('nobody is to fence this node') as string,
    });
    expect(model.dispatched).toEqual([]);
    expect(model.events).not.toContain('NodeIsolated');
    model.fence = { ...model.fence, spec: { node: 'a' } };
    for (let pass = 0; pass < 20; pass += 1) {
      model.nowMs += 10_000;
      model.live({ ready: 'True' });
      model.step();
    }
    expect(model.status.state, 'withdrawn').toBe('final');
  });

  it('is told as what is left off, and is not begun anew, where that is said while its machine is off', () => {
    const model = new Model(planOf({ maxRestarts: -1, stepRetries: 0 }));
    model.fail();
    expect([model.next(), model.next(), model.next()]).toEqual(['run:cordon', 'off:off', 'release:release']);
    model.drained();
    expect([model.next(), model.next('refused', { message: 'no' })]).toEqual(['release-end:release-end', 'on:on']);
    model.runUntil(() => model.status.state === 'error');
    model.plan = NOBODY;
    for (let pass = 0; pass < 50; pass += 1) {
      model.nowMs += 60_000;
      model.step();
    }
    expect(model.status).toMatchObject({
      state: 'error',
      outcome: 'failed',
      message: expect.stringContaining('LeftOff: off (redfish bmc') as string,
    });
    model.plan = planOf({ maxRestarts: -1 });
    model.nowMs += 3_600_000;
    expect(model.next(), 'taken out again').toBe('confirm:cordon');
    expect(model.status.outcome).toBeUndefined();
  });

  it('is another than one that fails with the same plan and is to be fenced', () => {
    const model = new Model(planOf());
    model.fail();
    model.nowMs += 3_600_000;
    expect(decide(model.snapshot()).create).toBeDefined();
  });
});
