import { describe, expect, it } from 'vitest';
import { MemoryMachine } from './power-backend.ts';
import { wire } from './wiring.ts';
import type { Feed } from './wiring.ts';

function wired(wiring: 'supplies' | 'outlet'): { machine: MemoryMachine; first: Feed; second: Feed; changes: () => number } {
  const machine = new MemoryMachine('on');
  let changes = 0;
  const [first, second] = wire(wiring, machine, () => (changes += 1));
  if (first === undefined || second === undefined) throw new Error('two devices were expected');
  return { machine, first, second, changes: () => changes };
}

describe('the wiring of a machine', () => {
  it('lets a machine with two supplies run until the last of them is off, and start with the first', () => {
    const { machine, first, second, changes } = wired('supplies');
    first.off('set');
    expect([first.state(), second.state(), machine.state()]).toEqual(['off', 'on', 'on']);
    second.off('set');
    expect([first.state(), second.state(), machine.state()]).toEqual(['off', 'off', 'off']);
    first.on('set');
    expect([first.state(), second.state(), machine.state()]).toEqual(['on', 'off', 'on']);
    expect(machine.edges.map(({ state }) => state)).toEqual(['off', 'on']);
    expect(changes()).toBe(3);
  });

  it('shows the last supply as on while something runs there still', () => {
    const slow = new (class extends MemoryMachine {
      override off(): void {
        // Its process is being killed.
      }
    })('on');
    const [one, two] = wire('supplies', slow, () => undefined);
    one?.off('set');
    two?.off('set');
    expect([one?.state(), two?.state()]).toEqual(['on', 'on']);
  });

  it('takes the power of a BMC with that of its machine when the outlet of both is switched off', () => {
    const { machine, first: bmc, second: outlet } = wired('outlet');
    bmc.off('set');
    expect([bmc.isAlive(), bmc.state(), outlet.state()]).toEqual([true, 'off', 'on']);
    outlet.off('set');
    expect([bmc.isAlive(), outlet.state(), machine.state()]).toEqual([false, 'off', 'off']);
    outlet.on('set');
    expect([bmc.isAlive(), bmc.state(), machine.state()]).toEqual([true, 'on', 'on']);
  });

  it('is that of a BMC alone by default', () => {
    const machine = new MemoryMachine('on');
    const feeds = wire('bmc', machine, () => undefined);
    feeds[0]?.off('set');
    expect([feeds.length, machine.state()]).toEqual([1, 'off']);
  });
});
