import { describe, expect, it } from 'vitest';
import { ManualClock } from '../runtime/manual-clock.ts';
import type { Reading } from '../ports/agents.ts';
import { Harness, methodOf } from './testing/harness.ts';

type Identity = Reading['identity'];

/** An off whose reads show these identities one after the other, then `verified`; the states likewise, then `off`. */
async function identityOf(identities: readonly Identity[], states: readonly ('off' | 'pending')[] = []): Promise<Identity | undefined> {
  const harness = new Harness(new ManualClock());
  const plug = harness.plug('bmc');
  let read = -1;
  plug.onRead = () => {
    if (plug.state === 'on') return Promise.resolve(plug.reading());
    read += 1;
    return Promise.resolve({ ...plug.reading(), state: states[read] ?? 'off', identity: identities[read] ?? 'verified' });
  };
  const report = await harness.run(harness.job(methodOf('bmc', 'power'), 'off', { identityRequired: false }));
  expect(report.result).toBe('succeeded');
  return report.evidence?.identity;
}

describe('the identity of an off', () => {
  it('is verified only where each read that proves it verified it', async () => {
    expect(await identityOf([])).toBe('verified');
    expect(await identityOf(['unverified'])).toBe('unverified');
    expect(await identityOf(['verified', 'unverified'])).toBe('unverified');
  });

  it('is not that of the reads before the count began anew', async () => {
    expect(await identityOf(['unverified', 'unverified', 'unverified'], ['off', 'off', 'pending'])).toBe('verified');
  });
});
