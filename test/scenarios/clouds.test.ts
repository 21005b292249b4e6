import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { describe, expect, it } from 'vitest';

import type { DrillResult } from '../../src/drill/run/result.ts';
import { CLOUDS } from '../../src/testbed/devices/cloud/kinds.ts';
import { programPath } from '../../src/testbed/shipped/program.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

async function drill(...words: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const command = [programPath('main'), 'drill', ...words];
  return run(process.execPath, command, { cwd: ROOT, maxBuffer: 16_777_216 }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: unknown) => {
      const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
      return { code, stdout, stderr };
    },
  );
}

// By the program itself, in processes of Node: what a test runner makes of a package's module is not what users get.
describe.concurrent('a node of a cloud that no ConfigMap speaks of', { timeout: 180_000 }, () => {
  it.each(CLOUDS)('is fenced by its providerID and the credentials of the controller: %s', async (cloud) => {
    const { stdout } = await drill('--cloud', cloud, '--json');
    const result = JSON.parse(stdout) as DrillResult;
    expect(result.problems).toEqual([]);
    expect(result).toMatchObject({ agent: cloud, outcome: 'recovered', expected: true });
  });

  it('is not broken by what only a BMC can do', async () => {
    const { code, stderr } = await drill('--cloud', 'aws', '--fault', 'bmc-slow');
    expect([code, stderr]).toEqual([2, expect.stringContaining('--fault bmc-slow is played with BMCs; with --cloud one of panic, hang, partition')]);
  });
});
