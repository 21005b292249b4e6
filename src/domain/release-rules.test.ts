import { describe, expect, it } from 'vitest';
import { advance } from './advance.ts';
import { READ_BACK_EVIDENCE } from './evidence.ts';
import type { NodeFenceStatus, Released } from './node-fence.ts';
import { DEFAULT_TIMING } from './plan.ts';
import type { Plan } from './plan.ts';
import type { JobReport } from './snapshot.ts';
import { begun, isolated, levels, lives, OFF, ON } from './testing/course.ts';
import { method, Model, planOf } from './testing/model.ts';
import { OPEN, released as storageReleased, revoked, REVOKING } from './testing/revoked.ts';
import type { Context } from './transition.ts';

const AT = '2026-01-01T00:00:00.000Z';
const { releaseTimeoutMs } = DEFAULT_TIMING;
const STORM = [{ reason: 'storm', policy: 'max-unhealthy', message: 'too many' }];
const REQUESTED = { trigger: { kind: 'person' as const, since: AT } };
const AT_ONCE = { timing: { ...DEFAULT_TIMING, powerManagementDelayMs: 0 } };

function batch(number: number, left: number, more: Partial<Released> = {}): { released: Released } {
  return { released: { by: 'delete-pods', at: AT, pods: number, evidence: 'x', batch: number, left, ...more } };
}

function provenOff(plan: Partial<Plan> = {}): Model {
  const model = isolated(plan);
  expect(model.next()).toBe('off:off');
  return model;
}

/** All paths are read closed once more. */
function readClosed(model: Model): Partial<JobReport> {
  model.proofs.set([...model.inFlight][0] ?? '', model.nowMs);
  const storages = ['san', 'nas'];
  const evidence = { kind: 'storage-revoked' as const, grade: 'read-back' as const, detail: 'closed', observedAt: AT, bootID: 'boot-1', storages };
  return { evidence, evidenceAtMs: model.nowMs };
}

function written(model: Model, change: (status: NodeFenceStatus) => Partial<NodeFenceStatus>): void {
  const { fence } = model;
  model.fence = fence && { ...fence, status: { ...model.status, ...change(model.status) } };
}

/** The next dispatch within these passes, as they come at this moment; `undefined`: it waits. */
function nextNow(model: Model): string | undefined {
  const before = model.dispatched.length;
  for (let passes = 0; passes < 4 && model.dispatched.length === before; passes += 1) model.step();
  return model.dispatched.length === before ? undefined : model.dispatched.at(-1)?.entry.operation;
}

describe('a proof', () => {
  it('of a run of isolation lets nothing of the machine go', () => {
    const model = provenOff();
    model.step();
    model.inFlight.clear();
    written(model, ({ evidence, journal }) => ({
      evidence: evidence.map((item) => ({ ...item, source: journal[0]?.id ?? '' })),
      journal: journal.filter(({ action }) => action !== 'release'),
    }));
    model.proofs.set(model.status.journal[0]?.id ?? '', model.nowMs);
    expect(begun(model, 1)).not.toContain('release');
  });
});

describe('a release', () => {
  it('has an end before the machine is switched on, whatever the record of our taint says', () => {
    const model = provenOff();
    expect(model.next()).toBe('release:release');
    model.step();
    written(model, ({ restore: { taints: _taints, ...restore } = {} }) => ({ restore }));
    model.drained();
    expect(begun(model, 2)).toEqual(['release-end', 'on:on']);
  });

  it('asks for kept pods again once they are gone, though a volume is left', () => {
    const model = provenOff({ release: 'delete-pods' });
    expect(model.next('succeeded', batch(1, 1, { kept: [{ pod: 'web/a-0', by: 'no' }], againInMs: 60_000 }))).toBe('release:release');
    model.step();
    model.workload = { pods: 0, terminating: 0, volumeAttachments: 1 };
    expect(nextNow(model)).toBe('release');
  });

  it('asks for kept pods again no sooner than its pace', () => {
    const model = provenOff({ release: 'delete-pods', podsPerMinute: 2 });
    expect(model.next('succeeded', batch(1, 1, { kept: [{ pod: 'web/a-0', by: 'no' }], againInMs: 5_000 }))).toBe('release:release');
    model.step();
    const freedAtMs = model.nowMs;
    expect(model.next()).toBe('confirm:off');
    expect(model.nowMs - freedAtMs).toBe(30_000);
  });

  it('is given up release_timeout after its last batch, not after its first', () => {
    const model = provenOff({ release: 'delete-pods', podsPerMinute: 6 });
    const kept = { kept: [{ pod: 'web/a-0', by: 'no' }], againInMs: 20_000 };
    expect(model.next('succeeded', batch(1, 2))).toBe('release:release');
    model.step();
    expect([model.next(), model.next('succeeded', batch(2, 1, kept))]).toEqual(['confirm:off', 'release:release']);
    model.step();
    const lastAtMs = model.nowMs;
    expect(begun(model, 30, ({ action }) => (action === 'release' ? ['succeeded', batch(2, 1, kept)] : undefined)).slice(-2)).toEqual([
      'release-end',
      'on:on',
    ]);
    const end = model.status.journal.find(({ action }) => action === 'release-end');
    expect(Date.parse(end?.startedAt ?? '') - 1_700_000_000_000 - lastAtMs).toBe(releaseTimeoutMs);
  });

  it('of storage under a budget is given up as well, and power-management follows', () => {
    const model = revoked({ release: 'evict' });
    const storageRelease = { at: AT, pods: 0, evidence: 'x', storages: ['san', 'nas'], bootID: 'boot-1', batch: 1, left: 1, againInMs: 10_000 };
    const operations = begun(model, 60, ({ action, step, operation }) => {
      if (operation === 'off:off') return ['refused'];
      if (action === 'confirm') return ['succeeded', readClosed(model)];
      return action === 'release' && step === 'isolation' ? ['succeeded', { storageRelease }] : undefined;
    });
    expect(operations.at(-1)).toBe('off:off');
    expect(operations.filter((operation) => operation === 'release')).not.toHaveLength(1);
  });

  it('under a budget comes at once behind what storage let go, where no pace is set', () => {
    const model = revoked({ release: 'evict', ...AT_ONCE });
    storageReleased(model);
    model.step();
    const freedAtMs = model.nowMs;
    expect([model.next(), model.next()]).toEqual(['off:off', 'release:release']);
    expect(model.nowMs - freedAtMs).toBe(0);
  });
});

describe('a node that Kubernetes still counts as Ready, and that somebody asked to be fenced', () => {
  it.each([
    ['its storage', 'isolation', {}, false],
    ['its storage, where it is to be isolated only', 'isolation', { lastStep: 'isolation' as const }, true],
    ['its machine, also where it was to be isolated only', 'power-management', { lastStep: 'isolation' as const }, false],
  ] as const)('keeps what hung on %s', (_what, step, asked, isLetGo) => {
    const model = { isolation: revoked, 'power-management': provenOff }[step]();
    if (model.node !== undefined) model.node = { ...model.node, ready: 'True' };
    written(model, () => ({ ...REQUESTED, ...asked }));
    const context: Partial<Context> = { provenAtMs: model.nowMs, triggered: true };
    expect(releases(model, step, context)).toBe(isLetGo);
  });

  it('is not tried on a proof that was read again and is gone, where the node lives by now', () => {
    const itself = method('itself', 'watchdog', 'run', { kind: 'action', device: '', evidence: 'watchdog' });
    const minimumEvidence = [...READ_BACK_EVIDENCE, 'watchdog'] as const;
    const model = new Model(planOf({ powerManagement: [{ level: 1, methods: [itself] }], minimumEvidence }));
    model.fail();
    expect(model.next()).toBe('run:cordon');
    const evidence = { kind: 'watchdog' as const, grade: 'inferred' as const, detail: 'silent', observedAt: 'now', bootID: 'boot-1' };
    model.runUntil(() => model.inFlight.size > 0);
    model.proofs.set(model.dispatched.at(-1)?.entry.id ?? '', model.nowMs);
    model.finish('succeeded', { evidence, evidenceAtMs: model.nowMs });
    expect(model.next('not-sent')).toBe('release:release');
    model.step();
    // The successor has read nothing, and reads it before it lets go; meanwhile the node has booted anew.
    model.takeOver();
    model.nowMs += 1_000;
    model.live({ ready: 'True', bootID: 'boot-2' });
    const operations = begun(model, 3, ({ action }) => (action === 'confirm' ? ['found-not-done'] : undefined));
    expect(operations.slice(0, 2)).toEqual(['confirm run:itself', 'release-end']);
    expect(model.status.released).toBeUndefined();
  });

  it('goes on with a release that a crash cut off where the node has booted anew: Kubernetes has nothing left to notice', () => {
    const model = provenOff();
    model.step();
    model.inFlight.clear();
    const source = model.status.evidence[0]?.source ?? '';
    const released = { by: 'delete-pods' as const, at: AT, pods: 1, evidence: source, left: 1, batch: 1 };
    written(model, ({ journal }) => ({ ...REQUESTED, released, journal: journal.filter(({ action }) => action !== 'release') }));
    const onBoot = (bootID: string): Partial<Context> => ({ node: model.node && { ...model.node, ready: 'True', bootID }, provenAtMs: model.nowMs });
    const begins = (bootID: string): string | undefined => {
      model.nowMs += 60_000;
      return nextOf(model, 'power-management', { ...onBoot(bootID), status: model.status });
    };
    expect([begins('boot-1'), begins('boot-2')]).toEqual([undefined, 'release']);
  });
});

/** What a step begins next by the plan of the model, with no ends of its own. */
function nextOf(model: Model, step: 'isolation' | 'power-management', more: Partial<Context>): string | undefined {
  const { fence, node, plan, status } = model;
  if (fence === undefined) throw new Error('there is no fence');
  const context = {
    snapshot: model.snapshot(),
    node,
    fence,
    status,
    plan,
    healthy: false,
    triggered: true,
    failing: true,
    provenAtMs: undefined,
    ...more,
  };
  const none = (): object => ({});
  return advance(context, step, { finished: none, failed: none }).dispatch?.entry.operation;
}

/** Is a release the next thing that this step begins, as its status stands with the last result folded in? */
function releases(model: Model, step: 'isolation' | 'power-management', more: Partial<Context>): boolean {
  const [report] = model.reports;
  const journal = model.status.journal.map((entry) => (entry.id === report?.id ? { ...entry, finishedAt: AT, result: 'succeeded' as const } : entry));
  const proof = report?.evidence === undefined ? [] : [{ ...report.evidence, source: report.id }];
  const status: NodeFenceStatus = { ...model.status, step, journal, evidence: [...model.status.evidence, ...proof] };
  return nextOf(model, step, { status, ...more }) === 'release';
}

describe('what comes back behind a release', () => {
  const deleting = levels([method('end', 'aws', 'delete', { device: 'cloud', plug: 'i-1', evidence: 'power-off' })]);
  it.each([
    ['a volume, before the machine is deleted', deleting, 'off:end', { pods: 0, volumeAttachments: 1 }, 'delete:end'],
    ['a pod, before the machine is deleted', deleting, 'off:end', { pods: 1, volumeAttachments: 0 }, 'delete:end'],
    ['a pod, before the machine is switched on', levels([OFF, ON]), 'off:off', { pods: 1, volumeAttachments: 0 }, 'on:on'],
  ])('is waited for, at most for release_timeout: %s', (_what, plan, off, workload, last) => {
    const model = isolated(plan);
    expect(begun(model, 3)).toEqual([off, 'release', 'release-end']);
    const endedAtMs = model.nowMs;
    model.workload = { ...workload, terminating: 0 };
    expect(begun(model, 1)).toEqual([last]);
    expect(model.nowMs - endedAtMs).toBeGreaterThan(40_000);
  });
});

describe('our taint, once the proof of its release is void', () => {
  const voided = (boots: readonly (string | undefined)[], bootID: string | undefined): string | undefined => {
    const model = provenOff();
    expect(model.next()).toBe('release:release');
    model.step();
    const [proof] = model.status.evidence;
    if (proof === undefined) throw new Error('nothing is proven');
    const evidence = boots.map((boot, index) => {
      const { bootID: _before, ...item } = { ...proof, source: `off-${index}`, voidedAt: AT, voidedBecause: 'it was heard' };
      return boot === undefined ? item : { ...item, bootID: boot };
    });
    written(model, ({ released }) => ({ evidence, ...(released && { released: { ...released, evidence: 'off-1', voidedAt: AT } }) }));
    if (model.node !== undefined) model.node = { ...model.node, bootID };
    return nextNow(model);
  };

  it.each([
    ['of the boot that was proven off, whatever was proven before and after it', ['boot-0', 'boot-1', 'boot-2'], 'boot-1'],
    ['of a proof that names no boot', ['boot-0', undefined], 'boot-1'],
    ['of a node that shows no boot', ['boot-0', 'boot-1'], undefined],
  ])('is taken back at once: %s', (_what, boots, bootID) => {
    expect(voided(boots, bootID)).toBe('release-end');
  });

  it('stays while something of the old boot is left, where the node has booted anew', () => {
    expect(voided(['boot-0', 'boot-1', 'boot-2'], 'boot-3')).toBeUndefined();
  });
});

describe('what is done while the machine is off', () => {
  const evacuate = method('evacuate', 'nova-service-down', 'run', { kind: 'action', whileOff: true });
  const plan = planOf(levels([OFF, evacuate, ON]));
  /** It is about to be begun; a proof without a boot says nothing of the boot that the Node shows. */
  const about = (bootID?: string): Model => {
    const model = isolated(plan);
    expect(begun(model, 3)).toEqual(['off:off', 'release', 'release-end']);
    model.step();
    model.inFlight.clear();
    written(model, ({ evidence, journal }) => ({
      evidence: evidence.map(({ bootID: _before, ...item }) => ({ ...item, ...(bootID !== undefined && { bootID }) })),
      journal: journal.filter(({ operation }) => operation !== 'run:evacuate'),
    }));
    return model;
  };
  const isBegun = (model: Model): boolean => begun(model, 1).includes('run:evacuate');

  it('is begun by a successor, which has not read the device itself, unless the Node shows another boot', () => {
    const same = about('boot-1');
    same.takeOver();
    same.fail();
    expect(isBegun(same)).toBe(true);
    const other = about('boot-1');
    other.takeOver();
    if (other.node !== undefined) other.node = { ...other.node, ready: 'Unknown', bootID: 'boot-2' };
    expect(isBegun(other)).toBe(false);
  });

  it('is begun on a proof that names no boot where nothing was heard since its read, and not behind a later sign', () => {
    const silent = about();
    const provenAtMs = silent.proofs.get(silent.status.evidence[0]?.source ?? '') ?? 0;
    if (silent.node !== undefined) silent.node = { ...silent.node, lifeAtMs: provenAtMs };
    expect(isBegun(silent)).toBe(true);
    const heard = about();
    if (heard.node !== undefined) heard.node = { ...heard.node, lifeAtMs: provenAtMs + 1 };
    expect(isBegun(heard)).toBe(false);
  });

  it('is not begun of a Node that is gone', () => {
    const model = about('boot-1');
    expect(nextOf(model, 'power-management', { node: undefined, plan })).not.toBe('run:evacuate');
  });
});

describe('that the workload was not let go under a hold', () => {
  it('is told again in another restart, whose machine was switched off anew', () => {
    const model = provenOff({ maxRestarts: 1 });
    model.holds = STORM;
    expect(model.next()).toBe('on:on');
    model.holds = [];
    model.runUntil(() => model.status.state === 'running' && model.status.restarts === 1);
    for (let runs = 0; runs < 9 && model.dispatched.at(-1)?.entry.operation !== 'off:off'; runs += 1) begun(model, 1);
    model.holds = STORM;
    expect(begun(model, 1)).toEqual(['on:on']);
    expect(model.events.filter((reason) => reason === 'NotReleased')).toHaveLength(2);
  });

  it('is no word about a port that recovery opens', () => {
    const model = isolated({ ...REVOKING, isolation: planOf().isolation });
    expect([model.next(), model.next('succeeded', batch(1, 1))]).toEqual(['off:off', 'release:release']);
    model.holds = STORM;
    model.step();
    written(model, ({ restore, journal }) => ({
      ...{ state: 'done', step: 'power-management', journal: journal.filter(({ finishedAt }) => finishedAt !== undefined) },
      restore: { edges: restore?.edges ?? [] },
    }));
    model.inFlight.clear();
    expect(lives(model, 'boot-2')).toContain(`on:${OPEN.name}`);
    expect(model.events).not.toContain('NotReleased');
  });
});
