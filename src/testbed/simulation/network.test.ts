import { describe, expect, it } from 'vitest';
import { SeededRandom } from './seeded-random.ts';
import { CALM_API, Network } from './network.ts';

const MANY = Array.from({ length: 400 }, (_unused, index) => index);

describe('a network', () => {
  it('refuses most calls during a burst, reads only where the server is to blame, and none afterwards', () => {
    const network = new Network(new SeededRandom(1, 'network'));
    const end = network.refuseMost('conflict');
    expect(MANY.filter(() => network.fateOf('host', 'write') === 'conflict').length).toBeGreaterThan(200);
    expect(MANY.filter(() => network.fateOf('host', 'read') === 'conflict')).toEqual([]);
    end();
    expect(MANY.filter(() => network.fateOf('host', 'write') !== 'delivered')).toEqual([]);
  });

  it.each([
    ['webhook', 'pod-write', 'write'],
    ['status-refused', 'fence-status', 'write'],
  ] as const)('strikes with %s what is a %s, no %s', (how, struck, spared) => {
    const network = new Network(new SeededRandom(1, 'network'));
    network.refuseMost(how);
    expect(MANY.filter(() => network.fateOf('host', struck) === how).length).toBeGreaterThan(200);
    expect(MANY.filter(() => network.fateOf('host', spared) !== 'delivered')).toEqual([]);
  });

  it('refuses watches too while no backend answers, and goes back to the burst before when one ends', () => {
    const network = new Network(new SeededRandom(1, 'network'));
    const endFirst = network.refuseMost('retry-after');
    const endSecond = network.refuseMost('plain-404');
    expect(MANY.filter(() => network.watchRefusal() === 'plain-404').length).toBeGreaterThan(200);
    endSecond();
    expect(MANY.filter(() => network.watchRefusal() === 'retry-after').length).toBeGreaterThan(200);
    endFirst();
    expect(MANY.filter(() => network.watchRefusal() !== undefined)).toEqual([]);
  });

  it('ends watches with 410 and lets events overtake only where that was drawn', () => {
    const unruly = new Network(new SeededRandom(2, 'network'), { ...CALM_API, watchGoneShare: 0.1, watchOvertakeShare: 0.3, pageGoneShare: 0.3 });
    const fates = MANY.map(() => unruly.watchFate());
    expect(fates.some(({ what }) => what === 'gone')).toBe(true);
    expect(fates.some((fate) => fate.what === 'arrives' && fate.overtakes)).toBe(true);
    expect(MANY.some(() => unruly.isPageGone())).toBe(true);
    const calm = new Network(new SeededRandom(2, 'network'));
    expect(MANY.every(() => JSON.stringify(calm.watchFate()) === JSON.stringify({ what: 'arrives', times: 1, lateMs: 0, overtakes: false }))).toBe(
      true,
    );
  });
});
