import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, describe, expect, it } from 'vitest';

import { SystemClock } from '../../../src/runtime/system-clock.ts';
import { findProgram, NotStarted, runProgram } from './run-program.ts';
import type { ProgramRun } from './run-program.ts';

const folder = mkdtempSync(join(tmpdir(), 'nodefence-process-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let count = 0;
/** A shell script of its own name; `$0.pid` is for what it wants to be found by. */
function script(...lines: string[]): string {
  count += 1;
  const file = join(folder, `script-${count}`);
  writeFileSync(file, `#!/bin/sh\n${lines.join('\n')}\n`);
  chmodSync(file, 0o755);
  return file;
}

function run(argv: readonly string[], changes: Partial<ProgramRun> = {}) {
  return runProgram({ argv, clock: new SystemClock(), signal: new AbortController().signal, deadlineMs: 60_000, ...changes });
}

async function until(isSo: () => boolean): Promise<void> {
  const endsAt = performance.now() + 30_000;
  while (!isSo()) {
    if (performance.now() > endsAt) throw new Error('it did not come to pass');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

function isRunning(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

const pidIn = (file: string): number => Number(readFileSync(file, 'utf8'));

describe('a program', { timeout: 90_000 }, () => {
  it('gets its input and gives its outputs and its code', async () => {
    const file = script('read -r line', 'echo "heard $line"', 'echo "but $1" >&2', 'exit 7');
    expect(await run([file, 'a b'], { stdin: 'me\n' })).toEqual({
      ended: 'exited',
      code: 7,
      signal: null,
      stdout: 'heard me\n',
      stderr: 'but a b\n',
      isCut: false,
    });
  });

  it('is given its parameters as they are: no shell reads them', async () => {
    const odd = '$(touch x); `id` *';
    expect((await run([script('printf %s "$1"'), odd])).stdout).toBe(odd);
  });

  it('sees nothing of our environment but the path', async () => {
    const { stdout } = await run([script('env')], { path: '/usr/bin:/bin' });
    const names = stdout.split('\n').map((line) => line.split('=')[0]);
    expect(names.filter((name) => !['', 'PWD', 'OLDPWD', 'SHLVL', '_'].includes(name ?? '')).sort()).toEqual(['LANG', 'LC_ALL', 'PATH']);
  });

  it('that ends without reading its input has simply ended', async () => {
    expect(await run([script('exit 0')], { stdin: 'x'.repeat(1_000_000) })).toMatchObject({ ended: 'exited', code: 0 });
  });

  it('may say more than is kept, and is not held up', async () => {
    const result = await run([script('head -c 3000000 /dev/zero | tr "\\\\0" x', 'echo end >&2')], { outputMaxBytes: 1000 });
    expect(result).toMatchObject({ code: 0, isCut: true, stderr: 'end\n' });
    expect(result.stdout).toBe('x'.repeat(1000));
  });

  it('that a signal ended says so', async () => {
    expect(await run([script('kill -9 $$')])).toMatchObject({ ended: 'exited', code: null, signal: 'SIGKILL' });
  });
});

describe('what was started is gone', { timeout: 90_000 }, () => {
  it('at the deadline, with its children, also when they ignore SIGTERM', async () => {
    const file = script('trap "" TERM', `sh -c 'trap "" TERM; echo $$ >$0.pid; while :; do sleep 1; done' $0 &`, 'wait', 'wait');
    const result = await run([file], { deadlineMs: 3_000 });
    expect(result).toMatchObject({ ended: 'deadline', code: null, signal: 'SIGKILL' });
    expect(isRunning(pidIn(`${file}.pid`))).toBe(false);
  });

  it('also a child with a session of its own', async () => {
    const file = script(`setsid sh -c 'echo $$ >$0.pid; exec sleep 600' $0 &`, 'exec sleep 600');
    const result = await run([file], { deadlineMs: 3_000 });
    expect(result).toMatchObject({ ended: 'deadline' });
    await until(() => !isRunning(pidIn(`${file}.pid`)));
  });

  it('when the signal aborts', async () => {
    const controller = new AbortController();
    const file = script('echo $$ >$0.pid', 'exec sleep 600');
    const running = run([file], { signal: controller.signal });
    await until(() => existsSync(`${file}.pid`) && readFileSync(`${file}.pid`, 'utf8') !== '');
    controller.abort(new Error('enough'));
    expect(await running).toMatchObject({ ended: 'aborted', signal: 'SIGTERM' });
    expect(isRunning(pidIn(`${file}.pid`))).toBe(false);
  });

  it('when it ends and leaves a child behind that holds its pipes', async () => {
    const file = script('sleep 600 & echo $! >$0.pid', 'echo done');
    expect(await run([file])).toMatchObject({ ended: 'exited', code: 0, stdout: 'done\n' });
    await until(() => !isRunning(pidIn(`${file}.pid`)));
  });
});

describe('nothing is started', () => {
  it.each([[[]], [['']], [['no-such-program-anywhere']], [[join(folder, 'absent')]], [[folder]], [['/etc/passwd']]])(
    'by an empty argv, or by what is no program: %j',
    async (argv) => {
      let asked = 0;
      await expect(run(argv, { beforeStart: () => (asked += 1) })).rejects.toBeInstanceOf(NotStarted);
      expect(asked).toBe(0);
    },
  );

  it('when its signal is aborted already', async () => {
    const file = script('touch $0.ran');
    expect(await run([file], { signal: AbortSignal.abort() })).toMatchObject({ ended: 'aborted' });
    expect(existsSync(`${file}.ran`)).toBe(false);
  });

  it('when the caller forbids it at the last moment', async () => {
    const file = script('touch $0.ran');
    const forbidden = new Error('a stop stands');
    await expect(
      run([file], {
        beforeStart: () => {
          throw forbidden;
        },
      }),
    ).rejects.toBe(forbidden);
    expect(existsSync(`${file}.ran`)).toBe(false);
  });

  it('of a file that has no program in it', async () => {
    const file = join(folder, 'empty-interpreter');
    writeFileSync(file, '#!/no/such/interpreter\n');
    chmodSync(file, 0o755);
    await expect(run([file])).rejects.toBeInstanceOf(NotStarted);
  });
});

describe('programs are looked for', () => {
  it('in folders of the path that are whole', () => {
    expect(findProgram('sh', '/nowhere:/bin:/usr/bin')).toBe('/bin/sh');
    expect(findProgram('sh', 'bin:.:')).toBeUndefined();
    expect(findProgram('', '/bin')).toBeUndefined();
    expect(findProgram('/bin/sh', '')).toBe('/bin/sh');
  });
});
