// The one entry of the npm scripts. Plain JavaScript, so that any Node from 20 on can start it: it installs what the lock file
// names, then runs the command under the pinned Node.
import { spawn } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setUpDependencies } from './setup.mjs';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const RUNTIME_MAJOR = 24;
const ORPHAN_POLL_MS = 500;

/** Command → what the pinned Node runs; the arguments of the command line follow. */
const COMMANDS = {
  drill: ['src/main.ts', 'drill'],
  test: ['scripts/test.ts'],
  check: ['scripts/check.ts'],
  'test:fresh': ['test/fresh/main.ts'],
  simulate: ['test/simulation/main.ts'],
  mutants: ['test/mutants/main.ts'],
  machine: ['test/machine/main.ts'],
  kubelet: ['test/kubelet/main.ts'],
  image: ['test/image/main.ts'],
  search: ['test/laws/main.ts'],
  bench: ['test/bench/main.ts'],
  build: ['scripts/supply/bundle.ts'],
  generate: ['scripts/generate.ts'],
  deb: ['scripts/deb/main.ts'],
  'deb:try': ['test/deb/main.ts'],
  'deb:boot': ['test/deb/boot/main.ts'],
  format: ['node_modules/oxfmt/bin/oxfmt', '.'],
};

/** The Node that came with the dependencies, or the running one where none exists for this platform and it is new enough. */
function runtime() {
  const pinned = join(ROOT, 'node_modules', '.bin', 'node');
  if (existsSync(pinned)) return pinned;
  if (Number(process.versions.node.split('.')[0]) >= RUNTIME_MAJOR) return process.execPath;
  throw new Error(
    `no pinned Node for ${process.platform}-${process.arch} came with the dependencies and this is Node ${process.versions.node}: ` +
      `install Node ${RUNTIME_MAJOR} or newer and run the command again`,
  );
}

function run(command, rest) {
  const child = spawn(runtime(), [...COMMANDS[command], ...rest], { cwd: ROOT, stdio: 'inherit' });
  // A terminal's Ctrl-C reaches the child by itself: it shares our process group.
  process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'));
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  // npm's shell dies of a signal without passing it on: then we are orphans, and nobody else would end the command.
  const parent = process.ppid;
  setInterval(() => process.ppid === parent || child.kill('SIGTERM'), ORPHAN_POLL_MS).unref();
  child.on('error', (error) => {
    process.stderr.write(`cannot start ${command}: ${error.message}\n`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + (constants.signals[signal] ?? 0);
  });
}

const [command = '', ...rest] = process.argv.slice(2);
if (!Object.hasOwn(COMMANDS, command)) {
  process.stderr.write(`unknown command ${JSON.stringify(command)}: one of ${Object.keys(COMMANDS).join(', ')}\n`);
  process.exitCode = 2;
} else {
  try {
    await setUpDependencies(ROOT);
    if (command === 'build') rmSync(join(ROOT, 'dist'), { recursive: true, force: true });
    run(command, rest);
  } catch (error) {
    process.stderr.write(`${command}: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
