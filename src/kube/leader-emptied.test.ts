import { describe, expect, it } from 'vitest';
import type { Logger } from '../ports/recorder.ts';
import { ElectorHarness, held } from './testing/elector-harness.ts';

const quiet = (): void => undefined;

describe('a Lease without holder', () => {
  it('that its holder gave back is taken at once', async () => {
    const harness = new ElectorHarness();
    harness.server.set({ ...held('1'), holderIdentity: '', leaseDurationSeconds: 1 });
    const elector = harness.build('a');
    await harness.clock.advance(0);
    expect(elector.isLeading).toBe(true);
  });

  it('that somebody emptied by hand is waited out: its holder may not know yet, and act', async () => {
    const harness = new ElectorHarness();
    const said: string[] = [];
    const logger: Logger = {
      debug: quiet,
      warn: quiet,
      error: quiet,
      info: (message, { reason } = {}) => void said.push(`${message}: ${String(reason)}`),
    };
    const holder = harness.build('old');
    await harness.clock.advance(1_000);
    const standby = harness.build('new', { logger });
    await harness.clock.advance(0);
    harness.server.set({ ...harness.server.lease?.spec, holderIdentity: '' });
    standby.poke();
    await harness.clock.advance(500);
    expect([holder.isLeading, standby.isLeading]).toEqual([true, false]);
    await harness.clock.advance(14_000);
    expect([holder.isLeading, standby.isLeading]).toEqual([false, false]);
    expect(said.at(-1)).toBe('standing by: the Lease names no holder, and whoever held it last may act for 15 s more');
    await harness.clock.advance(3_000);
    expect(standby.isLeading).toBe(true);
  });

  it('of a longer lease is waited out for as long as that was', async () => {
    const harness = new ElectorHarness();
    harness.server.set({ ...held('1', 60), holderIdentity: '' });
    const elector = harness.build('a');
    await harness.clock.advance(59_000);
    expect(elector.isLeading).toBe(false);
    await harness.clock.advance(3_000);
    expect(elector.isLeading).toBe(true);
  });
});
