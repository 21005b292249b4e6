import { describe, expect, it } from 'vitest';
import type { ApiEvent } from '../../src/laws/trace.ts';
import { FenceWatch } from './fence-watch.ts';

const HOLD = { reason: 'storm', policy: 'max-unhealthy', message: '2 of 4', since: '2026-01-01T00:01:00.000Z' };

function written(status: object, more: object = {}): ApiEvent {
  const metadata = { name: 'node-fence-a', uid: 'u', finalizers: ['f'], ...more };
  const object = { metadata, spec: { node: 'a' }, status: { state: 'new', incident: 1, journal: [], ...status } };
  return { kind: 'api', at: 0, user: 'nodefence', verb: 'update', resource: 'nodefences.ha.k8s.io', name: 'node-fence-a', status: 200, object };
}

describe('when a fence was changed last', () => {
  it.each([
    ['another state', written({ state: 'running', hold: HOLD }), true],
    ['another hold', written({ hold: { ...HOLD, policy: 'cooldown' } }), true],
    ['that it is being deleted', written({ hold: HOLD }, { deletionTimestamp: '2026-01-01T00:02:00Z' }), true],
    ['what holds it besides', written({ hold: { ...HOLD, checkedAt: '2026-01-01T00:02:00Z', besides: [{ policy: 'own-node' }] } }), false],
  ])('%s counts or not', (_what, event, isCounted) => {
    let nowMs = 1;
    const fence = new FenceWatch(() => nowMs);
    fence.hear(written({ hold: HOLD }));
    nowMs = 2;
    fence.hear(event);
    expect(fence.changedAtMs).toBe(isCounted ? 2 : 1);
  });
});
