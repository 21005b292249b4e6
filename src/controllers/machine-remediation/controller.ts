import type { ClusterMachine } from '../../ports/cluster-api.ts';
import type { Lister } from '../../ports/cluster.ts';
import { BARE_METAL_HOSTS } from '../../ports/metal3.ts';
import type { BareMetalHost } from '../../ports/metal3.ts';
import type { KubeObject, Node } from '../../ports/objects.ts';
import { HostSights } from '../shared/baremetal-host/host-sights.ts';
import { LifeSights } from '../shared/baremetal-host/life-sights.ts';
import { gatedWrites, unlessMoved } from '../shared/gated-cluster.ts';
import { Moved, wasOvertaken, wasRefused } from '../shared/moved.ts';
import { nodeLeftBy } from '../shared/remediation/place.ts';
import { standingStop } from '../shared/stops.ts';
import { WriteGate } from '../shared/write-gate.ts';
import type { Action } from './actions.ts';
import { decideByFence } from './by-fence.ts';
import type { FenceAction } from './by-fence.ts';
import { decide } from './decide.ts';
import { consumerOf } from './consumer.ts';
import { BY_HOST, BY_NODE } from './dependencies.ts';
import type { MachineRemediationDependencies, WatchedMachines } from './dependencies.ts';
import { Locks } from './locks.ts';
import { namesOnHost } from './machine-index.ts';
import { GAVE_UP, HOLD, MARKS, OUT_OF_SERVICE, POWERED_OFF, REQUEST } from './names.ts';
import { observe, orphanSight } from './observe.ts';
import type { Observer, Sight } from './observe.ts';
import { OutOfServiceSights } from './out-of-service-sights.ts';
import { perform } from './perform.ts';
import { RequestSights } from './request-sights.ts';

/** Somebody else was there first. */
const ANEW_MS = 500;
/** What waits for nothing in particular is looked at so often. */
const RELOOK_MS = 60_000;
/** While its watches are silent. */
const UNHEARD_MS = 5_000;
const LOCKS = 'locks';
const HOST_KIND = 'BareMetalHost';

/** What was decided, whichever way. */
interface Verdict {
  actions: readonly (Action | FenceAction)[];
  problems: readonly string[];
  nextDueMs?: number;
  holdsNode: boolean;
}

/**
 * Machine remediation (docs/machine-remediation.md): observe, decide, write, one Machine at a time each. It keeps nothing that is not in the objects but its own first sights.
 * Only the leader looks; everything is read from the API's quorum, so that the watches only say when.
 */
export class MachineRemediationController {
  readonly #dependencies: MachineRemediationDependencies;
  readonly #observer: Observer;
  readonly #locks: Locks;
  readonly #problems = new Map<string, readonly string[]>();
  readonly #leave: (() => void)[] = [];
  readonly #gate: WriteGate;

  constructor(dependencies: MachineRemediationDependencies) {
    const { clock, leadership, leases, nodes, options } = dependencies;
    this.#gate = new WriteGate({ clock, leadership, enforce: () => options.enforce, watches: () => this.#watched() });
    const cluster = gatedWrites(unlessMoved(() => this.#gate.mayWrite()))(dependencies.cluster);
    this.#dependencies = { ...dependencies, cluster };
    this.#observer = {
      ...this.#dependencies,
      sights: new HostSights(clock, [HOLD], () => dependencies.hosts?.resumedAtMs),
      life: new LifeSights({ clock, leases, nodes }),
      requests: new RequestSights(clock),
      releases: new OutOfServiceSights(clock),
    };
    this.#locks = new Locks({ cluster, options: dependencies.options, lock: dependencies.lockOn(cluster) });
  }

  /** Follows the listers from now on, whether they are synced or not. */
  start(): void {
    const { machines, hosts, nodes, fences } = this.#dependencies;
    const { sights, life } = this.#observer;
    life.start();
    for (const watched of machines) this.#leave.push(watched.lister.onChange((before, after) => this.#machineSeen(watched, before, after)));
    if (hosts !== undefined) {
      for (const host of hosts.all()) sights.see(host);
      this.#leave.push(hosts.onChange((before, after) => this.#hostSeen(before, after)));
    }
    this.#leave.push(
      nodes.onChange((before, after) => this.#wakeMachinesOn((after ?? before)?.metadata.name, after !== undefined && isTainted(after))),
      fences.onChange((before, after) => this.#wakeMachinesOn((after ?? before)?.spec.node)),
    );
    this.wake();
  }

  /** What is decided and not sent by now is not sent. */
  close(): void {
    this.#gate.close();
    for (const leave of this.#leave) leave();
    this.#observer.life.close();
  }

  /** Looks at everything: leadership has come. */
  wake(): void {
    const { machines, hosts, nodes, queue } = this.#dependencies;
    for (const watched of machines) for (const each of watched.lister.all()) if (isMarked(each)) queue.add(machineKey(watched, each));
    for (const node of nodes.all()) if (isTainted(node)) this.#wakeMachinesOn(node.metadata.name, true);
    for (const each of hosts?.all() ?? []) if (isHeld(each)) this.#wakeMachinesOf(each);
    queue.add(LOCKS);
  }

  /** Standing problems, one sentence each. */
  problems(): string[] {
    return [...new Set([...this.#gate.silence('machine remediation'), ...[...this.#problems.values()].flat()])].sort();
  }

  /** The work of one key of the queue. Rejects when the API server could not be asked. */
  async reconcile(key: string): Promise<{ afterMs: number } | undefined> {
    if (!this.#dependencies.leadership.isLeading) return undefined;
    if (this.#gate.isSilent) return { afterMs: UNHEARD_MS };
    if (!this.#isSynced()) return { afterMs: ANEW_MS };
    if (key === LOCKS) {
      if (this.#gate.mayWrite()) await this.#locks.sweep((node) => this.#isWanted(node));
      return { afterMs: RELOOK_MS };
    }
    const [kind = '', place = ''] = key.split(' ');
    const [namespace = '', name = ''] = place.split('/');
    if (kind === HOST_KIND) return this.#reconcileHost(key, namespace, name);
    const watched = this.#dependencies.machines.find((each) => kindOf(each) === kind);
    if (watched === undefined) return undefined;
    const sight = await observe(this.#observer, watched, namespace, name);
    if (sight === undefined) return this.#forget(key);
    if (sight.blocked !== undefined) {
      this.#warn(key, sight, isMarkedSight(sight) ? [`Machine ${place}: nothing is done: ${sight.blocked}`] : []);
      return { afterMs: RELOOK_MS };
    }
    return this.#carryOut(key, sight, sight.nodeName);
  }

  /** A host on which our hold stands, and which no Machine names: it is not left off. */
  async #reconcileHost(key: string, namespace: string, name: string): Promise<{ afterMs: number } | undefined> {
    const { cluster, hosts } = this.#dependencies;
    const host = hosts === undefined ? undefined : await cluster.get(BARE_METAL_HOSTS, name, namespace);
    if (host === undefined || !isHeld(host)) return this.#forget(key);
    const owners = await Promise.all(
      this.#machinesOf(host).map(([{ resource }, { metadata }]) => cluster.get(resource, metadata.name, metadata.namespace)),
    );
    if (owners.some((owner) => owner !== undefined)) {
      this.#wakeMachinesOf(host);
      return this.#forget(key);
    }
    // It may be new, or somebody else's to remediate: then the hold is his.
    if ((await consumerOf(cluster, host)) !== undefined) return { afterMs: RELOOK_MS };
    const { name: machine = '', namespace: home = namespace } = host.spec?.consumerRef ?? {};
    const node = await nodeLeftBy(cluster, { namespace: home, name: machine });
    const stop = await standingStop(cluster, node?.metadata.name);
    const holds = stop === undefined ? [] : [{ reason: 'stop', message: stop, isStop: true }];
    return this.#carryOut(key, orphanSight(this.#observer, host, node, holds), node?.metadata.name);
  }

  async #carryOut(key: string, sight: Sight, nodeName: string | undefined): Promise<{ afterMs: number }> {
    const verdict = await this.#verdict(key, sight, nodeName);
    this.#warn(key, sight, verdict.problems);
    const done = await this.#act(sight, verdict.actions);
    if (done === 'some') return { afterMs: 0 };
    if (done === 'overtaken') return { afterMs: ANEW_MS };
    if (!verdict.holdsNode && this.#gate.mayWrite()) await this.#locks.giveBack(key);
    return { afterMs: Math.max(0, Math.min(RELOOK_MS, (verdict.nextDueMs ?? Infinity) - sight.snapshot.nowMs)) };
  }

  /** With the node in hand, before anything is written. */
  async #verdict(key: string, { snapshot, byFence }: Sight, nodeName: string | undefined): Promise<Verdict> {
    if (byFence !== undefined) return { ...decideByFence(byFence), holdsNode: false };
    const decision = decide(snapshot);
    if (!decision.holdsNode || !this.#gate.mayWrite()) return decision;
    const takenBy = await this.#locks.take(key, nodeName, isUnderWay(snapshot));
    return takenBy === undefined ? decision : decide({ ...snapshot, takenBy });
  }

  /** Does what was decided, in its order. overtaken: somebody else was there first, and it is to be decided anew. */
  async #act(sight: Sight, actions: Verdict['actions']): Promise<'none' | 'some' | 'overtaken'> {
    const { metrics, log } = this.#dependencies;
    for (const action of actions) {
      if (!this.#gate.mayWrite()) return 'none';
      try {
        await perform({ ...this.#dependencies, life: this.#observer.life }, sight, action);
        metrics.acted(action.kind, 'done');
      } catch (error) {
        const isMoved = wasOvertaken(error) || error instanceof Moved;
        metrics.acted(action.kind, isMoved ? 'conflict' : 'failed');
        if (!isMoved && action.kind === 'taint') this.#observer.releases.failed(sight.snapshot.machine?.uid ?? '', wasRefused(error));
        if (!isMoved) throw error;
        log.debug('remediation decided again after a conflict', { object: action.target.name, action: action.kind, error });
        // What has to wait for the node is not asked for again and again.
        return 'proof' in action ? 'none' : 'overtaken';
      }
    }
    return actions.length > 0 ? 'some' : 'none';
  }

  async #forget(key: string): Promise<undefined> {
    this.#setProblems(key, []);
    if (this.#gate.mayWrite()) await this.#locks.giveBack(key);
    return undefined;
  }

  /** Each problem is said once for as long as it stands: in the log, and on the object. */
  #warn(key: string, { snapshot: { machine, host } }: Sight, problems: readonly string[]): void {
    const { log, recorder } = this.#dependencies;
    const known = this.#problems.get(key) ?? [];
    const about = machine === undefined ? host && { ...host, apiVersion: 'metal3.io/v1alpha1', kind: HOST_KIND } : { ...machine, kind: 'Machine' };
    for (const problem of problems.filter((each) => !known.includes(each))) {
      log.warn('remediation problem', { problem });
      if (about === undefined || !this.#gate.mayWrite()) continue;
      const { apiVersion, kind, name, namespace, uid } = about;
      recorder.event({ apiVersion, kind, metadata: { name, namespace, uid } }, 'Warning', 'RemediationBlocked', problem);
    }
    this.#setProblems(key, problems);
  }

  #setProblems(key: string, problems: readonly string[]): void {
    if (problems.length === 0) this.#problems.delete(key);
    else this.#problems.set(key, problems);
    this.#dependencies.metrics.problems(this.problems().length);
  }

  #machineSeen(watched: WatchedMachines, before: ClusterMachine | undefined, after: ClusterMachine | undefined): void {
    const { hosts, queue } = this.#dependencies;
    const object = (after ?? before) as ClusterMachine;
    const isTold = [before, after].some((each) => each !== undefined && isMarked(each)) || this.#locks.has(machineKey(watched, object));
    if (isTold) queue.add(machineKey(watched, object));
    if (after?.metadata.annotations?.[REQUEST] === undefined) this.#observer.requests.forget(object.metadata.uid ?? '');
    if (after !== undefined) return;
    this.#observer.releases.forget(object.metadata.uid ?? '');
    // Its host may be left over.
    for (const host of hosts?.all() ?? []) if (isHeld(host)) queue.add(hostKey(host));
  }

  #hostSeen(before: BareMetalHost | undefined, after: BareMetalHost | undefined): void {
    const { sights } = this.#observer;
    if (after !== undefined) sights.see(after);
    else if (before !== undefined) sights.forget(before);
    for (const host of [before, after]) if (host !== undefined) this.#wakeMachinesOf(host);
  }

  /** Those that have to do with the host; and itself, where our hold stands on it and no Machine is known. */
  #wakeMachinesOf(host: BareMetalHost): void {
    const { queue } = this.#dependencies;
    const found = this.#machinesOf(host);
    for (const [watched, machine] of found) if (isHeld(host) || isMarked(machine)) queue.add(machineKey(watched, machine));
    if (found.length === 0 && isHeld(host)) queue.add(hostKey(host));
  }

  #machinesOf(host: BareMetalHost): (readonly [WatchedMachines, ClusterMachine])[] {
    return this.#dependencies.machines.flatMap((watched) =>
      [...new Set(namesOnHost(host).flatMap((name) => watched.lister.byIndex(BY_HOST, name)))].map((machine) => [watched, machine] as const),
    );
  }

  /** `isOurs`: something of ours stands on the Node, whatever its Machine says. */
  #wakeMachinesOn(node: string | undefined, isOurs = false): void {
    if (node === undefined) return;
    for (const watched of this.#dependencies.machines) {
      for (const machine of watched.lister.byIndex(BY_NODE, node))
        if (isOurs || isMarked(machine)) this.#dependencies.queue.add(machineKey(watched, machine));
    }
  }

  /** Something of ours is under way on this node, or may be: a Machine that has lost its nodeRef may be on any. */
  #isWanted(node: string): boolean {
    const { machines, hosts } = this.#dependencies;
    const marked = machines.flatMap(({ lister }) => [...lister.all()]).filter(isMarked);
    const names = marked.map(({ status }) => status?.nodeRef?.name);
    return names.includes(node) || names.includes(undefined) || [...(hosts?.all() ?? [])].some(isHeld);
  }

  #watched(): readonly Lister<KubeObject>[] {
    const { machines, hosts, nodes, leases, fences } = this.#dependencies;
    return [...machines.map(({ lister }) => lister), nodes, leases, fences, ...(hosts === undefined ? [] : [hosts])];
  }

  #isSynced(): boolean {
    return this.#watched().every(({ synced }) => synced);
  }
}

function isMarked({ metadata: { annotations = {} } }: KubeObject): boolean {
  return MARKS.some((key) => annotations[key] !== undefined);
}

/** By us: a crash may have left it there. */
function isTainted({ spec }: Node): boolean {
  return (spec.taints ?? []).some(({ key, value }) => key === OUT_OF_SERVICE.key && value === OUT_OF_SERVICE.value);
}

function isMarkedSight({ snapshot: { machine } }: Sight): boolean {
  return machine !== undefined && MARKS.some((key) => machine.annotations[key] !== undefined);
}

function isHeld({ metadata }: BareMetalHost): boolean {
  return metadata.annotations?.[HOLD] !== undefined;
}

/** Something was switched, or is being so. */
function isUnderWay({ host, machine }: Sight['snapshot']): boolean {
  return host?.annotations[HOLD] !== undefined || (machine?.annotations[POWERED_OFF] !== undefined && machine.annotations[GAVE_UP] === undefined);
}

function kindOf({ resource }: WatchedMachines): string {
  return `${resource.kind}.${resource.group}`;
}

function machineKey(watched: WatchedMachines, { metadata: { namespace = '', name } }: KubeObject): string {
  return `${kindOf(watched)} ${namespace}/${name}`;
}

function hostKey({ metadata: { namespace = '', name } }: KubeObject): string {
  return `${HOST_KIND} ${namespace}/${name}`;
}
