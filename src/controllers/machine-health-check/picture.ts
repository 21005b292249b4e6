import type { Lister, Resource } from '../../ports/cluster.ts';
import type { UntypedObject } from '../../ports/cluster-api.ts';
import type { KubeObject, Node } from '../../ports/objects.ts';
import { NODES } from '../../ports/resources.ts';
import type { Decision } from './actions.ts';
import { Claims } from './claims.ts';
import type { FoundKind, HealthCheckDependencies, WatchedKind } from './dependencies.ts';
import { follow, Followings } from './following.ts';
import type { Follower } from './following.ts';
import { MachineIndex } from './machine-index.ts';
import { Places } from './places.ts';
import { readCluster, readNode } from './read/cluster.ts';
import { readHealthCheck } from './read/health-check.ts';
import { readMachine } from './read/machine.ts';
import { readRequest, readTemplate } from './read/request.ts';
import { requestKind } from './request.ts';
import { Roster } from './roster.ts';
import { keyOf, kindKey } from './snapshot.ts';
import type { HealthCheck, Heard, MachineFacts, NodeFacts } from './snapshot.ts';

/** One Node as it was decided upon, and how to read it at the quorum; undefined: there is none of its name. */
export interface KnownNode {
  facts: NodeFacts | undefined;
  read: () => Promise<NodeFacts | undefined>;
}

/** A watch sends something about every minute, and is opened anew when it does not. */
const SILENT_AFTER_MS = 90_000;

/** All that is decided from, kept up with the watches: the checks, and the Machines, Clusters, Nodes, templates, requests and fences around them. */
export class Picture {
  readonly #dependencies: HealthCheckDependencies;
  readonly #roster: Roster;
  readonly #woken: () => void;
  readonly #dirty = new Set<string>();
  readonly #leave: (() => void)[] = [];
  readonly #checks = new Map<string, HealthCheck>();
  readonly #machines = new MachineIndex();
  readonly #places: Places;
  readonly #claims: Claims;
  readonly #workloads = new Followings();
  readonly #kinds = new Followings();
  /** Where the Nodes of each Cluster are, as the roster was told. */
  readonly #placeOf = new Map<string, string>();
  #unheard = '';
  #resumedText = '';

  constructor(dependencies: HealthCheckDependencies, woken: () => void) {
    this.#dependencies = dependencies;
    this.#woken = woken;
    const { clusters, options, nodes, workloads, machines } = dependencies;
    const { maxInFlight } = options;
    const settings = { hasClusters: clusters !== undefined, ...(maxInFlight !== undefined && { maxInFlight }) };
    this.#roster = new Roster(settings, (cluster) => workloads.whyNot(cluster));
    this.#places = new Places({ workloads, nodes, machines: machines.lister }, this.#machines);
    this.#claims = new Claims(dependencies, (uid, holder) => {
      this.#touch(this.#roster.setClaim(uid, holder));
    });
  }

  /** Follows the listers from now on, whether they are synced or not. */
  start(): void {
    const { checks, machines, clusters, nodes, fences, nodeLeases, kinds, workloads } = this.#dependencies;
    const stir = (): void => {
      this.#claims.stir();
      this.#woken();
    };
    // What a check looks at is there before it looks.
    this.#leave.push(follow(nodes, this.#nodeFollower('')), follow(machines.lister, this.#machineFollower(machines)));
    if (clusters !== undefined) this.#leave.push(follow(clusters.lister, this.#clusterFollower(clusters)));
    this.#leave.push(
      follow(checks.lister, this.#checkFollower(checks)),
      follow(fences, { put: stir, remove: stir }),
      kinds.onChange(this.#woken),
      workloads.onChange(this.#woken),
    );
    if (nodeLeases !== undefined) this.#leave.push(follow(nodeLeases, { put: stir, remove: stir }));
  }

  close(): void {
    for (const leave of this.#leave) leave();
    this.#workloads.retain(new Set());
    this.#kinds.retain(new Set());
    this.#dependencies.kinds.want(new Set());
    this.#dependencies.workloads.want(new Set());
  }

  get isSynced(): boolean {
    return this.#vital().every(({ synced }) => synced);
  }

  /** What is decided from may be long past. */
  get isSilent(): boolean {
    return this.#vital().some((lister) => this.#isSilent(lister));
  }

  /** The checks that must be decided anew, each told once. */
  takeChanged(): ReadonlySet<string> {
    this.#refresh();
    const changed = new Set(this.#dirty);
    this.#dirty.clear();
    return changed;
  }

  checks(): Iterable<string> {
    return this.#roster.checks();
  }

  /** By the wall clock. */
  decide(key: string, nowMs: number): Decision {
    return this.#roster.decide(key, nowMs, this.#heard(nowMs));
  }

  #heard(wallMs: number): Heard {
    const nowMs = this.#dependencies.clock.monotonicMs();
    const { machines, nodes } = this.#resumed();
    const wallOf = (atMs: number): number => wallMs - (nowMs - atMs);
    return {
      nodesMs: new Map([...nodes].map(([place, atMs]) => [place, wallOf(atMs)])),
      ...(machines !== undefined && { machinesMs: wallOf(machines) }),
    };
  }

  /** Monotonic times since which Machines, and Nodes by their place, are heard again, or at all. */
  #resumed(): { machines: number | undefined; nodes: ReadonlyMap<string, number> } {
    const { machines, nodes } = this.#dependencies;
    const found = new Map<string, number>();
    const note = (place: string, lister: Lister<Node>): void => {
      const atMs = resumedAtMs(lister);
      if (atMs !== undefined) found.set(place, atMs);
    };
    note('', nodes);
    for (const place of new Set(this.#placeOf.values())) {
      const source = place === '' ? 'no-kubeconfig' : this.#places.of(place);
      if (typeof source !== 'string') note(place, source.lister);
    }
    return { machines: resumedAtMs(machines.lister), nodes: found };
  }

  machine(key: string): MachineFacts | undefined {
    return this.#machines.get(key);
  }

  setRefusal(machineUID: string, words: string | undefined): void {
    this.#touch(this.#roster.setRefusal(machineUID, words));
  }

  /** The Node that the Machine names; undefined: it names none, or nothing is known of its Nodes. */
  nodeOf(machine: MachineFacts): KnownNode | undefined {
    const { nodeName } = machine;
    if (nodeName === undefined) return undefined;
    const place = this.#placeOfMachine(machine);
    const source = place === '' ? { lister: this.#dependencies.nodes, cluster: this.#dependencies.cluster } : this.#places.of(place);
    if (typeof source === 'string') return undefined;
    const facts = (node: Node | undefined): NodeFacts | undefined => (node === undefined ? undefined : readNode(node, place));
    return { facts: facts(source.lister.get(nodeName)), read: async () => facts(await source.cluster.get(NODES, nodeName)) };
  }

  kindOf(apiVersion: string, kind: string): FoundKind {
    return this.#dependencies.kinds.of(kindKey(apiVersion, kind));
  }

  #placeOfMachine({ namespace, clusterName }: MachineFacts): string {
    return (clusterName === undefined ? undefined : this.#placeOf.get(`${namespace}/${clusterName}`)) ?? '';
  }

  #vital(): readonly Lister<KubeObject>[] {
    const { checks, machines, clusters, nodes, fences } = this.#dependencies;
    return [checks.lister, machines.lister, nodes, fences, ...(clusters === undefined ? [] : [clusters.lister])];
  }

  #isSilent({ freshAtMs }: Lister<KubeObject>): boolean {
    return this.#dependencies.clock.monotonicMs() - freshAtMs > SILENT_AFTER_MS;
  }

  #isHeard(lister: Lister<KubeObject>): boolean {
    return lister.synced && !this.#isSilent(lister);
  }

  #touch(keys: ReadonlySet<string>): void {
    for (const key of keys) this.#dirty.add(key);
    if (keys.size > 0) this.#woken();
  }

  #checkFollower({ resource }: WatchedKind): Follower<UntypedObject> {
    const { options } = this.#dependencies;
    return {
      put: (object) => {
        const read = readHealthCheck(typed(object, resource), options);
        this.#checks.set(keyOf(read.check), read.check);
        this.#touch(this.#roster.putCheck(read));
      },
      remove: (object) => {
        const key = keyOfObject(object);
        this.#checks.delete(key);
        this.#touch(new Set([...this.#roster.removeCheck(key), key]));
      },
    };
  }

  #machineFollower({ resource }: WatchedKind): Follower<UntypedObject> {
    const { options } = this.#dependencies;
    return {
      put: (object) => {
        const machine = readMachine(typed(object, resource), options);
        this.#machines.put(machine);
        this.#claims.stir();
        this.#touch(this.#roster.putMachine(machine));
      },
      remove: (object) => {
        const key = keyOfObject(object);
        this.#machines.remove(key);
        this.#claims.stir();
        this.#touch(this.#roster.removeMachine(key));
      },
    };
  }

  #clusterFollower({ resource }: WatchedKind): Follower<UntypedObject> {
    return {
      put: (object) => {
        const key = keyOfObject(object);
        const place = this.#places.placeOf(key);
        this.#placeOf.set(key, place);
        this.#claims.stir();
        this.#touch(this.#roster.putCluster(readCluster(typed(object, resource), place)));
      },
      remove: (object) => {
        const key = keyOfObject(object);
        this.#placeOf.delete(key);
        this.#claims.stir();
        this.#touch(this.#roster.removeCluster(key));
      },
    };
  }

  #nodeFollower(place: string): Follower<Node> {
    return {
      put: (node, before) => {
        const facts = readNode(node, place);
        // A heartbeat says nothing new.
        if (before !== undefined && isSameNode(readNode(before, place), facts)) return;
        this.#touch(this.#roster.putNode(facts));
      },
      remove: ({ metadata }) => {
        this.#touch(this.#roster.removeNode(place, metadata.name));
      },
    };
  }

  /** Kinds and clusters that checks name now, and what can not be read of them. */
  #refresh(): void {
    const { kinds, workloads, clusters, nodes } = this.#dependencies;
    const wantedKinds = new Map<string, { isTemplate: boolean; isRequest: boolean }>();
    const wantedClusters = new Set<string>();
    for (const { namespace, clusterName, template } of this.#checks.values()) {
      const cluster = `${namespace}/${clusterName ?? ''}`;
      if (clusters?.lister.get(cluster) !== undefined) wantedClusters.add(cluster);
      if (template === undefined) continue;
      const { apiVersion, kind } = template;
      const [ofTemplate, ofRequest] = [kindKey(apiVersion, kind), kindKey(apiVersion, requestKind(kind))];
      wantedKinds.set(ofTemplate, { isRequest: false, ...wantedKinds.get(ofTemplate), isTemplate: true });
      wantedKinds.set(ofRequest, { isTemplate: false, ...wantedKinds.get(ofRequest), isRequest: true });
    }
    kinds.want(new Set(wantedKinds.keys()));
    workloads.want(wantedClusters);
    const unheardNodes = new Set(this.#isHeard(nodes) ? [] : ['']);
    for (const cluster of wantedClusters) if (!this.#reaches(cluster)) unheardNodes.add(cluster);
    this.#workloads.retain(wantedClusters);
    const unheardKinds = new Set<string>();
    const names = new Set<string>();
    for (const [kind, roles] of wantedKinds) {
      const name = `${kind} ${JSON.stringify(roles)}`;
      names.add(name);
      if (!this.#watches(name, kind, roles)) unheardKinds.add(kind);
    }
    this.#kinds.retain(names);
    this.#setUnheard(unheardNodes, unheardKinds);
    this.#setResumed();
    this.#claims.renew((node) => this.#machinesHere(node));
  }

  /** Is everything known that is to be known of the Nodes of this Cluster? */
  #reaches(cluster: string): boolean {
    const { clusters } = this.#dependencies;
    const place = this.#places.placeOf(cluster);
    const object = clusters?.lister.get(cluster);
    if (clusters !== undefined && object !== undefined && this.#placeOf.get(cluster) !== place)
      this.#clusterFollower(clusters).put(object, undefined);
    const found = this.#places.of(cluster);
    if (typeof found === 'string') this.#workloads.detach(cluster);
    else this.#workloads.attach(cluster, found.lister, this.#nodeFollower(cluster));
    return place === '' || (typeof found !== 'string' && this.#isHeard(found.lister));
  }

  /** The same for a kind of templates or requests. */
  #watches(name: string, kind: string, { isTemplate, isRequest }: { isTemplate: boolean; isRequest: boolean }): boolean {
    const found = this.#dependencies.kinds.of(kind);
    if (typeof found === 'string') {
      this.#kinds.detach(name);
      return found === 'absent';
    }
    const { lister, resource } = found;
    this.#kinds.attach(name, lister, {
      put: (object) => {
        if (isTemplate) this.#touch(this.#roster.putTemplate(readTemplate(typed(object, resource))));
        if (isRequest) this.#touch(this.#roster.putRequest(readRequest(typed(object, resource))));
      },
      remove: (object) => {
        this.#touch(this.#roster.removeTemplate(readTemplate(typed(object, resource))));
        this.#touch(this.#roster.removeRequest(readRequest(typed(object, resource))));
      },
    });
    return this.#isHeard(lister);
  }

  /** What was decided in an outage took it for silence. */
  #setResumed(): void {
    const { machines, nodes } = this.#resumed();
    const text = JSON.stringify([machines, [...nodes].sort()]);
    if (text === this.#resumedText) return;
    this.#resumedText = text;
    for (const key of this.#roster.touchAll()) this.#dirty.add(key);
  }

  #setUnheard(nodes: ReadonlySet<string>, kinds: ReadonlySet<string>): void {
    const named = [...nodes].sort().map((cluster) => [cluster, this.#dependencies.workloads.whyNot(cluster)]);
    const text = JSON.stringify([named, [...kinds].sort()]);
    if (text === this.#unheard) return;
    this.#unheard = text;
    for (const key of this.#roster.setUnheard(nodes, kinds)) this.#dirty.add(key);
  }

  /** uids of the Machines on the Node of this cluster that has this name. */
  #machinesHere(name: string): string[] {
    const uid = this.#dependencies.nodes.get(name)?.metadata.uid;
    return this.#machines.onNode(name).flatMap((machine) => {
      const place = this.#placeOfMachine(machine);
      const found = place === '' ? undefined : this.#places.of(place);
      // A kubeconfig may lead back to this cluster.
      const isSame = typeof found === 'object' && uid !== undefined && found.lister.get(name)?.metadata.uid === uid;
      return place === '' || isSame ? [machine.uid] : [];
    });
  }
}

function resumedAtMs({ resumedAtMs: atMs }: Lister<KubeObject>): number | undefined {
  return atMs !== undefined && Number.isFinite(atMs) ? atMs : undefined;
}

/** Lists name the kind of their items once, or each time. */
function typed(object: UntypedObject, { group, version, kind }: Resource): UntypedObject {
  return { ...object, apiVersion: group === '' ? version : `${group}/${version}`, kind };
}

function keyOfObject({ metadata: { namespace = '', name } }: KubeObject): string {
  return keyOf({ namespace, name });
}

/** Nothing has changed that a check looks at. */
export function isSameNode(one: NodeFacts | undefined, other: NodeFacts | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
