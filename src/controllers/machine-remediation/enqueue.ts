import type { ClusterMachine } from '../../ports/cluster-api.ts';
import type { BareMetalHost } from '../../ports/metal3.ts';
import type { KubeObject, Node } from '../../ports/objects.ts';
import type { NodeFence } from '../../ports/resources.ts';
import { keyOf } from '../shared/reconciler/kind.ts';
import { BY_HOST, BY_NODE } from './dependencies.ts';
import type { MachineRemediationDependencies, WatchedMachines } from './dependencies.ts';
import type { Locks } from './locks.ts';
import { namesOnHost } from './machine-index.ts';
import { HOLD, MARKS, OUT_OF_SERVICE, TIMES_OUT_AT } from './names.ts';
import type { Observer } from './observe.ts';
import type { MachineFacts } from './snapshot.ts';

export const HOST_KIND = 'BareMetalHost';

type Dependencies = Pick<MachineRemediationDependencies, 'machines' | 'hosts' | 'nodes' | 'fences' | 'queue'>;

/** Which Machines, and which hosts that no Machine names, are reconciled when something has changed. */
export class Enqueue {
  readonly #dependencies: Dependencies;
  readonly #observer: Observer;
  readonly #locks: Pick<Locks, 'has'>;

  constructor(dependencies: Dependencies, observer: Observer, locks: Pick<Locks, 'has'>) {
    this.#dependencies = dependencies;
    this.#observer = observer;
    this.#locks = locks;
  }

  subscribe(): readonly (() => void)[] {
    const { machines, hosts, nodes, fences } = this.#dependencies;
    const { life, observations, recoveries } = this.#observer;
    life.start();
    for (const host of hosts?.all() ?? []) observations.see(host);
    for (const { lister } of machines) for (const machine of lister.all()) recoveries.sawMachine(marked(machine), false);
    for (const fence of fences.all()) recoveries.sawFence(fence, false);
    return [
      ...machines.map((watched) => watched.lister.onChange((before, after) => this.#machine(watched, before, after))),
      ...(hosts === undefined ? [] : [hosts.onChange((before, after) => this.#host(before, after))]),
      nodes.onChange((before, after) => this.#machinesOn((after ?? before)?.metadata.name, after !== undefined && isTainted(after))),
      fences.onChange((before, after) => this.#fence(before, after)),
      () => life.close(),
    ];
  }

  all(): void {
    const { machines, hosts, nodes, queue } = this.#dependencies;
    for (const watched of machines) for (const each of watched.lister.all()) if (isMarked(each)) queue.add(machineKey(watched, each));
    for (const node of nodes.all()) if (isTainted(node)) this.#machinesOn(node.metadata.name, true);
    for (const each of hosts?.all() ?? []) if (isHeld(each)) this.machinesOf(each);
  }

  /** Machines whose hosts are held off for them, and their Nodes, as the watches have them. */
  heldOff(): { key: string; node: string }[] {
    const held = [...(this.#dependencies.hosts?.all() ?? [])].filter(isHeld).flatMap((host) => this.foundOn(host));
    return held.flatMap(([watched, machine]) => {
      const node = machine.status?.nodeRef?.name;
      return node === undefined ? [] : [{ key: machineKey(watched, machine), node }];
    });
  }

  /** Those that have to do with the host; and itself, where our hold is on it and no Machine is known. */
  machinesOf(host: BareMetalHost): void {
    const { queue } = this.#dependencies;
    const found = this.foundOn(host);
    for (const [watched, machine] of found) if (isHeld(host) || isMarked(machine)) queue.add(machineKey(watched, machine));
    if (found.length === 0 && isHeld(host)) queue.add(keyOf(HOST_KIND, host));
  }

  foundOn(host: BareMetalHost): (readonly [WatchedMachines, ClusterMachine])[] {
    return this.#dependencies.machines.flatMap((watched) =>
      [...new Set(namesOnHost(host).flatMap((name) => watched.lister.byIndex(BY_HOST, name)))].map((machine) => [watched, machine] as const),
    );
  }

  /** The host on which our hold stands for this Machine. */
  heldBy({ resource }: WatchedMachines, { metadata: { uid } }: ClusterMachine): BareMetalHost | undefined {
    const isOf = (host: BareMetalHost): boolean =>
      this.foundOn(host).some(([watched, machine]) => watched.resource === resource && machine.metadata.uid === uid);
    return [...(this.#dependencies.hosts?.all() ?? [])].find((host) => isHeld(host) && isOf(host));
  }

  #machine(watched: WatchedMachines, before: ClusterMachine | undefined, after: ClusterMachine | undefined): void {
    const { hosts, queue } = this.#dependencies;
    const { recoveries, deadlines, releases } = this.#observer;
    const object = (after ?? before) as ClusterMachine;
    const key = machineKey(watched, object);
    if ([before, after].some((each) => each !== undefined && isMarked(each)) || this.#locks.has(key)) queue.add(key);
    if (after === undefined) recoveries.forgetMachine(object.metadata.uid ?? '');
    else recoveries.sawMachine(marked(after), before !== undefined || watched.lister.synced);
    const { uid = '', annotations = {} } = after?.metadata ?? { uid: object.metadata.uid };
    deadlines.untilMs({ uid, annotations }, before !== undefined && before.metadata.annotations?.[TIMES_OUT_AT] === undefined);
    if (after !== undefined) return;
    releases.forget(object.metadata.uid ?? '');
    // Its host may be left over.
    for (const host of hosts?.all() ?? []) if (isHeld(host)) queue.add(keyOf(HOST_KIND, host));
  }

  #host(before: BareMetalHost | undefined, after: BareMetalHost | undefined): void {
    const { observations } = this.#observer;
    if (after !== undefined) observations.see(after);
    else if (before !== undefined) observations.forget(before);
    for (const host of [before, after]) if (host !== undefined) this.machinesOf(host);
  }

  #fence(before: NodeFence | undefined, after: NodeFence | undefined): void {
    const { recoveries } = this.#observer;
    if (after !== undefined) recoveries.sawFence(after, before !== undefined || this.#dependencies.fences.synced);
    else if (before !== undefined) recoveries.forgetFence(before.metadata.name);
    this.#machinesOn((after ?? before)?.spec.node);
  }

  /** `isOurs`: something of ours is on the Node, whatever its Machine says. */
  #machinesOn(node: string | undefined, isOurs = false): void {
    if (node === undefined) return;
    for (const watched of this.#dependencies.machines) {
      for (const machine of watched.lister.byIndex(BY_NODE, node))
        if (isOurs || isMarked(machine)) this.#dependencies.queue.add(machineKey(watched, machine));
    }
  }
}

function marked({ metadata: { uid = '', annotations = {} } }: KubeObject): Pick<MachineFacts, 'uid' | 'annotations'> {
  return { uid, annotations };
}

export function kindOf({ resource }: WatchedMachines): string {
  return `${resource.kind}.${resource.group}`;
}

export function isMarked({ metadata: { annotations = {} } }: Pick<KubeObject, 'metadata'>): boolean {
  return MARKS.some((key) => annotations[key] !== undefined);
}

export function isHeld({ metadata }: BareMetalHost): boolean {
  return metadata.annotations?.[HOLD] !== undefined;
}

/** By us: a crash may have left it there. */
function isTainted({ spec }: Node): boolean {
  return (spec.taints ?? []).some(({ key, value }) => key === OUT_OF_SERVICE.key && value === OUT_OF_SERVICE.value);
}

function machineKey(watched: WatchedMachines, machine: KubeObject): string {
  return keyOf(kindOf(watched), machine);
}
