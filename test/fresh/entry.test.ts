import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { machinesNode } from './bare-machine.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Stands in for npm: counts its calls, writes to stdout, and installs a runtime that is this Node. */
const FAKE_NPM = `
const { appendFileSync, mkdirSync, symlinkSync, existsSync } = require('node:fs');
appendFileSync('npm-calls', process.argv.slice(2).join(' ') + '\\n');
console.log('added 1 package');
if (existsSync('npm-fails')) process.exit(9);
mkdirSync('node_modules/.bin', { recursive: true });
if (!existsSync('node_modules/.bin/node')) symlinkSync(${JSON.stringify(process.execPath)}, 'node_modules/.bin/node');
`;

describe('scripts/run.mjs', () => {
  let project: string;
  const old = machinesNode().path;

  beforeEach(() => {
    project = mkdtempSync(join(tmpdir(), 'nodefence-entry-'));
    mkdirSync(join(project, 'scripts'));
    for (const script of ['run.mjs', 'setup.mjs']) copyFileSync(join(ROOT, 'scripts', script), join(project, 'scripts', script));
    writeFileSync(join(project, 'fake-npm.cjs'), FAKE_NPM);
    writeFileSync(join(project, 'package.json'), JSON.stringify({ type: 'module' }));
    lock('1.0.0');
    script('process.stdout.write(JSON.stringify({ version: process.versions.node, rest: process.argv.slice(2) }));');
  });
  afterEach(() => {
    rmSync(project, { recursive: true, force: true });
  });

  function lock(version: string): void {
    writeFileSync(
      join(project, 'package-lock.json'),
      JSON.stringify({ packages: { '': {}, 'node_modules/a': { version, integrity: `sha512-${version}` } } }),
    );
  }
  function script(text: string): void {
    writeFileSync(join(project, 'scripts', 'check.ts'), text);
  }
  function environment(): NodeJS.ProcessEnv {
    return { PATH: process.env['PATH'], npm_execpath: join(project, 'fake-npm.cjs') };
  }
  function run(...parameters: string[]): { status: number | null; stdout: string; stderr: string } {
    return spawnSync(old, ['scripts/run.mjs', ...parameters], { cwd: project, env: environment(), encoding: 'utf8', timeout: 20_000 });
  }
  function calls(): string[] {
    const path = join(project, 'npm-calls');
    return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
  }

  it('installs with the npm that started it, on stderr, then runs the command under the pinned Node with its arguments', () => {
    const { status, stdout, stderr } = run('check', '--json', 'a b');
    expect([status, calls()]).toEqual([0, ['ci --include=dev --include=optional --no-progress']]);
    expect(JSON.parse(stdout)).toEqual({ version: process.versions.node, rest: ['--json', 'a b'] });
    expect(stderr).toContain('added 1 package');
  });

  it('installs again only when the lock file changed', () => {
    run('check');
    expect(run('check').stderr).toBe('');
    expect(calls()).toHaveLength(1);
    lock('1.0.1');
    run('check');
    expect(calls()).toHaveLength(2);
  });

  it('leaves an installation alone that npm itself brought to the lock file', () => {
    run('check');
    lock('2.0.0');
    copyFileSync(join(project, 'package-lock.json'), join(project, 'node_modules', '.package-lock.json'));
    expect(run('check').status).toBe(0);
    expect(calls()).toHaveLength(1);
  });

  it('fails with words when npm fails, and tries again next time', () => {
    writeFileSync(join(project, 'npm-fails'), '');
    expect(run('check')).toMatchObject({ status: 1, stdout: '' });
    expect(run('check').stderr).toContain('npm ci failed (exit 9)');
    expect(calls()).toHaveLength(2);
  });

  it('installs once when two commands start at once', async () => {
    const start = (): Promise<unknown[]> =>
      once(spawn(old, ['scripts/run.mjs', 'check'], { cwd: project, env: environment(), stdio: 'ignore' }), 'exit');
    expect(await Promise.all([start(), start()])).toEqual([
      [0, null],
      [0, null],
    ]);
    expect(calls()).toHaveLength(1);
  });

  it('takes over from a set-up that died', () => {
    const { pid } = spawnSync(process.execPath, ['--version']);
    mkdirSync(join(project, '.cache'));
    writeFileSync(join(project, '.cache', 'setup.lock'), String(pid));
    expect(run('check').status).toBe(0);
  });

  it('passes the exit code on', () => {
    script('process.exitCode = 7;');
    expect(run('check').status).toBe(7);
  });

  it('passes a signal on and ends as the command ends', async () => {
    run('check');
    script("process.on('SIGTERM', () => process.exit(5));\nsetInterval(() => undefined, 1000);\nprocess.stdout.write('ready');");
    const child = spawn(old, ['scripts/run.mjs', 'check'], { cwd: project, env: environment(), stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([5, null]);
  });

  it('ends the command when the shell between npm and it is killed', async () => {
    run('check');
    script(
      "import { writeFileSync } from 'node:fs';\nprocess.on('SIGTERM', () => { writeFileSync('ended', ''); process.exit(); });\nsetInterval(() => undefined, 1000);\nprocess.stdout.write('ready');",
    );
    const shell = spawn('sh', ['-c', `${old} scripts/run.mjs check; true`], {
      cwd: project,
      env: environment(),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(shell.stdout, 'data');
    shell.kill('SIGKILL');
    await expect.poll(() => existsSync(join(project, 'ended')), { timeout: 10_000 }).toBe(true);
  });

  it('names the commands when asked for another', () => {
    const { status, stderr } = run('dril');
    expect(status).toBe(2);
    expect(stderr).toContain('unknown command "dril": one of drill, test, ');
  });

  it('says what to install where no pinned Node exists and the running one is too old', () => {
    writeFileSync(join(project, 'fake-npm.cjs'), "require('node:fs').mkdirSync('node_modules', { recursive: true });");
    const { status, stderr } = run('check');
    const isNew = Number(machinesNode().version.slice(1).split('.')[0]) >= 24;
    expect([status, stderr]).toEqual(isNew ? [0, expect.any(String)] : [1, expect.stringContaining('install Node 24 or newer')]);
  });
});

describe('.ci/run', () => {
  it('runs npm test and nothing else, from anywhere, without a terminal, and ends with its exit code', () => {
    const folder = mkdtempSync(join(tmpdir(), 'nodefence-ci-'));
    try {
      writeFileSync(join(folder, 'npm'), '#!/bin/sh\necho "npm $* in $PWD"\nexit 3\n');
      chmodSync(join(folder, 'npm'), 0o755);
      const env = { PATH: `${folder}:${process.env['PATH'] ?? ''}`, CI: 'true' };
      const { status, stdout } = spawnSync(join(ROOT, '.ci', 'run'), [], {
        cwd: tmpdir(),
        env,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      expect([status, stdout]).toEqual([3, `npm test in ${ROOT.replace(/\/$/, '')}\n`]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
