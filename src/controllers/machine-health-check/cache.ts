import type { Cluster, Lister, Resource } from '../../ports/cluster.ts';
import type { UntypedObject } from '../../ports/cluster-api.ts';
import type { KubeObject, Node } from '../../ports/objects.ts';
import { NODES } from '../../ports/resources.ts';
import { Sights } from '../shared/sights.ts';
import type { Sight } from '../shared/sights.ts';
import { SILENT_AFTER_MS } from '../shared/write-gate.ts';
import type { ObjectRef } from './actions.ts';
import { Claims } from './claims.ts';
import type { FoundKind, HealthCheckDependencies, WorkloadNodes } from './dependencies.ts';
import { datesOfCluster, datesOfMachine, datesOfNode } from './dated.ts';
import { BY_LABEL, BY_NODE, labelKeysOf } from './indexes.ts';
import { memoised } from './memoised.ts';
import { NodePlaces } from './node-places.ts';
import { readCluster, readNode } from './read/cluster.ts';
import { readHealthCheck } from './read/health-check.ts';
import { readMachine } from './read/machine.ts';
import { readRequest, readTemplate } from './read/request.ts';
import { requestKind } from './request.ts';
import { keyOf, kindKey } from './snapshot.ts';
import type {
  ClusterFacts,
  ClusterSnapshot,
  FoundTemplate,
  HealthCheck,
  FreshSince,
  MachineFacts,
  NodeFacts,
  ReadCheck,
  RequestFacts,
} from './snapshot.ts';
import type { IntOrPercent } from './threshold.ts';

/** How to read one Node consistently, and what stops are where it is; undefined: there is none of its name. */
export interface KnownNode {
  read: () => Promise<NodeFacts | undefined>;
  cluster: Pick<Cluster, 'list'>;
  /** Of this cluster. */
  isOwn: boolean;
}

/** The cluster as the watches know it, each object read once. It keeps nothing that could not be found anew but what was refused. */
export class HealthCheckCache implements ClusterSnapshot {
  readonly maxInFlight: IntOrPercent | undefined;
  readonly claims: Claims;
  readonly readCheck: (object: UntypedObject) => ReadCheck;
  readonly readMachine: (object: UntypedObject) => MachineFacts;
  readonly readNode = memoised((node: Node) => readNode(node));
  /** By name. */
  readonly #readMachines = memoised((objects: readonly UntypedObject[]) => objects.map(this.readMachine).sort(byName));
  readonly #readCluster: (object: UntypedObject) => ClusterFacts;
  readonly #dependencies: HealthCheckDependencies;
  readonly #nodePlaces: NodePlaces;
  readonly #nodeSights: Sights<NodeFacts>;
  readonly #machineSights: Sights<MachineFacts>;
  readonly #clusterSights: Sights<ClusterFacts>;
  /** By uid of the Machine. */
  readonly #refusals = new Map<string, { machine: ObjectRef; message: string }>();
  /** The rest is as of the last `refresh`. */
  #places: ReadonlyMap<string, string> = new Map();
  #freshPlaces: ReadonlySet<string> = new Set();
  #unknownKinds: ReadonlySet<string> = new Set();
  #freshSince: ReadonlyMap<string, FreshSince> = new Map();
  #known = '';

  constructor(dependencies: HealthCheckDependencies) {
    const { checks, machines, clusters, options } = dependencies;
    this.#dependencies = dependencies;
    this.maxInFlight = options.maxInFlight;
    this.claims = new Claims(dependencies);
    this.#nodePlaces = new NodePlaces(dependencies);
    this.#nodeSights = new Sights(dependencies.clock, datesOfNode);
    this.#machineSights = new Sights(dependencies.clock, datesOfMachine);
    this.#clusterSights = new Sights(dependencies.clock, datesOfCluster);
    this.readCheck = memoised((object: UntypedObject) => readHealthCheck(typed(object, checks.resource), options));
    this.readMachine = memoised((object: UntypedObject) => readMachine(typed(object, machines.resource), options));
    this.#readCluster = memoised((object: UntypedObject) => readCluster(clusters === undefined ? object : typed(object, clusters.resource)));
  }

  get isSynced(): boolean {
    return this.watches().every(({ synced }) => synced);
  }

  /** Those from which it is decided. */
  watches(): readonly Lister<KubeObject>[] {
    const { checks, machines, clusters, nodes, fences } = this.#dependencies;
    return [checks.lister, machines.lister, nodes, fences, ...(clusters === undefined ? [] : [clusters.lister])];
  }

  /** Looks where Nodes are, what can not be read, and since when the rest is heard. Has any of it changed? Every check may be decided otherwise then. */
  refresh(clusters: ReadonlySet<string>, kinds: ReadonlySet<string>): boolean {
    const { workloads } = this.#dependencies;
    const keys = Array.from(this.#dependencies.clusters?.lister.all() ?? [], keyOfObject);
    this.#places = new Map(keys.map((key) => [key, this.#nodePlaces.placeOf(key)]));
    const wanted = ['', ...[...clusters].filter((cluster) => this.#places.get(cluster) !== '')];
    this.#freshPlaces = new Set(wanted.filter((place) => this.#isFresh(this.nodesAt(place)?.lister)));
    this.#unknownKinds = new Set([...kinds].filter((kind) => !this.#isKnown(this.#dependencies.kinds.of(kind))));
    const resumed = this.#setFresh();
    const unknown = wanted.filter((place) => !this.#freshPlaces.has(place)).sort();
    const causes = unknown.map((place) => [place, workloads.whyNot(place)]);
    const known = JSON.stringify([[...this.#places].sort(), causes, [...this.#unknownKinds].sort(), resumed]);
    const isNew = known !== this.#known;
    this.#known = known;
    return isNew;
  }

  checks(): ReadCheck[] {
    return Array.from(this.#dependencies.checks.lister.all(), this.readCheck);
  }

  candidatesOf({ namespace, matchLabels }: HealthCheck): readonly MachineFacts[] {
    // The rarest of its labels leaves the fewest.
    const found = labelKeysOf(namespace, matchLabels).map((key) => this.#dependencies.machines.lister.byIndex(BY_LABEL, key));
    return this.#readMachines(found.reduce((rarest, each) => (each.length < rarest.length ? each : rarest)));
  }

  /** All, of whatever namespace. */
  *machines(): Generator<MachineFacts> {
    for (const object of this.#dependencies.machines.lister.all()) yield this.readMachine(object);
  }

  machine(key: string): MachineFacts | undefined {
    const object = this.#dependencies.machines.lister.get(key);
    return object === undefined ? undefined : this.readMachine(object);
  }

  /** On a Node of this name, of whichever cluster. */
  machinesNaming(nodeName: string): readonly MachineFacts[] {
    return this.#readMachines(this.#dependencies.machines.lister.byIndex(BY_NODE, nodeName));
  }

  machinesOn(place: string, nodeName: string): MachineFacts[] {
    return this.machinesNaming(nodeName).filter((machine) => this.placeOf(machine) === place);
  }

  cluster(key: string): ReturnType<ClusterSnapshot['cluster']> {
    const { clusters } = this.#dependencies;
    const object = clusters?.lister.get(key);
    return object === undefined ? clusters && 'missing' : this.#readCluster(object);
  }

  placeOf({ namespace, clusterName }: MachineFacts): string {
    if (clusterName === undefined || this.#dependencies.clusters === undefined) return '';
    const cluster = `${namespace}/${clusterName}`;
    // Of a Cluster that is not there nobody knows where its Nodes are.
    return this.#places.get(cluster) ?? cluster;
  }

  node(place: string, name: string): NodeFacts | 'missing' | 'unknown' {
    if (!this.#freshPlaces.has(place)) return 'unknown';
    const node = this.nodesAt(place)?.lister.get(name);
    return node === undefined ? 'missing' : this.readNode(node);
  }

  freshSinceMs(place: string): FreshSince {
    return this.#freshSince.get(place) ?? ALWAYS;
  }

  sightOf(facts: MachineFacts | NodeFacts | ClusterFacts): Sight {
    if ('infrastructureReady' in facts) return this.#clusterSights.of(facts);
    return 'uid' in facts ? this.#machineSights.of(facts) : this.#nodeSights.of(facts);
  }

  /** A change of a Node of this place, as its watch brings it. */
  sawNode(place: string, before: NodeFacts | undefined, after: NodeFacts | undefined): void {
    if (after !== undefined) this.#nodeSights.saw(before ?? firstOf(this.nodesAt(place)?.lister), after);
  }

  sawMachine(before: MachineFacts | undefined, after: MachineFacts | undefined): void {
    if (after !== undefined) this.#machineSights.saw(before ?? firstOf(this.#dependencies.machines.lister), after);
  }

  sawCluster(before: UntypedObject | undefined, after: UntypedObject | undefined): void {
    const [was, is] = [before, after].map((object) => object && this.#readCluster(object));
    if (is !== undefined) this.#clusterSights.saw(was ?? firstOf(this.#dependencies.clusters?.lister), is);
  }

  requestOf({ template }: HealthCheck, { namespace, name }: Pick<MachineFacts, 'namespace' | 'name'>): RequestFacts | undefined {
    if (template === undefined) return undefined;
    const found = this.kindOf(template.apiVersion, requestKind(template.kind));
    const object = typeof found === 'string' ? undefined : found.lister.get(keyOf({ namespace, name }));
    return object === undefined || typeof found === 'string' ? undefined : readRequest(typed(object, found.resource));
  }

  templateOf({ template, namespace }: HealthCheck): FoundTemplate {
    if (template === undefined) return undefined;
    const { apiVersion, kind, name } = template;
    if ([kind, requestKind(kind)].some((each) => this.#unknownKinds.has(kindKey(apiVersion, each)))) return 'unknown';
    const found = this.kindOf(apiVersion, kind);
    const object = typeof found === 'string' ? undefined : found.lister.get(keyOf({ namespace, name }));
    return object === undefined || typeof found === 'string' ? 'missing' : readTemplate(typed(object, found.resource));
  }

  holderOf(machine: MachineFacts): string | undefined {
    const { nodeName = '' } = machine;
    const holder = this.claims.holderOf(nodeName);
    return holder !== undefined && this.#isHere(machine) ? holder : undefined;
  }

  /** Why its machine is to be kept as it is; undefined: it is not. */
  preservedBecause(machine: MachineFacts): string | undefined {
    const { nodeName } = machine;
    return nodeName !== undefined && this.#isHere(machine) ? this.#dependencies.preservedBecause?.(nodeName) : undefined;
  }

  /** Its Node is one of this cluster. */
  #isHere(machine: MachineFacts): boolean {
    const { nodeName = '' } = machine;
    const place = this.placeOf(machine);
    const uid = this.#dependencies.nodes.get(nodeName)?.metadata.uid;
    // A kubeconfig may lead back to this cluster.
    return place === '' || (uid !== undefined && this.nodesAt(place)?.lister.get(nodeName)?.metadata.uid === uid);
  }

  refusalOf({ uid }: MachineFacts): string | undefined {
    return this.#refusals.get(uid)?.message;
  }

  /** undefined: the API server took it, or nobody wants it any more. Is that another word than before? */
  setRefusal(machine: ObjectRef, message: string | undefined): boolean {
    const { uid } = machine;
    if (this.#refusals.get(uid)?.message === message) return false;
    if (message === undefined) this.#refusals.delete(uid);
    else this.#refusals.set(uid, { machine, message });
    return true;
  }

  /** Machines whose request was refused. */
  refused(): ObjectRef[] {
    return [...this.#refusals.values()].map(({ machine }) => machine);
  }

  whyUnknown(place: string): string | undefined {
    const { workloads } = this.#dependencies;
    return workloads.whyNot(place) ?? (workloads.of(place) === 'no-kubeconfig' ? NOWHERE : undefined);
  }

  /** The Node that the Machine names; undefined: it names none, or nothing is known of its Nodes. */
  nodeOf(machine: MachineFacts): KnownNode | undefined {
    const { nodeName } = machine;
    const place = this.placeOf(machine);
    const source = this.nodesAt(place);
    if (nodeName === undefined || source === undefined) return undefined;
    const { cluster } = source;
    const facts = (node: Node | undefined): NodeFacts | undefined => (node === undefined ? undefined : this.readNode(node));
    return { read: async () => facts(await cluster.get(NODES, nodeName)), cluster, isOwn: place === '' };
  }

  kindOf(apiVersion: string, kind: string): FoundKind {
    return this.#dependencies.kinds.of(kindKey(apiVersion, kind));
  }

  /** Undefined: they can not be read now, or not yet. */
  nodesAt(place: string): WorkloadNodes | undefined {
    const { nodes, cluster, workloads } = this.#dependencies;
    if (place === '') return { lister: nodes, cluster };
    const found = workloads.of(place);
    return typeof found === 'string' ? undefined : found;
  }

  #isFresh(lister: Lister<KubeObject> | undefined): boolean {
    return lister?.synced === true && this.#dependencies.clock.monotonicMs() - lister.freshAtMs <= SILENT_AFTER_MS;
  }

  #isKnown(found: FoundKind): boolean {
    return typeof found === 'string' ? found === 'absent' : this.#isFresh(found.lister);
  }

  /** Returns the monotonic times since which Machines, and Nodes by their place, are heard again, or at all. */
  #setFresh(): unknown {
    const { clock, machines } = this.#dependencies;
    const aheadMs = clock.wallMs() - clock.monotonicMs();
    const resumed = [...new Set(['', ...this.#places.values()])].map((place) => [place, resumedAtMs(this.nodesAt(place)?.lister)] as const);
    const machineMs = resumedAtMs(machines.lister);
    const wallOf = (atMs: number | undefined): number => (atMs === undefined ? 0 : aheadMs + atMs);
    this.#freshSince = new Map(resumed.map(([place, atMs]) => [place, { machine: wallOf(machineMs), node: wallOf(atMs) }]));
    return [machineMs, resumed.sort()];
  }
}

const ALWAYS: FreshSince = { machine: 0, node: 0 };

/** Where the Nodes of a Cluster are that names no place. */
const NOWHERE = 'their Cluster has no kubeconfig, and none of them is on a Node of this cluster that has its providerID';

function byName(one: MachineFacts, other: MachineFacts): number {
  return one.name < other.name ? -1 : 1;
}

function resumedAtMs(lister: Lister<KubeObject> | undefined): number | undefined {
  const atMs = lister?.resumedAtMs;
  return atMs !== undefined && Number.isFinite(atMs) ? atMs : undefined;
}

/** What comes with the first list was there before. */
function firstOf(lister: Lister<KubeObject> | undefined): 'none' | 'unseen' {
  return lister?.synced === true ? 'none' : 'unseen';
}

export function keyOfObject({ metadata: { namespace = '', name } }: KubeObject): string {
  return keyOf({ namespace, name });
}

/** Lists name the kind of their items once, or each time. */
function typed(object: UntypedObject, { group, version, kind }: Resource): UntypedObject {
  return { ...object, apiVersion: group === '' ? version : `${group}/${version}`, kind };
}
