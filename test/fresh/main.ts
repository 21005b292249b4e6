// `npm run test:fresh`: both commands of the README in a fresh clone, on a machine with nothing but an old Node and npm.
import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BareMachine, machinesNode } from './bare-machine.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const STEP_DEADLINE_MS = 15 * 60_000;

interface Claim {
  words: string;
  command: readonly string[];
  /** What is wrong with stdout; undefined when nothing is. */
  fault(stdout: string): string | undefined;
}

const CLAIMS: readonly Claim[] = [
  {
    words: 'npm run -s drill -- --json installs, fences and prints one JSON object',
    command: ['npm', 'run', '-s', 'drill', '--', '--json'],
    fault(stdout) {
      try {
        const report = JSON.parse(stdout) as { expected?: unknown };
        return report.expected === true ? undefined : 'expected is not true';
      } catch (error) {
        return `stdout is not one JSON object: ${String(error)}`;
      }
    },
  },
  {
    words: 'npm test ends with its one plain line (here: a part of the tests)',
    command: ['npm', 'test', '--', 'scripts', 'test/rules', 'src/config', 'src/domain'],
    fault: (stdout) =>
      /^[1-9]\d* passed, 0 failed, \d+ skipped$/.test(stdout.trimEnd().split('\n').at(-1) ?? '') ? undefined : 'the last line is another',
  },
];

function check(claim: Claim, clone: string, environment: Readonly<Record<string, string>>): boolean {
  const startedAt = performance.now();
  const [command = '', ...parameters] = claim.command;
  const run = spawnSync(join(environment['PATH'] ?? '', command), parameters, {
    cwd: clone,
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
    timeout: STEP_DEADLINE_MS,
    maxBuffer: 256 * 1024 * 1024,
  });
  const fault = run.status === 0 ? claim.fault(run.stdout) : `exit ${run.status ?? run.signal ?? 'unknown'}`;
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  process.stdout.write(`${fault === undefined ? 'ok    ' : 'FAILED'} ${claim.words} (${seconds} s)${fault === undefined ? '' : `: ${fault}`}\n`);
  if (fault !== undefined) process.stdout.write(`${run.stdout.slice(-4000)}\n`);
  return fault === undefined;
}

using machine = new BareMachine();
const clone = join(machine.root, 'clone');
execFileSync('git', ['clone', '--quiet', '--no-hardlinks', ROOT, clone], { stdio: ['ignore', 2, 2] });
process.stderr.write(`fresh clone of HEAD, empty home, Node ${machinesNode().version} on the PATH\n`);
const passed = CLAIMS.filter((claim) => check(claim, clone, machine.environment)).length;
process.stdout.write(`${passed} passed, ${CLAIMS.length - passed} failed, 0 skipped\n`);
process.exitCode = passed === CLAIMS.length ? 0 : 1;
