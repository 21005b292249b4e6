import { Multimap } from './multimap.ts';
import { keyOf } from './snapshot.ts';
import type { MachineFacts } from './snapshot.ts';

function clusterOf({ namespace, clusterName }: MachineFacts): string | undefined {
  return clusterName === undefined ? undefined : `${namespace}/${clusterName}`;
}

/** Machines by name, by their Cluster, and by the name of their Node. */
export class MachineIndex {
  readonly #machines = new Map<string, MachineFacts>();
  readonly #ofCluster = new Multimap();
  readonly #onNode = new Multimap();

  get(key: string): MachineFacts | undefined {
    return this.#machines.get(key);
  }

  put(machine: MachineFacts): void {
    const key = keyOf(machine);
    this.remove(key);
    this.#machines.set(key, machine);
    const cluster = clusterOf(machine);
    if (cluster !== undefined) this.#ofCluster.add(cluster, key);
    if (machine.nodeName !== undefined) this.#onNode.add(machine.nodeName, key);
  }

  remove(key: string): void {
    const machine = this.#machines.get(key);
    if (machine === undefined) return;
    this.#machines.delete(key);
    const cluster = clusterOf(machine);
    if (cluster !== undefined) this.#ofCluster.remove(cluster, key);
    if (machine.nodeName !== undefined) this.#onNode.remove(machine.nodeName, key);
  }

  /** Of the Cluster `namespace/name`. */
  ofCluster(cluster: string): MachineFacts[] {
    return this.#found(this.#ofCluster.at(cluster));
  }

  /** On a Node of this name, of whichever cluster. */
  onNode(name: string): MachineFacts[] {
    return this.#found(this.#onNode.at(name));
  }

  #found(keys: ReadonlySet<string>): MachineFacts[] {
    return [...keys].flatMap((key) => this.#machines.get(key) ?? []);
  }
}
