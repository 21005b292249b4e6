import { describe, expect, it } from 'vitest';
import { scenarioOf } from './draws.ts';
import { simplificationsOf, simplified } from './simplify.ts';

/** A seed with crashes, disturbances and a feed. */
const SEED = Array.from({ length: 500 }, (_unused, index) => index + 1).find((seed) => {
  const { crashes, disturbances, feed } = scenarioOf(seed);
  return crashes.length > 1 && disturbances.length > 1 && feed !== undefined;
});

describe('a scenario', () => {
  const drawn = scenarioOf(SEED ?? 0);

  it('does without each crash and each disturbance under a name that stays the same', () => {
    const last = drawn.crashes.length - 1;
    expect(simplified(drawn, [`crash.${last}`]).crashes).toEqual(drawn.crashes.slice(0, last));
    expect(simplified(drawn, ['crash.0', `crash.${last}`]).crashes).toEqual(drawn.crashes.slice(1, last));
    expect(simplified(drawn, ['disturbance.0']).disturbances).toEqual(drawn.disturbances.slice(1));
  });

  it('is quiet and sound when everything is left out', () => {
    const all = simplificationsOf(drawn);
    const quiet = simplified(drawn, all);
    expect(quiet).toMatchObject({ crashes: [], disturbances: [], fault: 'panic', device: 'honest', controllers: 1, isMisconfigured: false });
    expect('feed' in quiet).toBe(false);
    expect(quiet.expected).toMatchObject({ states: ['final'], release: 'must' });
  });

  it('is expected to end as what is left of it says', () => {
    expect(simplified(drawn, []).expected).toEqual(drawn.expected);
  });

  it('says what can be left out when a name says nothing', () => {
    expect(() => simplified(drawn, ['crash.9'])).toThrow(/crash\.9 cannot be left out of seed \d+: it has crash\.0, crash\.1/);
  });
});
