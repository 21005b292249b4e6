import { beforeEach, describe, expect, it } from 'vitest';
import { DEFAULT_TIMING } from '../../../domain/plan.ts';
import type { Plan, PlanMethod } from '../../../domain/plan.ts';
import { planOf } from '../../../domain/testing/model.ts';
import { ManualClock } from '../../../runtime/manual-clock.ts';
import { FenceHarness } from '../testing/harness.ts';
import { NextParameters } from './next-parameters.ts';

const PLAN = planOf({ timing: { ...DEFAULT_TIMING, powerManagementDelayMs: 0 } });

let clock: ManualClock;
let next: NextParameters;
/** Today's password; `undefined`: nobody can read it. */
let password: string | undefined;
let reads: number;

beforeEach(() => {
  clock = new ManualClock();
  password = 'one';
  reads = 0;
  const { dependencies } = new FenceHarness(clock);
  const parametersFor = (): Promise<Record<string, string>> => {
    reads += 1;
    return password === undefined ? Promise.reject(new Error('no way to the API server')) : Promise.resolve({ password });
  };
  next = new NextParameters({ clock, planner: { ...dependencies.planner, parametersFor } });
});

/** As it comes back from the API server: another object. */
function firstOf(plan: Plan): PlanMethod {
  return structuredClone(plan.powerManagement[0]!.methods[0]!);
}

describe('the parameters of the off that follows isolation', () => {
  it('are read while the node is isolated, once, for the first attempt alone', async () => {
    next.read('a', PLAN);
    next.read('a', PLAN);
    expect(reads).toBe(1);
    expect(await next.take('a', firstOf(PLAN))).toEqual({ password: 'one' });
    expect(reads).toBe(1);
    password = 'two';
    expect(await next.take('a', firstOf(PLAN))).toEqual({ password: 'two' });
  });

  it('are read again where they could not be read', async () => {
    password = undefined;
    next.read('a', PLAN);
    password = 'two';
    expect(await next.take('a', firstOf(PLAN))).toEqual({ password: 'two' });
  });

  it('are read again after a second: the process stood still', async () => {
    next.read('a', PLAN);
    password = 'two';
    clock.freeze(1_001);
    expect(await next.take('a', firstOf(PLAN))).toEqual({ password: 'two' });
  });

  it('are read again after a second, and for the next incident too: isolation took longer', async () => {
    next.read('a', PLAN);
    password = 'two';
    await clock.advance(1_001);
    next.read('a', PLAN);
    expect(await next.take('a', firstOf(PLAN))).toEqual({ password: 'two' });
  });

  it('are of that node and that method', async () => {
    next.read('a', PLAN);
    password = 'two';
    expect(await next.take('b', firstOf(PLAN))).toEqual({ password: 'two' });
    expect(await next.take('a', { ...firstOf(PLAN), device: '192.0.2.9' })).toEqual({ password: 'two' });
  });

  it('are not read where a delay comes before it', () => {
    next.read('a', planOf());
    expect(reads).toBe(0);
  });
});
