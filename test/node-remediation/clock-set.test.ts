import { describe, expect, it } from 'vitest';
import { EPOCH_MS, MINUTE_MS, request, World } from './world.ts';

const TOMORROW_MS = EPOCH_MS + 24 * 60 * MINUTE_MS;

describe('an attempt that is dated by a clock that was set back since', () => {
  it('is followed by the next one behind the cooldown', () => {
    const world = new World({ request: request({ retryCount: 1, lastRemediatedMs: TOMORROW_MS }, { retryLimit: 2, cooldownSeconds: 300 }) });
    world.run(4 * MINUTE_MS);
    expect(world.fences).toBe(0);
    world.run(2 * MINUTE_MS);
    expect(world.fences).toBe(1);
  });

  it('is failed in its time where its node is not well behind it', () => {
    const world = new World({ request: request({}, { retryLimit: 1, timeoutSeconds: 300 }) });
    for (let minute = 0; minute < 10 && world.own.phase !== 'Succeeded'; minute += 1) world.run(MINUTE_MS);
    expect(world.own.phase).toBe('Succeeded');
    world.request = { ...world.own, lastRemediatedMs: TOMORROW_MS };
    if (world.node !== undefined) world.node = { ...world.node, isReady: false };
    world.run(20 * MINUTE_MS);
    expect(world.own.retryCount).toBe(1);
  });
});
