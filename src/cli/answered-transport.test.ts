import { describe, expect, it } from 'vitest';
import { TransportError } from '../ports/api-transport.ts';
import type { ApiTransport } from '../ports/api-transport.ts';
import { ManualClock } from '../runtime/manual-clock.ts';
import { ANSWERED_WITHIN_MS, AnsweredTransport } from './answered-transport.ts';

const LEASE = { method: 'GET', path: '/apis/coordination.k8s.io/v1/leases', deadlineMs: 1_000 } as const;

function harness(): { clock: ManualClock; transport: AnsweredTransport; server: { isGone: boolean } } {
  const clock = new ManualClock();
  const server = { isGone: false };
  const inner: ApiTransport = {
    request: async () => {
      if (server.isGone) throw new TransportError('unreachable', 'connect ECONNREFUSED');
      return { status: 503, body: {}, headers: {} };
    },
    watch: () => () => undefined,
  };
  return { clock, transport: new AnsweredTransport(inner, clock), server };
}

describe('the readiness check of the API server', () => {
  it('is not ready once nothing was answered for longer than a lease lives, and says why', async () => {
    const { clock, transport, server } = harness();
    server.isGone = true;
    await clock.advance(ANSWERED_WITHIN_MS);
    await expect(transport.request(LEASE)).rejects.toThrow('ECONNREFUSED');
    expect(transport.check()).toMatchObject({ name: 'api-server', ok: true });
    await clock.advance(1);
    expect(transport.check()).toEqual({ name: 'api-server', ok: false, detail: 'has not answered for 15.0 s: connect ECONNREFUSED' });
  });

  it('is ready again with the first answer, whatever its status', async () => {
    const { clock, transport, server } = harness();
    await clock.advance(60_000);
    expect(transport.check().ok).toBe(false);
    server.isGone = false;
    await transport.request(LEASE);
    expect(transport.check()).toEqual({ name: 'api-server', ok: true, detail: 'answered 0.0 s ago' });
  });
});
