import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MachineFolder } from './testing/machine-folder.ts';
import { checkWatchdog } from './watchdog.ts';
import type { WatchdogWish } from './watchdog.ts';
import type { Verdict } from './verdict.ts';

let machine: MachineFolder;
beforeEach(() => void (machine = new MachineFolder()));
afterEach(() => machine.remove());

function watchdog(name: string, attributes: Readonly<Record<string, string>>): void {
  machine.write(
    Object.fromEntries(Object.entries(attributes).map(([attribute, value]) => [`sys/class/watchdog/${name}/${attribute}`, `${value}\n`])),
  );
}
const check = async (wish: Partial<WatchdogWish> = {}): Promise<Verdict> => checkWatchdog(machine.root, { isHardware: false, ...wish });

describe('a watchdog', () => {
  it('is armed where the kernel calls it active', async () => {
    watchdog('watchdog0', { state: 'active', identity: 'iTCO_wdt', timeout: '30' });
    expect(await check({ device: 'watchdog0', timeoutSeconds: 30, isHardware: true })).toEqual({
      health: 'ok',
      sentence: 'armed: watchdog0 (iTCO_wdt), 30 s',
    });
  });

  it('is not armed where it is inactive', async () => {
    watchdog('watchdog0', { state: 'inactive', identity: 'iTCO_wdt' });
    expect(await check()).toEqual({ health: 'problem', sentence: 'not armed: watchdog0 (iTCO_wdt)' });
  });

  it('that is named must be there, and be the armed one', async () => {
    watchdog('watchdog0', { state: 'active', identity: 'iTCO_wdt', timeout: '30' });
    watchdog('watchdog1', { state: 'inactive', identity: 'IPMI' });
    expect(await check({ device: 'watchdog1' })).toMatchObject({ health: 'problem', sentence: 'not armed: watchdog1 (IPMI)' });
    expect(await check({ device: 'watchdog2' })).toMatchObject({ health: 'problem', sentence: 'not armed: there is no watchdog2' });
  });

  it('resets too late with a longer timeout than configured', async () => {
    watchdog('watchdog0', { state: 'active', identity: 'iTCO_wdt', timeout: '60' });
    expect(await check({ timeoutSeconds: 30 })).toEqual({ health: 'problem', sentence: 'watchdog0 resets after 60 s, later than 30 s' });
    expect(await check({ timeoutSeconds: 60 })).toMatchObject({ health: 'ok' });
  });

  it('of software will not do for hardware', async () => {
    watchdog('watchdog0', { state: 'active', identity: 'Software Watchdog', timeout: '30' });
    expect(await check()).toMatchObject({ health: 'ok' });
    expect(await check({ isHardware: true })).toEqual({ health: 'problem', sentence: 'only a software watchdog is armed: watchdog0' });
    watchdog('watchdog1', { state: 'active', identity: 'iTCO_wdt', timeout: '20' });
    expect(await check({ isHardware: true })).toMatchObject({ health: 'ok', sentence: 'armed: watchdog1 (iTCO_wdt), 20 s' });
  });

  it('is unknown where there is none, or its kernel does not tell', async () => {
    expect(await check()).toEqual({ health: 'unknown', sentence: 'not checked: this node has no watchdog' });
    machine.write({ 'sys/class/watchdog/watchdog0/uevent': '' });
    expect(await check()).toEqual({ health: 'unknown', sentence: 'not checked: this kernel tells no state of the watchdog' });
  });
});
