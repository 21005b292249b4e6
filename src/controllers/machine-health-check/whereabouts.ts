import type { Subject } from './evaluate.ts';
import { Multimap } from './multimap.ts';
import type { ClusterFacts, MachineFacts, NodeFacts } from './snapshot.ts';
import { keyOf } from './snapshot.ts';

function nodeKey(cluster: string, name: string): string {
  return `${cluster}\n${name}`;
}

/** Which Node each Machine is on: Machines, their Clusters and the Nodes of those. Methods that take a change return the Machines that it concerns. */
export class Whereabouts {
  readonly #machines = new Map<string, MachineFacts>();
  readonly #clusters = new Map<string, ClusterFacts>();
  readonly #machinesOf = new Multimap();
  readonly #nodes = new Map<string, NodeFacts>();
  readonly #claimants = new Multimap();
  #unheard: ReadonlySet<string> = new Set();

  machine(key: string): MachineFacts | undefined {
    return this.#machines.get(key);
  }

  cluster(key: string): ClusterFacts | undefined {
    return this.#clusters.get(key);
  }

  /** Where the Machine is; undefined: it is on no node. missing: there is no such node. disputed: another names it as well. */
  nodeOf(key: string): Subject['node'] {
    const machine = this.#machines.get(key);
    const node = machine === undefined ? undefined : this.#placeOf(machine);
    if (machine === undefined || node === undefined) return undefined;
    if (this.#unheard.has(this.nodesOf(machine))) return 'unheard';
    return this.#isDisputed(key, node) ? 'disputed' : (this.#nodes.get(node) ?? 'missing');
  }

  putMachine(machine: MachineFacts): string[] {
    const key = keyOf(machine);
    const left = this.removeMachine(key);
    this.#machines.set(key, machine);
    if (machine.clusterName !== undefined) this.#machinesOf.add(`${machine.namespace}/${machine.clusterName}`, key);
    const node = this.#placeOf(machine);
    if (node === undefined) return [...left, key];
    this.#claimants.add(node, key);
    return [...left, ...this.#claimants.at(node)];
  }

  removeMachine(key: string): string[] {
    const machine = this.#machines.get(key);
    if (machine === undefined) return [];
    if (machine.clusterName !== undefined) this.#machinesOf.remove(`${machine.namespace}/${machine.clusterName}`, key);
    const node = this.#placeOf(machine);
    this.#machines.delete(key);
    if (node === undefined) return [];
    this.#claimants.remove(node, key);
    return [...this.#claimants.at(node)];
  }

  putNode(node: NodeFacts): string[] {
    const key = nodeKey(node.cluster, node.name);
    this.#nodes.set(key, node);
    return this.#onNode(key);
  }

  removeNode(cluster: string, name: string): string[] {
    const key = nodeKey(cluster, name);
    return this.#nodes.delete(key) ? this.#onNode(key) : [];
  }

  /** Its machines may have their nodes elsewhere afterwards. undefined: it is gone. */
  setCluster(key: string, cluster: ClusterFacts | undefined): string[] {
    const members = [...this.#machinesOf.at(key)];
    if ((this.#clusters.get(key)?.nodesOf ?? '') === (cluster?.nodesOf ?? '')) {
      this.#setCluster(key, cluster);
      return members;
    }
    const concerned = new Set(members);
    const move = (act: 'add' | 'remove'): void => {
      for (const member of members) {
        const machine = this.#machines.get(member);
        const node = machine === undefined ? undefined : this.#placeOf(machine);
        if (node === undefined) continue;
        this.#claimants[act](node, member);
        for (const other of this.#claimants.at(node)) concerned.add(other);
      }
    };
    move('remove');
    this.#setCluster(key, cluster);
    move('add');
    return [...concerned];
  }

  #setCluster(key: string, cluster: ClusterFacts | undefined): void {
    if (cluster === undefined) this.#clusters.delete(key);
    else this.#clusters.set(key, cluster);
  }

  setUnheard(clusters: ReadonlySet<string>): void {
    this.#unheard = clusters;
  }

  /** Whose Nodes it is among: see NodeFacts. */
  nodesOf({ namespace, clusterName }: MachineFacts): string {
    return (clusterName === undefined ? undefined : this.#clusters.get(`${namespace}/${clusterName}`)?.nodesOf) ?? '';
  }

  #placeOf(machine: MachineFacts): string | undefined {
    return machine.nodeName === undefined ? undefined : nodeKey(this.nodesOf(machine), machine.nodeName);
  }

  /** A machine that is being deleted leaves its node to one that is not. */
  #isDisputed(key: string, node: string): boolean {
    for (const other of this.#claimants.at(node)) {
      if (other !== key && (this.#machines.get(key)?.isDeleting === true || this.#machines.get(other)?.isDeleting === false)) return true;
    }
    return false;
  }

  /** A node that two machines claim says nothing about either. */
  #onNode(node: string): string[] {
    return [...this.#claimants.at(node)].filter((key) => !this.#isDisputed(key, node));
  }
}
