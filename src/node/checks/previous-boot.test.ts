import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkPreviousBoot } from './previous-boot.ts';
import { MachineFolder } from './testing/machine-folder.ts';
import type { Verdict } from './verdict.ts';

const BOOTED = Date.UTC(2026, 10, 23, 12);
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
let machine: MachineFolder;
beforeEach(() => {
  machine = new MachineFolder();
  boot('boot-1', BOOTED);
});
afterEach(() => machine.remove());

function boot(bootID: string, atMs: number): void {
  machine.write({ 'proc/sys/kernel/random/boot_id': `${bootID}\n`, 'proc/stat': `cpu 1 2 3\nbtime ${atMs / 1000}\nprocesses 7\n` });
}
const check = async (once = false): Promise<Verdict> => checkPreviousBoot({ root: machine.root, stateFolder: machine.stateFolder }, { once });

describe('the previous boot', () => {
  it('crashed where the kernel left a record, in its words', async () => {
    machine.write({ 'sys/fs/pstore/dmesg-erst-1': '<6>usb 1-1\n<0>Kernel panic - not syncing: Fatal exception\n<0>more' }, BOOTED - 3 * MINUTE);
    expect(await check()).toEqual({ health: 'problem', sentence: 'the previous boot crashed: Kernel panic - not syncing: Fatal exception' });
  });

  it.each(['var/crash/127.0.0.1-2026-11-23-11:50:00/vmcore', 'var/crash/202611231150/dump.202611231150', 'var/lib/systemd/pstore/7/dmesg.txt'])(
    'crashed where there is a new %s',
    async (path) => {
      machine.write({ [path]: '\u0001binary' }, BOOTED - 5 * MINUTE);
      expect(await check()).toEqual({ health: 'problem', sentence: `the previous boot crashed: see /${path}` });
    },
  );

  it('did not crash by the crash of a program, nor by the log that memory keeps of every boot', async () => {
    machine.write({ 'var/crash/_usr_bin_app.1000.crash': 'x', 'sys/fs/pstore/console-ramoops-0': 'Kernel panic - not syncing: of long ago' }, BOOTED);
    expect(await check()).toEqual({ health: 'ok', sentence: 'no sign that the previous boot crashed' });
  });

  it('did not crash by a record of long ago', async () => {
    machine.write({ 'var/crash/202610010000/dump.202610010000': 'x' }, BOOTED - 2 * DAY);
    expect(await check()).toMatchObject({ health: 'ok' });
  });

  it('crashed by a record of days ago, where the machine stood still since and somebody looked before', async () => {
    machine.write({ 'var/crash/202610010000/dump.202610010000': 'x' }, BOOTED - 30 * DAY);
    await check();
    boot('boot-2', BOOTED + 5 * DAY);
    expect(await check()).toMatchObject({ health: 'ok' });
    machine.write({ 'sys/fs/pstore/dmesg-efi-1': 'Oops: 0002 [#1]' }, BOOTED + DAY);
    expect(await check()).toEqual({ health: 'problem', sentence: 'the previous boot crashed: Oops: 0002 [#1]' });
    boot('boot-3', BOOTED + 6 * DAY);
    expect(await check()).toMatchObject({ health: 'ok' });
  });

  it.each([
    ['32\n', 'the watchdog reset the node'],
    ['0x20\n', 'the watchdog reset the node'],
    ['1\n', 'the hardware was too hot'],
    ['16\n', 'the power was too low'],
  ])('was cut off where the watchdog says %j', async (status, words) => {
    machine.write({ 'sys/class/watchdog/watchdog0/bootstatus': status });
    expect(await check()).toEqual({ health: 'problem', sentence: `the previous boot was cut off: ${words}` });
  });

  it('was ended by the daemon itself, which is no crash', async () => {
    machine.write({
      'sys/fs/pstore/console-ramoops-0': '[9.1] nodefence: this node takes itself down: no grant for 20 s\n[9.2] sysrq: Resetting\n',
      'sys/class/watchdog/watchdog0/bootstatus': '32\n',
    });
    expect(await check()).toEqual({ health: 'ok', sentence: 'in the previous boot the node took itself down: no grant for 20 s' });
  });

  it('is unknown on a machine that keeps no traces, or does not say when it booted', async () => {
    expect(await check()).toMatchObject({
      health: 'unknown',
      sentence: 'not checked: this machine keeps no traces of a crash (pstore, kdump, watchdog)',
    });
    machine.write({ 'proc/stat': 'cpu 1\n' });
    expect(await check()).toMatchObject({ health: 'unknown', sentence: 'not checked: when this boot began is not told (/proc/stat)' });
  });
});

describe('an Event of the previous boot', () => {
  it('is told once in each boot', async () => {
    machine.write({ 'sys/class/watchdog/watchdog0/bootstatus': '32\n' });
    expect(await check(true)).toMatchObject({ health: 'problem' });
    expect(await check(true)).toEqual({ health: 'ok', sentence: 'told before: the previous boot was cut off: the watchdog reset the node' });
    expect(await check(false)).toMatchObject({ health: 'problem' });
    expect(await check(true)).toMatchObject({ health: 'ok' });
    boot('boot-2', BOOTED + DAY);
    expect(await check(true)).toMatchObject({ health: 'problem' });
  });

  it('is none of what is unknown', async () => {
    expect(await check(true)).toMatchObject({ health: 'ok' });
  });
});
