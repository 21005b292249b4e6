import type { Decision } from './actions.ts';
import { Candidates } from './candidates.ts';
import { isTarget } from './evaluate.ts';
import { Multimap } from './multimap.ts';
import { Requests } from './requests.ts';
import { keyOf } from './snapshot.ts';
import type { ClusterFacts, HealthCheck, Heard, MachineFacts, NodeFacts, ReadCheck, RequestFacts, Settings, TemplateFacts } from './snapshot.ts';
import { Ward } from './ward.ts';
import type { Surroundings } from './ward.ts';
import { Whereabouts } from './whereabouts.ts';

type Keys = ReadonlySet<string>;

/**
 * All checks and what they look at, change by change. Every method that takes a change returns the keys of the checks that must be decided anew; what did
 * not change is not looked at again. Comes to the same as `decide` over the whole picture.
 */
export class Roster {
  readonly #settings: Settings;
  readonly #wards = new Map<string, Ward>();
  readonly #checksIn = new Multimap();
  readonly #candidates = new Candidates();
  readonly #machineOfUID = new Map<string, string>();
  readonly #checksOf = new Multimap();
  readonly #places = new Whereabouts();
  readonly #requests = new Requests();

  readonly #whyUnheard: (cluster: string) => string | undefined;

  /** `whyUnheard`: why the Nodes of this Cluster can not be read, as far as that is known. */
  constructor(settings: Settings, whyUnheard: (cluster: string) => string | undefined = () => undefined) {
    this.#settings = settings;
    this.#whyUnheard = whyUnheard;
  }

  checks(): Iterable<string> {
    return this.#wards.keys();
  }

  decide(key: string, nowMs: number, heard?: Heard): Decision {
    return this.#wards.get(key)?.decide(nowMs, heard) ?? { actions: [], views: [], notices: [], problems: [] };
  }

  putCheck(read: ReadCheck): Keys {
    const { check } = read;
    const key = keyOf(check);
    const touched = new Set([...this.removeCheck(key), key]);
    const ward = new Ward(read, this.#around());
    this.#wards.set(key, ward);
    this.#checksIn.add(check.namespace, key);
    for (const name of this.#candidates.putCheck(check)) {
      const machine = this.#places.machine(name);
      if (machine === undefined || !isTarget(check, machine)) continue;
      this.#checksOf.add(name, key);
      this.#touch([name], touched);
    }
    return touched;
  }

  removeCheck(key: string): Keys {
    const ward = this.#wards.get(key);
    const touched = new Set<string>();
    if (ward === undefined) return touched;
    this.#wards.delete(key);
    this.#checksIn.remove(ward.check.namespace, key);
    this.#candidates.removeCheck(key);
    for (const machine of ward.machines()) {
      this.#checksOf.remove(machine, key);
      this.#touch([machine], touched);
    }
    return touched;
  }

  putMachine(machine: MachineFacts): Keys {
    const key = keyOf(machine);
    const touched = new Set<string>();
    const before = this.#places.machine(key);
    if (before !== undefined) this.#forgetMachine(before);
    const concerned = this.#places.putMachine(machine);
    this.#candidates.putMachine(machine);
    this.#machineOfUID.set(machine.uid, key);
    const selecting = this.#checksOf.at(key);
    for (const name of new Set([...selecting, ...this.#candidates.checksFor(machine)])) {
      const check = this.#wards.get(name)?.check;
      if (check !== undefined && isTarget(check, machine)) this.#checksOf.add(key, name);
      else if (selecting.has(name)) this.#leave(key, name, touched);
    }
    this.#touch([...concerned, key], touched);
    return touched;
  }

  removeMachine(key: string): Keys {
    const touched = new Set<string>();
    const machine = this.#places.machine(key);
    if (machine === undefined) return touched;
    this.#forgetMachine(machine);
    for (const name of [...this.#checksOf.at(key)]) this.#leave(key, name, touched);
    this.#touch(this.#places.removeMachine(key), touched);
    return touched;
  }

  putNode(node: NodeFacts): Keys {
    return this.#touch(this.#places.putNode(node));
  }

  /** `cluster`: as in NodeFacts. */
  removeNode(cluster: string, name: string): Keys {
    return this.#touch(this.#places.removeNode(cluster, name));
  }

  putCluster(cluster: ClusterFacts): Keys {
    return this.#setCluster(keyOf(cluster), cluster);
  }

  removeCluster(key: string): Keys {
    return this.#setCluster(key, undefined);
  }

  putRequest(request: RequestFacts): Keys {
    this.#requests.put(request);
    return this.#touch([keyOf(request)]);
  }

  removeRequest(request: RequestFacts): Keys {
    this.#requests.remove(request);
    return this.#touch([keyOf(request)]);
  }

  putTemplate(template: TemplateFacts): Keys {
    this.#requests.putTemplate(template);
    return this.#checksIn.at(template.namespace);
  }

  removeTemplate(template: TemplateFacts): Keys {
    this.#requests.removeTemplate(template);
    return this.#checksIn.at(template.namespace);
  }

  /** What the API server said to the last try to create the request of the Machine of this uid; undefined: nothing stands any more. */
  setRefusal(machineUID: string, words: string | undefined): Keys {
    this.#requests.setRefusal(machineUID, words);
    return this.#ofUID(machineUID);
  }

  /** Who has the node of the Machine of this uid; undefined: nobody any more. */
  setClaim(machineUID: string, holder: string | undefined): Keys {
    this.#requests.setClaim(machineUID, holder);
    return this.#ofUID(machineUID);
  }

  /** As in Snapshot. */
  setUnheard(nodes: Keys, kinds: Keys): Keys {
    this.#places.setUnheard(nodes);
    this.#requests.unheardKinds = kinds;
    return this.touchAll();
  }

  /** What was found of all machines may be found otherwise now. */
  touchAll(): Keys {
    for (const ward of this.#wards.values()) ward.touchAll();
    return new Set(this.#wards.keys());
  }

  #forgetMachine(machine: MachineFacts): void {
    this.#machineOfUID.delete(machine.uid);
    this.#candidates.removeMachine(machine);
  }

  #around(): Surroundings {
    const { hasClusters, maxInFlight } = this.#settings;
    return {
      clusterOf: ({ namespace, clusterName }) => {
        if (!hasClusters || clusterName === undefined) return undefined;
        return this.#places.cluster(`${namespace}/${clusterName}`) ?? 'missing';
      },
      machineOf: (machine) => this.#places.machine(machine),
      nodeOf: (machine) => this.#places.nodeOf(machine),
      nodesOf: (machine) => this.#places.nodesOf(machine),
      requests: this.#requests,
      keeperOf: (machine) => this.#keeperOf(machine),
      maxInFlight,
      whyUnheard: ({ namespace, clusterName }) => this.#whyUnheard(`${namespace}/${clusterName ?? ''}`),
    };
  }

  #keeperOf(machine: string): string | undefined {
    let first: HealthCheck | undefined;
    for (const name of this.#checksOf.at(machine)) {
      const ward = this.#wards.get(name);
      if (ward?.isUsable !== true) continue;
      const { check } = ward;
      const isEarlier = first === undefined || check.createdMs < first.createdMs || (check.createdMs === first.createdMs && check.name < first.name);
      if (isEarlier) first = check;
    }
    return first === undefined ? undefined : keyOf(first);
  }

  /** Has machines judged again by all checks that select them. */
  #touch(machines: readonly string[], touched = new Set<string>()): Keys {
    for (const machine of machines) {
      for (const name of this.#checksOf.at(machine)) {
        this.#wards.get(name)?.touch(machine);
        touched.add(name);
      }
    }
    return touched;
  }

  #leave(machine: string, name: string, touched: Set<string>): void {
    this.#wards.get(name)?.drop(machine);
    this.#checksOf.remove(machine, name);
    touched.add(name);
    this.#touch([machine], touched);
  }

  #ofUID(machineUID: string): Keys {
    const machine = this.#machineOfUID.get(machineUID);
    return this.#touch(machine === undefined ? [] : [machine]);
  }

  #setCluster(key: string, cluster: ClusterFacts | undefined): Keys {
    const touched = new Set<string>();
    this.#touch(this.#places.setCluster(key, cluster), touched);
    for (const name of this.#checksIn.at(key.slice(0, key.indexOf('/')))) {
      const check = this.#wards.get(name)?.check;
      if (check !== undefined && `${check.namespace}/${check.clusterName ?? ''}` === key) touched.add(name);
    }
    return touched;
  }
}
