import type { Clock } from '../../ports/clock.ts';
import type { Resource } from '../../ports/cluster.ts';
import { MACHINE_DEPLOYMENTS, MACHINE_GROUP, MACHINE_SETS, MACHINE_VERSION, MACHINES } from '../../ports/machines.ts';
import type { KubeObject } from '../../ports/objects.ts';
import { NODES } from '../../ports/resources.ts';
import { DETACH_TIMEOUT_MS, leftAttached, volumesLeavingOf } from '../shared/attached-volumes.ts';
import { claim } from '../shared/claims/claim.ts';
import { Conflict } from '../shared/conflict.ts';
import { activeStop } from '../shared/stops.ts';
import type { Action, ActionEvent, ObjectRef, ProblemOf } from './actions.ts';
import type { MachineSide, NodeSide } from './dependencies.ts';
import type { Drainer } from './drainer.ts';
import { PRESERVE, REQUEST_MARK } from './names.ts';
import { patchOf } from './patch.ts';
import type { PatchAction } from './patch.ts';
import type { PreservationCache } from './cache.ts';
import { unlessOld } from '../shared/release/proof-age.ts';
import type { ConsistentProofs } from './consistent-proof.ts';
import type { NodeFacts, Snapshot } from './snapshot.ts';
import { ConsistentSurplus } from './surplus.ts';
import { keyOf } from './watched-facts.ts';

export interface WriterDependencies {
  clock: Clock;
  nodes: NodeSide;
  machines: MachineSide | undefined;
  cache: PreservationCache;
  drainer: Drainer;
  proofs: Pick<ConsistentProofs, 'unprovenBecause' | 'readAnew'>;
  mode: () => Snapshot['mode'];
}

/** A Machine that is waited for no more. */
const FORGOTTEN_MS = 20 * 60_000;
/** A watch brings by then what was written. */
const SEEN_WITHIN_MS = 10_000;

const RESOURCES: Readonly<Record<ObjectRef['kind'], Resource>> = {
  Node: NODES,
  Machine: MACHINES,
  MachineSet: MACHINE_SETS,
  MachineDeployment: MACHINE_DEPLOYMENTS,
};

/** One action is one write, under the uid and the version that it was decided for; its Event follows when the write has succeeded. */
export class Writer {
  readonly #dependencies: WriterDependencies;
  /** Monotonic time since which the volumes of its Node are waited for, by the uid of a Machine. */
  readonly #volumesSinceMs = new Map<string, number>();
  /** Monotonic time at which something was done that only a watch shows, by what it was. */
  readonly #doneAtMs = new Map<string, number>();

  /** Absent: there are no Machines. */
  readonly #surplus: ConsistentSurplus | undefined;

  constructor(dependencies: WriterDependencies) {
    const { clock, machines, cache } = dependencies;
    this.#dependencies = dependencies;
    const nodeOf = (node: string): NodeFacts | undefined => cache.kinds.Node.get(node)?.facts;
    this.#surplus = machines && new ConsistentSurplus({ clock, cluster: machines.cluster, nodeOf });
  }

  async perform(action: Action): Promise<void> {
    if (this.#dependencies.mode() === 'observe' && !isRequest(action)) {
      throw new Error(
        `beside a real MCM nothing but a request is written: ${action.kind} of ${action.target.kind} ${action.target.name} is a defect`,
      );
    }
    switch (action.kind) {
      case 'annotate':
      case 'machine-status':
      case 'condition':
      case 'taint':
      case 'cordon':
      case 'counts':
        await this.#patch(action);
        return;
      case 'drain':
        this.#dependencies.drainer.begin({ node: action.target, options: action.options, sinceMs: action.sinceMs });
        this.#emit(action.target, action.event, this.#objectOf(action.target));
        return;
      case 'power-off':
        await this.#powerOff(action);
        return;
      case 'delete-machine':
        await this.#deleteMachine(action);
        return;
    }
  }

  /** An Event about what is still there; nothing is written but that. */
  warn({ target, message }: ProblemOf): void {
    const object = this.#dependencies.cache.objectOf(target);
    if (object !== undefined) this.#emit(target, { type: 'Warning', reason: 'PreservationProblem', message }, object);
  }

  async #patch(action: PatchAction): Promise<void> {
    const { clock, cache } = this.#dependencies;
    const { target } = action;
    if (action.kind === 'machine-status' && action.isSurplus === true) await this.#unlessWanted(target);
    const object = this.#objectOf(target);
    const patch = patchOf(action, object, clock.wallMs());
    if (patch === 'conflict') throw new Conflict(`${target.kind} ${target.name} has changed since it was decided`);
    if (patch === 'done') return;
    const options = { ...place(target), ...(patch.subresource !== undefined && { subresource: patch.subresource }) };
    const answer = await this.#sideOf(target).cluster.mergePatch(RESOURCES[target.kind], target.name, patch.body, options);
    const { resourceVersion } = answer.metadata;
    if (resourceVersion !== undefined && resourceVersion === object.metadata.resourceVersion) {
      throw new Error(
        `the API server took the ${action.kind} and changed nothing: its definition does not have the field, or an admission webhook drops it`,
      );
    }
    cache.wrote(target, answer);
    this.#emit(target, action.event, answer);
  }

  async #unlessWanted(target: ObjectRef): Promise<void> {
    const set = this.#dependencies.cache.machine(keyOf(target))?.machineSet;
    const isSurplus = set !== undefined && (await this.#surplus?.has(target, set)) === true;
    if (!isSurplus) throw new Conflict(`MachineSet ${set ?? ''} wants Machine ${target.name} to stay`);
  }

  /** The fence itself obeys stops, holds and its plan. */
  async #powerOff({ target, requestedBy, event }: Extract<Action, { kind: 'power-off' }>): Promise<void> {
    const { cluster, recorder } = this.#dependencies.nodes;
    const node = await cluster.get(NODES, target.name);
    if (node?.metadata.uid !== target.uid) throw new Conflict(`another Node has the name ${target.name}`);
    const { name, uid } = requestedBy;
    const claimant = { apiVersion: `${MACHINE_GROUP}/${MACHINE_VERSION}`, kind: requestedBy.kind, name, uid, ...place(requestedBy) };
    const outcome = await claim({ cluster, recorder }, target.name, claimant, { ending: 'off' });
    if (outcome.kind === 'taken') {
      const message = `${outcome.by} has node ${target.name}`;
      this.#emit(target, { type: 'Warning', reason: 'PreservationBlocked', message: `The machine is not switched off yet: ${message}` }, node);
      throw new Error(message);
    }
    const done = `${outcome.fence.metadata.uid ?? ''} ${requestedBy.uid}`;
    this.#unlessDone(done, `the fence of node ${target.name} is asked for`);
    this.#did(done);
    this.#emit(target, event, node);
  }

  async #deleteMachine({ target, provenOff, event }: Extract<Action, { kind: 'delete-machine' }>): Promise<void> {
    const { nodes, cache, proofs } = this.#dependencies;
    const machine = this.#objectOf(target);
    const nodeName = cache.machine(keyOf(target))?.nodeName;
    await this.#unlessStopped(nodeName);
    if (provenOff === undefined && nodeName !== undefined && (await nodes.cluster.get(NODES, nodeName)) !== undefined) {
      throw new Conflict(`node ${nodeName} is there, and nothing was proven of it`);
    }
    const doubt = provenOff === undefined ? undefined : await proofs.unprovenBecause(provenOff, 'isOff');
    if (doubt !== undefined) throw new Error(`node ${provenOff?.name ?? ''}: ${doubt}`);
    const left = provenOff === undefined ? undefined : await this.#awaitVolumes(target, provenOff);
    if (await this.#isDeleted(target)) this.#unlessDone(target.uid, `Machine ${target.name} is deleted`);
    const { uid, resourceVersion } = machine.metadata;
    const beforeSend = provenOff === undefined ? undefined : await this.#readAnew(provenOff);
    const precondition = {
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
      ...(beforeSend !== undefined && { beforeSend }),
    };
    const isRemoved = await this.#sideOf(target).cluster.remove(RESOURCES.Machine, target.name, { ...place(target), ...precondition });
    this.#volumesSinceMs.delete(target.uid);
    this.#did(target.uid);
    // The watch has not told it yet.
    if (!isRemoved) throw new Conflict(`${target.kind} ${target.name} is gone already`);
    this.#emit(target, left ?? event, machine);
  }

  /** Last of all, for all that is waited for before it takes time; to be asked in the turn in which the write leaves. */
  async #readAnew(node: ObjectRef): Promise<() => void> {
    const { clock, proofs } = this.#dependencies;
    const read = await proofs.readAnew(node, 'isOff');
    if ('doubt' in read) throw new Error(`node ${node.name}: ${read.doubt}`);
    await this.#unlessStopped(node.name);
    return unlessOld(clock, read);
  }

  async #unlessStopped(nodeName: string | undefined): Promise<void> {
    const stop = await activeStop(this.#dependencies.nodes.cluster, nodeName);
    if (stop !== undefined) throw new Error(stop);
  }

  /** With its Machine goes the Node, and its volumes with that: only when they are detached, or are not in time, which is told. Rejects with `Conflict` until then. */
  async #awaitVolumes(machine: ObjectRef, node: ObjectRef): Promise<ActionEvent | undefined> {
    const { clock, nodes } = this.#dependencies;
    const nowMs = clock.monotonicMs();
    for (const [uid, sinceMs] of this.#volumesSinceMs) if (nowMs - sinceMs > FORGOTTEN_MS) this.#volumesSinceMs.delete(uid);
    const standing = await nodes.cluster.get(NODES, node.name);
    const attached = standing === undefined ? 0 : await volumesLeavingOf(nodes.cluster, standing);
    if (attached === 0) return undefined;
    const sinceMs = this.#volumesSinceMs.get(machine.uid) ?? nowMs;
    this.#volumesSinceMs.set(machine.uid, sinceMs);
    if (nowMs - sinceMs < DETACH_TIMEOUT_MS) throw new Conflict(`${attached} volumes are still attached to node ${node.name}`);
    return { type: 'Warning', reason: 'MachineDeleted', message: `node ${node.name} is proven off, and goes while ${leftAttached(attached)}` };
  }

  /** By us, and so the API server has it: a restore may have brought it back. */
  async #isDeleted(machine: ObjectRef): Promise<boolean> {
    if (!this.#doneAtMs.has(machine.uid)) return false;
    const [standing] = await this.#sideOf(machine).cluster.list(RESOURCES.Machine, {
      ...place(machine),
      fieldSelector: `metadata.name=${machine.name}`,
    });
    return standing?.metadata.uid !== machine.uid || standing.metadata.deletionTimestamp !== undefined;
  }

  #did(what: string): void {
    const nowMs = this.#dependencies.clock.monotonicMs();
    for (const [other, atMs] of this.#doneAtMs) if (nowMs - atMs > FORGOTTEN_MS) this.#doneAtMs.delete(other);
    this.#doneAtMs.set(what, nowMs);
  }

  /** What was done already is not done again where the watch does not show it: that is waited for, and told when it lasts. */
  #unlessDone(what: string, message: string): void {
    const atMs = this.#doneAtMs.get(what);
    if (atMs === undefined) return;
    if (this.#dependencies.clock.monotonicMs() - atMs < SEEN_WITHIN_MS) throw new Conflict(`${message}, and its watch does not show it yet`);
    throw new Error(`${message}, and its watch does not show it`);
  }

  #objectOf(target: ObjectRef): KubeObject {
    const object = this.#dependencies.cache.objectOf(target);
    if (object === undefined) throw new Conflict(`${target.kind} ${target.name} is gone, or another one has its name`);
    return object;
  }

  #sideOf(target: ObjectRef): NodeSide | MachineSide {
    const { nodes, machines } = this.#dependencies;
    if (target.kind === 'Node') return nodes;
    if (machines === undefined) throw new Error(`there is no cluster of Machines to write ${target.kind} ${target.name} to`);
    return machines;
  }

  #emit(target: ObjectRef, event: ActionEvent | undefined, { metadata }: KubeObject): void {
    if (event === undefined) return;
    const { group, version, kind } = RESOURCES[target.kind];
    const about = { apiVersion: group === '' ? version : `${group}/${version}`, kind, metadata };
    this.#sideOf(target).recorder.event(about, event.type, event.reason, event.message);
  }
}

function place({ namespace }: ObjectRef): { namespace?: string } {
  return namespace === undefined ? {} : { namespace };
}

/** Our own `when-failed` with its mark, or taking that back. */
function isRequest(action: Action): boolean {
  return action.kind === 'annotate' && action.target.kind === 'Node' && action.changes.every(({ key }) => key === PRESERVE || key === REQUEST_MARK);
}
