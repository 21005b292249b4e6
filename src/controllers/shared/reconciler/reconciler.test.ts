import { describe, expect, it } from 'vitest';
import { ApiStatusError } from '../../../ports/api-transport.ts';
import type { Lister } from '../../../ports/cluster.ts';
import type { KubeObject } from '../../../ports/objects.ts';
import { ManualClock } from '../../../runtime/manual-clock.ts';
import { Conflict } from '../conflict.ts';
import { WriteGate } from '../write-gate.ts';
import type { Plan, ReconciledKind } from './kind.ts';
import { AFTER_CONFLICT_MS, Reconciler, RESYNC_PERIOD_MS } from './reconciler.ts';

const KEY = 'Thing space/a';
const quiet = (): void => undefined;

class Fixture {
  readonly clock = new ManualClock({ wallMs: 0 });
  readonly leadership = { isLeading: true, mayBegin: () => this.leadership.isLeading };
  readonly watch = { synced: true, freshAtMs: Infinity };
  enforce = true;
  object: KubeObject | undefined = { metadata: { name: 'a', namespace: 'space', uid: 'u' } };
  plan: Partial<Plan> | Error | undefined = {};
  readonly performed: string[] = [];
  readonly acted: string[] = [];
  readonly warnings: unknown[] = [];
  readonly recorded: string[] = [];
  readonly forgotten: string[] = [];
  readonly enqueued: string[] = [];
  change: (before: KubeObject | undefined, after: KubeObject | undefined) => void = quiet;
  counted = 0;

  start(more: Partial<ReconciledKind> = {}, parts: { recordedAgainMs?: number } = {}): Reconciler {
    const { clock, leadership } = this;
    const onChange = (handler: typeof this.change): (() => void) => {
      this.change = handler;
      return quiet;
    };
    const kind: ReconciledKind = {
      kind: 'Thing',
      lister: { all: () => (this.object === undefined ? [] : [this.object]), onChange } as unknown as Lister<KubeObject>,
      get: () => Promise.resolve(this.object),
      reconcile: () => {
        if (this.plan instanceof Error) return Promise.reject(this.plan);
        const perform: Plan['perform'] = ({ kind: action }) => Promise.resolve(void this.performed.push(action));
        return Promise.resolve(this.plan === undefined ? undefined : { actions: [], problems: [], perform, ...this.plan });
      },
      forget: (key) => void this.forgotten.push(key),
      isReported: (_key, _error, failures) => failures > 1,
      record: (_key, _object, problem, isFailure) => void this.recorded.push(`${isFailure ? 'failure' : 'problem'} ${problem}`),
      ...more,
    };
    const reconciler = new Reconciler({
      ...{ name: 'things', kinds: [kind], leadership, clock },
      gate: new WriteGate({ clock, leadership, enforce: () => this.enforce, watches: () => [this.watch] }),
      queue: { add: (key) => void this.enqueued.push(key) },
      metrics: { acted: (action, result) => void this.acted.push(`${action} ${result}`), problems: (count) => void (this.counted = count) },
      log: { debug: quiet, info: quiet, error: quiet, warn: (_text, fields) => void this.warnings.push(fields?.['problem']) },
      ...parts,
    });
    reconciler.start();
    return reconciler;
  }
}

const writes = (...kinds: string[]): Plan['actions'] => kinds.map((kind) => ({ kind }));

const HALF_HOUR_MS = 30 * 60_000;
const TEN_MINUTES_MS = 10 * 60_000;

describe('a machine that is left off', () => {
  it('is told again every half hour, what is wrong with others once', async () => {
    const fixture = new Fixture();
    const reconciler = fixture.start();
    fixture.plan = { problems: ['LeftOff: it is paused', 'it is slow'] };
    const after = async (ms: number): Promise<string[]> => {
      await fixture.clock.advance(ms);
      await reconciler.reconcile(KEY);
      return fixture.recorded.splice(0);
    };
    expect(await after(0)).toEqual(['problem LeftOff: it is paused', 'problem it is slow']);
    expect(await after(HALF_HOUR_MS - 1)).toEqual([]);
    expect(await after(1)).toEqual(['problem LeftOff: it is paused']);
    expect(await after(HALF_HOUR_MS - 1)).toEqual([]);
    fixture.plan = { problems: ['it is slow'] };
    expect(await after(HALF_HOUR_MS)).toEqual([]);
    fixture.plan = { problems: ['LeftOff: it is paused'] };
    expect(await after(0), 'it is new').toEqual(['problem LeftOff: it is paused']);
    expect(await after(1)).toEqual([]);
  });

  it('is told while the API server refuses what would bring it back, and not where it only does not answer', async () => {
    const fixture = new Fixture();
    const reconciler = fixture.start({ leftOff: () => 'host h is held off' });
    const after = async (ms: number): Promise<string[]> => {
      await fixture.clock.advance(ms);
      await expect(reconciler.reconcile(KEY)).rejects.toThrow();
      return fixture.recorded.splice(0);
    };
    fixture.plan = new ApiStatusError(403, 'Forbidden', 'it is forbidden');
    const failure = `failure ${KEY}: LeftOff: host h is held off for as long as this lasts: it is forbidden`;
    expect([await after(0), await after(0), await after(HALF_HOUR_MS - 1), await after(1)]).toEqual([[], [failure], [], [failure]]);
    fixture.plan = new ApiStatusError(503, 'ServiceUnavailable', 'not now');
    expect([await after(0), await after(HALF_HOUR_MS)]).toEqual([[`failure ${KEY}: not now`], []]);
  });
});

describe('a problem that is found while nothing may be written', () => {
  it.each([
    ['decided', () => ({ problems: ['p'] }), 'problem p'],
    ['a failure', () => new ApiStatusError(403, 'Forbidden', 'no'), `failure ${KEY}: no`],
  ] as const)('%s: has its Event once, when this replica may write, and one line in the log', async (_what, plan, told) => {
    const fixture = new Fixture();
    let mayBegin = false;
    fixture.leadership.mayBegin = () => mayBegin;
    const reconciler = fixture.start();
    fixture.plan = plan();
    const again = async (): Promise<string[]> => {
      for (let times = 0; times < 2; times += 1) await reconciler.reconcile(KEY).catch(() => undefined);
      return fixture.recorded.splice(0);
    };
    expect([await again(), fixture.warnings.length, reconciler.problems().length]).toEqual([[], 1, 1]);
    mayBegin = true;
    expect(await again()).toEqual([told]);
    expect([await again(), fixture.warnings.length]).toEqual([[], 1]);
  });

  it('has another Event when it comes again behind a pause', async () => {
    const fixture = new Fixture();
    const reconciler = fixture.start({ isReported: () => true });
    const failure = new ApiStatusError(403, 'Forbidden', 'no');
    for (const plan of [failure, failure, { problems: ['p'] }, failure]) {
      fixture.plan = plan;
      await reconciler.reconcile(KEY).catch(() => undefined);
    }
    expect(fixture.recorded).toEqual([`failure ${KEY}: no`, 'problem p', `failure ${KEY}: no`]);
  });
});

describe('an object', () => {
  it('is enqueued at the start, when it changes, and when leadership comes', () => {
    const fixture = new Fixture();
    const reconciler = fixture.start();
    fixture.change(undefined, fixture.object);
    fixture.change(fixture.object, undefined);
    reconciler.wake();
    expect(fixture.enqueued).toEqual([KEY, KEY, KEY, KEY]);
  });

  it('is not enqueued when it is gone, where nothing is left to be done then', () => {
    const fixture = new Fixture();
    fixture.start({ isGoneForgotten: true });
    fixture.change(fixture.object, undefined);
    expect(fixture.enqueued).toEqual([KEY]);
  });

  it.each([
    ['when it is due', { dueInMs: 2_000 }, 2_000],
    ['at once when it is overdue', { dueInMs: -1 }, 0],
    ['after the resync period at the latest', { dueInMs: Infinity }, RESYNC_PERIOD_MS],
    ['after its actions', { actions: writes('write'), afterActionsMs: 7, dueInMs: 2_000 }, 7],
    ['when it is due where its actions say nothing else', { actions: writes('write'), dueInMs: 2_000 }, 2_000],
  ])('is reconciled again %s', async (_when, plan, afterMs) => {
    const fixture = new Fixture();
    fixture.plan = plan;
    expect(await fixture.start().reconcile(KEY)).toEqual({ afterMs });
  });

  it('is reconciled soon after a conflict, and what follows is not done', async () => {
    for (const conflict of [new Conflict('another'), new ApiStatusError(409, 'Conflict', 'another version')]) {
      const fixture = new Fixture();
      const ends: string[] = [];
      fixture.plan = {
        actions: writes('write', 'more'),
        perform: () => Promise.reject(conflict),
        settle: (end) => Promise.resolve(void ends.push(end)),
      };
      const reconciler = fixture.start();
      expect(await reconciler.reconcile(KEY)).toEqual({ afterMs: AFTER_CONFLICT_MS });
      expect([fixture.acted, ends]).toEqual([['write conflict'], ['conflict']]);
      fixture.plan = { ...fixture.plan, afterConflictMs: () => undefined, dueInMs: 3_000 };
      expect(await reconciler.reconcile(KEY)).toEqual({ afterMs: 3_000 });
      expect([ends, reconciler.problems()]).toEqual([['conflict', 'none'], []]);
    }
  });

  it('is forgotten when it is gone, and when nothing is to be done about it any more', async () => {
    const fixture = new Fixture();
    const reconciler = fixture.start();
    fixture.plan = { problems: ['p'] };
    await reconciler.reconcile(KEY);
    expect([reconciler.problems(), fixture.counted]).toEqual([['p'], 1]);
    fixture.plan = undefined;
    expect(await reconciler.reconcile(KEY)).toBeUndefined();
    expect([reconciler.problems(), fixture.counted]).toEqual([[], 0]);
    fixture.object = undefined;
    expect(await reconciler.reconcile(KEY)).toBeUndefined();
    expect(fixture.forgotten).toEqual([KEY, KEY]);
  });
});

describe('nothing is done', () => {
  it('by a replica that does not lead, from silent watches, or about a kind that nobody knows', async () => {
    const fixture = new Fixture();
    fixture.plan = { actions: writes('write') };
    const reconciler = fixture.start();
    expect(await reconciler.reconcile('Other space/a')).toBeUndefined();
    fixture.watch.freshAtMs = -Infinity;
    expect(await reconciler.reconcile(KEY)).toEqual({ afterMs: 5_000 });
    expect(reconciler.problems()).toEqual(['the watches of things are stale: nothing is written until they deliver again']);
    fixture.leadership.isLeading = false;
    expect(await reconciler.reconcile(KEY)).toBeUndefined();
    expect(fixture.performed).toEqual([]);
  });

  it('while nothing may be written: a problem is in the log, and in no Event', async () => {
    const fixture = new Fixture();
    fixture.enforce = false;
    fixture.plan = { actions: writes('write'), problems: ['p'], dueInMs: 3_000 };
    expect(await fixture.start().reconcile(KEY)).toEqual({ afterMs: 3_000 });
    expect([fixture.performed, fixture.warnings, fixture.recorded]).toEqual([[], ['p'], []]);
  });
});

describe('a problem', () => {
  it('is reported once for as long as it is active, and anew when it comes back', async () => {
    const fixture = new Fixture();
    const reconciler = fixture.start();
    for (const problems of [['p'], ['p', 'q'], ['q'], ['p']]) {
      fixture.plan = { problems };
      await reconciler.reconcile(KEY);
    }
    expect(fixture.warnings).toEqual(['p', 'q', 'p']);
    expect(fixture.recorded).toEqual(['problem p', 'problem q', 'problem p']);
  });

  it('of another object under the same name is reported too', async () => {
    const fixture = new Fixture();
    const reconciler = fixture.start();
    fixture.plan = { problems: ['p'] };
    await reconciler.reconcile(KEY);
    fixture.object = { metadata: { name: 'a', namespace: 'space', uid: 'v' } };
    await reconciler.reconcile(KEY);
    expect(fixture.recorded).toEqual(['problem p', 'problem p']);
  });
});

describe('problems that take turns', () => {
  it('are recorded once each within ten minutes where the controller says so, also where none is active between them', async () => {
    const fixture = new Fixture();
    const reconciler = fixture.start({}, { recordedAgainMs: TEN_MINUTES_MS });
    const decided = async (problems: string[], afterMs = 0): Promise<string[]> => {
      await fixture.clock.advance(afterMs);
      fixture.plan = { problems };
      await reconciler.reconcile(KEY);
      return fixture.recorded.splice(0);
    };
    expect([await decided(['p']), await decided(['q']), await decided(['p']), await decided([]), await decided(['p'])]).toEqual([
      ['problem p'],
      ['problem q'],
      [],
      [],
      [],
    ]);
    expect([fixture.warnings.length, reconciler.problems()], 'they are logged, and in the status, all the same').toEqual([4, ['p']]);
    await decided([]);
    expect(await decided(['p'], TEN_MINUTES_MS)).toEqual(['problem p']);
    fixture.object = { metadata: { name: 'a', namespace: 'space', uid: 'v' } };
    expect(await decided(['p']), 'of another object under the same name').toEqual(['problem p']);
  });

  it('are recorded each time where it says nothing', async () => {
    const fixture = new Fixture();
    const reconciler = fixture.start();
    for (const problems of [['p'], [], ['p']]) {
      fixture.plan = { problems };
      await reconciler.reconcile(KEY);
    }
    expect(fixture.recorded).toEqual(['problem p', 'problem p']);
  });
});

describe('a failure', () => {
  it('is reported where its kind says so, once, beside the problems, until the object is reconciled', async () => {
    const fixture = new Fixture();
    const reconciler = fixture.start();
    const failing = async (text: string): Promise<void> => {
      fixture.plan = new Error(text);
      await expect(reconciler.reconcile(KEY)).rejects.toThrow(text);
    };
    fixture.plan = { problems: ['p'] };
    await reconciler.reconcile(KEY);
    await failing('no answer');
    expect(reconciler.problems()).toEqual(['p']);
    await failing('no answer');
    await failing('no answer');
    expect([reconciler.problems(), fixture.counted]).toEqual([[`${KEY}: no answer`, 'p'], 2]);
    expect(fixture.recorded).toEqual(['problem p', `failure ${KEY}: no answer`]);
    fixture.plan = { problems: ['p'] };
    await reconciler.reconcile(KEY);
    expect([reconciler.problems(), fixture.recorded.length]).toEqual([['p'], 2]);
    await failing('no answer');
    expect(reconciler.problems()).toEqual(['p']);
  });

  it('of an API server that does not answer has one Event in ten minutes, whatever fails each time, and a line in the log for each', async () => {
    const fixture = new Fixture();
    const reconciler = fixture.start();
    const failing = async (text: string, afterMs = 0): Promise<void> => {
      await fixture.clock.advance(afterMs);
      fixture.plan = {};
      await reconciler.reconcile(KEY);
      fixture.plan = new ApiStatusError(503, 'ServiceUnavailable', text);
      for (let times = 0; times < 2; times += 1) await expect(reconciler.reconcile(KEY)).rejects.toThrow(text);
    };
    await failing('no clusters');
    await failing('no nodes');
    await failing('no nodes', TEN_MINUTES_MS - 1);
    expect([fixture.recorded, fixture.warnings.length]).toEqual([[`failure ${KEY}: no clusters`], 3]);
    expect(reconciler.problems(), 'it is in the status all the same').toEqual([`${KEY}: no nodes`]);
    await failing('no machines', 1);
    expect(fixture.recorded.splice(0)).toEqual([`failure ${KEY}: no clusters`, `failure ${KEY}: no machines`]);
    fixture.object = { metadata: { name: 'a', namespace: 'space', uid: 'v' } };
    await failing('no hosts');
    expect(fixture.recorded, 'of another object under the same name').toEqual([`failure ${KEY}: no hosts`]);
  });

  it('that the API server refuses has its Event, however lately it did not answer', async () => {
    const fixture = new Fixture();
    const reconciler = fixture.start({ isReported: () => true });
    for (const status of [503, 403]) {
      fixture.plan = new ApiStatusError(status, 'Failure', `it says ${status}`);
      await expect(reconciler.reconcile(KEY)).rejects.toThrow();
    }
    expect(fixture.recorded).toEqual([`failure ${KEY}: it says 503`, `failure ${KEY}: it says 403`]);
  });

  it('of an action ends the actions, but where it may be refused: then the rest is done, and the refusal stays reported', async () => {
    const fixture = new Fixture();
    const reconciler = fixture.start();
    const refusal = new ApiStatusError(422, 'Invalid', 'no such field');
    const perform: Plan['perform'] = ({ kind }) => {
      if (kind === 'refused') return Promise.reject(refusal);
      return Promise.resolve(void fixture.performed.push(kind));
    };
    fixture.plan = { actions: writes('refused', 'write'), perform };
    await expect(reconciler.reconcile(KEY)).rejects.toThrow('no such field');
    expect([fixture.performed, fixture.acted]).toEqual([[], ['refused failed']]);
    fixture.plan = { ...fixture.plan, mayBeRefused: () => true };
    await reconciler.reconcile(KEY);
    await reconciler.reconcile(KEY);
    expect([fixture.performed, fixture.recorded.length, reconciler.problems().length]).toEqual([['write', 'write'], 1, 1]);
    fixture.plan = { actions: writes('write') };
    await reconciler.reconcile(KEY);
    expect(reconciler.problems()).toEqual([]);
  });

  it('is no refusal where the object is gone: that is a conflict', async () => {
    const fixture = new Fixture();
    const gone = new ApiStatusError(404, 'NotFound', 'no such object');
    fixture.plan = { actions: writes('refused', 'write'), perform: () => Promise.reject(gone), mayBeRefused: () => true };
    expect(await fixture.start().reconcile(KEY)).toEqual({ afterMs: AFTER_CONFLICT_MS });
    expect([fixture.acted, fixture.recorded]).toEqual([['refused conflict'], []]);
  });
});
