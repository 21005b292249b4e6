import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';

vi.setConfig({ maxConcurrency: 2 });

describe.concurrent('of tests that run at once', () => {
  it('one that asserts early and ends late has asserted', async () => {
    expect(performance.now()).toBeGreaterThan(0);
    await sleep(200);
  });

  it('one that ends soon lets the third begin', async () => {
    await sleep(20);
    expect(performance.now()).toBeGreaterThan(0);
  });

  it('one that begins then, and asserts late, does not undo what the first asserted', async () => {
    await sleep(400);
    expect(expect.getState().assertionCalls).toBe(2);
  });
});
