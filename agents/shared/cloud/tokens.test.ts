import { describe, expect, it } from 'vitest';

import { ManualClock } from '../../../src/runtime/manual-clock.ts';
import { TokenKeeper, type Token } from './tokens.ts';

describe('a kept token', () => {
  function keeper(): { clock: ManualClock; tokens: TokenKeeper<Token>; fetch: () => Promise<Token>; fetched: () => number } {
    const clock = new ManualClock();
    let count = 0;
    const fetch = (): Promise<Token> => {
      count += 1;
      return Promise.resolve({ text: `token-${count}`, expiresAtMs: clock.wallMs() + 600_000 });
    };
    return { clock, tokens: new TokenKeeper(clock), fetch, fetched: () => count };
  }

  it('is fetched once for calls that come together', async () => {
    const { tokens, fetch, fetched } = keeper();
    const found = await Promise.all([tokens.get(fetch), tokens.get(fetch), tokens.get(fetch)]);
    expect([found.map(({ text }) => text), fetched()]).toEqual([['token-1', 'token-1', 'token-1'], 1]);
  });

  it('is renewed before it ends, so that none ends in the middle of a fence', async () => {
    const { clock, tokens, fetch } = keeper();
    await tokens.get(fetch);
    await clock.advance(530_000);
    expect((await tokens.get(fetch)).text).toBe('token-1');
    await clock.advance(20_000);
    expect((await tokens.get(fetch)).text).toBe('token-2');
  });

  it('that is refused is dropped, and not the one that came meanwhile', async () => {
    const { tokens, fetch } = keeper();
    const first = await tokens.get(fetch);
    tokens.drop(first);
    const second = await tokens.get(fetch);
    tokens.drop(first);
    expect([second.text, (await tokens.get(fetch)).text]).toEqual(['token-2', 'token-2']);
  });

  it('that one call could not get is fetched by the next itself', async () => {
    const { tokens, fetch } = keeper();
    const failing = tokens.get(() => Promise.reject(new Error('ended')));
    const waiting = tokens.get(fetch);
    await expect(failing).rejects.toThrow('ended');
    expect((await waiting).text).toBe('token-1');
  });
});
