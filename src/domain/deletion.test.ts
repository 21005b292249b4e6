import { describe, expect, it } from 'vitest';
import { compile } from './program.ts';
import type { NodeFenceStatus } from './node-fence.ts';
import type { Plan } from './plan.ts';
import { method, Model, planOf } from './testing/model.ts';

const DELETING = planOf({
  powerManagement: [{ level: 1, methods: [method('end', 'aws', 'delete', { device: 'cloud', plug: 'i-1', evidence: 'power-off' })] }],
});
const OR_RESTART: Plan = {
  ...DELETING,
  powerManagement: [...DELETING.powerManagement, { level: 2, methods: [method('again', 'aws', 'reboot', { device: 'cloud', plug: 'i-1' })] }],
};
const HOLD = { reason: 'x', policy: 'max-unhealthy', message: 'many fail' };

function switchedOff(plan = DELETING): Model {
  const model = new Model(plan);
  model.fail();
  expect([model.next(), model.next()]).toEqual(['run:cordon', 'off:end']);
  model.drained();
  return model;
}

/** Its workload is released, and nothing of it is left in the API. */
function released(plan = DELETING): Model {
  const model = switchedOff(plan);
  expect(model.next()).toBe('release:release');
  return model;
}

function toDelete(plan = DELETING): Model {
  const model = released(plan);
  expect(model.next()).toBe('release-end:release-end');
  return model;
}

function edges({ restore }: NodeFenceStatus): unknown {
  return restore?.edges;
}

describe('a plan that deletes the machine', () => {
  it('proves it off and releases its workload first, whatever else the level does', () => {
    expect(compile(DELETING, 'power-management', 1).map(({ key }) => key)).toEqual(['off:end', 'release', 'release-end', 'delete:end']);
    const model = toDelete();
    expect(model.next()).toBe('delete:end');
    model.step();
    expect(model.status.state).toBe('done');
    expect(model.events).toContain('InstanceDeleted');
    expect(edges(model.status), 'nothing is left to switch on').toBeUndefined();
  });

  it('ends as replaced when the Node goes, and where it stays says who has to take it away', () => {
    const gone = toDelete();
    gone.next();
    gone.step();
    gone.node = undefined;
    gone.step();
    expect(gone.status).toMatchObject({ state: 'final', outcome: 'replaced' });
    const stays = toDelete();
    stays.next();
    stays.runUntil(() => stays.status.state === 'final');
    expect(stays.status).toMatchObject({ outcome: 'replaced', message: expect.stringContaining('kubectl delete node') as string });
  });

  it.each([true, false])('says what of its ways stays closed when its Node is gone: %s', (isGone) => {
    const path = method('path', 'fc-switch', 'off', { kind: 'fabric', device: 'switch', plug: '7', storage: 'san' });
    const model = new Model({ ...DELETING, isolation: [{ level: 1, methods: [path] }] });
    model.fail();
    expect([model.next(), model.next()]).toEqual(['off:path', 'off:end']);
    model.drained();
    expect([model.next(), model.next(), model.next()]).toEqual(['release:release', 'release-end:release-end', 'delete:end']);
    if (isGone) model.node = undefined;
    model.runUntil(() => model.status.state === 'final');
    expect(model.status.outcome).toBe('replaced');
    expect(model.status.message).toContain('LeftOff: path (fc-switch switch 7) is still closed');
  });

  it('recovers a Node that another machine takes over under its name', () => {
    const model = toDelete();
    model.next();
    model.live({ ready: 'True', bootID: 'boot-2' });
    for (let beat = 0; beat < 20 && model.inFlight.size === 0; beat += 1) {
      model.step();
      model.nowMs += 5_000;
      model.live();
    }
    model.finish('succeeded');
    model.step();
    expect(model.dispatched.at(-1)?.entry.operation).toBe('run:uncordon');
    expect(model.status).toMatchObject({ state: 'final', outcome: 'recovered' });
  });

  it('waits for what was released to be gone before the machine goes, at most for release_timeout', () => {
    const model = new Model(DELETING);
    model.fail();
    for (let count = 0; count < 3; count += 1) model.next();
    const releasedAtMs = model.nowMs;
    expect([model.next(), model.next()]).toEqual(['release-end:release-end', 'delete:end']);
    expect(model.nowMs - releasedAtMs).toBeGreaterThanOrEqual(DELETING.timing.releaseTimeoutMs);
  });

  it.each([
    ['release', switchedOff, ['confirm:end', 'release:release', 'release-end:release-end', 'delete:end']],
    ['delete', toDelete, ['delete:end']],
  ] as const)('does nothing under a hold, for as long as it stands, before the %s', (_before, begun, left) => {
    const model = begun();
    model.holds = [HOLD];
    for (let count = 0; count < 20; count += 1) {
      model.step();
      model.nowMs += 60_000;
    }
    expect(model.rows.at(-1)).toBe('running-held-delete');
    expect(model.inFlight.size).toBe(0);
    expect(model.status.hold).toMatchObject({ policy: 'max-unhealthy' });
    model.holds = [];
    expect(left.map((): string => model.next())).toEqual(left);
  });

  it('takes our taint back under a hold all the same', () => {
    const model = released();
    model.holds = [HOLD];
    expect(model.next()).toBe('release-end:release-end');
    for (let count = 0; count < 5; count += 1) model.step();
    expect(model.rows.at(-1)).toBe('running-held-delete');
  });

  it.each(['timeout', 'unreachable', 'not-sent'] as const)('is not begun again under a hold, which is told, where it came to %s', (result) => {
    const model = toDelete();
    expect(model.next(result)).toBe('delete:end');
    model.holds = [HOLD];
    for (let count = 0; count < 10; count += 1) {
      model.step();
      model.nowMs += 60_000;
    }
    expect(model.rows.at(-1)).toBe('running-held-delete');
    expect(model.inFlight.size).toBe(0);
    expect(model.status.hold).toMatchObject({ policy: 'max-unhealthy' });
    model.holds = [];
    expect(model.next()).toBe('delete:end');
  });

  it('that its cloud refused goes on to the next level under a hold too', () => {
    const model = toDelete(OR_RESTART);
    model.next('refused');
    model.holds = [HOLD];
    for (let count = 0; count < 5; count += 1) {
      model.step();
      model.nowMs += 60_000;
    }
    expect(model.events).toContain('LevelFailed');
  });

  it.each(['not-sent', 'timeout'] as const)(
    'proves nothing any more where the boot that was proven off speaks, behind a deletion that came to %s',
    (result) => {
      const model = toDelete();
      expect(model.next(result)).toBe('delete:end');
      model.step();
      model.nowMs += 1;
      model.live();
      model.runUntil(() => model.status.state === 'error');
      expect(model.events).toContain('EvidenceVoided');
      expect(model.dispatched.filter(({ entry }) => entry.action === 'delete')).toHaveLength(1);
    },
  );

  it('follows a release on its own proof, where one on the word of a person had ended before anything was let go', () => {
    const model = new Model(DELETING);
    model.fail();
    model.next();
    model.acknowledgement = { name: 'ack-a', uid: 'word-1' };
    const evidence = { kind: 'ack', grade: 'person', detail: 'looked', observedAt: '', bootID: 'boot-1' } as const;
    expect(model.next('succeeded', { evidence, evidenceAtMs: model.nowMs })).toBe('acknowledge:ack-a');
    model.acknowledgement = undefined;
    expect(model.next('voided')).toBe('release:release');
    model.drained();
    const left = ['off:end', 'release:release', 'release-end:release-end', 'delete:end'];
    expect(left.map((): string => model.next())).toEqual(left);
  });

  it('is not carried out after a sign of life: nothing proves any more that the machine is off', () => {
    const model = toDelete();
    model.nowMs += 1;
    model.live({ bootID: 'boot-2' });
    model.runUntil(() => model.status.state === 'error');
    expect(model.status.message).toContain('nothing proves any more');
    expect(model.dispatched.some(({ entry }) => entry.action === 'delete')).toBe(false);
  });

  it('deletes no machine that is preserved, or perhaps is, and tries the next level, which brings it back', () => {
    for (const kind of ['isolate-and-hold', 'unknown'] as const) {
      const model = toDelete(OR_RESTART);
      model.preservation = kind === 'unknown' ? { kind } : { kind, cause: 'user' };
      expect(model.next(), kind).toBe('off:again');
      expect(model.events).toContain('LevelFailed');
    }
  });

  it('deletes nothing where the fence was asked to end in off', () => {
    const model = new Model(DELETING);
    model.fail();
    model.next();
    if (model.fence !== undefined) model.fence = { ...model.fence, spec: { node: 'a', ending: 'off', requestedBy: REQUESTER } };
    const asked = model.fence?.status;
    if (model.fence !== undefined && asked !== undefined) model.fence = { ...model.fence, status: { ...asked, ending: 'off' } };
    model.runUntil(() => model.inFlight.size > 0);
    model.finish('succeeded');
    for (let count = 0; count < 40 && model.status.state !== 'final'; count += 1) {
      model.step();
      if (model.inFlight.size > 0) model.finish('succeeded');
      model.nowMs += 5_000;
    }
    expect(model.dispatched.some(({ entry }) => entry.action === 'delete')).toBe(false);
  });

  it('that the cloud refuses to delete goes to the next level, or to an error that names what is off', () => {
    const model = toDelete(OR_RESTART);
    expect(model.next('refused', { message: 'DisableApiTermination' })).toBe('delete:end');
    expect([model.next(), model.next()]).toEqual(['off:again', 'release:release']);
    const alone = toDelete();
    alone.next('refused', { message: 'DisableApiTermination' });
    alone.runUntil(() => alone.status.state === 'error');
    expect(alone.status.message).toMatch(/DisableApiTermination.*LeftOff/su);
  });

  it('brings back nobody who came back although the deletion failed', () => {
    const model = toDelete(OR_RESTART);
    model.next('refused');
    model.live({ ready: 'True' });
    for (let beat = 0; beat < 20; beat += 1) {
      model.step();
      model.nowMs += 5_000;
      model.live();
    }
    expect(model.dispatched.some(({ entry }) => entry.method === 'again')).toBe(false);
  });

  it('is retried where it failed without a second off, and after a crash only looked at', () => {
    const model = toDelete();
    expect(model.next('timeout')).toBe('delete:end');
    model.runUntil(() => model.inFlight.size > 0);
    expect(model.dispatched.at(-1)?.entry).toMatchObject({ action: 'delete', attempt: 2 });
    model.takeOver();
    model.fail();
    model.runUntil(() => model.inFlight.size > 0);
    expect(model.dispatched.at(-1)).toMatchObject({ kind: 'recover', entry: { action: 'delete' } });
    model.finish('found-done');
    model.step();
    expect(model.status.state).toBe('done');
    expect(model.events).toContain('InstanceDeleted');
  });
});

const REQUESTER = { apiVersion: 'v1', kind: 'Person', name: 'x', uid: 'r-1' };
