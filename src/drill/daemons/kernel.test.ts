import { closeSync, constants, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { cgroupProblem, PlayedKernel } from './kernel.ts';

const problem = cgroupProblem();
const WATCHDOG_MS = 400;

describe.skipIf(problem !== undefined)(`a kernel that is played${problem === undefined ? '' : ` (${problem})`}`, () => {
  let root: string;
  let kernel: PlayedKernel;
  let resets: string[];
  const state = (): string => readFileSync(join(root, 'sys/class/watchdog/watchdog0/state'), 'utf8').trim();
  const opened = (): number => openSync(join(root, 'dev/watchdog0'), constants.O_WRONLY);

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'nodefence-kernel-'));
    mkdirSync(join(root, 'dev'));
    resets = [];
    kernel = new PlayedKernel({ root, systemUUID: 'u', watchdogMs: WATCHDOG_MS, onReset: (cause) => resets.push(cause) });
    kernel.boot('boot-1');
  });

  afterEach(() => {
    kernel.close();
    rmSync(root, { recursive: true });
  });

  it('has a watchdog that is armed by open, fed by any byte, and disarmed by a close after V', async () => {
    expect(state()).toBe('inactive');
    const file = opened();
    await vi.waitFor(() => expect(state()).toBe('active'));
    for (let times = 0; times < 8; times += 1) {
      await new Promise((resolve) => setTimeout(resolve, WATCHDOG_MS / 4));
      writeSync(file, '1');
    }
    expect(resets).toEqual([]);
    writeSync(file, 'V');
    closeSync(file);
    await vi.waitFor(() => expect(state()).toBe('inactive'));
    expect(kernel.isWatchdogActive).toBe(false);
  });

  it('is reset by its watchdog where the process that fed it ends without V', async () => {
    const file = opened();
    writeSync(file, '1');
    await vi.waitFor(() => expect(state()).toBe('active'));
    closeSync(file);
    await vi.waitFor(() => expect(resets).toEqual(['its watchdog was not fed']), 2_000);
    expect(state()).toBe('inactive');
  });

  it('is reset by sysrq, once', async () => {
    writeFileSync(join(root, 'proc/sysrq-trigger'), 'b');
    await vi.waitFor(() => expect(resets).toEqual(['sysrq']));
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(resets).toEqual(['sysrq']);
  });
});
