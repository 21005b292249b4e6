import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SystemClock } from '../../runtime/system-clock.ts';
import { MachineTree } from './testing/machine-tree.ts';
import { KernelWatchdog } from './watchdog-device.ts';
import type { WatchdogOptions } from './watchdog-device.ts';
import { watchdogDevices } from './watchdog-facts.ts';

let machine: MachineTree;
let log: ReturnType<typeof logOf>;
const logOf = () => ({ info: vi.fn(), warn: vi.fn(), error: vi.fn() });
const hasWdctl = spawnSync('wdctl', ['--version']).status === 0;
const softdog = ['0', '1', '2']
  .map((number) => `/sys/class/watchdog/watchdog${number}`)
  .find((folder) => existsSync(folder) && readFileSync(`${folder}/identity`, 'utf8').trim() === 'Software Watchdog');

function watchdog(options: Partial<WatchdogOptions> = {}): KernelWatchdog {
  return new KernelWatchdog({
    root: machine.root,
    device: '/dev/watchdog0',
    clock: new SystemClock(),
    log,
    wdctl: join(machine.root, 'wdctl'),
    ...options,
  });
}

/** What util-linux does to a driver that takes seconds between 2 and 600. */
function addWdctl(timeout: string): void {
  machine.write(
    'wdctl',
    `#!/bin/sh\necho "$@" > ${machine.root}/wdctl-called\necho ${timeout} > ${machine.root}/sys/class/watchdog/watchdog0/timeout\n`,
  );
  chmodSync(join(machine.root, 'wdctl'), 0o700);
}

beforeEach(() => {
  machine = new MachineTree();
  log = logOf();
});
afterEach(() => machine[Symbol.dispose]());

describe('the facts of a watchdog', () => {
  it('are those of sysfs', async () => {
    machine.addWatchdog();
    expect(await watchdog().facts()).toEqual({
      device: '/dev/watchdog0',
      identity: 'iTCO_wdt',
      kind: 'hardware',
      action: 'reset',
      isPausable: false,
      timeoutMs: 10_000,
      isNowayout: false,
      outlivesClose: true,
    });
  });

  it('call a watchdog soft that is softdog, or that no hardware stands behind', async () => {
    machine.addWatchdog({ identity: 'Software Watchdog' });
    expect(await watchdog().facts()).toMatchObject({ kind: 'soft' });
    machine.addWatchdog({ identity: 'new_wdt' });
    expect(await watchdog().facts()).toMatchObject({ kind: 'hardware' });
    rmSync(join(machine.root, 'sys/class/watchdog/watchdog0/device'), { recursive: true });
    expect(await watchdog().facts()).toMatchObject({ kind: 'soft' });
  });

  it('say that it stands still at every close where the driver knows no magic close', async () => {
    machine.addWatchdog({ options: '0x8080' });
    expect(await watchdog().facts()).toMatchObject({ outlivesClose: false });
  });

  it.each([
    [{ 'proc/cpuinfo': 'flags\t\t: fpu vme hypervisor sse2\n' }, true],
    [{ 'sys/hypervisor/type': 'xen\n' }, true],
    [{ 'sys/class/dmi/id/sys_vendor': 'QEMU\n' }, true],
    [{ 'sys/class/dmi/id/sys_vendor': 'Microsoft Corporation\n', 'sys/class/dmi/id/product_name': 'Virtual Machine\n' }, true],
    [{ 'sys/class/dmi/id/sys_vendor': 'Amazon EC2\n', 'sys/class/dmi/id/product_name': 'm7g.large\n' }, true],
    [{ 'sys/class/dmi/id/sys_vendor': 'Amazon EC2\n', 'sys/class/dmi/id/product_name': 'm7g.metal\n' }, false],
    [{ 'sys/class/dmi/id/sys_vendor': 'Dell Inc.\n', 'sys/class/dmi/id/product_name': 'PowerEdge R650\n' }, false],
    [{ 'sys/class/dmi/id/sys_vendor': 'Hetzner\n', 'sys/class/dmi/id/product_name': 'vServer\n' }, true],
    [{ 'sys/class/dmi/id/sys_vendor': 'KubeVirt\n' }, true],
    // A virtual machine whose host hides its hypervisor, and shows its own DMI.
    [{ 'sys/bus/virtio/devices/virtio0/vendor': '0x1af4\n' }, true],
    [{ 'sys/firmware/qemu_fw_cfg/rev': '3\n' }, true],
    [{ 'sys/bus/virtio/drivers/virtio_net/uevent': '' }, false],
    // POWER and z: partitions of other machines.
    [{ 'proc/cpuinfo': 'processor\t: 0\ncpu\t\t: POWER9 (architected)\nmachine\t\t: CHRP IBM,9009-22A\n' }, true],
    [{ 'proc/cpuinfo': 'vendor_id       : IBM/S390\nfeatures\t: esan3 zarch\n' }, true],
    [{ 'proc/cpuinfo': 'processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\n' }, false],
    [{ 'sys/power/state': 'freeze mem disk\n' }, true],
    [{ 'sys/power/state': 'freeze mem disk\n', 'etc/systemd/system/sleep.target': '' }, false],
    [{ 'sys/power/state': 'freeze mem disk\n', 'etc/systemd/system/sleep.target': '[Unit]\n' }, true],
  ])('with %j: pausable is %j', async (files, isPausable) => {
    machine.addWatchdog();
    for (const [path, text] of Object.entries(files)) machine.write(path, text);
    expect(await watchdog().facts()).toMatchObject({ isPausable });
  });

  it('know a sleep.target that systemctl masked', async () => {
    machine.addWatchdog();
    machine.write('sys/power/state', 'mem\n');
    mkdirSync(join(machine.root, 'etc/systemd/system'), { recursive: true });
    symlinkSync('/dev/null', join(machine.root, 'etc/systemd/system/sleep.target'));
    expect(await watchdog().facts()).toMatchObject({ isPausable: false });
  });

  it('call a machine pausable that does not show its processor', async () => {
    machine.addWatchdog();
    rmSync(join(machine.root, 'proc/cpuinfo'));
    expect(await watchdog().facts()).toMatchObject({ isPausable: true });
  });

  it.each([
    ['Software Watchdog', 'softdog/parameters/soft_panic', '1', 'panic'],
    ['Software Watchdog', 'softdog/parameters/soft_noboot', '1', 'none'],
    ['Software Watchdog', 'softdog/parameters/soft_noboot', '0', 'reset'],
    ['IPMI', 'ipmi_watchdog/parameters/action', 'power_off', 'off'],
    ['IPMI', 'ipmi_watchdog/parameters/action', 'none', 'none'],
    ['IPMI', 'ipmi_watchdog/parameters/other', '', 'unknown'],
  ])('of %s with %s=%s say that it does %4$s', async (identity, parameter, value, action) => {
    machine.addWatchdog({ identity });
    machine.write(`sys/module/${parameter}`, `${value}\n`);
    expect(await watchdog().facts()).toMatchObject({ action });
  });

  it('are a problem in words where there is none, where sysfs says too little, or where a crash kernel is loaded', async () => {
    expect(await watchdog().facts()).toEqual({ problem: 'there is no watchdog /dev/watchdog0 in sysfs: is its driver loaded?' });
    expect(await watchdog({ device: '/dev/sda' }).facts()).toEqual({ problem: '/dev/sda is no watchdog device: write /dev/watchdog0' });
    machine.addWatchdog({ timeout: '' });
    expect(await watchdog().facts()).toHaveProperty('problem', expect.stringContaining('does not say in sysfs how long it waits'));
    machine.addWatchdog();
    machine.write('sys/kernel/kexec_crash_loaded', '1\n');
    expect(await watchdog().facts()).toHaveProperty('problem', expect.stringContaining('a crash kernel is loaded'));
    expect(await watchdog({ isArmedBesideCrashKernel: true }).facts()).toMatchObject({ identity: 'iTCO_wdt' });
    machine.write('sys/kernel/kexec_crash_loaded', '0\n');
    expect(await watchdog().facts()).toMatchObject({ identity: 'iTCO_wdt' });
  });

  it('of /dev/watchdog are those of the first', async () => {
    machine.addWatchdog();
    expect(await watchdog({ device: '/dev/watchdog' }).facts()).toMatchObject({ device: '/dev/watchdog', identity: 'iTCO_wdt' });
  });

  it('find the hardware first', async () => {
    expect(await watchdogDevices(machine.root)).toEqual([]);
    machine.addWatchdog({ identity: 'Software Watchdog' });
    for (const [name, text] of Object.entries({ identity: 'iTCO_wdt', timeout: '30', nowayout: '0', options: '0x8180', 'device/uevent': '' }))
      machine.write(`sys/class/watchdog/watchdog1/${name}`, `${text}\n`);
    expect(await watchdogDevices(machine.root)).toEqual(['/dev/watchdog1', '/dev/watchdog0']);
  });
});

describe('a watchdog device behind a pipe', () => {
  it('is armed by opening it, fed by one byte each, and disarmed by its magic close', async () => {
    machine.addWatchdog();
    machine.runWatchdogDriver();
    const dog = watchdog();
    await dog.open(10_000);
    expect(machine.read('sys/class/watchdog/watchdog0/state')).toBe('active\n');
    dog.feed();
    dog.feed();
    await vi.waitFor(() => expect(machine.read('written')).toBe('11'));
    await dog.disarm();
    expect([machine.read('written'), machine.read('sys/class/watchdog/watchdog0/state')]).toEqual(['11V\n', 'inactive\n']);
    expect(() => dog.feed()).toThrow('/dev/watchdog0 is not open');
    await expect(dog.disarm()).resolves.toBeUndefined();
  });

  it('gets its timeout before it is opened, and counts by what the driver made of it', async () => {
    machine.addWatchdog({ timeout: '60' });
    machine.runWatchdogDriver();
    addWdctl('8');
    const dog = watchdog();
    await dog.open(10_000);
    expect(machine.read('wdctl-called')).toBe(`--settimeout 10 ${machine.root}/dev/watchdog0\n`);
    expect(await dog.facts()).toMatchObject({ timeoutMs: 8_000 });
  });

  it('asks no program where the timeout is right, or where an earlier process left it armed', async () => {
    machine.addWatchdog();
    machine.runWatchdogDriver();
    addWdctl('8');
    const dog = watchdog();
    await dog.open(10_000);
    await dog.disarm();
    machine.write('sys/class/watchdog/watchdog0/timeout', '60\n');
    machine.write('sys/class/watchdog/watchdog0/state', 'active\n');
    await dog.open(10_000);
    expect(existsSync(join(machine.root, 'wdctl-called'))).toBe(false);
  });

  it('is taken over where an earlier process left it armed, though a crash kernel was loaded since: nobody would feed it', async () => {
    machine.addWatchdog();
    machine.runWatchdogDriver();
    machine.write('sys/kernel/kexec_crash_loaded', '1\n');
    await expect(watchdog().open(10_000)).rejects.toThrow('a crash kernel is loaded');
    machine.write('sys/class/watchdog/watchdog0/state', 'active\n');
    const dog = watchdog();
    expect(await dog.facts()).toMatchObject({ identity: 'iTCO_wdt' });
    await dog.open(10_000);
    dog.feed();
    await vi.waitFor(() => expect(machine.read('written')).toBe('1'));
    expect(log.warn).toHaveBeenCalledWith(
      'a crash kernel was loaded since the watchdog was armed, which resets the machine while a dump is written',
      { device: '/dev/watchdog0' },
    );
  });

  it.runIf(hasWdctl)(
    'keeps the timeout of the driver where wdctl cannot set it, and says so (the real wdctl, to which a pipe is no watchdog)',
    async () => {
      machine.addWatchdog({ timeout: '60' });
      machine.runWatchdogDriver();
      const dog = watchdog({ wdctl: 'wdctl' });
      await dog.open(10_000);
      expect(log.warn).toHaveBeenCalledWith(
        'the timeout of the watchdog cannot be set, so its own counts',
        expect.objectContaining({ device: '/dev/watchdog0' }),
      );
      expect(await dog.facts()).toMatchObject({ timeoutMs: 60_000 });
    },
  );

  it('is not opened where it may not be used, or twice', async () => {
    await expect(watchdog().open(10_000)).rejects.toThrow('is its driver loaded?');
    machine.addWatchdog();
    machine.runWatchdogDriver();
    const dog = watchdog();
    await dog.open(10_000);
    await expect(dog.open(10_000)).rejects.toThrow('open already');
  });

  it('is closed again where sysfs does not show it as active', async () => {
    machine.addWatchdog();
    machine.runWatchdogDriver({ neverActive: true });
    await expect(watchdog().open(10_000)).rejects.toThrow('sysfs does not show it as active');
    await vi.waitFor(() => expect(machine.read('written')).toBe('V\n'));
  });

  it('stays open and fed where the driver cannot be disarmed', async () => {
    machine.addWatchdog({ nowayout: '1' });
    machine.runWatchdogDriver();
    const dog = watchdog();
    await dog.open(10_000);
    await expect(dog.disarm()).rejects.toThrow('cannot be disarmed (nowayout)');
    dog.feed();
    await vi.waitFor(() => expect(machine.read('written')).toBe('1'));
  });

  it('is opened anew where it goes on after its magic close', async () => {
    machine.addWatchdog();
    machine.runWatchdogDriver({ neverStops: true });
    const dog = watchdog();
    await dog.open(10_000);
    await expect(dog.disarm()).rejects.toThrow('went on after its magic close');
    dog.feed();
    await vi.waitFor(() => expect(machine.read('written')).toBe('V\n1'));
  });

  it('names the device that cannot be opened', async () => {
    machine.addWatchdog();
    await expect(watchdog().open(10_000)).rejects.toThrow('/dev/watchdog0: ENOENT');
  });
});

describe.runIf(softdog !== undefined)('softdog (needs the kernel module)', () => {
  it('is opened, fed and disarmed', async () => {
    const device = `/dev/${softdog?.split('/').at(-1) ?? ''}`;
    const dog = new KernelWatchdog({ root: '/', device, clock: new SystemClock(), log });
    await dog.open(60_000);
    dog.feed();
    await dog.disarm();
    expect(readFileSync(`${softdog ?? ''}/state`, 'utf8')).toBe('inactive\n');
  });
});
