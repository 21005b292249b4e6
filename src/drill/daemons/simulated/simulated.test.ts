import { describe, expect, it } from 'vitest';
import { DAEMON_FAULTS } from '../faults.ts';
import { daemonSummary, simulateDaemonDrill, simulatedFor } from '../run.ts';

const TIMEOUT_MS = 60_000;
const silent = (): void => undefined;

describe('a simulated drill of node daemons', { timeout: TIMEOUT_MS }, () => {
  it.each(DAEMON_FAULTS)('of %s ends as the one with real processes must', async (fault) => {
    const result = await simulateDaemonDrill(fault, 1, silent);
    expect([result.problems, result.expected, result.simulated]).toEqual([[], true, true]);
  });

  it('rests evidence on silence, and releases on a BMC that reads off, by laws that were checked', async () => {
    const partition = await simulateDaemonDrill('full-partition', 3, silent);
    expect([partition.laws['P11']?.checks, partition.laws['P1']?.checks].map((checks = 0) => checks > 0)).toEqual([true, true]);
    const fast = await simulateDaemonDrill('fast', 3, silent);
    expect((fast.laws['P10']?.checks ?? 0) > 0).toBe(true);
  });

  it('tells what happens and when, and how it ended, the same each time', async () => {
    const runs = [[], []] as [string[], string[]];
    const results = [];
    for (const lines of runs) results.push(await simulateDaemonDrill('full-partition', 2, (line) => void lines.push(line)));
    expect(runs[0]).toEqual(runs[1]);
    expect(runs[0].join('\n')).toMatch(
      /^ +0\.0 s {2}full-partition of (worker-\d): reaches nobody\n[^]*3\d\.\d s {2}\1 is reset: sysrq\n[^]*the pods of \1 had ended/m,
    );
    expect(results.map((result) => daemonSummary(result))[0]).toMatch(
      /^as it must be: full-partition on worker-\d of 5 nodes \(seed 2, simulated\)\n/,
    );
  });

  it.each(['full-partition', 'rack-partition', 'storage-lost', 'daemon-wedged'] as const)(
    'of %s is bad when neither the kernel nor the watchdog of a machine resets it',
    async (fault) => {
      const result = await simulateDaemonDrill(fault, 1, silent, { doesReset: false, watchdogRate: 0.001 });
      expect(result.expected).toBe(false);
      expect(result.problems.join('\n')).toMatch(/was reset 0 times, and must be once/);
    },
  );

  it('is bad when evidence comes while pods run that nobody stopped', async () => {
    const result = await simulateDaemonDrill('full-partition', 1, silent, { podStopMs: 900_000, doesReset: false, watchdogRate: 0.01 });
    expect(result.problems.join('\n')).toMatch(/P11 at [\d.]+: the watchdog of worker-\d was taken for its end/);
  });

  it('says in its first line that it is one, and what it leaves out', () => {
    expect(simulatedFor('network namespaces need root')).toMatch(
      /^simulated, .*: network namespaces need root\. Real processes need root and iproute2: /,
    );
  });
});
