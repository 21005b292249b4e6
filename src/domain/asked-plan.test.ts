import { describe, expect, it } from 'vitest';
import { planToFreeze } from './asked-plan.ts';
import type { NodeFenceSpec } from './node-fence.ts';
import { method, Model, planOf } from './testing/model.ts';

const CORDON = method('cordon', 'cordon', 'run');
const TAINT = method('taint', 'cordon', 'run');
const ASKED = planOf({ isolation: [{ level: 1, methods: [TAINT] }], powerManagement: [] });
const SWITCHING = planOf({ isolation: [], powerManagement: [{ level: 1, methods: [method('pdu', 'pdu', 'reboot')] }] });

function requester(uid: string): NonNullable<NodeFenceSpec['requestedBy']> {
  return { apiVersion: 'node-remedy/v1alpha', kind: 'RemedyConfiguration', name: 'disks', uid };
}

function wish(model: Model, spec: Partial<NodeFenceSpec>, askedPlan = model.askedPlan): void {
  model.askedPlan = spec.methods === undefined ? undefined : askedPlan;
  const none = { uid: 'fence-1', status: undefined, deleting: false, finalized: true };
  model.fence = { ...(model.fence ?? none), spec: { node: 'a', ...spec } };
}

const ISOLATION = { requestedBy: requester('run-1'), methods: ['taint'], lastStep: 'isolation' as const };

function asked(spec: Partial<NodeFenceSpec> = ISOLATION, askedPlan = ASKED): Model {
  const model = new Model(planOf({ isolation: [{ level: 1, methods: [CORDON, TAINT] }], release: 'none' }));
  wish(model, spec, askedPlan);
  return model;
}

/** Passes of a node that beats while it is Ready, each run answered with success. Returns what was begun. */
function play(model: Model, seconds: number): string[] {
  const begun: string[] = [];
  for (const endMs = model.nowMs + seconds * 1_000; model.nowMs < endMs;) {
    model.step();
    const entry = model.dispatched.at(-1)?.entry;
    if (model.inFlight.size > 0 && entry !== undefined) {
      begun.push(entry.operation);
      model.finish('succeeded');
    } else {
      model.nowMs += 10_000;
      if (model.node?.ready === 'True') model.live();
    }
  }
  return begun;
}

describe('a fence that is asked for by its methods', () => {
  it('runs these alone, and keeps on record of what its plan was made', () => {
    const model = asked();
    expect(play(model, 900)).toEqual(['run:taint']);
    expect(model.status.frozen?.asked).toEqual({ methods: ['taint'], lastStep: 'isolation' });
    expect(model.rows).not.toContain('replanned');
  });

  it('switches the device that is asked for, not the one that is configured', () => {
    const model = asked({ requestedBy: requester('run-1'), methods: ['pdu'] }, SWITCHING);
    expect(play(model, 900)[0]).toBe('off:pdu');
  });

  it('does nothing where the methods are wrong, and says so', () => {
    const where = 'NodeFence node-fence-a, spec.methods';
    const problems = (['isolation', 'power-management'] as const).map((step) => ({
      step,
      severity: 'error' as const,
      where,
      message: 'no method tain',
    }));
    const model = asked(ISOLATION, { ...ASKED, isolation: [], problems });
    expect(play(model, 900)).toEqual([]);
    expect(model.status.conditions).toContainEqual(
      expect.objectContaining({ type: 'ConfigurationValid', status: 'False', message: expect.stringContaining('no method tain') as string }),
    );
  });

  it('does nothing in place of methods that nobody made a plan of', () => {
    const model = asked();
    model.askedPlan = undefined;
    expect(play(model, 900)).toEqual([]);
    expect(planToFreeze({ ...model.snapshot(), fence: model.fence }, true).plan.problems).toHaveLength(2);
  });

  it('is fenced as it is configured when the node fails by itself: the rest of isolation first', () => {
    const model = asked();
    play(model, 900);
    model.fail();
    expect(model.step().row).toBe('replanned');
    expect(model.status).toMatchObject({ state: 'new', step: 'isolation' });
    expect(model.status.frozen?.asked).toBeUndefined();
    expect(play(model, 900)).toEqual(expect.arrayContaining(['run:cordon', 'off:off']));
  });

  it('is kept to its methods when the node fails by itself, where they are a whole fence', () => {
    const model = asked({ requestedBy: requester('run-1'), methods: ['pdu'] }, SWITCHING);
    model.step();
    model.fail();
    expect(play(model, 900)[0]).toBe('off:pdu');
    expect(model.rows).not.toContain('replanned');
  });

  it('takes the plan of the next request: the whole fence', () => {
    const model = asked();
    play(model, 900);
    wish(model, { requestedBy: requester('run-2') });
    expect(play(model, 900)).toEqual(expect.arrayContaining(['run:cordon', 'off:off']));
    expect(model.events.filter((reason) => reason === 'PlanFrozenAnew')).toHaveLength(1);
  });

  it('keeps the plan by which an off was begun, whatever is asked for then', () => {
    const model = asked({ requestedBy: requester('run-1'), methods: ['pdu'] }, SWITCHING);
    model.runUntil(() => model.inFlight.size > 0);
    wish(model, { requestedBy: requester('run-2') });
    model.finish('succeeded');
    play(model, 60);
    expect(model.rows).not.toContain('replanned');
  });

  it('waits for the result of a run before another plan is frozen', () => {
    const model = asked();
    model.runUntil(() => model.inFlight.size > 0);
    wish(model, { requestedBy: requester('run-2') });
    expect(model.step().row).toBe('in-flight');
    model.finish('succeeded');
    expect(model.step().row).toBe('replanned');
  });

  it('recovers as it is configured when the request is withdrawn', () => {
    const model = asked();
    play(model, 900);
    wish(model, {});
    expect(play(model, 900)).toEqual(['run:uncordon']);
    expect(model.rows).not.toContain('replanned');
  });

  it('asks for nothing in the next incident, which begins by a condition', () => {
    const model = asked();
    play(model, 60);
    wish(model, { methods: ['taint'] });
    play(model, 900);
    expect(model.status.state).toBe('final');
    model.fail();
    expect(model.step().row).toBe('final-again');
    expect(model.status.frozen?.asked).toBeUndefined();
  });

  it.each(['auto', 'delete-pods', 'evict', 'out-of-service', 'none'] as const)('lets its workload go as is asked for: %s', (release) => {
    const model = asked({ requestedBy: requester('run-1'), methods: ['pdu'], release }, SWITCHING);
    model.runUntil(() => model.inFlight.size > 0);
    expect(model.status.frozen?.plan.release).toBe(release);
  });

  it('keeps its methods and its release over a restart', () => {
    const model = asked({ requestedBy: requester('run-1'), methods: ['pdu'], release: 'none' }, SWITCHING);
    model.plan = { ...model.plan, release: 'auto' };
    model.askedPlan = { ...SWITCHING, release: 'auto' };
    model.runUntil(() => model.inFlight.size > 0);
    model.finish('refused');
    model.runUntil(() => model.rows.includes('error-restart'));
    expect(model.status.frozen).toMatchObject({ asked: { methods: ['pdu'] }, plan: { release: 'none' } });
  });
});
