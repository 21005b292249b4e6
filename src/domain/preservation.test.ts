import { describe, expect, it } from 'vitest';
import type { NodeFenceSpec } from './node-fence.ts';
import type { Plan } from './plan.ts';
import type { PreservationGuard } from './snapshot.ts';
import { method, Model, planOf } from './testing/model.ts';

const PRESERVED: PreservationGuard = { kind: 'isolate-and-hold', cause: 'user', until: '2026-11-25T00:00:00.000Z' };
const NEVER: PreservationGuard = { kind: 'never-fence', cause: 'user' };
const PORT = { kind: 'fabric', device: 'switch', storage: 'san' } as const;
const CLOSING: Partial<Plan> = { isolation: [{ level: 1, methods: [method('close', 'fc-switch', 'off', PORT)] }] };

function failed(guard?: PreservationGuard, plan: Partial<Plan> = {}): Model {
  const model = new Model(planOf({ stepRetries: 0, maxRestarts: 0, ...plan }));
  model.preservation = guard;
  model.fail();
  return model;
}

/** Passes, waits and answers with success until nothing more begins or `reached`. Returns what was begun. */
function play(model: Model, reached: () => boolean = () => false): string[] {
  const begun: string[] = [];
  for (let count = 0; count < 60 && !reached(); count += 1) {
    const decision = model.step();
    const entry = model.dispatched.at(-1)?.entry;
    if (model.inFlight.size > 0 && entry !== undefined) {
      begun.push(`${entry.action === 'confirm' ? 'confirm ' : ''}${entry.operation}`);
      if (entry.action === 'release') model.workload = { pods: 0, terminating: 0, volumeAttachments: 0 };
      model.finish('succeeded');
    } else if (decision.requeueAtMs !== undefined && decision.requeueAtMs > model.nowMs) model.nowMs = decision.requeueAtMs;
    else if (decision.status === undefined && decision.create === undefined) break;
  }
  return begun;
}

function ask(model: Model, more: Partial<NodeFenceSpec> = {}): void {
  const requestedBy = { apiVersion: 'machine.sapcloud.io/v1alpha1', kind: 'Machine', name: 'm', uid: 'machine-1' };
  const none = { uid: 'fence-1', status: undefined, deleting: false, finalized: true };
  model.fence = { ...(model.fence ?? none), spec: { node: 'a', requestedBy, ...more } };
}

describe('the fence of a failed node whose machine is preserved', () => {
  it('isolates, and then holds: in words, with the cause and the end', () => {
    const model = failed(PRESERVED);
    expect(play(model)).toEqual(['run:cordon']);
    expect(model.status).toMatchObject({ state: 'running', hold: { reason: 'preserved', policy: 'preservation' } });
    expect(model.status.hold?.message).toBe(
      'preserved on request: held, though nothing isolates it from its storage, and not switched off; ends at 2026-11-25T00:00:00.000Z, or when the preservation is stopped',
    );
    expect(model.rows).toContain('running-preserved');
  });

  it('says that it is isolated where its ways to storage are read back closed', () => {
    const model = failed({ kind: 'isolate-and-hold', cause: 'automatic' }, CLOSING);
    play(model);
    expect(model.status.hold?.message).toBe('preserved automatically: isolated, and not switched off; ends when the preservation is stopped');
  });

  it('goes on where it was held when the preservation is over', () => {
    const model = failed(PRESERVED);
    play(model);
    model.preservation = undefined;
    expect(play(model)[0]).toBe('off:off');
    expect(model.status.hold).toBeUndefined();
  });

  it('gives its slot away, whatever holds it later, and takes another with the next call that cuts off', () => {
    const model = failed(PRESERVED);
    play(model);
    expect(model.status.slotGivenAway).toBe(true);
    model.preservation = undefined;
    model.holds = [{ reason: 'reconnected', policy: 'controller-isolated', message: 'known for 16 s only' }];
    play(model);
    expect(model.status).toMatchObject({ hold: { reason: 'reconnected' }, slotGivenAway: true });
    model.holds = [];
    model.step();
    expect(model.dispatched.at(-1)?.entry).toMatchObject({ action: 'off' });
    expect(model.status.slotGivenAway).toBeUndefined();
  });

  it('recovers like any other when the node heals while it is held', () => {
    const model = failed(PRESERVED);
    play(model);
    model.nowMs += 1_000;
    model.live({ ready: 'True' });
    model.step();
    model.nowMs += 31_000;
    model.live();
    expect(play(model, () => model.fence?.status?.state === 'final')).toEqual(['run:uncordon']);
    expect(model.status.outcome).toBe('recovered');
  });

  it('waits under its own name while nobody can tell whether it is preserved, and switches off when nobody does any more', () => {
    const model = failed({ kind: 'unknown' });
    expect(play(model)).toEqual(['run:cordon']);
    expect(model.status.hold).toMatchObject({ reason: 'preserved-unknown', policy: 'preservation' });
    model.preservation = undefined;
    expect(play(model)[0]).toBe('off:off');
  });

  it('is not kept from its release by a new leader that knows nothing yet', () => {
    const model = failed();
    play(model, () => model.dispatched.at(-1)?.entry.action === 'off' && model.inFlight.size === 0);
    model.preservation = { kind: 'unknown' };
    expect(play(model)).toContain('release');
  });

  it.each([
    ['is held after an off that a crash cut off and that could not be read back', { edge: 'off' }, false],
    ['is carried through after one that was surely sent', { edge: 'off', offSent: true }, true],
  ] as const)('%s', (_words, report, isSwitched) => {
    const model = failed(undefined, { powerManagement: [1, 2].map((level) => ({ level, methods: [method(`level-${level}`, 'ipmi', 'off')] })) });
    expect(model.next()).toBe('run:cordon');
    model.runUntil(() => model.dispatched.at(-1)?.entry.action === 'off');
    model.preservation = PRESERVED;
    model.finish('unreachable', report);
    expect(model.status.restore?.edges ?? []).toEqual([]);
    model.step();
    expect(model.status.restore?.edges, 'in either case it is ours to take back').toHaveLength(1);
    expect(play(model).includes('off:level-2')).toBe(isSwitched);
  });

  it('is carried through after one that was surely sent, also when the next was never sent', () => {
    const model = failed(undefined, {
      stepRetries: 2,
      powerManagement: [1, 2].map((level) => ({ level, methods: [method(`level-${level}`, 'ipmi', 'off')] })),
    });
    expect(model.next()).toBe('run:cordon');
    model.runUntil(() => model.dispatched.at(-1)?.entry.action === 'off');
    model.finish('timeout', { edge: 'off', offSent: true });
    model.runUntil(() => model.inFlight.size > 0);
    model.preservation = PRESERVED;
    model.finish('not-sent');
    expect(play(model).some((begun) => begun.startsWith('off:'))).toBe(true);
  });

  it.each([PRESERVED, { kind: 'unknown' } as const])(
    'is held when $kind comes after an off that reached nothing: no second level switches it off',
    (guard) => {
      const model = failed(undefined, { powerManagement: [1, 2].map((level) => ({ level, methods: [method(`level-${level}`, 'ipmi', 'off')] })) });
      expect(model.next()).toBe('run:cordon');
      model.runUntil(() => model.inFlight.size > 0);
      expect(model.dispatched.at(-1)?.entry.action).toBe('off');
      model.preservation = guard;
      model.finish('refused');
      expect(play(model)).toEqual([]);
      expect(model.rows).toContain('running-held-off');
    },
  );

  it('is carried through when the guard comes after the first off: a machine that is off has nothing more to show', () => {
    const model = failed();
    play(model, () => model.dispatched.at(-1)?.entry.action === 'off' && model.inFlight.size === 0);
    model.preservation = PRESERVED;
    expect(play(model)).toContain('release');
  });

  it("does not keep a person's word from being weighed, nor the workload from being let go on it", () => {
    const model = failed(PRESERVED);
    play(model);
    model.acknowledgement = { name: 'word', uid: 'word-1' };
    model.step();
    expect(model.dispatched.at(-1)?.entry.action).toBe('acknowledge');
    const observedAt = '2026-01-01T00:00:00Z';
    const { id } = model.dispatched.at(-1)?.entry ?? { id: '' };
    model.finish('succeeded', { evidence: { kind: 'ack', grade: 'person', detail: '', observedAt, bootID: 'boot-1' }, evidenceAtMs: model.nowMs });
    model.proofs.set(id, model.nowMs);
    model.acknowledgement = undefined;
    expect(play(model)).toEqual(['release', 'release-end']);
  });

  it('lets other holds speak first, and waits for them too', () => {
    const model = failed(PRESERVED);
    play(model);
    model.holds = [{ reason: 'storm', policy: 'max-unhealthy', message: 'too many' }];
    model.step();
    expect(model.rows.at(-1)).toBe('running-held');
  });
});

describe('preserved=', () => {
  it('power-off switches off at once where the plan closes nothing', () => {
    expect(play(failed(PRESERVED, { preserved: 'power-off' })).slice(0, 2)).toEqual(['run:cordon', 'off:off']);
  });

  it('power-off holds all the same where isolation works', () => {
    const model = failed(PRESERVED, { preserved: 'power-off', ...CLOSING });
    expect(play(model)).toEqual(['off:close']);
    expect(model.status.hold?.reason).toBe('preserved');
  });

  it('power-off goes on to power-management where isolation fails, and says so', () => {
    const model = failed(PRESERVED, { preserved: 'power-off', ...CLOSING });
    expect(model.next('refused')).toBe('off:close');
    expect(play(model)[0]).toBe('off:off');
    expect(model.events).toContain('PreservedMachineSwitchedOff');
  });

  it('isolate-and-hold never switches off because isolation fails: the fence fails', () => {
    const model = failed(PRESERVED, CLOSING);
    model.next('refused');
    expect(play(model)).toEqual([]);
    expect(model.status.state).toBe('error');
  });

  it('ignore fences it like any other', () => {
    expect(play(failed(PRESERVED, { preserved: 'ignore' }))).toContain('off:off');
  });
});

describe('a healthy machine that is preserved by now', () => {
  it('is not fenced from a condition', () => {
    const model = failed(NEVER);
    play(model);
    expect(model.fence).toBeUndefined();
  });

  it('is not fenced again from a condition, within the probation or later', () => {
    const model = failed();
    play(model);
    model.nowMs += 1_000;
    model.live({ ready: 'True', bootID: 'boot-2' });
    model.step();
    model.nowMs += 31_000;
    model.live();
    play(model, () => model.fence?.status?.state === 'final');
    model.preservation = NEVER;
    model.fail();
    for (const passMs of [1, 601_000]) {
      model.nowMs += passMs;
      model.step();
      expect(model.rows.at(-1)).toBe('final-wait');
    }
    model.preservation = undefined;
    model.step();
    expect(model.rows.at(-1)).toBe('final-again');
  });

  it('is held untouched where somebody asks for it, and dropped when the request is withdrawn', () => {
    const model = new Model();
    model.preservation = NEVER;
    ask(model);
    expect(play(model)).toEqual([]);
    expect(model.rows).toContain('new-preserved');
    expect(model.status).toMatchObject({
      state: 'new',
      hold: { reason: 'preserved', message: expect.stringContaining('it is not fenced') as string },
    });
    if (model.fence !== undefined) model.fence = { ...model.fence, spec: { node: 'a' } };
    model.step();
    model.live();
    model.step();
    model.nowMs += 31_000;
    model.live();
    model.step();
    expect(model.status).toMatchObject({ state: 'final', outcome: 'untouched' });
  });
});

describe('a fence whose Machine or Node is being deleted', () => {
  it('drops its hold, is switched off and released, and is never switched on', () => {
    const model = failed(PRESERVED);
    play(model);
    model.preservation = { kind: 'drop' };
    expect(play(model)).toEqual(['off:off', 'release', 'release-end']);
    expect(model.status).toMatchObject({ state: 'final', outcome: 'fenced-off', ending: 'deleted' });
    expect(model.status.message).toContain('LeftOff: off (bmc) is off, the Node is cordoned');
  });

  it('stays so for a leader that has not heard of the deletion', () => {
    const model = failed(PRESERVED);
    play(model);
    model.preservation = { kind: 'drop' };
    model.step();
    model.preservation = { kind: 'unknown' };
    expect(play(model)).not.toContain('on:on');
    expect(model.status.outcome).toBe('fenced-off');
  });

  it('ends without an on where the off was sent before', () => {
    const model = failed();
    play(model, () => model.fence?.status?.released !== undefined);
    model.preservation = { kind: 'drop' };
    expect(play(model)).not.toContain('on:on');
    expect(model.status.outcome).toBe('fenced-off');
  });

  it('ends as replaced, and recovers nothing, where the machine was switched on before', () => {
    const model = failed();
    play(model, () => model.fence?.status?.state === 'done');
    model.preservation = { kind: 'drop' };
    expect(play(model, () => model.fence?.status?.state === 'final')).toEqual([]);
    expect(model.status).toMatchObject({ state: 'final', outcome: 'replaced' });
  });

  it('is not fenced again while its Node stands as it was left', () => {
    const model = failed({ kind: 'drop' });
    play(model);
    model.preservation = undefined;
    model.nowMs += 700_000;
    model.step();
    expect(model.rows.at(-1)).toBe('final-wait');
  });
});

describe('a request for a fence that ends in off', () => {
  function asked(plan: Partial<Plan> = {}): Model {
    const model = new Model(planOf({ stepRetries: 0, maxRestarts: 0, ...plan }));
    ask(model, { ending: 'off' });
    return model;
  }

  /** Kubernetes notices that the node is gone. */
  function unnoticed(model: Model): void {
    play(model);
    if (model.node !== undefined) model.node = { ...model.node, ready: 'Unknown' };
  }

  it('that is given up says that its request has to be withdrawn: Ready alone does not end it', () => {
    const model = asked();
    for (let run = 0; run < 20 && model.fence?.status?.outcome !== 'failed'; run += 1) {
      model.runUntil(() => model.inFlight.size > 0 || model.fence?.status?.outcome === 'failed');
      if (model.inFlight.size > 0) model.finish(model.dispatched.at(-1)?.entry.action === 'off' ? 'failed' : 'succeeded');
    }
    expect(model.status.message).toContain('this fence ends once what asked for it is withdrawn');
    expect(model.status.message).not.toContain('ends by itself');
  });

  it('is switched off, proven, released, and stays off', () => {
    const model = asked();
    unnoticed(model);
    play(model);
    expect(model.dispatched.map(({ entry }) => entry.action)).not.toContain('on');
    expect(model.status).toMatchObject({ state: 'final', outcome: 'fenced-off', ending: 'off', released: { by: 'out-of-service' } });
    expect(model.status.restore).toMatchObject({ cordoned: true, edges: [{ state: 'off' }] });
  });

  it('is kept on record for as long as the node is down: nobody takes it for one that has failed', () => {
    const model = asked();
    unnoticed(model);
    play(model);
    model.nowMs += 100 * 86_400_000;
    expect(model.step()).toMatchObject({ row: 'final-wait' });
    model.live({ ready: 'True', bootID: 'boot-2' });
    expect(model.step()).toMatchObject({ row: 'final-expired' });
  });

  it('fails where nothing can prove the off', () => {
    const model = asked({ powerManagement: [] });
    play(model);
    expect(model.status.state).toBe('error');
    expect(model.status.message).toContain('nothing proves that it is off');
  });

  it('is a usual fence again when the request is withdrawn', () => {
    const model = asked();
    unnoticed(model);
    play(model, () => model.status.released !== undefined);
    if (model.fence !== undefined) model.fence = { ...model.fence, spec: { node: 'a' } };
    expect(play(model)).toContain('on:on');
  });

  it('takes over a fence that is open', () => {
    const model = failed();
    play(model, () => model.dispatched.at(-1)?.entry.action === 'off');
    ask(model, { ending: 'off' });
    play(model);
    expect(model.status.outcome).toBe('fenced-off');
  });

  it('leaves the machine off, and takes back everything else, where its NodeFence is deleted by hand', () => {
    const model = asked();
    unnoticed(model);
    play(model);
    if (model.fence !== undefined) model.fence = { ...model.fence, deleting: true };
    expect(play(model, () => model.fence === undefined)).toEqual(['run:undo-cordon']);
    expect(model.fence).toBeUndefined();
  });

  it('hands what it left on the node to the next fence, which takes it back', () => {
    const model = asked();
    unnoticed(model);
    play(model);
    model.nowMs += 700_000;
    model.live({ ready: 'True', bootID: 'boot-2' });
    model.step();
    model.nowMs += 700_000;
    model.fail();
    model.step();
    expect(model.rows.at(-1)).toBe('final-again');
    expect(model.status).toMatchObject({ state: 'new', restore: { cordoned: true } });
    expect(model.status.ending).toBeUndefined();
  });
});
