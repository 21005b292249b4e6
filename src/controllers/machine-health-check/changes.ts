import type { UntypedObject } from '../../ports/cluster-api.ts';
import type { KubeObject, Node } from '../../ports/objects.ts';
import type { ObjectRef } from './actions.ts';
import { keyOfObject } from './cache.ts';
import type { HealthCheckCache } from './cache.ts';
import type { HealthCheckDependencies } from './dependencies.ts';
import { isTarget } from './evaluate.ts';
import { isDisputed, mayOverlap } from './observe.ts';
import { isSameNode } from './read/cluster.ts';
import { requestKind } from './request.ts';
import { keyOf, kindKey } from './snapshot.ts';
import type { HealthCheck, MachineFacts } from './snapshot.ts';
import { isCalledIll } from './taken-back.ts';
import { Subscriptions } from './subscriptions.ts';

/** Which checks a change of an object concerns, so that they are decided anew; and what is watched for the sake of the checks that there are. */
export class Changes {
  readonly #dependencies: HealthCheckDependencies;
  readonly #cache: HealthCheckCache;
  readonly #wake: () => void;
  readonly #changed = new Set<string>();
  readonly #unsubscribe: (() => void)[] = [];
  readonly #subscriptions = new Subscriptions();
  #mayBeLeft = true;

  constructor(dependencies: HealthCheckDependencies, cache: HealthCheckCache, wake: () => void) {
    this.#dependencies = dependencies;
    this.#cache = cache;
    this.#wake = wake;
  }

  /** From now on, whether the listers are synced or not. */
  start(): void {
    const { checks, machines, clusters, nodes, fences, nodeLeases, kinds, workloads } = this.#dependencies;
    const claimed = (): void => {
      this.#cache.claims.invalidate();
      this.#wake();
    };
    this.#unsubscribe.push(
      nodes.onChange(this.#nodeChanged('')),
      machines.lister.onChange((before, after) => {
        const [was, is] = [before, after].map((object) => object && this.#cache.readMachine(object));
        this.#cache.sawMachine(was, is);
        for (const facts of [was, is]) if (facts !== undefined) this.#add(this.#ofMachine(facts));
        if (![was, is].some((facts) => facts !== undefined && isCalledIll(facts))) return;
        // No check may concern it any more, and what one has said of it stands.
        this.#mayBeLeft = true;
        this.#wake();
      }),
      checks.lister.onChange(() => (this.#mayBeLeft = true)),
      checks.lister.onChange(this.#on((check) => this.#ofCheck(this.#cache.readCheck(check).check))),
      fences.onChange(claimed),
      kinds.onChange(this.#wake),
      workloads.onChange(this.#wake),
    );
    const ofCluster = this.#on<UntypedObject>((cluster) => this.#ofCluster(cluster));
    const clusterChanged = (before: UntypedObject | undefined, after: UntypedObject | undefined): void => {
      this.#cache.sawCluster(before, after);
      this.#mayBeLeft = true;
      ofCluster(before, after);
    };
    if (clusters !== undefined) this.#unsubscribe.push(clusters.lister.onChange(clusterChanged));
    if (nodeLeases !== undefined) this.#unsubscribe.push(nodeLeases.onChange(claimed));
  }

  close(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#subscriptions.retain(new Set());
    this.#dependencies.kinds.want(new Set());
    this.#dependencies.workloads.want(new Set());
  }

  /** The checks that must be decided anew, each told once. */
  take(): ReadonlySet<string> {
    const { kinds, workloads } = this.#dependencies;
    const { wantedKinds, wantedClusters } = this.#wanted();
    kinds.want(wantedKinds);
    workloads.want(wantedClusters);
    const isOther = this.#subscribe(wantedKinds, wantedClusters);
    if (this.#cache.refresh(wantedClusters, wantedKinds) || isOther) for (const { check } of this.#cache.checks()) this.#changed.add(keyOf(check));
    for (const node of this.#cache.claims.renew()) this.#add(this.#selecting(this.#cache.machinesNaming(node)));
    const changed = new Set(this.#changed);
    this.#changed.clear();
    return changed;
  }

  /** May another Machine be called ill by now that no check looks at? Told once. */
  takeLeft(): boolean {
    const mayBeLeft = this.#mayBeLeft;
    this.#mayBeLeft = false;
    return mayBeLeft;
  }

  /** What the API server said to the request of this Machine; undefined: nothing stands any more. */
  setRefusal(machine: ObjectRef, message: string | undefined): void {
    if (!this.#cache.setRefusal(machine, message)) return;
    const facts = this.#cache.machine(keyOf(machine));
    if (facts !== undefined) this.#add(this.#selecting([facts]));
  }

  #wanted(): { wantedKinds: Set<string>; wantedClusters: Set<string> } {
    const [wantedKinds, wantedClusters] = [new Set<string>(), new Set<string>()];
    for (const { check } of this.#cache.checks()) {
      const { template } = check;
      for (const cluster of this.#clustersOf(check)) if (this.#dependencies.clusters?.lister.get(cluster) !== undefined) wantedClusters.add(cluster);
      if (template === undefined) continue;
      for (const kind of [template.kind, requestKind(template.kind)]) wantedKinds.add(kindKey(template.apiVersion, kind));
    }
    return { wantedKinds, wantedClusters };
  }

  /** A check that names none may select Machines of each. */
  #clustersOf(check: HealthCheck): Set<string> {
    const { namespace, clusterName } = check;
    const names = clusterName === undefined ? this.#cache.candidatesOf(check).map((machine) => machine.clusterName) : [clusterName];
    return new Set(names.flatMap((name) => (name === undefined ? [] : [`${namespace}/${name}`])));
  }

  /** Was any of them watched otherwise before? */
  #subscribe(kinds: ReadonlySet<string>, clusters: ReadonlySet<string>): boolean {
    let isOther = false;
    for (const cluster of clusters) {
      const lister = this.#cache.nodesAt(cluster)?.lister;
      if (this.#subscriptions.set(`Nodes ${cluster}`, lister, this.#nodeChanged(cluster))) isOther = true;
    }
    for (const kind of kinds) {
      const found = this.#dependencies.kinds.of(kind);
      const lister = typeof found === 'string' ? undefined : found.lister;
      const changed = this.#on<UntypedObject>((object) => this.#ofRemediation(kind, object));
      if (this.#subscriptions.set(kind, lister, changed)) isOther = true;
    }
    this.#subscriptions.retain(new Set([...kinds, ...[...clusters].map((cluster) => `Nodes ${cluster}`)]));
    return isOther;
  }

  #add(checks: Iterable<string>): void {
    let isAny = false;
    for (const check of checks) {
      this.#changed.add(check);
      isAny = true;
    }
    if (isAny) this.#wake();
  }

  /** As an object was and as it is. */
  #on<T extends KubeObject>(concerned: (object: T) => Iterable<string>): (before: T | undefined, after: T | undefined) => void {
    return (before, after) => {
      if (before !== undefined) this.#add(concerned(before));
      if (after !== undefined) this.#add(concerned(after));
    };
  }

  #nodeChanged(place: string): (before: Node | undefined, after: Node | undefined) => void {
    const { readNode } = this.#cache;
    return (before, after) => {
      const [was, is] = [before, after].map((node) => node && readNode(node));
      this.#cache.sawNode(place, was, is);
      // A heartbeat says nothing new.
      if (was !== undefined && is !== undefined && isSameNode(was, is)) return;
      const name = (after ?? before)?.metadata.name ?? '';
      const machines = this.#cache.machinesOn(place, name);
      // A node that two machines claim says nothing about either.
      this.#add(this.#selecting(machines.filter((machine) => !isDisputed(machine, machines))));
    };
  }

  /** Those that select it, and those that select another of its Node. */
  #ofMachine(machine: MachineFacts): string[] {
    const others = machine.nodeName === undefined ? [] : this.#cache.machinesOn(this.#cache.placeOf(machine), machine.nodeName);
    return this.#selecting([machine, ...others]);
  }

  #ofCheck(check: HealthCheck): string[] {
    return [keyOf(check), ...this.#those((other) => mayOverlap(check, other))];
  }

  /** A check without a Cluster may select Machines of each. */
  #ofCluster({ metadata: { namespace, name } }: UntypedObject): string[] {
    return this.#those((check) => check.namespace === namespace && (check.clusterName ?? name) === name);
  }

  /** A template is that of its checks, a request has the name of its Machine. */
  #ofRemediation(kind: string, object: UntypedObject): string[] {
    const machine = this.#cache.machine(keyOfObject(object));
    return this.#those((check) => {
      const { template } = check;
      if (template === undefined || check.namespace !== object.metadata.namespace) return false;
      const isTemplate = kindKey(template.apiVersion, template.kind) === kind && template.name === object.metadata.name;
      const isRequest = kindKey(template.apiVersion, requestKind(template.kind)) === kind && machine !== undefined && isTarget(check, machine);
      return isTemplate || isRequest;
    });
  }

  #selecting(machines: readonly MachineFacts[]): string[] {
    return machines.length === 0 ? [] : this.#those((check) => machines.some((machine) => isTarget(check, machine)));
  }

  #those(isConcerned: (check: HealthCheck) => boolean): string[] {
    return this.#cache.checks().flatMap(({ check }) => (isConcerned(check) ? [keyOf(check)] : []));
  }
}
