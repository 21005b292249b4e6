import { beforeEach, describe, expect, it } from 'vitest';
import type { Frozen } from '../../../domain/node-fence.ts';
import { DEFAULT_TIMING } from '../../../domain/plan.ts';
import type { Plan, PlanMethod } from '../../../domain/plan.ts';
import { planOf } from '../../../domain/testing/model.ts';
import type { Parameters, Reading } from '../../../ports/agents.ts';
import type { ProbeRequest } from '../../../ports/probes.ts';
import { ManualClock } from '../../../runtime/manual-clock.ts';
import { FenceHarness } from '../testing/harness.ts';
import { NextOff, identityOf } from './next-off.ts';

const PLAN = planOf({ timing: { ...DEFAULT_TIMING, powerManagementDelayMs: 0 } });
const FROZEN: Frozen = { nodeUID: 'uid-a', systemUUID: 'sys-a', plan: PLAN };
const ON: Reading<'on'> = { state: 'on', detail: 'PowerState=On', identity: 'verified' };

let clock: ManualClock;
let next: NextOff;
/** Reads of the device, and what each comes to. */
let looks: ProbeRequest[];
let shown: () => Promise<Reading | undefined>;
/** Today's password; `undefined`: nobody can read it. */
let password: string | undefined;
let reads: number;

beforeEach(() => {
  clock = new ManualClock();
  password = 'one';
  reads = 0;
  looks = [];
  shown = () => Promise.resolve(ON);
  const { dependencies } = new FenceHarness(clock);
  const parametersFor = (): Promise<Record<string, string>> => {
    reads += 1;
    return password === undefined ? Promise.reject(new Error('no way to the API server')) : Promise.resolve({ password });
  };
  const look = (request: ProbeRequest): Promise<Reading | undefined> => {
    looks.push(request);
    return shown();
  };
  const signal = new AbortController().signal;
  next = new NextOff({ clock, planner: { ...dependencies.planner, parametersFor }, runner: { ...dependencies.runner, look } }, signal);
});

/** As it comes back from the API server: another object. */
function firstOf(plan: Plan): PlanMethod {
  return structuredClone(plan.powerManagement[0]!.methods[0]!);
}

function parametersOf(node: string, method: PlanMethod): Promise<Parameters> {
  return next.take(node, method).parameters;
}

describe('the parameters of the off that follows isolation', () => {
  it('are read while the node is isolated, once, for the first attempt alone', async () => {
    next.read('a', FROZEN);
    next.read('a', FROZEN);
    expect(reads).toBe(1);
    expect(await parametersOf('a', firstOf(PLAN))).toEqual({ password: 'one' });
    expect(reads).toBe(1);
    password = 'two';
    expect(await parametersOf('a', firstOf(PLAN))).toEqual({ password: 'two' });
  });

  it('are read again where they could not be read', async () => {
    password = undefined;
    next.read('a', FROZEN);
    password = 'two';
    expect(await parametersOf('a', firstOf(PLAN))).toEqual({ password: 'two' });
  });

  it('are read again after a second: the process stood still', async () => {
    next.read('a', FROZEN);
    password = 'two';
    clock.freeze(1_001);
    expect(await parametersOf('a', firstOf(PLAN))).toEqual({ password: 'two' });
  });

  it('are read again after a second, and for the next incident too: isolation took longer', async () => {
    next.read('a', FROZEN);
    password = 'two';
    await clock.advance(1_001);
    next.read('a', FROZEN);
    expect(await parametersOf('a', firstOf(PLAN))).toEqual({ password: 'two' });
  });

  it('are of that node and that method', async () => {
    next.read('a', FROZEN);
    password = 'two';
    expect(await parametersOf('b', firstOf(PLAN))).toEqual({ password: 'two' });
    expect(await parametersOf('a', { ...firstOf(PLAN), device: '192.0.2.9' })).toEqual({ password: 'two' });
  });

  it('are not read where a delay comes before it', () => {
    next.read('a', { ...FROZEN, plan: planOf() });
    expect(reads).toBe(0);
  });
});

describe('the read that the off begins with', () => {
  const identity = identityOf('a', FROZEN);

  it('is made while the node is isolated, of the machine that the plan was frozen for and with the parameters of the off', async () => {
    next.read('a', FROZEN);
    const { firstRead } = next.take('a', firstOf(PLAN));
    expect(await firstRead?.(identity)).toBe(ON);
    const [look] = looks;
    expect(look).toMatchObject({ method: firstOf(PLAN), identity, deadlineMs: PLAN.timing.setDeadlineMs });
    expect(await look?.parametersOf(firstOf(PLAN))).toEqual({ password: 'one' });
    expect([looks.length, reads]).toEqual([1, 1]);
  });

  it('is begun once, and taken once', async () => {
    next.read('a', FROZEN);
    next.read('a', FROZEN);
    next.take('a', firstOf(PLAN));
    expect(next.take('a', firstOf(PLAN)).firstRead).toBeUndefined();
    await clock.advance(0);
    expect(looks).toHaveLength(1);
  });

  it('fails where the device failed: it was asked just now', async () => {
    shown = () => Promise.reject(new Error('no route to host'));
    next.read('a', FROZEN);
    await expect(next.take('a', firstOf(PLAN)).firstRead?.(identity)).rejects.toThrow('no route to host');
  });

  it('is none where the parameters could not be read: the off reads both', async () => {
    password = undefined;
    next.read('a', FROZEN);
    password = 'two';
    const { parameters, firstRead } = next.take('a', firstOf(PLAN));
    expect(await firstRead?.(identity)).toBeUndefined();
    expect(await parameters).toEqual({ password: 'two' });
    expect(looks).toEqual([]);
  });

  it('does not count a second later, though it was taken before: the process stood still', () => {
    next.read('a', FROZEN);
    const { firstRead } = next.take('a', firstOf(PLAN));
    clock.freeze(1_001);
    expect(firstRead?.(identity)).toBeUndefined();
  });

  it.each([
    ['system UUID', { systemUUID: 'sys-b' }],
    ['Node of the same name', { nodeUID: 'uid-b' }],
  ])('is of that machine: not for another %s', (_name, other) => {
    next.read('a', FROZEN);
    expect(next.take('a', firstOf(PLAN)).firstRead?.({ ...identity, ...other })).toBeUndefined();
  });

  it('is of that method', () => {
    next.read('a', FROZEN);
    expect(next.take('a', { ...firstOf(PLAN), device: '192.0.2.9' }).firstRead).toBeUndefined();
  });

  it('is not made where a delay comes before the off', async () => {
    next.read('a', { ...FROZEN, plan: planOf() });
    await clock.advance(0);
    expect(looks).toEqual([]);
  });
});
