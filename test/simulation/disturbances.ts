import { fenceName } from '../../src/domain/node-fence.ts';
import type { ApiClient } from '../../src/kube/client.ts';
import { NODE_FENCE_STOPS, NODE_FENCES } from '../../src/ports/resources.ts';
import { editFenceConfiguration, ROTATED_TEXT, rotateSecret } from './configuration.ts';
import { hostOf } from './controllers.ts';
import type { Controllers, Replica } from './controllers.ts';
import type { SimulatedDevice } from './devices.ts';
import type { Kernel } from './kernel/kernel.ts';
import type { SimulatedProcess } from './kernel/simulated-process.ts';
import { EVERYONE } from './network.ts';
import type { Breakage, Network } from './network.ts';
import type { Disturbance, Who } from './scenario.ts';

const STOP_NAME = 'by-hand';

export interface Disturbed {
  kernel: Kernel;
  admin: ApiClient;
  controllers: Controllers;
  /** Between the controllers and the API server. */
  network: Network;
  /** Between everything else and the API server. */
  inside: Network;
  victim: string;
  /** Another node, whose device a wrong edit names. */
  other: string;
  device: SimulatedDevice | undefined;
  apiServer: SimulatedProcess;
  kubelets: readonly SimulatedProcess[];
  /** Name of the process that holds the Lease. */
  leader: () => string | undefined;
}

/** Does what the scenario's disturbances say, when they say it. */
export class Disturbances {
  readonly #world: Disturbed;

  constructor(world: Disturbed) {
    this.#world = world;
  }

  schedule(disturbances: readonly Disturbance[]): void {
    const { kernel } = this.#world;
    for (const disturbance of disturbances) {
      kernel.schedule(disturbance.atMs, () => {
        kernel.trace(`disturbance ${disturbance.what}`);
        const end = this.#begin(disturbance);
        if (end !== undefined) {
          kernel.schedule(disturbance.durationMs, end);
        }
      });
    }
  }

  /** Returns what ends it. */
  #begin(disturbance: Disturbance): (() => void) | undefined {
    const { controllers, admin, victim, device } = this.#world;
    switch (disturbance.what) {
      case 'pause':
        controllers.pause(this.#replica(disturbance.who), disturbance.kind, disturbance.durationMs);
        return undefined;
      case 'terminate':
        controllers.terminate(this.#replica(disturbance.who));
        return undefined;
      case 'break':
        return this.#break(disturbance.who, disturbance.how);
      case 'device':
        return this.#cutDevice(disturbance.how);
      case 'clock':
        this.#jump(disturbance.who, disturbance.byMs);
        return undefined;
      case 'stop':
        void admin
          .create(NODE_FENCE_STOPS, { metadata: { name: STOP_NAME }, spec: { all: true, reason: 'somebody works on it' } })
          .catch(isThereAlready);
        return () => {
          void admin.remove(NODE_FENCE_STOPS, STOP_NAME);
        };
      case 'edit':
        if (disturbance.kind !== 'rotated') {
          void editFenceConfiguration(admin, victim, this.#world.other, disturbance.kind);
          return undefined;
        }
        void rotateSecret(admin, ROTATED_TEXT);
        // The device takes the new password a while before or after the Secret has it.
        return () => {
          if (device !== undefined) {
            device.password = ROTATED_TEXT;
          }
        };
      case 'delete-fence':
        void admin.remove(NODE_FENCES, fenceName(victim));
        return undefined;
    }
  }

  #replica(who: Who): Replica {
    if (who !== 'leader') {
      return who;
    }
    return this.#world.controllers.replicaOf(this.#world.leader() ?? '') ?? 0;
  }

  #break(who: Who | 'controllers' | 'everyone', how: Breakage): () => void {
    const { network, inside } = this.#world;
    const host = who === 'everyone' || who === 'controllers' ? EVERYONE : hostOf(this.#replica(who));
    // The simulated kubelets and cluster controllers have no idle timers: a watch that hangs for ever is for ours to find.
    const howInside = how === 'deaf' ? 'cut' : how;
    network.break(host, how);
    if (who === 'everyone') {
      inside.break(EVERYONE, howInside);
    }
    return () => {
      network.heal(host, how);
      if (who === 'everyone') {
        inside.heal(EVERYONE, howInside);
      }
    };
  }

  #cutDevice(how: 'cut' | 'mute'): () => void {
    const { device } = this.#world;
    if (device !== undefined) {
      device.network = how;
    }
    return () => {
      if (device !== undefined) {
        device.network = 'up';
      }
    };
  }

  #jump(who: 'controllers' | 'leader' | 'api-server' | 'kubelets', byMs: number): void {
    const { controllers, apiServer, kubelets } = this.#world;
    const leader = this.#world.leader();
    const processes = {
      controllers: controllers.processes,
      leader: controllers.processes.filter(({ name }) => name === leader),
      'api-server': [apiServer],
      kubelets,
    }[who];
    for (const process of processes) {
      process.jumpWallClock(byMs);
    }
  }
}

/** Two stops of one seed may overlap; the second says nothing new. */
function isThereAlready(error: unknown): void {
  if (!(error instanceof Error && error.message.includes('already exists'))) {
    throw error;
  }
}
