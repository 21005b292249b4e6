import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { LoopLoad } from './loop-load.ts';

it('tells what share of the time since the last question the event loop was busy', async () => {
  const load = new LoopLoad();
  const untilMs = performance.now() + 100;
  while (performance.now() < untilMs);
  expect(load.busyShare()).toBeGreaterThan(0.9);
  await pause(300);
  expect(load.busyShare()).toBeLessThan(0.9);
});
