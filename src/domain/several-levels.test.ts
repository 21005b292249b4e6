import { describe, expect, it } from 'vitest';
import { READ_BACK_EVIDENCE } from './evidence.ts';
import type { NodeFenceSpec } from './node-fence.ts';
import type { Plan, PlanMethod } from './plan.ts';
import { method, Model, planOf } from './testing/model.ts';

const BMC = method('bmc', 'redfish', 'reboot', { device: 'bmc' });
const OUTLETS = ['1', '2'].map((plug) => method(`outlet-${plug}`, 'pdu', 'reboot', { device: 'pdu', plug }));
const DOG = method('dog', 'watchdog', 'run', { kind: 'action', device: '', evidence: 'watchdog', runMaxMs: 120_000 });
const END = method('end', 'aws', 'delete', { device: 'cloud', plug: 'i-1' });

/** Power-management of these levels, in this order; nothing is repeated. */
function planWith(levels: readonly (readonly PlanMethod[])[], more: Partial<Plan> = {}): Plan {
  const powerManagement = levels.map((methods, index) => ({ level: index + 1, methods }));
  return planOf({ powerManagement, minimumEvidence: [...READ_BACK_EVIDENCE, 'watchdog'], stepRetries: 0, maxRestarts: 0, ...more });
}

function isolated(plan: Plan): Model {
  const model = new Model(plan);
  model.fail();
  expect(model.next()).toBe('run:cordon');
  return model;
}

/** What the first level has come to before its last run fails: off, and all let go. */
function released(model: Model, off: string): void {
  expect([model.next(), model.next()]).toEqual([off, 'release:release']);
  model.step();
  model.drained();
  expect(model.next()).toBe('release-end:release-end');
}

/** A fence that somebody asked for. */
function asked(plan: Plan, more: Partial<NodeFenceSpec> = {}): Model {
  const model = new Model(plan);
  const requestedBy = { apiVersion: 'ha.k8s.io/v1', kind: 'NodeFenceRemediation', name: 'a', uid: 'request-1' };
  model.fence = { uid: 'fence-1', spec: { node: 'a', requestedBy, ...more }, status: undefined, deleting: false, finalized: true };
  model.fail();
  return model;
}

/** The watchdog is waited for, and proves that this boot has ended. */
function proven(model: Model): string {
  model.runUntil(() => model.inFlight.size > 0);
  const entry = model.dispatched.at(-1)?.entry;
  const evidence = { kind: 'watchdog' as const, grade: 'inferred' as const, detail: 'it has expired', observedAt: 'now', bootID: 'boot-1' };
  model.proofs.set(entry?.id ?? '', model.nowMs);
  model.finish('succeeded', { evidence, evidenceAtMs: model.nowMs });
  return `${entry?.action ?? ''}:${entry?.method ?? ''}`;
}

/** The node is Ready on this boot for four minutes, and whatever is run goes well. */
function comesBack(model: Model, bootID: string): void {
  for (let beat = 0; beat < 48; beat += 1) {
    model.live({ ready: 'True', bootID });
    model.step();
    if (model.inFlight.size > 0) model.finish('succeeded');
    model.nowMs += 5_000;
  }
}

/** The next run, or `failed`: a person is asked for. */
function nextOrEnd(model: Model): string | undefined {
  model.runUntil(() => model.inFlight.size > 0 || model.status.outcome === 'failed');
  return model.inFlight.size > 0 ? model.dispatched.at(-1)?.entry.operation : model.status.outcome;
}

describe('the level after one whose offs were done', () => {
  it('may delete what the one before could not switch on again', () => {
    const model = isolated(planWith([[BMC], [DOG], [END]]));
    released(model, 'off:bmc');
    expect(model.next('timeout')).toBe('on:bmc');
    expect([nextOrEnd(model), model.status.level]).toEqual(['off:end', 3]);
  });

  it('is not one that only proves, where the one before could not delete the machine: nobody meant it to stay off', () => {
    const after = (...levels: PlanMethod[][]): [string | undefined, string] => {
      const model = isolated(planWith([[END], ...levels]));
      released(model, 'off:end');
      expect(model.next('refused')).toBe('delete:end');
      return [nextOrEnd(model), model.status.message ?? ''];
    };
    expect(after([DOG])).toEqual(['failed', expect.stringMatching(/power-management: refused.*LeftOff: end \(aws cloud i-1\)/)]);
    expect(after([DOG], [BMC])[0]).toBe('off:bmc');
    expect(after([method('off', 'redfish', 'off', { device: 'bmc' })])[0]).toBe('off:off');
  });
});

describe('what a level before switched off, and this one does not switch', () => {
  const edge = ({ restore }: Model['status'], of: PlanMethod): boolean => restore?.edges?.some(({ method: name }) => name === of.name) === true;
  const [FIRST = BMC, SECOND = BMC] = OUTLETS;

  /** The first outlet is off, the second one does not obey, and the BMC is switched off and on instead. */
  function byBmc(more: Partial<Plan> = {}): Model {
    const model = isolated(planWith([OUTLETS, [BMC]], more));
    expect([model.next(), model.next('refused')]).toEqual([`off:${FIRST.name}`, `off:${SECOND.name}`]);
    expect(edge(model.status, FIRST)).toBe(true);
    released(model, 'off:bmc');
    expect(model.next()).toBe('on:bmc');
    return model;
  }

  it('is switched on behind it, so that the machine has both of its supplies again', () => {
    const model = byBmc();
    expect(model.next()).toBe(`on:${FIRST.name}`);
    expect(model.dispatched.at(-1)?.entry).toMatchObject({ operation: `left:${FIRST.name}`, action: 'on', level: 2, plug: '1' });
    model.runUntil(() => model.status.state === 'done');
    expect(model.status.restore?.edges).toBeUndefined();
  });

  it.each(['timeout', 'unreachable', 'refused', 'misconfigured'] as const)(
    'is tried once: %s keeps the fence from nothing, and is told',
    (result) => {
      const model = byBmc();
      expect(model.next(result)).toBe(`on:${FIRST.name}`);
      model.runUntil(() => model.status.state !== 'running');
      expect(model.status.state).toBe('done');
      expect(model.words.filter((words) => words.includes('The fence goes on; switch it on by hand.'))).toHaveLength(1);
      expect(edge(model.status, FIRST)).toBe(true);
      expect(model.status.conditions.find(({ type }) => type === 'LeftOff')).toMatchObject({ status: 'True' });
      expect(model.dispatched.filter(({ entry }) => entry.action === 'on')).toHaveLength(2);
    },
  );

  it('is tried again where it was never sent', () => {
    const model = byBmc();
    expect(model.next('not-sent')).toBe(`on:${FIRST.name}`);
    model.nowMs += 2_000;
    expect(model.next()).toBe(`on:${FIRST.name}`);
    model.runUntil(() => model.status.state === 'done');
  });

  it('is switched on behind a watchdog, which has reset the machine', () => {
    const model = isolated(planWith([OUTLETS, [DOG]], { release: 'none' }));
    expect([model.next(), model.next('timeout'), proven(model)]).toEqual([`off:${FIRST.name}`, `off:${SECOND.name}`, 'run:dog']);
    expect(model.next()).toBe(`on:${FIRST.name}`);
  });

  it('stays off where the level only switches off, and where the fence is to end so', () => {
    const cut = method('cut', 'redfish', 'off', { device: 'bmc' });
    const onlyOff = isolated(planWith([OUTLETS, [cut]], { release: 'none' }));
    expect([onlyOff.next(), onlyOff.next('refused'), onlyOff.next()]).toEqual([`off:${FIRST.name}`, `off:${SECOND.name}`, 'off:cut']);
    onlyOff.runUntil(() => onlyOff.status.state !== 'running');
    const endsOff = asked(planWith([OUTLETS, [BMC]], { release: 'none' }), { ending: 'off' });
    expect([endsOff.next(), endsOff.next(), endsOff.next('refused'), endsOff.next()]).toEqual([
      'run:cordon',
      `off:${FIRST.name}`,
      `off:${SECOND.name}`,
      'off:bmc',
    ]);
    endsOff.runUntil(() => endsOff.status.state !== 'running');
    for (const model of [onlyOff, endsOff]) expect(model.dispatched.filter(({ entry }) => entry.action === 'on')).toEqual([]);
  });
});

describe('a machine that its watchdog has reset', () => {
  const OFF_ONLY = method('cut', 'pdu', 'off', { device: 'pdu', plug: '1' });

  it('is not off for whoever asked to have it left off: the next level is tried, and without one the fence ends in error', () => {
    const ended = (...levels: PlanMethod[][]): Model => {
      const model = asked(planWith(levels), { ending: 'off' });
      expect([model.next(), model.next('unreachable'), proven(model)]).toEqual(['run:cordon', 'off:bmc', 'run:dog']);
      expect(model.next()).toBe('release:release');
      model.step();
      model.drained();
      expect(model.next()).toBe('release-end:release-end');
      return model;
    };
    const alone = ended([BMC], [DOG]);
    expect([nextOrEnd(alone), alone.status.state]).toEqual(['failed', 'error']);
    expect(alone.status.message).toContain('evidence watchdog says that the machine was reset');
    const followed = ended([BMC], [DOG], [OFF_ONLY]);
    expect([followed.next(), followed.next()]).toEqual(['off:cut', 'release:release']);
    followed.runUntil(() => followed.inFlight.size > 0 || followed.status.state === 'final');
    followed.finish('succeeded');
    followed.runUntil(() => followed.status.state === 'final');
    expect([followed.status.outcome, followed.status.message]).toEqual(['fenced-off', expect.stringContaining('proven off')]);
  });

  it('is not told as left off where its Machine is being deleted meanwhile, nor is one of whose supplies one is off', () => {
    const model = isolated(planWith([OUTLETS, [DOG]], { release: 'none' }));
    expect([model.next(), model.next('timeout'), proven(model)]).toEqual(['off:outlet-1', 'off:outlet-2', 'run:dog']);
    model.preservation = { kind: 'drop' };
    model.runUntil(() => model.status.state === 'final');
    expect(model.status).toMatchObject({ outcome: 'replaced', message: expect.stringContaining('LeftOff: outlet-1') as string });
    expect(model.words.filter((words) => words.includes('off on purpose') || words.includes('proven off'))).toEqual([]);
    expect(model.status.conditions.find(({ type }) => type === 'PoweredOff')?.status).toBe('False');
  });

  it('has served whoever asked for it once its node is Ready on another boot: it is not reset again and again', () => {
    const model = asked(planWith([[BMC], [DOG]], { maxRestarts: 1 }));
    expect([model.next(), model.next('unreachable'), proven(model), model.next()]).toEqual(['run:cordon', 'off:bmc', 'run:dog', 'release:release']);
    model.step();
    model.drained();
    expect(model.next()).toBe('release-end:release-end');
    comesBack(model, 'boot-2');
    expect([model.status.state, model.status.outcome]).toEqual(['final', 'recovered']);
    expect(model.dispatched.filter(({ entry }) => entry.agent === 'watchdog')).toHaveLength(1);
  });

  it('is no healthy node on the boot that was told to have ended when its workload was let go', () => {
    const model = isolated(planWith([[BMC], [DOG]]));
    expect([model.next('unreachable'), proven(model), model.next()]).toEqual(['off:bmc', 'run:dog', 'release:release']);
    comesBack(model, 'boot-1');
    expect([model.status.state, model.status.outcome]).toEqual(['error', 'failed']);
    expect(model.status.message).toContain('pods were released before');
    comesBack(model, 'boot-2');
    expect([model.status.state, model.status.outcome]).toEqual(['final', 'recovered']);
  });
});

describe('a node that is well again before the next level begins', () => {
  /** A device whose off may come late: the next level waits for longer than a node takes to be well. */
  const SLOW = OUTLETS.map((outlet) => ({ ...outlet, deviceMaxLatencyMs: 120_000 }));

  it.each<[string, PlanMethod[]]>([
    ['reset by its watchdog', [DOG]],
    ['switched off by its BMC', [BMC]],
  ])('is not %s for the supply that the level before has left off: that is told', (_how, second) => {
    const model = isolated(planWith([SLOW, second]));
    expect([model.next(), model.next('timeout')]).toEqual(['off:outlet-1', 'off:outlet-2']);
    comesBack(model, 'boot-1');
    expect(model.dispatched.map(({ entry }) => entry.operation).slice(1)).toEqual(['off:outlet-1', 'off:outlet-2', 'run:uncordon']);
    expect([model.status.outcome, model.status.message]).toEqual(['recovered', expect.stringContaining('LeftOff: outlet-1')]);
    expect(model.events).toContain('LeftOff');
  });
});

describe('a hold that comes once a level has switched off, and the next one is reached', () => {
  const HOLD = { reason: 'storm', policy: 'max-unhealthy', message: 'too many' };

  /** The first level has sent its off, and nobody knows what came of it; so much time passes under a hold. */
  function held(second: readonly PlanMethod[], forMs: number): { model: Model; begun: string[] } {
    const model = isolated(planWith([[BMC], second]));
    expect(model.next('timeout')).toBe('off:bmc');
    model.runUntil(() => model.status.level === 2);
    model.holds = [HOLD];
    const before = model.dispatched.length;
    for (const endMs = model.nowMs + forMs; model.nowMs < endMs; model.nowMs += 1_000) {
      model.step();
      if (model.inFlight.size > 0) model.finish('not-sent');
    }
    return { model, begun: model.dispatched.slice(before).map(({ entry }) => entry.operation) };
  }

  it('waits where that would only be waited for: once told, with an alarm in time, and the proof is waited for when it is over', () => {
    const { model, begun } = held([DOG], 1_200_000);
    expect(begun).toEqual([]);
    expect(model.status.hold?.policy).toBe('max-unhealthy');
    const count = (reason: string): number => model.events.filter((event) => event === reason).length;
    expect([count('FencingHeld'), count('FencingHeldTooLong')]).toEqual([1, 1]);
    model.holds = [];
    expect([model.next(), model.status.level]).toEqual(['run:dog', 2]);
  });

  it('lets no program of it run, and what it switches on is switched on', () => {
    const program = method('program', 'ssh', 'run', { kind: 'action', device: '' });
    expect(held([program, BMC], 60_000).begun).toContain('on:bmc');
    expect(held([program, BMC], 60_000).begun).not.toContain('run:program');
  });
});

describe('a machine that its level could not switch on again', () => {
  it('is switched on when its NodeFence is deleted by hand, for somebody may have mended it: each thing has its own tries there', () => {
    const model = isolated(planWith([[BMC]]));
    released(model, 'off:bmc');
    expect(model.next('timeout')).toBe('on:bmc');
    expect(nextOrEnd(model)).toBe('failed');
    if (model.fence !== undefined) model.fence = { ...model.fence, deleting: true };
    expect([model.next(), model.next()].toSorted()).toEqual(['on:bmc', 'run:undo-cordon']);
    const events = model.events.length;
    model.runUntil(() => model.fence === undefined);
    expect(model.events.slice(events)).not.toContain('LeftOff');
  });
});

describe('a fence that has failed after a restart', () => {
  it('does not say that nothing was released where it was before that', () => {
    const message = (result: 'succeeded' | 'failed'): string => {
      const model = isolated(planWith([[BMC]], { maxRestarts: 1 }));
      expect([model.next(), model.next(result)]).toEqual(['off:bmc', 'release:release']);
      model.step();
      model.drained();
      for (let runs = 0; runs < 9 && nextOrEnd(model) !== 'failed'; runs += 1) model.finish(model.status.restarts === 0 ? 'succeeded' : 'refused');
      expect([model.status.restarts, model.status.outcome]).toEqual([1, 'failed']);
      return model.status.message ?? '';
    };
    expect(message('succeeded')).toContain('A release of its workload had begun before the last restart, and nothing was released since.');
    expect(message('failed')).toContain('Nothing was released: its pods and volumes still wait.');
  });
});
