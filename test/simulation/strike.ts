import type { Machine } from '../../src/testbed/cluster/machine.ts';
import type { Kernel } from '../../src/testbed/simulation/kernel.ts';
import type { Scenario } from './scenario.ts';

/** The first node fails as its scenario says. */
export function strike(kernel: Kernel, machine: Machine | undefined, scenario: Pick<Scenario, 'fault' | 'victim' | 'flaps'>): void {
  switch (scenario.fault) {
    case 'panic':
      machine?.panic();
      break;
    case 'hang':
      machine?.hang();
      break;
    case 'partition':
      machine?.partition();
      break;
    case 'flap':
      flap(kernel, machine, scenario);
      break;
    case 'sick':
      fallSick(kernel, machine, scenario);
      break;
    case 'none':
      break;
  }
}

type Flapping = Pick<Scenario, 'victim' | 'flaps'>;

/** The network of the failed node goes and comes. */
function flap(kernel: Kernel, machine: Machine | undefined, { victim, flaps }: Flapping): void {
  inTurns(kernel, flaps, (isDown) => {
    if (isDown) {
      machine?.partition();
      return;
    }
    kernel.trace(`the network of ${victim} is back`);
    machine?.heal();
  });
}

/** Its kubelet says that it is not Ready, and that it is again; a boot in between mends it. */
function fallSick(kernel: Kernel, machine: Machine | undefined, { victim, flaps }: Flapping): void {
  inTurns(kernel, flaps, (isDown) => {
    kernel.trace(`the kubelet of ${victim} is ${isDown ? 'sick' : 'well again'}`);
    machine?.ail(isDown);
  });
}

function inTurns(kernel: Kernel, flaps: Scenario['flaps'], turn: (isDown: boolean) => void): void {
  let atMs = 0;
  for (const { downMs, upMs } of flaps) {
    kernel.schedule(atMs, () => {
      turn(true);
    });
    if (!Number.isFinite(downMs)) return;
    atMs += downMs;
    kernel.schedule(atMs, () => {
      turn(false);
    });
    atMs += upMs;
  }
}
