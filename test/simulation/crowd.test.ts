import { describe, expect, it } from 'vitest';
import type { ControllerProgram } from './controller-program.ts';
import { scenarioOf } from './draws.ts';
import { fenceProgram } from './fence-program.ts';
import { runSeed } from './run-seed.ts';
import { failing } from './scenario.ts';
import { simplificationsOf } from './simplify.ts';

const crowded = Array.from({ length: 1000 }, (_unused, index) => scenarioOf(index + 1)).filter(({ crowd }) => crowd !== undefined);

describe('a crowd', { timeout: 60_000 }, () => {
  it('is drawn for some storms alone, and can be left out', () => {
    expect(crowded.length).toBeGreaterThan(40);
    expect(crowded.filter((scenario) => failing(scenario).size < 2)).toEqual([]);
    expect(crowded.filter((scenario) => !simplificationsOf(scenario).includes('crowd'))).toEqual([]);
  });

  it('works on one node at a time, by slow requests, and keeps every law', async () => {
    const scenario = crowded.find(({ nodes, crowd }) => nodes.length > 6 && crowd?.latencyMs[1] === 600);
    if (scenario === undefined) throw new Error('none of them is large and slow');
    const slots = new Set<number | undefined>();
    const program: ControllerProgram = (world) => {
      slots.add(world.slots);
      return fenceProgram()(world);
    };
    const slow = await runSeed(scenario.seed, { scenario, program });
    expect(slow.violations).toEqual([]);
    expect(slow.scenario).toContain('1 at a time, each request up to 1200 ms');
    expect([...slots]).toEqual([1]);
    const fast = await runSeed(scenario.seed, { scenario: { ...scenario, crowd: { slots: 1, latencyMs: scenario.api.latencyMs } } });
    expect(fast.hash).not.toBe(slow.hash);
  });
});
