import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SeedResult } from './seed-result.ts';
import { runInWorkers } from './workers.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'nodefence-workers-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** A worker program that answers each seed, and does `deed` at seed 57. */
function programDoing(deed: string): string {
  const program = join(folder, 'program.mjs');
  const answer = `process.send({ seed, scenario: process.argv[2], violations: [], hash: '', events: 1, virtualMs: 1 });`;
  const serve = `process.on('message', ({ first, count }) => { for (let seed = first; seed < first + count; seed++) { if (seed === 57) { ${deed} } ${answer} } });`;
  writeFileSync(program, `${serve}\nprocess.on('disconnect', () => process.exit(0));\n`);
  return program;
}

async function run(deed: string, silenceMs = 20_000): Promise<SeedResult[]> {
  const results: SeedResult[] = [];
  await runInWorkers({
    program: programDoing(deed),
    argument: 'toy',
    first: 1,
    seeds: 120,
    jobs: 2,
    silenceMs,
    onResult: (result) => results.push(result),
  });
  return results.sort((left, right) => left.seed - right.seed);
}

const allSeeds = Array.from({ length: 120 }, (_unused, index) => index + 1);

describe('the worker processes', () => {
  it('run every seed exactly once', async () => {
    const results = await run('');
    expect(results.map((result) => result.seed)).toEqual(allSeeds);
    expect(results.every((result) => result.violations.length === 0 && result.scenario === 'toy')).toBe(true);
  });

  it('count a worker that dies as a violation of its seed and run the other seeds all the same', async () => {
    const results = await run('process.kill(process.pid, "SIGKILL");');
    expect(results.map((result) => result.seed)).toEqual(allSeeds);
    const failed = results.filter((result) => result.violations.length > 0);
    expect(failed.length).toBeGreaterThan(0);
    expect(failed[0]?.violations.join()).toContain('the worker process ended with SIGKILL');
  });

  it('count a worker that hangs as a violation of its seed and run the other seeds all the same', async () => {
    const results = await run('for (;;) { }', 1_500);
    expect(results.map((result) => result.seed)).toEqual(allSeeds);
    const failed = results.filter((result) => result.violations.length > 0);
    expect(failed.length).toBeGreaterThan(0);
    expect(failed[0]?.violations.join()).toContain('said nothing for 1.5 s');
  });
});
