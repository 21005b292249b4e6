import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { method } from '../../src/domain/testing/model.ts';
import { deviationsIn } from './deviations.ts';
import { shortPlan } from './short-plan.ts';
import { Walker } from './walker.ts';

/** What happens next: mostly that things go well, else one of the deviations that are possible there. */
const STEP = fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 2, arbitrary: fc.nat(1_000) });

const POWER = { deviceMaxLatencyMs: 5_000 };
const PLAN = fc
  .record({
    stepRetries: fc.integer({ min: 0, max: 2 }),
    maxRestarts: fc.constantFrom(-1, 0, 1, 3),
    release: fc.constantFrom('auto' as const, 'none' as const, 'delete-pods' as const),
    supplies: fc.integer({ min: 1, max: 3 }),
    levels: fc.integer({ min: 1, max: 2 }),
    isOffOnPurpose: fc.boolean(),
  })
  .map(({ supplies, levels, isOffOnPurpose, ...plan }) =>
    shortPlan({
      ...plan,
      powerManagement: Array.from({ length: levels }, (_level, index) => ({
        level: index + 1,
        methods: Array.from({ length: supplies }, (_supply, plug) =>
          method(`cycle-${index}-${plug}`, 'pdu', isOffOnPurpose ? 'off' : 'reboot', { ...POWER, device: `pdu-${index}`, plug: String(plug) }),
        ),
      })),
    }),
  );

/** Steps to the end of everything once nothing goes wrong any more. */
const END_MAX = 2_500;

function play(walker: Walker, steps: readonly (number | undefined)[]): string[] {
  const trail: string[] = [];
  for (const step of steps) {
    const possible = step === undefined ? [] : deviationsIn(walker);
    const deviation = step === undefined ? undefined : possible[step % Math.max(1, possible.length)];
    if (deviation === undefined) walker.proceed();
    else deviation.happen(walker);
    trail.push(deviation?.name ?? walker.model.rows.at(-1) ?? '');
    if (walker.violations.length > 0 || walker.isOver) break;
  }
  return trail;
}

describe('any run of the automaton, however much goes wrong', () => {
  it(
    'keeps the laws, decides purely, writes only what the server stores as it is, and ends once nothing goes wrong any more',
    { timeout: 120_000 },
    () => {
      fc.assert(
        fc.property(PLAN, fc.array(STEP, { maxLength: 80, size: 'max' }), (plan, steps) => {
          const walker = new Walker(plan);
          walker.isLimitable = true;
          const trail = play(walker, steps);
          // A fence that restarts for ever waits for people to mend its configuration; without that there is no end.
          walker.model.plan = { ...walker.model.plan, problems: [] };
          for (let count = 0; count < END_MAX && !walker.isOver && walker.violations.length === 0; count += 1) walker.proceed();
          expect(walker.violations, trail.join('\n')).toEqual([]);
          expect(walker.isOver, `no end; last rows ${walker.model.rows.slice(-6).join(' ')}; ${trail.join('\n')}`).toBe(true);
        }),
        { numRuns: 400, seed: 3 },
      );
    },
  );

  it(
    'never lets the journal grow beyond its bound, nor loses what the program must know: which off was sent, and what evidence names',
    { timeout: 60_000 },
    () => {
      const walker = new Walker(shortPlan({ stepRetries: 1_000, maxRestarts: -1 }));
      let named = 0;
      for (let count = 0; count < 400; count += 1) {
        if (walker.entry?.action === 'on') walker.finish('unreachable');
        else walker.proceed();
        const status = walker.model.fence?.status;
        const sources = (status?.evidence ?? []).filter(({ voidedAt }) => voidedAt === undefined).map(({ source }) => source);
        named += sources.length;
        expect(status?.journal.map(({ id }) => id) ?? []).toEqual(expect.arrayContaining(sources));
        expect(count <= 10 || status?.journal.some((entry) => entry.action === 'off')).toBe(true);
      }
      expect(named).toBeGreaterThan(0);
      expect(walker.violations).toEqual([]);
      expect(walker.model.status.journal.length).toBeLessThanOrEqual(64);
      expect(walker.model.status.journal.length, 'the bound was reached').toBeGreaterThan(60);
    },
  );
});
