import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { SystemClock } from '../../runtime/system-clock.ts';
import { LeaseDisk } from './lease-disk.ts';
import type { DiskAnswer, LeaseDiskOptions } from './lease-disk.ts';
import { MachineFolder } from './testing/machine-folder.ts';

const PATH = '/dev/shared';
const DEADLINE_MS = 3_000;

let machine: MachineFolder;
let started: number[];
beforeEach(() => {
  machine = new MachineFolder();
  started = [];
});
afterEach(() => {
  for (const pid of started) if (existsSync(`/proc/${pid}`)) process.kill(pid, 'SIGKILL');
  machine.remove();
});

/** Says this and hangs; as of a child that waits for a dead disk, SIGKILL ends it only where that is said. */
const hanging =
  (says: string, diesOfIt = false): NonNullable<LeaseDiskOptions['spawn']> =>
  () => {
    const child = spawn('sh', ['-c', `read line; ${says}; exec sleep 60`], { stdio: ['pipe', 'pipe', 'ignore'] });
    if (child.pid !== undefined) started.push(child.pid);
    if (!diesOfIt) child.kill = () => true;
    return child;
  };
const disk = (options: Partial<LeaseDiskOptions> = {}): LeaseDisk =>
  new LeaseDisk({ clock: new SystemClock(), path: PATH, stateFolder: machine.stateFolder, ...options });
const noted = (): string[] => {
  const folder = join(machine.stateFolder, 'children');
  return existsSync(folder) ? readdirSync(folder) : [];
};

describe('a child that reads and writes a storage lease', { timeout: 20_000 }, () => {
  it('that hangs is given up at its deadline, and none is started beside it, be it by another process', async () => {
    const spawnHanging = hanging('echo begins');
    const one = disk({ spawn: spawnHanging });
    const began = performance.now();
    expect(await one.write(512, new Uint8Array(512), 300)).toEqual({ kind: 'silent', forMs: 300 });
    for (const again of [one, disk({ spawn: spawnHanging })]) {
      expect(await again.write(512, new Uint8Array(512), 300)).toMatchObject({ kind: 'silent' });
      expect(await again.read(0, 512, 300)).toMatchObject({ kind: 'silent' });
    }
    expect(performance.now() - began).toBeLessThan(5_000);
    expect(started).toHaveLength(1);
  });

  it('says for how long it is silent, and is started again once the one that hung has ended', async () => {
    const clock = new ManualClock();
    const one = disk({ clock, spawn: hanging('echo begins') });
    const first = one.read(0, 512, DEADLINE_MS);
    await vi.waitFor(() => expect(noted()).toHaveLength(1));
    await new Promise((resolve) => void setTimeout(resolve, 300));
    await clock.advance(DEADLINE_MS);
    expect(await first).toEqual({ kind: 'silent', forMs: DEADLINE_MS });
    await clock.advance(57_000);
    expect(await one.read(0, 512, DEADLINE_MS)).toEqual({ kind: 'silent', forMs: 60_000 });
    process.kill(started[0] ?? 0, 'SIGKILL');
    await vi.waitFor(() => expect(noted()).toEqual([]));
    void one.read(0, 512, DEADLINE_MS);
    await vi.waitFor(() => expect(started).toHaveLength(2));
  });

  it('that did not get to run is no storage that hangs', async () => {
    const one = disk({ spawn: hanging('true') });
    const busy: DiskAnswer = { kind: 'not-probed', why: 'the probe did not get to run' };
    expect([await one.read(0, 512, 200), await one.read(0, 512, 200)]).toEqual([busy, busy]);
    expect(started).toHaveLength(1);
  });

  it('stays noted where the end of the one before it is heard of late', async () => {
    const late: (() => void)[] = [];
    const spawnFirst = hanging('echo begins', true);
    const spawnSecond = hanging('echo begins');
    const kept: NonNullable<LeaseDiskOptions['spawn']> = (program, parameters) => {
      if (started.length > 0) return spawnSecond(program, parameters);
      const child = spawnFirst(program, parameters);
      const once = child.once.bind(child);
      const heldBack = (name: string, listener: (...said: unknown[]) => void): typeof child => {
        if (name !== 'exit') return once(name, listener);
        late.push(() => listener());
        return child;
      };
      child.once = heldBack as typeof child.once;
      return child;
    };
    const one = disk({ spawn: kept });
    expect(await one.read(0, 512, 300)).toMatchObject({ kind: 'silent' });
    await vi.waitFor(() => expect(existsSync(`/proc/${started[0] ?? 0}`)).toBe(false));
    const second = one.read(0, 512, 300);
    await vi.waitFor(() => expect(started).toHaveLength(2));
    for (const hear of late) hear();
    expect(await second).toMatchObject({ kind: 'silent' });
    expect(await one.read(0, 512, 300)).toMatchObject({ kind: 'silent' });
    expect(started).toHaveLength(2);
  });

  it('that cannot be noted does not stay, rejects nobody, and is started again once it can', async () => {
    const name = createHash('sha256').update(`lease ${PATH}`).digest('hex').slice(0, 32);
    const inTheWay = join(machine.stateFolder, 'children', `${name}.new`);
    mkdirSync(inTheWay, { recursive: true });
    const one = disk({ spawn: hanging('echo begins', true) });
    const unnoted = { kind: 'not-probed', why: expect.stringMatching(/^what runs cannot be noted: E[A-Z]+$/) as string };
    expect([await one.write(512, new Uint8Array(512), 300), await one.read(0, 512, 300)]).toEqual([unnoted, unnoted]);
    await vi.waitFor(() => expect(started.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]));
    rmSync(inTheWay, { recursive: true });
    expect(await one.read(0, 512, 300)).toEqual({ kind: 'silent', forMs: 300 });
  });
});
