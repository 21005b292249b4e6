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

  it('is another than one that fails with the same plan and is to be fenced', () => {
    const model = new Model(planOf());
    model.fail();
    model.nowMs += 3_600_000;
    expect(decide(model.snapshot()).create).toBeDefined();
  });
});
