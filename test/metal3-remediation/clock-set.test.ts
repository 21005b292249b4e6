import { describe, expect, it } from 'vitest';
import { MINUTE_MS, remediation, World } from './world.ts';

describe('a cycle that was begun by a clock that was set back since', () => {
  it('is given its time, and is tried again then', () => {
    const world = new World({ remediation: remediation({}, { strategy: { retryLimit: 1, timeoutSeconds: 600 } }), isBroken: true });
    for (let minute = 0; minute < 10 && world.own.phase !== 'Waiting'; minute += 1) world.run(MINUTE_MS);
    const { lastRemediatedMs = 0 } = world.own;
    world.remediation = { ...world.own, lastRemediatedMs: lastRemediatedMs + 24 * 60 * MINUTE_MS };
    world.run(9 * MINUTE_MS);
    expect(world.own).toMatchObject({ phase: 'Waiting', retryCount: 0 });
    world.run(2 * MINUTE_MS);
    expect(world.own.retryCount).toBe(1);
  });
});
