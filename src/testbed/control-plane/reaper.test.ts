import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { Reaper } from './reaper.ts';

const REAPER = new URL('./reaper.ts', import.meta.url).href;

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('a program that knows nothing of us', () => {
  it('ends when its owner is killed', async () => {
    const script = `
      import { spawn } from 'node:child_process';
      import { Reaper } from ${JSON.stringify(REAPER)};
      const child = spawn('sleep', ['600'], { stdio: 'ignore' });
      new Reaper().watch(child.pid);
      process.stdout.write(String(child.pid));
      setInterval(() => undefined, 1000);`;
    const owner = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [text] = (await once(owner.stdout, 'data')) as [Buffer];
    const pid = Number(text.toString());
    expect(isAlive(pid)).toBe(true);
    owner.kill('SIGKILL');
    await expect.poll(() => isAlive(pid), { timeout: 15_000 }).toBe(false);
  });

  it('is left alone once it was released', async () => {
    const child = spawn('sleep', ['600'], { stdio: 'ignore' });
    const reaper = new Reaper();
    reaper.watch(child.pid ?? 0);
    reaper.release();
    const ended = once(child, 'exit');
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(child.exitCode).toBeNull();
    expect(child.signalCode).toBeNull();
    child.kill();
    expect(await ended).toEqual([null, 'SIGTERM']);
  });
});
