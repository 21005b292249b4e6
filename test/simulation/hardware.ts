import type { Machine } from '../../src/testbed/cluster/machine.ts';
import { PROOF_MS } from '../../src/testbed/simulation/devices.ts';
import type { SimulatedDevice } from '../../src/testbed/simulation/devices.ts';
import type { KernelView } from '../../src/testbed/simulation/kernel-view.ts';
import type { Network } from '../../src/testbed/simulation/network.ts';
import type { PowerFeed } from './power-feed.ts';
import type { OtherFault } from './scenario.ts';

const RESET_MS = 4_000;
const LOOK_AGAIN_MS = 1_000;

type HandledKernel = Pick<KernelView, 'nowMs' | 'schedule' | 'trace'>;
type Cables = Pick<Network, 'break' | 'heal'>;

/** What hands can reach of a rack. */
export interface HandledRack {
  machines: ReadonlyMap<string, Pick<Machine, 'panic' | 'hang' | 'powerOn' | 'powerOff'>>;
  /** When any device of a node was last read. */
  readAtMs(node: string): number;
  /** Any device of a node has accepted a set whose effect is still to come. */
  isSwitching(node: string): boolean;
  feedOf(node: string): Pick<PowerFeed, 'plugIn'> | undefined;
  bmcOf(node: string): Pick<SimulatedDevice, 'behaviour'> | undefined;
}

/** What happens to machines, devices and cables, and what the people in the data centre do about it. */
export class Hardware {
  readonly #kernel: HandledKernel;
  readonly #rack: HandledRack;
  readonly #inside: Cables;
  #pending = 0;

  constructor(kernel: HandledKernel, rack: HandledRack, inside: Cables) {
    this.#kernel = kernel;
    this.#rack = rack;
    this.#inside = inside;
  }

  /** Returns what somebody does about it in the end. */
  fail(node: string, fault: OtherFault): () => void {
    const machine = this.#rack.machines.get(node);
    switch (fault) {
      case 'partition':
        return this.cut([node]);
      case 'panic':
        machine?.panic();
        break;
      case 'hang':
        machine?.hang();
        break;
      case 'unplugged':
        machine?.powerOff('panic');
        break;
    }
    return () => {
      this.reset(node);
    };
  }

  /** The switch port of each: a reboot does not mend it. */
  cut(nodes: readonly string[]): () => void {
    for (const node of nodes) this.#inside.break(hostOfMachine(node), 'cut');
    return () => {
      for (const node of nodes) this.#inside.heal(hostOfMachine(node), 'cut');
    };
  }

  /** Somebody at the rack resets a machine, or switches on one that is off. */
  reset(node: string): void {
    this.pullPlug(node);
    this.later(RESET_MS, () => {
      this.switchOn(node);
    });
  }

  /** Somebody plugs a machine in and presses its button, as soon as no proof rests on the last read of any of its devices. */
  switchOn(node: string): void {
    const waitMs = this.#rack.readAtMs(node) + PROOF_MS - this.#kernel.nowMs;
    if (waitMs > 0) {
      this.later(waitMs, () => {
        this.switchOn(node);
      });
      return;
    }
    this.#kernel.trace(`somebody switches ${node} on`);
    this.#rack.feedOf(node)?.plugIn();
    this.#rack.machines.get(node)?.powerOn('restore');
  }

  /** A machine comes in the place of one that has ended: what the devices of that one were told does not reach it. */
  startNext(node: string): void {
    if (this.#rack.isSwitching(node)) {
      this.later(LOOK_AGAIN_MS, () => {
        this.startNext(node);
      });
      return;
    }
    this.switchOn(node);
  }

  /** Something that people have begun is not done yet. */
  get isPending(): boolean {
    return this.#pending > 0;
  }

  later(delayMs: number, task: () => void): void {
    this.#pending += 1;
    this.#kernel.schedule(delayMs, () => {
      this.#pending -= 1;
      task();
    });
  }

  pullPlug(node: string): void {
    this.#kernel.trace(`somebody pulls the plug of ${node}`);
    this.#rack.machines.get(node)?.powerOff('panic');
  }

  /** A device behaves otherwise for a while. */
  change(node: string, behaviour: SimulatedDevice['behaviour']): () => void {
    const device = this.#rack.bmcOf(node);
    if (device === undefined) return () => undefined;
    const before = device.behaviour;
    device.behaviour = behaviour;
    return () => {
      device.behaviour = before;
    };
  }
}

/** The network's name for a machine. */
function hostOfMachine(node: string): string {
  return `machine-${node}`;
}
