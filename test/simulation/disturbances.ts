import type { Trace } from '../../src/testbed/cluster/dependencies.ts';
import type { StartUp } from '../../src/testbed/apiserver/troubles.ts';
import type { ApiClient } from '../../src/kube/client.ts';
import type { SimulatedApi } from './api.ts';
import { breakClusterSettings, editFenceConfiguration, holdEverything, ROTATED_TEXT, rotateSecret } from './configuration.ts';
import { hostOf } from './controllers.ts';
import type { Controllers, Replica } from './controllers.ts';
import type { Guards } from './guards.ts';
import { Hardware } from './hardware.ts';
import type { Kernel } from '../../src/testbed/simulation/kernel.ts';
import { EVERYONE } from '../../src/testbed/simulation/network.ts';
import type { Breakage, Network } from '../../src/testbed/simulation/network.ts';
import { People } from './people.ts';
import type { Rack } from './rack.ts';
import type { Disturbance, Edit, Scenario, Who, Word } from './scenario.ts';

export interface Disturbed {
  kernel: Kernel;
  api: SimulatedApi;
  controllers: Controllers;
  /** Between the controllers and the API server. */
  network: Network;
  /** Between everything else and the API server. */
  inside: Network;
  rack: Rack;
  guards: Guards;
  scenario: Pick<Scenario, 'victim' | 'nodes' | 'configuration' | 'disturbances' | 'dumps' | 'ways'>;
  /** Name of the process that holds the Lease. */
  leader: () => string | undefined;
  trace: Trace;
}

/** Ends what was begun. */
type End = () => unknown;
/** Until somebody looks whether a workload has been let go by now. */
const ASK_AGAIN_MS = 1_000;

/** Does what the scenario's disturbances say, when they say it. */
export class Disturbances {
  readonly #world: Disturbed;
  readonly #people: People;
  readonly #hardware: Hardware;
  readonly #admin: ApiClient;
  #fenceRemovedMs: number | undefined;
  #backup: { holder: string | undefined; restore: () => void } | undefined;

  constructor(world: Disturbed) {
    this.#world = world;
    this.#admin = world.api.admin;
    this.#people = new People(world.api.admin);
    this.#hardware = new Hardware(world.kernel, world.rack, world.inside);
  }

  schedule(): void {
    const { kernel, scenario } = this.#world;
    for (const disturbance of scenario.disturbances) {
      if (disturbance.what === 'restore') kernel.schedule(disturbance.atMs - disturbance.ageMs, () => this.#backUp());
      kernel.schedule(disturbance.atMs, () => {
        kernel.trace(`disturbance ${disturbance.what}`);
        const end = this.#begin(disturbance);
        if (end !== undefined) {
          kernel.schedule(disturbance.durationMs, () => {
            void this.#end(disturbance.what, end);
          });
        }
      });
    }
  }

  /** When somebody took the NodeFence of the failed node away by force, if anybody did. */
  get fenceRemovedMs(): number | undefined {
    return this.#fenceRemovedMs;
  }

  /** No watch of the controllers tells of it for so long. */
  removeFence(unheardMs: number): void {
    const { kernel, scenario } = this.#world;
    this.#fenceRemovedMs = kernel.nowMs;
    if (unheardMs > 0) kernel.schedule(unheardMs, this.#break('controllers', 'deaf'));
    void this.#people.removeFence(scenario.victim);
  }

  /** Something that people have begun is not done yet. */
  get isPending(): boolean {
    return this.#hardware.isPending;
  }

  async #end(what: Disturbance['what'], end: End | Promise<End>): Promise<void> {
    this.#world.kernel.trace(`the end of ${what}`);
    await (
      await end
    )();
  }

  /** Returns what ends it. */
  #begin(disturbance: Disturbance): End | Promise<End> | undefined {
    const { controllers, rack } = this.#world;
    const { victim } = this.#world.scenario;
    switch (disturbance.what) {
      case 'pause':
        controllers.pause(this.#replica(disturbance.who), disturbance.kind, disturbance.durationMs);
        return undefined;
      case 'terminate':
        controllers.terminate(this.#replica(disturbance.who));
        return undefined;
      case 'break':
        return this.#break(disturbance.who, disturbance.how);
      case 'burst':
        return this.#world.network.refuseMost(disturbance.how);
      case 'restart':
        return this.#restart(disturbance.lacks);
      case 'throttle':
        return this.#world.api.throttle();
      case 'expire':
        this.#world.api.expire();
        return undefined;
      case 'restore':
        return this.#restore();
      case 'delete-lease':
        void this.#people.deleteLease();
        return undefined;
      case 'device':
        return this.#cutDevice(disturbance.how);
      case 'hardware':
        return this.#hardware.change(disturbance.node, disturbance.behaviour);
      case 'swap':
        rack.swap(victim, disturbance.node);
        return () => {
          rack.swap(victim, disturbance.node);
        };
      case 'late':
        this.#delayNextOff(disturbance.byMs);
        return undefined;
      case 'power-on':
        this.#hardware.switchOn(disturbance.node);
        return undefined;
      case 'fail':
        return this.#hardware.fail(disturbance.node, disturbance.fault);
      case 'switch':
        return this.#hardware.cut(disturbance.nodes);
      case 'clock':
        this.#jump(disturbance.who, disturbance.byMs);
        return undefined;
      case 'stop':
        return this.#people.stop(disturbance.scope === 'node' ? victim : undefined);
      case 'edit':
        return this.#edit(disturbance.kind);
      case 'delete-fence':
        void this.#people.deleteFence(victim);
        return undefined;
      case 'acknowledge':
        return this.#acknowledge(disturbance.word);
      case 'delete-node':
        void this.#people.deleteNode(victim);
        return () => {
          this.#hardware.reset(victim);
        };
      case 'preserve':
        this.#world.guards.set(victim, disturbance.guard, this.#world.kernel.nowMs);
        return () => {
          this.#world.guards.set(victim, undefined, this.#world.kernel.nowMs);
        };
      case 'mark':
        return this.#people.mark(victim, disturbance.mark);
    }
  }

  /** A true word comes from somebody who has pulled the plug. Whose word counted has to switch the machine on again: nobody else will. */
  #acknowledge(word: Word): End | undefined {
    const { victim } = this.#world.scenario;
    if (word === 'true') this.#hardware.pullPlug(victim);
    void this.#people.acknowledge(victim, word);
    if (word !== 'true' && word !== 'false') return undefined;
    return () => this.#switchOnAgain(victim);
  }

  async #switchOnAgain(node: string): Promise<void> {
    if (await this.#people.takeBack(node)) this.#hardware.switchOn(node);
    else this.#hardware.later(ASK_AGAIN_MS, () => void this.#switchOnAgain(node));
  }

  #edit(kind: Edit): End | Promise<End> | undefined {
    const { scenario, rack } = this.#world;
    const { victim, nodes, configuration } = scenario;
    switch (kind) {
      case 'cluster':
        return breakClusterSettings(this.#admin, configuration, scenario);
      case 'policy':
        return holdEverything(this.#admin);
      case 'rotated': {
        void rotateSecret(this.#admin, ROTATED_TEXT);
        // The device takes the new password a while before or after the Secret has it.
        return () => {
          const device = rack.bmcOf(victim);
          if (device !== undefined) device.password = ROTATED_TEXT;
        };
      }
      default:
        void editFenceConfiguration(this.#admin, victim, nodes[1] ?? victim, kind);
        return undefined;
    }
  }

  #delayNextOff(byMs: number): void {
    const device = this.#world.rack.bmcOf(this.#world.scenario.victim);
    if (device !== undefined) device.delayNextOffMs = byMs;
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

  /** Nobody reaches it; afterwards it knows the present, and nothing of how it came about. */
  #restart(lacks: StartUp | undefined): () => void {
    const end = this.#break('everyone', 'refused');
    this.#world.api.endWatches();
    return () => {
      if (lacks === undefined) this.#world.api.expire();
      else this.#world.api.startUp(lacks);
      end();
    };
  }

  #backUp(): void {
    this.#backup = { holder: this.#world.leader(), restore: this.#world.api.backup() };
  }

  /** Nothing where the leader changed since: the world knows whose Lease it is from the writes that it saw. */
  #restore(): End | undefined {
    if (this.#backup === undefined || this.#backup.holder !== this.#world.leader()) return undefined;
    const { restore } = this.#backup;
    const end = this.#break('everyone', 'refused');
    return () => {
      restore();
      this.#world.trace({ kind: 'fault', at: 0, fault: 'etcd-restored', node: '' });
      end();
    };
  }

  #cutDevice(how: 'cut' | 'mute'): () => void {
    const device = this.#world.rack.bmcOf(this.#world.scenario.victim);
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
    const { controllers, api, rack } = this.#world;
    const leader = this.#world.leader();
    if (who === 'controllers') controllers.setClocks(controllers.processes, byMs);
    else if (who === 'leader')
      controllers.setClocks(
        controllers.processes.filter(({ name }) => name === leader),
        byMs,
      );
    else for (const process of who === 'kubelets' ? rack.kubelets : [api.process]) process.jumpWallClock(byMs);
  }
}
