import { describe, expect, it } from 'vitest';
import { PROOF_MS } from '../../src/testbed/simulation/devices.ts';
import { Hardware } from './hardware.ts';
import type { HandledRack } from './hardware.ts';
import { Kernel } from '../../src/testbed/simulation/kernel.ts';

function harness() {
  const kernel = new Kernel({ seed: 7 });
  const done: string[] = [];
  const note =
    (what: string): (() => void) =>
    () => {
      done.push(`${Math.round(kernel.nowMs)} ${what}`);
    };
  const machine = { panic: note('panic'), hang: note('hang'), powerOn: note('on'), powerOff: note('off') };
  const reads = { lastMs: Number.NEGATIVE_INFINITY, switchedAtMs: 0 };
  const bmc: NonNullable<ReturnType<HandledRack['bmcOf']>> = { behaviour: 'honest' };
  const rack: HandledRack = {
    machines: new Map([['a', machine]]),
    readAtMs: () => reads.lastMs,
    isSwitching: () => kernel.nowMs < reads.switchedAtMs,
    feedOf: () => ({ plugIn: note('plug in') }),
    bmcOf: (node) => (node === 'a' ? bmc : undefined),
  };
  const cables = { break: (host: string) => note(`cut ${host}`)(), heal: (host: string) => note(`mend ${host}`)() };
  return { kernel, hardware: new Hardware(kernel, rack, cables), done, reads, bmc };
}

describe('the people at the rack', () => {
  it.each(['panic', 'hang'] as const)('reset a machine after its %s: off, and on four seconds later', async (fault) => {
    const { kernel, hardware, done } = harness();
    const repair = hardware.fail('a', fault);
    repair();
    expect(hardware.isPending).toBe(true);
    await kernel.run({ untilMs: 10_000 });
    expect(done).toEqual([`0 ${fault}`, '0 off', '4000 plug in', '4000 on']);
    expect(hardware.isPending).toBe(false);
  });

  it('mend the switch port of a node that was cut off, and do not touch its machine', () => {
    const { hardware, done } = harness();
    hardware.fail('a', 'partition')();
    expect(done).toEqual(['0 cut machine-a', '0 mend machine-a']);
  });

  it('press no button while a proof may rest on a read of any device', async () => {
    const { kernel, hardware, done, reads } = harness();
    reads.lastMs = 0;
    kernel.schedule(2_000, () => {
      reads.lastMs = 2_000;
    });
    hardware.switchOn('a');
    await kernel.run({ untilMs: 20_000 });
    expect(done).toEqual([`${2_000 + PROOF_MS} plug in`, `${2_000 + PROOF_MS} on`]);
  });

  it('start the next machine only when no device of the one before has anything to do yet', async () => {
    const { kernel, hardware, done, reads } = harness();
    reads.switchedAtMs = 3_500;
    hardware.startNext('a');
    expect(hardware.isPending).toBe(true);
    await kernel.run({ untilMs: 20_000 });
    expect(done).toEqual(['4000 plug in', '4000 on']);
    expect(hardware.isPending).toBe(false);
  });

  it('give a device its behaviour back', () => {
    const { hardware, bmc } = harness();
    const end = hardware.change('a', 'lies');
    expect(bmc.behaviour).toBe('lies');
    end();
    expect(bmc.behaviour).toBe('honest');
    expect(hardware.change('b', 'dead')).not.toThrow();
  });
});
