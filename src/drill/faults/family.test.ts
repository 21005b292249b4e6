import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { Family } from './family.ts';

let ancestor: ChildProcess | undefined;
afterEach(() => {
  const group = ancestor?.pid;
  ancestor = undefined;
  if (group !== undefined) killGroup(group);
});

function killGroup(group: number): void {
  try {
    process.kill(-group, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** A shell with a child and a grandchild that would live for long. */
async function family(): Promise<number> {
  const shell = spawn('sh', ['-c', 'sh -c "sleep 60 & echo started; wait" & wait'], { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  ancestor = shell;
  await once(shell.stdout, 'data');
  return shell.pid ?? 0;
}

describe('the descendants of a process', () => {
  it('are found to the last generation, and seen to be gone', { timeout: 30_000 }, async () => {
    const pid = await family();
    const found = new Family(pid);
    expect(found.size).toBe(2);
    expect(found.alive()).toBe(2);
    killGroup(pid);
    expect(await found.untilGone(20_000)).toBeGreaterThanOrEqual(0);
    expect(found.alive()).toBe(0);
  });

  it('outlive their ancestor, and that is told', { timeout: 30_000 }, async () => {
    const pid = await family();
    const found = new Family(pid);
    process.kill(pid, 'SIGKILL');
    expect(await found.untilGone(200)).toBeUndefined();
    expect(found.alive()).toBe(2);
  });
});
