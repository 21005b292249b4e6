import type { Cluster, Resource } from '../../ports/cluster.ts';
import type { UntypedObject } from '../../ports/cluster-api.ts';
import type { Recorder } from '../../ports/recorder.ts';
import { Conflict, wasRefused } from '../shared/conflict.ts';
import { activeStopAt } from '../shared/stops.ts';
import type { Action, ObjectRef } from './actions.ts';
import type { Chain } from './chain.ts';
import { HEALTH_CHECK_SUCCEEDED, OWNER_REMEDIATED } from './names.ts';
import type { HealthCheckCache, KnownNode } from './cache.ts';
import { isSameNode } from './read/cluster.ts';
import { keyOf } from './snapshot.ts';
import type { MachineFacts, NodeFacts } from './snapshot.ts';

export interface WriterDependencies {
  cluster: Cluster;
  recorder: Recorder;
  checks: Resource<UntypedObject>;
  machines: Resource<UntypedObject>;
  cache: Pick<HealthCheckCache, 'machine' | 'nodeOf' | 'kindOf' | 'preservedBecause'>;
  /** What the API server said to the request of this Machine; undefined: it took it. */
  refused: (machine: ObjectRef, message: string | undefined) => void;
}

/** One action is one write, under the uid and the version that it was decided for; its Events follow when it has succeeded. */
export class Writer {
  readonly #dependencies: WriterDependencies;

  constructor(dependencies: WriterDependencies) {
    this.#dependencies = dependencies;
  }

  async perform(action: Action): Promise<void> {
    await this.#write(action);
    this.#emit(action);
  }

  /** Nothing is said or begun of a failed machine before its Node was read once more, consistently, and no person's stop was found there. */
  async confirm({ actions, decidedOn }: Chain): Promise<void> {
    const [first] = actions;
    if (first === undefined || !actions.some(isOfFailed)) return;
    const machine = this.#machineOf(first.target);
    const node = this.#dependencies.cache.nodeOf(machine);
    if (node !== undefined && decidedOn !== undefined) await confirmNode(machine, decidedOn.node, node);
    // A person's stop, here or where its Node is, holds whatever would take the machine down (P6).
    const stop = actions.some(isBeginning) ? await activeStopAt(this.#dependencies.cluster, node, machine.nodeName) : undefined;
    if (stop !== undefined) throw new Error(stop);
    // Whoever serves a request heeds that itself.
    const kept = actions.some(takesDown) ? this.#dependencies.cache.preservedBecause(machine) : undefined;
    if (kept !== undefined) throw new Error(`its machine is preserved: ${kept}`);
    // Any other first write names the version of the Machine itself.
    if (first.kind === 'create-request') await this.#confirmMachine(first);
  }

  async #confirmMachine({ target: { namespace, name, uid }, resourceVersion }: Extract<Action, { kind: 'create-request' }>): Promise<void> {
    const { cluster, machines } = this.#dependencies;
    const standing = await cluster.get(machines, name, namespace);
    if (standing?.metadata.uid !== uid || standing.metadata.resourceVersion !== resourceVersion) {
      throw new Conflict(`Machine ${namespace}/${name} has changed since it was decided`);
    }
  }

  async #write(action: Action): Promise<void> {
    const { cluster, machines, checks } = this.#dependencies;
    const { name, namespace } = action.target;
    switch (action.kind) {
      case 'machine-status':
        await cluster.mergePatch(machines, name, action.patch, { namespace, subresource: 'status' });
        return;
      case 'machine-metadata':
        await cluster.mergePatch(machines, name, action.patch, { namespace });
        return;
      case 'check-status':
        await cluster.mergePatch(checks, name, action.patch, { namespace, subresource: 'status' });
        return;
      case 'check-metadata':
        await cluster.mergePatch(checks, name, action.patch, { namespace });
        return;
      case 'delete-machine': {
        const { resourceVersion } = action;
        const { uid } = action.target;
        await cluster.remove(machines, name, { namespace, uid, ...(resourceVersion !== undefined && { resourceVersion }) });
        return;
      }
      case 'create-request':
        await this.#create(action);
        return;
      case 'delete-request':
        await cluster.remove(this.#kindOf(action.target), name, { namespace, uid: action.target.uid });
        return;
    }
  }

  async #create({ target, object }: Extract<Action, { kind: 'create-request' }>): Promise<void> {
    const { cluster, refused } = this.#dependencies;
    const { apiVersion = '', kind = '' } = object;
    try {
      await cluster.create(this.#kindOf({ apiVersion, kind }), object);
    } catch (error) {
      if (wasRefused(error)) refused(target, error.message);
      throw error;
    }
    refused(target, undefined);
  }

  #kindOf({ apiVersion, kind }: Pick<ObjectRef, 'apiVersion' | 'kind'>): Resource<UntypedObject> {
    const found = this.#dependencies.cache.kindOf(apiVersion, kind);
    if (typeof found === 'string') throw new Error(`the API server serves no ${kind} of ${apiVersion}`);
    return found.resource;
  }

  #machineOf(target: Pick<ObjectRef, 'namespace' | 'name' | 'uid'>): MachineFacts {
    const machine = this.#dependencies.cache.machine(keyOf(target));
    if (machine?.uid !== target.uid) throw new Conflict(`Machine ${keyOf(target)} is gone, or another one has its name`);
    return machine;
  }

  #emit({ target, events = [] }: Action): void {
    const { apiVersion, kind, namespace, name, uid } = target;
    for (const { type, reason, message } of events) {
      this.#dependencies.recorder.event({ apiVersion, kind, metadata: { namespace, name, uid } }, type, reason, message);
    }
  }
}

/** The Machine has failed, or is about to be taken as failed. */
function isOfFailed(action: Action): boolean {
  return isBeginning(action) || (action.kind === 'machine-status' && isFailed(action.patch.status));
}

/** It, or its owner at its word, takes the machine down for good. */
function takesDown(action: Action): boolean {
  return action.kind === 'delete-machine' || (action.kind === 'machine-status' && isBeginning(action));
}

/** Somebody takes the machine down for it. */
function isBeginning(action: Action): boolean {
  if (action.kind === 'machine-status') return isFailed(action.patch.status) && says(action.patch.status, OWNER_REMEDIATED, 'False');
  return action.kind === 'create-request' || action.kind === 'delete-machine' || action.kind === 'machine-metadata';
}

function isFailed(status: unknown): boolean {
  return says(status, HEALTH_CHECK_SUCCEEDED, 'False');
}

/** A condition of this type has this status, in whichever list. */
function says(value: unknown, type: string, status: string): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if ('type' in value && 'status' in value && value.type === type && value.status === status) return true;
  return Object.values(value).some((member) => says(member, type, status));
}

/** Watches may be late, each for itself, and so may we be: what was not decided upon is decided upon when it has come to us. */
async function confirmNode({ nodeName = '' }: MachineFacts, decided: NodeFacts | undefined, { read }: KnownNode): Promise<void> {
  const standing = await read();
  if (!isSameNode(standing, decided)) throw new Conflict(`Node ${nodeName} has changed since it was decided`);
}
