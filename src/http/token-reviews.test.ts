import { describe, expect, it } from 'vitest';
import type { ApiRequest, ApiResponse } from '../ports/api-transport.ts';
import { ManualClock } from '../runtime/manual-clock.ts';
import { TokenReviews } from './token-reviews.ts';

/** An API server that knows one token, and says so at once, or when it is let. */
class Reviewed {
  readonly clock = new ManualClock();
  readonly asked: string[] = [];
  isAway = false;
  until: Promise<void> = Promise.resolve();
  readonly #reviews = new TokenReviews({ transport: { request: (request) => this.#answer(request) }, clock: this.clock, path: '/metrics' });

  access(token: string): Promise<unknown> {
    return this.#reviews.access(`Bearer ${token}`);
  }

  async #answer({ path, body }: ApiRequest): Promise<ApiResponse> {
    const { token } = (body as { spec: { token?: string } }).spec;
    if (token !== undefined) this.asked.push(token);
    await this.until;
    if (this.isAway) throw new Error('away');
    const status = path.endsWith('/tokenreviews') ? { authenticated: token === 'good', user: { username: 'prometheus' } } : { allowed: true };
    return { status: 201, body: { status }, headers: {} };
  }
}

describe('tokens that the API server is asked about', () => {
  it('are asked about once, however many come with the same one meanwhile, also when the answer has to be asked for anew', async () => {
    const server = new Reviewed();
    for (const count of [1, 2]) {
      expect(new Set(await Promise.all(Array.from({ length: 100 }, () => server.access('good'))))).toEqual(new Set(['granted']));
      expect(server.asked).toHaveLength(count);
      await server.clock.advance(60_000);
    }
  });

  it('are not asked about without bound in an outage, by a stranger whom it knew as one', async () => {
    const server = new Reviewed();
    expect(await server.access('bad')).toBe(401);
    await server.clock.advance(60_000);
    server.isAway = true;
    server.asked.length = 0;
    const answers: unknown[] = [];
    for (let count = 0; count < 100; count += 1) answers.push(await server.access('bad'));
    expect(server.asked).toHaveLength(5);
    expect(answers.slice(0, 6)).toEqual([503, 503, 503, 503, 503, 429]);
  });

  it('push out nobody who is let in, however many strangers there are', async () => {
    const server = new Reviewed();
    expect(await server.access('good')).toBe('granted');
    for (let count = 0; count < 300; count += 1) {
      await server.access(`bad-${count}`);
      if (count % 5 === 4) await server.clock.advance(1_000);
    }
    server.isAway = true;
    expect(await server.access('good')).toBe('granted');
  });
});
