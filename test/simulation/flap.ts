import type { Machine } from '../../src/testbed/cluster/machine.ts';
import type { Kernel } from '../../src/testbed/simulation/kernel.ts';
import type { Scenario } from './scenario.ts';

/** The network of the failed node goes and comes. */
export function flap(kernel: Kernel, machine: Machine | undefined, { victim, flaps }: Pick<Scenario, 'victim' | 'flaps'>): void {
  let atMs = 0;
  for (const { downMs, upMs } of flaps) {
    kernel.schedule(atMs, () => {
      machine?.partition();
    });
    atMs += downMs;
    kernel.schedule(atMs, () => {
      kernel.trace(`the network of ${victim} is back`);
      machine?.heal();
    });
    atMs += upMs;
  }
}
