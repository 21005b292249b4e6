import { describe, expect, it } from 'vitest';
import type { NodeFenceStatus } from '../node-fence.ts';
import { DEFAULT_TIMING } from '../plan.ts';
import type { Plan } from '../plan.ts';
import { method, Model, planOf } from '../testing/model.ts';
import type { HeardDump } from './dump.ts';
import { isCredible } from './dump.ts';
import { dumpAgainst } from './hold.ts';

const KDUMP = { startTimeoutMs: 30_000, finishedTimeoutMs: 60_000, maxDurationMs: 1_800_000 };
const PORT = method('close', 'fc-switch', 'off', { kind: 'fabric', device: 'switch', storage: 'san' });
const CORDON = method('cordon', 'cordon', 'run', { kind: 'action' });
const OFF = method('off', 'redfish', 'off', { device: 'bmc' });
const WAIT = method('wait', 'kdump', 'run', { kind: 'action', evidence: 'kdump' });

function failed(plan: Partial<Plan> = {}): Model {
  const model = new Model(
    planOf({
      kdump: KDUMP,
      timing: { ...DEFAULT_TIMING, isolationDelayMs: 0, powerManagementDelayMs: 0 },
      isolation: [{ level: 1, methods: [CORDON, PORT] }],
      powerManagement: [{ level: 1, methods: [OFF] }],
      stepRetries: 0,
      maxRestarts: 0,
      ...plan,
    }),
  );
  model.fail();
  return model;
}

/** Messages that came up to now. */
function hear(model: Model, more: Partial<HeardDump> = {}): void {
  const { nowMs } = model;
  model.dump = {
    isArmed: false,
    heard: { source: '192.0.2.7', first: '2026-01-01T00:00:00Z', firstMs: nowMs - 10_000, lastMs: nowMs, count: 2, ...more },
  };
}

/** Passes, waits and answers with success until nothing more begins, or `untilMs` is reached. */
function play(model: Model, untilMs = model.nowMs): string[] {
  const begun: string[] = [];
  for (let count = 0; count < 200; count += 1) {
    const decision = model.step();
    const entry = model.dispatched.at(-1)?.entry;
    if (model.inFlight.size > 0 && entry !== undefined) {
      begun.push(entry.operation);
      if (entry.action === 'release') model.workload = { pods: 0, terminating: 0, volumeAttachments: 0 };
      model.finish('succeeded');
    } else if (decision.requeueAtMs !== undefined && decision.requeueAtMs > model.nowMs && decision.requeueAtMs <= untilMs)
      model.nowMs = decision.requeueAtMs;
    else if (decision.status === undefined && decision.create === undefined) break;
  }
  return begun;
}

describe('while a kernel dumps', () => {
  it('the cordon runs, and isolation that would cut its storage is held, in words', () => {
    const model = failed();
    hear(model);
    expect(play(model, model.nowMs + 20_000)).toEqual(['run:cordon']);
    expect(model.status).toMatchObject({ state: 'new', hold: { policy: 'kdump', reason: 'kdump-dumping' } });
    expect(model.status.hold?.message).toBe(
      'its kernel dumps: 2 kdump messages from 192.0.2.7 since 2026-01-01T00:00:00Z; ends when none comes for 60 s, and at the latest kdump_max_duration 1800 s after the first',
    );
  });

  it('power-management is held, and goes on when no message has come for kdump_finished_timeout', () => {
    const model = failed({ isolation: [{ level: 1, methods: [CORDON] }] });
    hear(model);
    const heardMs = model.nowMs;
    expect(play(model, heardMs + 59_999)).toEqual(['run:cordon']);
    expect(model.status).toMatchObject({ state: 'running', hold: { reason: 'kdump-dumping' } });
    model.nowMs = heardMs + 59_999;
    expect(play(model)).toEqual([]);
    expect(play(model, heardMs + 60_000), 'it looks again by itself').toContain('off:off');
  });

  it('messages for ever hold no longer than kdump_max_duration after the first', () => {
    const model = failed({ isolation: [{ level: 1, methods: [CORDON] }] });
    const firstMs = model.nowMs - 10_000;
    hear(model);
    play(model);
    for (model.nowMs += 1; model.nowMs < firstMs + KDUMP.maxDurationMs; model.nowMs += 30_000) {
      hear(model, { firstMs, count: 1_000 });
      expect(play(model)).not.toContain('off:off');
    }
    model.nowMs = firstMs + KDUMP.maxDurationMs;
    hear(model, { firstMs, count: 10_000 });
    expect(play(model)).toContain('off:off');
  });

  it.each<[what: string, change: (model: Model) => void]>([
    ['a single message', (model) => hear(model, { count: 1 })],
    ['messages before its kubelet was heard last', (model) => hear(model, { firstMs: model.nowMs - 90_000, lastMs: model.node!.lifeAtMs })],
    ['no message', (model) => void (model.dump = { isArmed: false })],
    ['nobody who listens', (model) => void (model.dump = undefined)],
    ['kdump_enabled that is off', (model) => hear(model)],
  ])('%s holds nothing', (what, change) => {
    const model = failed({ isolation: [{ level: 1, methods: [CORDON] }] });
    if (what.startsWith('kdump_enabled')) model.plan = planOf({ powerManagement: [{ level: 1, methods: [OFF] }] });
    change(model);
    play(model);
    expect(model.status.hold).toBeUndefined();
  });

  it('a node that is heard again is not dumping, whoever says so', () => {
    const model = failed({ isolation: [{ level: 1, methods: [CORDON] }] });
    hear(model);
    play(model);
    expect(model.status.hold).toBeDefined();
    model.live({ ready: 'True' });
    model.step();
    expect(model.status.hold).toBeUndefined();
  });

  it('a fence that somebody asked for is held too while Kubernetes has not noticed the failure, by a node that is silent', () => {
    const model = failed({ isolation: [{ level: 1, methods: [CORDON] }] });
    model.node = { ...model.node!, ready: 'True' };
    model.fence = {
      uid: 'fence-1',
      spec: { node: 'a', requestedBy: { apiVersion: 'v1', kind: 'Person', name: 'p', uid: 'p' } },
      status: undefined,
      deleting: false,
      finalized: true,
    };
    hear(model);
    const heardMs = model.nowMs;
    expect(play(model, heardMs + 59_999)).toEqual(['run:cordon']);
    expect(model.status.hold?.reason).toBe('kdump-dumping');
    model.nowMs = heardMs + 59_999;
    expect(play(model, heardMs + 60_000)).toContain('off:off');
  });

  it('an off that was sent is not held: the dump is over by it', () => {
    const model = failed({ isolation: [] });
    while (model.dispatched.at(-1)?.entry.operation !== 'off:off') {
      const { requeueAtMs } = model.step();
      if (model.inFlight.size === 0 && requeueAtMs !== undefined) model.nowMs = Math.max(model.nowMs, requeueAtMs);
    }
    model.finish('failed');
    hear(model);
    model.step();
    expect(model.status.hold).toBeUndefined();
  });
});

describe('before power-management of an armed node', () => {
  it.each<[what: string, isAttested: boolean, isWritten: boolean]>([
    ['attested', true, false],
    ['kdump=yes', false, true],
  ])('%s: a first message is waited for', (_what, isAttested, isWritten) => {
    const model = dying(isAttested, isWritten);
    const beganMs = model.nowMs;
    play(model);
    expect(model.status.hold?.reason).toBe('kdump-awaited');
    expect(play(model, beganMs + 29_999)).not.toContain('off:off');
    expect(play(model, beganMs + 30_000), 'a plain death waits no longer').toContain('off:off');
    expect(model.nowMs).toBe(beganMs + 30_000);
  });

  it('of which nobody says that it is, nothing is', () => {
    expect(play(dying(false, false))).toContain('off:off');
  });

  function dying(isAttested: boolean, isWritten: boolean): Model {
    const model = failed({ isolation: [{ level: 1, methods: [CORDON] }], kdump: { ...KDUMP, ...(isWritten && { isArmed: true }) } });
    model.dump = { isArmed: isAttested };
    return model;
  }
});

describe('a method that waits for a dump', () => {
  const levels = [
    { level: 1, methods: [WAIT] },
    { level: 2, methods: [OFF] },
  ];

  it('is not held by it', () => {
    const model = failed({ isolation: [], powerManagement: levels });
    hear(model);
    play(model, model.nowMs + 400_000);
    expect(model.dispatched.map(({ entry }) => entry.operation)).toContain('run:wait');
  });

  it('that hears none leaves the machine to the next level', () => {
    const model = failed({ isolation: [], powerManagement: levels });
    expect(play(model, model.nowMs + 600_000)).toEqual(expect.arrayContaining(['run:wait', 'off:off']));
    expect(model.status.level).toBe(2);
  });

  it('that may prove nothing leaves the machine to the next level, whose off waits until the dump is over', () => {
    const model = failed({ isolation: [], powerManagement: levels, minimumEvidence: ['power-off'] });
    hear(model);
    for (let passes = 0; passes < 5; passes += 1) model.step();
    expect(model.inFlight.size).toBe(1);
    const item = { kind: 'kdump' as const, grade: 'inferred' as const, detail: 'dumps', observedAt: '2026-01-01T00:00:00Z' };
    model.finish('succeeded', { evidence: item, evidenceAtMs: model.nowMs });
    expect(play(model, model.nowMs + 40_000)).toEqual([]);
    expect(model.status).toMatchObject({ level: 2, hold: { reason: 'kdump-dumping' } });
    expect(play(model, model.nowMs + 120_000)).toContain('off:off');
  });

  it('alone, and nothing heard, is an error, and nothing is released', () => {
    const model = failed({ isolation: [], powerManagement: levels.slice(0, 1) });
    expect(play(model, model.nowMs + 600_000)).not.toContain('release');
    expect(model.status).toMatchObject({ state: 'error' });
  });

  it.each<[admitted: boolean]>([[true], [false]])('proves what minimum_evidence admits: %s', (admitted) => {
    const model = failed({ isolation: [], powerManagement: levels.slice(0, 1), minimumEvidence: admitted ? ['power-off', 'kdump'] : ['power-off'] });
    hear(model);
    for (let passes = 0; passes < 5; passes += 1) model.step();
    expect(model.inFlight.size).toBe(1);
    model.finish('succeeded', {
      evidence: { kind: 'kdump', grade: 'inferred', detail: 'dumps', observedAt: '2026-01-01T00:00:00Z' },
      evidenceAtMs: model.nowMs,
    });
    const begun = play(model);
    expect(begun.includes('release')).toBe(admitted);
    expect(model.status.timeline.poweredOffAt, 'a kernel that dumps is on').toBeUndefined();
  });
});

describe('right before a call', () => {
  const NODE = { ready: 'Unknown' as const, lifeAtMs: 0 };
  const status = (): NodeFenceStatus => {
    const model = failed();
    model.step();
    model.step();
    return model.status;
  };
  const dump = { isArmed: false, heard: { source: '192.0.2.7', first: '', firstMs: 50_000, lastMs: 60_000, count: 2 } };

  it.each<[action: 'off' | 'diag' | 'run' | 'on' | 'release' | 'confirm', agent: string, name: string, isHeld: boolean]>([
    ['off', 'redfish', 'off', true],
    ['diag', 'ipmi', 'off', true],
    ['off', 'fc-switch', 'close', true],
    ['run', 'cordon', 'cordon', false],
    ['on', 'redfish', 'off', false],
    ['release', 'kubernetes', 'release', false],
  ])('%s by %s', (action, agent, name, isHeld) => {
    const step = agent === 'redfish' || agent === 'ipmi' ? 'power-management' : 'isolation';
    const hold = dumpAgainst({ dump, node: NODE, nowMs: 61_000 }, status(), { action, agent, step, method: name });
    expect(hold?.reason).toBe(isHeld ? 'kdump-dumping' : undefined);
  });

  it('nothing is held for a kubelet whose lease is fresh: its node lives, whoever sends messages', () => {
    const entry = { action: 'off', agent: 'redfish', step: 'power-management', method: 'off' } as const;
    const holds = [11_999, 12_000].map(
      (ms) => dumpAgainst({ dump, node: { ...NODE, lifeAtMs: 59_000 }, nowMs: 59_000 + ms }, status(), entry)?.reason,
    );
    expect(holds).toEqual([undefined, 'kdump-dumping']);
  });

  it('a process that has seen no life of the node yet holds it by the messages alone, also by those that it was told of', () => {
    const entry = { action: 'off', agent: 'redfish', step: 'power-management', method: 'off' } as const;
    const holds = (node: { isOnlySeen?: boolean; ready?: 'True' }, count = 2): string | undefined =>
      dumpAgainst(
        { dump: { ...dump, heard: { ...dump.heard, count } }, node: { ...NODE, lifeAtMs: 61_000, ...node }, nowMs: 62_000 },
        status(),
        entry,
      )?.reason;
    expect([holds({}), holds({ isOnlySeen: true })]).toEqual([undefined, 'kdump-dumping']);
    expect([holds({ isOnlySeen: true }, 1), holds({ isOnlySeen: true, ready: 'True' })]).toEqual([undefined, undefined]);
  });

  it('nothing is held once it is over', () => {
    const entry = { action: 'off', agent: 'redfish', step: 'power-management', method: 'off' } as const;
    expect(dumpAgainst({ dump, node: NODE, nowMs: 120_000 }, status(), entry)).toBeUndefined();
  });
});

describe('as evidence', () => {
  const heard = { source: '192.0.2.7', first: '', firstMs: 50_000, lastMs: 60_000, count: 2 };

  it('messages count for no node that Kubernetes calls Ready and whose daemon is not silent', () => {
    const credible = (node: Partial<Parameters<typeof isCredible>[1]>): boolean =>
      isCredible(heard, { ready: 'Unknown', lifeAtMs: 0, ...node }, 61_000);
    expect([credible({}), credible({ ready: 'True' }), credible({ ready: 'True', silence: {} }), credible({ lifeAtMs: 60_000 })]).toEqual([
      true,
      false,
      true,
      false,
    ]);
  });
});
