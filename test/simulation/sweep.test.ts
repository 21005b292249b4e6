import { describe, expect, it } from 'vitest';
import { runSeed } from './run-seed.ts';
import { BASE_NAMES, firstPoint, parsePoint, playPoint, pointAt, pointsOf, pointText, sweptScenario } from './sweep.ts';

const TIMEOUT_MS = 240_000;
/** Prime, so that both moments and all kinds of calls come up. */
const EVERY = 23;

describe('a sweep', () => {
  it('numbers the points of each base: before and after the effect of each call, and where its NodeFence is taken away at it', () => {
    const base = BASE_NAMES[1] ?? '';
    const points = Array.from({ length: pointsOf(5, 2) }, (_unused, index) => pointText(pointAt(firstPoint(base) + index, 2)));
    expect(points).toEqual(
      [1, 3, 5].flatMap((nth) =>
        ['before-effect', 'after-effect', 'fence-removed', 'fence-removed-unheard'].map((moment) => `${base}:${nth}:${moment}`),
      ),
    );
    expect(points.map((text) => pointText(parsePoint(text)))).toEqual(points);
  });

  it('says how a point is written', () => {
    expect(() => parsePoint('taint:x:never')).toThrow('write BASE:CALL:MOMENT');
  });

  it.each(BASE_NAMES)(
    'of %s finds no crash, and no NodeFence that is taken away by force, that breaks a law or keeps the fence from ending',
    async (base) => {
      const calm = await runSeed(1, { scenario: sweptScenario(base) });
      expect([calm.state, ...calm.violations]).toEqual(['final']);
      const points = Array.from({ length: pointsOf(calm.calls ?? 0, EVERY) }, (_unused, index) => pointAt(firstPoint(base) + index, EVERY));
      expect(points.length).toBeGreaterThan(4);
      for (const point of points) {
        const result = await playPoint(point);
        expect([pointText(point), result.struck, ...result.violations]).toEqual([pointText(point), 1]);
      }
    },
    TIMEOUT_MS,
  );
});
