import { describe, expect, it } from 'vitest';
import { runSeed } from '../run-seed.ts';
import { scenarioWith } from './draws.ts';
import type { Check, Deed } from './secondary-controllers.ts';
import { ALL, played, quiet } from './testing.ts';

const TIMEOUT_MS = 240_000;
const SEEDS = 16;
const TIMES = { timeoutSeconds: 60, powerOffTimeoutSeconds: 120, powerOnTimeoutSeconds: 120 };

const request = (node: string, changes: Partial<Extract<Deed, { what: 'request' }>> = {}): Deed => ({
  what: 'request',
  node,
  atMs: 60_000,
  durationMs: 120_000,
  spec: { strategy: 'fence-and-recover', retryLimit: 0, ...TIMES },
  hasLease: false,
  ...changes,
});

/** What a device was told. */
function setsOf(lines: readonly string[], node: string): string[] {
  return lines
    .flatMap((line) => /device bmc-(\w+) set (\w+) -> 204/.exec(line)?.slice(1, 3).join(' ') ?? [])
    .filter((words) => words.startsWith(node));
}

/** Of the first line that has these words. */
function timeOf(lines: readonly string[], words: string): number {
  return Number(lines.find((line) => line.includes(words))?.split(' ')[0]);
}

describe('a world with all controllers', { timeout: TIMEOUT_MS }, () => {
  it('power-cycles a node that somebody asks for, and lets the request go when it is taken back', async () => {
    const { violations, lines } = await played(quiet({ composed: ALL, nodes: ['b'], deeds: [request('b')] }));
    expect(violations).toEqual([]);
    expect(setsOf(lines, 'b')).toEqual(['b off', 'b on']);
    expect(lines.join('\n')).toMatch(/api nodefence patch nodefenceremediations\.ha\.k8s\.io\/\S+ 200/);
  });

  it('leaves a node off for good, until somebody takes its machine into use again', async () => {
    const spec = { strategy: 'fence', nodeRemoval: 'DeleteNode', retryLimit: 0, ...TIMES } as const;
    const { violations, lines } = await played(quiet({ composed: ALL, nodes: ['b'], deeds: [request('b', { spec, durationMs: 200_000 })] }));
    expect(violations).toEqual([]);
    expect(setsOf(lines, 'b')).toEqual(['b off']);
    expect(timeOf(lines, 'somebody switches b on')).toBeGreaterThanOrEqual(260_000);
  });

  it('has the next Machine started when the devices of the one that was deleted have done what they were told', async () => {
    const pool = { most: 0, preserveMs: 600_000, healthMs: 30_000 };
    const deeds: Deed[] = [
      { what: 'preserve', node: 'a', atMs: 15_000, durationMs: 200_000, on: 'node', value: 'now' },
      { what: 'delete-machine', node: 'a', atMs: 180_000, durationMs: 0 },
    ];
    const slow = { device: 'slow', deviceEffectMs: [24_000, 24_000] } as const;
    const { violations, lines } = await played(quiet({ composed: ALL, nodes: ['a'], pool, deeds }, slow));
    expect(violations).toEqual([]);
    const offAtMs = timeOf(lines, 'device bmc-a set off -> 204');
    expect(timeOf(lines, 'somebody pulls the plug of a')).toBeGreaterThan(offAtMs);
    expect(timeOf(lines, 'somebody switches a on')).toBeGreaterThanOrEqual(offAtMs + 24_000);
  });

  it('has a Machine found ill by its health check, and remediated', async () => {
    const check: Check = { timeoutMs: 1_000, atMost: '100%', spec: { strategy: 'fence-and-recover', retryLimit: 0, ...TIMES } };
    const { violations, lines } = await played(
      quiet({ composed: ALL, nodes: ['b'], check, deeds: [{ what: 'illness', node: 'b', atMs: 60_000, durationMs: 90_000 }] }),
    );
    expect(violations).toEqual([]);
    expect(setsOf(lines, 'b')).toEqual(['b off', 'b on']);
    const made = lines.some((line) => /api nodefence create nodefenceremediations\S+ 201/.test(line));
    const gone = lines.some((line) => /api nodefence delete nodefenceremediations\S+ 200/.test(line));
    expect([made, gone]).toEqual([true, true]);
  });

  it('switches a machine that failed off only when nobody keeps it any more', async () => {
    const keeping: Deed = { what: 'preserve', on: 'node', value: 'when-failed', node: 'a', atMs: 16_000, durationMs: 150_000 };
    const pool = { most: 0, preserveMs: 400_000, healthMs: 600_000 };
    const { violations, lines } = await played(quiet({ composed: ALL, nodes: ['a'], pool, deeds: [keeping] }));
    expect(violations).toEqual([]);
    expect(setsOf(lines, 'a')).toEqual(['a off', 'a on']);
    expect(timeOf(lines, 'bmc-a set off')).toBeGreaterThan(166_000);
  });

  it('ends a Machine whose node stays away: proven off, deleted with its Node, and another one comes in its place', async () => {
    const pool = { most: 0, preserveMs: 60_000, healthMs: 10_000 };
    const spec = { strategy: 'fence', retryLimit: 0, ...TIMES } as const;
    const { violations, lines } = await played(quiet({ composed: ALL, nodes: ['b'], pool, deeds: [request('b', { spec, durationMs: 400_000 })] }));
    expect(violations).toEqual([]);
    expect(timeOf(lines, 'api nodefence delete machines.machine.sapcloud.io')).toBeGreaterThan(timeOf(lines, 'power b off'));
    expect(timeOf(lines, 'somebody switches b on')).toBeGreaterThan(timeOf(lines, 'api admin delete nodes/b'));
  });

  it('breaks no law while everything else goes wrong too', async () => {
    for (let seed = 1; seed <= SEEDS; seed += 1)
      expect([seed, (await runSeed(seed, { scenario: scenarioWith(seed, 'all') })).violations]).toEqual([seed, []]);
  });

  it('replays exactly', async () => {
    const hashes = [];
    for (let run = 0; run < 2; run += 1) hashes.push((await runSeed(5, { scenario: scenarioWith(5, 'all') })).hash);
    expect(hashes[1]).toBe(hashes[0]);
  });
});
