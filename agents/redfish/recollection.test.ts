import { describe, expect, it } from 'vitest';

import { ManualClock } from '../../src/runtime/manual-clock.ts';
import { Recollection, Recollections } from './recollection.ts';

const session = Buffer.from('ticket');
const HOUR_MS = 3_600_000;

function endsIn(clock: ManualClock, ms: number): { fingerprint: string; expiresAt: string } {
  return { fingerprint: 'ab', expiresAt: new Date(clock.wallMs() + ms).toISOString() };
}

describe('a TLS session that is kept', () => {
  it('is offered for an hour after the handshake in which the certificate was verified, however often it was resumed', async () => {
    const clock = new ManualClock();
    const known = new Recollection(clock);
    const certificate = endsIn(clock, 10 * HOUR_MS);
    known.keep({ session, certificate, verifiedAtMs: clock.monotonicMs() });
    await clock.advance(HOUR_MS - 1);
    const { resumable } = known;
    expect(resumable).toMatchObject({ session, certificate });
    if (resumable !== undefined) known.keep(resumable);
    await clock.advance(1);
    expect(known.resumable).toBeUndefined();
  });

  it('is not offered once its certificate has ended, nor where nobody knows when it ends', async () => {
    const clock = new ManualClock();
    const known = new Recollection(clock);
    known.keep({ session, certificate: endsIn(clock, 60_000), verifiedAtMs: clock.monotonicMs() });
    expect(known.resumable).toBeDefined();
    await clock.advance(60_000);
    expect(known.resumable).toBeUndefined();
    known.keep({ session, certificate: { fingerprint: 'ab', expiresAt: undefined }, verifiedAtMs: clock.monotonicMs() });
    expect(known.resumable).toBeUndefined();
  });

  it('is of one key, and of the 5,000 that were used last', () => {
    const all = new Recollections(new ManualClock());
    const first = all.of('device 0');
    expect(all.of('device 0')).toBe(first);
    for (let index = 1; index < 5_000; index += 1) all.of(`device ${index}`);
    expect(all.of('device 0')).toBe(first);
    const second = all.of('device 1');
    for (let index = 0; index < 4_999; index += 1) all.of(`later ${index}`);
    expect(all.of('device 1')).toBe(second);
    expect(all.of('device 0')).not.toBe(first);
  });
});
