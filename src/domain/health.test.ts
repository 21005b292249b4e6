import { describe, expect, it } from 'vitest';
import { isJudgedBySilence, lastSignMs, lifeAfterProof, signsOf, staleHold } from './health.ts';
import { DEFAULT_TIMING } from './plan.ts';
import type { NodeFacts, Since } from './snapshot.ts';
import { planOf } from './testing/model.ts';

const NOW_MS = 2_000_000;

function nodeAs(ready: NodeFacts['ready'], silentMs = 0): NodeFacts {
  return { name: 'a', uid: 'uid-a', ready, readyReason: '', bootID: 'boot-1', lifeAtMs: NOW_MS - silentMs };
}

describe('the last sign of life after a proof', () => {
  it.each([
    ['the kubelet’s', { lifeAtMs: 5 }, 'power-off' as const, 5],
    ['the daemon’s, which was heard later', { lifeAtMs: 5, heardAtMs: 9 }, 'power-off' as const, 9],
    ['the kubelet’s, which was heard later', { lifeAtMs: 9, heardAtMs: 5 }, 'watchdog' as const, 9],
    ['the kubelet’s, where only storage was revoked: the daemon may live', { lifeAtMs: 5, heardAtMs: 9 }, 'storage-revoked' as const, 5],
    ['the kubelet’s, where a watchdog is waited for: the daemon speaks until it is reset', { lifeAtMs: 5, heardAtMs: 9 }, 'watchdog' as const, 5],
  ])('is %s', (_whose, heard, kind, lastMs) => {
    expect(lastSignMs(heard, { kind }, {})).toBe(lastMs);
  });
});

describe('the signs of a node', () => {
  const signs = (node: NodeFacts | undefined, since: Since = {}): ReturnType<typeof signsOf> => signsOf(node, undefined, planOf(), since, NOW_MS);

  it('count from the pass that saw them first', () => {
    expect(signs(nodeAs('False'))).toEqual({ notReady: NOW_MS, triggered: undefined, failing: undefined, healthy: undefined });
    const longAgoMs = NOW_MS - DEFAULT_TIMING.notReadyPeriodMs;
    expect(signs(nodeAs('False'), { notReady: longAgoMs })).toEqual({ notReady: longAgoMs, triggered: NOW_MS, failing: NOW_MS, healthy: undefined });
    expect(signs(nodeAs('True'), { healthy: 7 })).toMatchObject({ healthy: 7 });
  });

  it('end with what they rest on', () => {
    expect(signs(nodeAs('True'), { notReady: 1, triggered: 2, failing: 2 })).toEqual({
      notReady: undefined,
      triggered: undefined,
      failing: undefined,
      healthy: NOW_MS,
    });
    expect(signs(nodeAs('True', DEFAULT_TIMING.lifeWaitMs), { healthy: 7 }).healthy, 'Ready, and not heard').toBeUndefined();
  });

  it('are of failure where fast detection takes it for failed, though it is Ready and its kubelet was just heard', () => {
    const lost = { ...nodeAs('True'), silence: { since: 't', message: 'silent.' } };
    expect(signs(lost, { healthy: 7 })).toEqual({ notReady: undefined, triggered: NOW_MS, failing: NOW_MS, healthy: undefined });
    const never = signsOf(lost, undefined, { ...planOf(), trigger: 'never' }, {}, NOW_MS);
    expect(never.triggered).toBeUndefined();
  });

  it('of failure outlast a Node that is gone, and of health do not', () => {
    expect(signs(undefined, { notReady: 1, triggered: 2, failing: 2, healthy: 3 })).toEqual({
      notReady: 1,
      triggered: 2,
      failing: 2,
      healthy: undefined,
    });
  });

  it('are judged by silence only where the node controller itself hears nothing', () => {
    expect((['True', 'False', 'Unknown', 'missing', undefined] as const).filter(isJudgedBySilence)).toEqual(['Unknown']);
  });
});

describe('a process that hears nothing', () => {
  it('judges nobody, from one millisecond beyond its patience on', () => {
    expect(staleHold(NOW_MS - 10_000, 10_000, NOW_MS)).toBeUndefined();
    expect(staleHold(NOW_MS - 10_001, 10_000, NOW_MS)).toMatchObject({ reason: 'stale-view', policy: 'controller-isolated' });
  });
});

describe('life after the last off read', () => {
  const known = { uid: 'uid-a', bootID: 'boot-1', renewTime: 't1', heartbeat: 'h1' as string | undefined };
  const silent = { ...known, ready: 'Unknown' as const };

  it.each([
    ['a Node that is gone', undefined, /gone or was replaced/],
    ['another Node of the name', { ...silent, uid: 'uid-b' }, /gone or was replaced/],
    ['a renewed Lease', { ...silent, renewTime: 't2' }, /renewed at t2/],
    ['another boot', { ...silent, bootID: 'boot-2' }, /boot ID boot-2 appeared/],
    ['no boot any more', { ...silent, bootID: undefined }, /boot ID none appeared/],
    ['Ready', { ...silent, ready: 'True' as const }, /is Ready/],
  ])('%s', (_what, now, words) => {
    expect(lifeAfterProof(now, known)).toMatch(words);
  });

  it('is shown by a boot of which nothing was known then, also where the node is meant to live', () => {
    const unknown = { ...known, bootID: undefined };
    expect(lifeAfterProof({ ...silent, bootID: undefined }, unknown)).toBeUndefined();
    expect(lifeAfterProof(silent, unknown)).toMatch(/boot ID boot-1 appeared/);
    expect(lifeAfterProof(silent, unknown, true)).toMatch(/boot ID boot-1 appeared/);
  });

  it('is not shown by a Node that was Ready all the time, for Kubernetes has not noticed yet; a new heartbeat of it is', () => {
    const ready = { ...known, ready: 'True' as const, heartbeat: 'h1' };
    expect(lifeAfterProof(ready, { ...known, heartbeat: 'h1', mayBeReady: true })).toBeUndefined();
    expect(lifeAfterProof({ ...ready, heartbeat: 'h2' }, { ...known, heartbeat: 'h1', mayBeReady: true })).toMatch(/wrote its status at h2/);
    expect(lifeAfterProof(ready, { ...known, heartbeat: 'h1' })).toMatch(/is Ready/);
    expect(lifeAfterProof({ ...ready, heartbeat: undefined }, { ...known, heartbeat: undefined, mayBeReady: true })).toMatch(/is Ready/);
  });

  it('is shown by a kubelet that writes that its node is not Ready, whatever became of its Lease; not where it is meant to live', () => {
    const unready = { ...known, ready: 'False' as const, heartbeat: 'h2' };
    expect(lifeAfterProof(unready, { ...known, heartbeat: 'h1' })).toMatch(/wrote its status at h2, after the last off read/);
    expect(lifeAfterProof({ ...unready, heartbeat: undefined }, { ...known, heartbeat: 'h1' })).toMatch(/at an unknown time/);
    expect(lifeAfterProof(unready, { ...known, heartbeat: undefined }), 'the first that a kubelet says of it').toMatch(/wrote its status at h2/);
    expect([lifeAfterProof(unready, { ...known, heartbeat: 'h2' }), lifeAfterProof(unready, { ...known, heartbeat: 'h1' }, true)]).toEqual([
      undefined,
      undefined,
    ]);
  });

  it('is not shown by a silent Node, nor by a Lease that is gone', () => {
    expect(lifeAfterProof(silent, known)).toBeUndefined();
    expect(lifeAfterProof({ ...silent, renewTime: undefined }, known)).toBeUndefined();
  });
});
