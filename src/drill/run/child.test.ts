import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Child } from './child.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'child-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

function options(script: string): { name: string; command: readonly string[]; logFile: string; ready: boolean } {
  return { name: 'child', command: ['sh', '-c', script], logFile: join(folder, 'log'), ready: true };
}

function stateOf(pid: number): string {
  return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.[0] ?? '';
}

describe('a process of the drill', () => {
  it('says its ready line', { timeout: 30_000 }, async () => {
    const { child, ready } = await Child.start({ ...options('echo \'{"ready":true,"port":1}\'; read -r _'), readyDeadlineMs: 20_000 });
    expect(ready).toEqual({ ready: true, port: 1 });
    await child.stop(5_000);
    expect(child.running).toBe(false);
  });

  it('that ends before it is ready is told of with the end of its log', { timeout: 30_000 }, async () => {
    const start = Child.start({ ...options('echo no disk >&2; exit 3'), readyDeadlineMs: 20_000 });
    await expect(start).rejects.toThrow(/child ended with 3: no disk/);
  });

  it('stands still while it is frozen, and goes on afterwards', { timeout: 60_000 }, async () => {
    const { child } = await Child.start({ ...options('echo \'{"ready":true}\'; read -r _'), readyDeadlineMs: 20_000 });
    const thaw = child.freeze();
    await expect.poll(() => stateOf(child.pid), { timeout: 20_000 }).toBe('T');
    thaw();
    await expect.poll(() => stateOf(child.pid), { timeout: 20_000 }).not.toBe('T');
    await child.stop(5_000);
  });
});
