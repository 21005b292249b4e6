import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SystemClock } from '../../runtime/system-clock.ts';
import { MachineTree } from './testing/machine-tree.ts';
import { KernelWatchdog } from './watchdog-device.ts';

let machine: MachineTree;

function watchdog(): KernelWatchdog {
  const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };
  return new KernelWatchdog({ root: machine.root, device: '/dev/watchdog0', clock: new SystemClock(), log, wdctl: '/nonexistent' });
}

beforeEach(() => {
  machine = new MachineTree();
});
afterEach(() => machine[Symbol.dispose]());

describe('a watchdog of Linux 6.1, whose sysfs has no options and no device (recorded)', () => {
  it('is hardware that can be used, and not known to outlive its process before it was opened', async () => {
    machine.add6300Esb();
    expect(await watchdog().facts()).toEqual({
      device: '/dev/watchdog0',
      identity: 'i6300ESB timer',
      kind: 'hardware',
      action: 'reset',
      isPausable: false,
      timeoutMs: 30_000,
      isNowayout: false,
    });
  });

  it('outlives its process where it went on after a close without magic, and is open again', async () => {
    machine.add6300Esb();
    machine.runWatchdogDriver();
    const dog = watchdog();
    await dog.open(30_000);
    expect(await dog.facts()).toMatchObject({ outlivesClose: true });
    dog.feed();
    await dog.disarm();
    expect([machine.read('written'), machine.read('sys/class/watchdog/watchdog0/state')]).toEqual(['\n1V\n', 'inactive\n']);
  });

  it('does not where it stood still at that close', async () => {
    machine.add6300Esb();
    machine.runWatchdogDriver({ stopsAtClose: true });
    const dog = watchdog();
    await dog.open(30_000);
    expect(await dog.facts()).toMatchObject({ outlivesClose: false });
    expect(machine.read('sys/class/watchdog/watchdog0/state')).toBe('active\n');
  });

  it('is not closed to try where an earlier process left it armed: that is the answer', async () => {
    machine.add6300Esb({ state: 'active' });
    machine.runWatchdogDriver();
    const dog = watchdog();
    await dog.open(30_000);
    expect(await dog.facts()).toMatchObject({ outlivesClose: true });
    expect(machine.read('written')).toBe('');
  });

  it('is not closed to try where nothing can disarm it', async () => {
    machine.add6300Esb({ nowayout: '1' });
    machine.runWatchdogDriver();
    const dog = watchdog();
    await dog.open(30_000);
    expect(machine.read('written')).toBe('');
    expect(await dog.facts()).not.toHaveProperty('outlivesClose');
  });
});
