import { describe, expect, it } from 'vitest';
import { ALL, played, quiet } from './testing.ts';
import type { Composed, HostDeed, Hosts } from './secondary-controllers.ts';

const TIMEOUT_MS = 240_000;
const PACE = { steadyMs: 3_000, shortWaitMs: 500, softMs: 6_000, backOffUnitMs: 500 };
const HOSTED: Composed = { ...ALL, preservation: false, hosts: true };

type Ask = Extract<HostDeed, { what: 'ask' }>;

const ask = (by: Ask['by'], durationMs = 120_000): HostDeed => ({
  ...{ node: 'b', atMs: 60_000, durationMs },
  what: 'ask',
  by,
  retryLimit: 1,
  timeoutSeconds: 100,
});

/** The host of node b; node c is the others' to act on. */
const world = (deeds: readonly HostDeed[], changes: Partial<Hosts> = {}) => {
  const hosts: Hosts = { nodes: ['b'], isServed: true, pace: PACE, deeds, ...changes };
  return played(quiet({ composed: HOSTED, nodes: [hosts.isServed ? 'c' : 'b'], deeds: [], hosts }));
};

/** What happened to the power of node b, who told its device so, and when our controllers freed what it held. */
function storyOf(lines: readonly string[]): string[] {
  return lines.flatMap((line) => {
    if (Number(line.split(' ')[0]) < 20_000) return [];
    const [, words] = /^[\d.]+ (?:api )?(power b \w+|operator bmc-b \w+|nodefence delete nodes\/b 200)/.exec(line) ?? [];
    return words === undefined ? [] : [words];
  });
}

const CYCLED = ['operator bmc-b off', 'power b off', 'operator bmc-b on', 'power b on'];

describe('a world with an operator of BareMetalHosts', { timeout: TIMEOUT_MS }, () => {
  it('has a Machine that is asked for switched off by its operator, its Node deleted in between, once', async () => {
    const { violations, lines } = await world([ask('machine')]);
    expect(violations).toEqual([]);
    const story = storyOf(lines);
    expect(story.filter((words) => words !== 'operator bmc-b on')).toEqual([
      'operator bmc-b off',
      'power b off',
      'nodefence delete nodes/b 200',
      'power b on',
    ]);
  });

  it('has a Metal3Remediation let the workload go while the host is off, and end', async () => {
    const { violations, lines } = await world([ask('metal3')]);
    expect(violations).toEqual([]);
    expect([...new Set(storyOf(lines))]).toEqual(CYCLED);
    expect(lines.some((line) => / api nodefence patch metal3remediations\S*\/status\/metal3\/machine-b 200/.test(line))).toBe(true);
  });

  it.each(['machine', 'metal3'] as const)('frees nothing of a node that nobody reaches while its BMC lies (asked by %s)', async (by) => {
    const faults: HostDeed[] = [
      { node: 'b', atMs: 55_000, durationMs: 200_000, what: 'bmc', behaviour: 'lies' },
      { node: 'b', atMs: 58_000, durationMs: 202_000, what: 'fail', fault: 'partition' },
    ];
    const { violations, lines } = await world([ask(by), ...faults]);
    expect(violations).toEqual([]);
    expect(storyOf(lines).filter((words) => words.startsWith('power') || words.startsWith('nodefence'))).toEqual([]);
    expect(storyOf(lines)).toContain('operator bmc-b off');
  });

  it('waits for an operator that stands still before it has switched, and goes on behind it', async () => {
    const { violations, lines } = await world([
      ask('machine', 300_000),
      { node: 'b', atMs: 50_000, durationMs: 130_000, what: 'operator', how: 'stopped' },
      { node: 'b', atMs: 58_000, durationMs: 400_000, what: 'fail', fault: 'panic' },
    ]);
    expect(violations).toEqual([]);
    const offMs = Number(lines.find((line) => line.includes('operator bmc-b off'))?.split(' ')[0]);
    expect(offMs).toBeGreaterThanOrEqual(180_000);
    expect(storyOf(lines)).toContain('nodefence delete nodes/b 200');
  });

  it('fences the node by our own devices where nobody minds the hosts', async () => {
    const { violations, lines } = await world([ask('machine', 500_000)], { isServed: false });
    expect(violations).toEqual([]);
    expect(lines.some((line) => line.includes('operator bmc'))).toBe(false);
    const offMs = Number(lines.find((line) => /device bmc-b set off -> 204/.test(line))?.split(' ')[0]);
    expect(offMs, 'five minutes without any status').toBeGreaterThan(300_000);
  });
});
