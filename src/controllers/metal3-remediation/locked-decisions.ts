import type { Cluster } from '../../ports/cluster.ts';
import { NodeLock } from '../shared/claims/node-lock.ts';
import type { WriteGate } from '../shared/write-gate.ts';
import type { Action, Decision } from './actions.ts';
import { decideByFence } from './by-fence.ts';
import type { FenceAction, FenceDecision } from './by-fence.ts';
import { decide } from './decide.ts';
import { LOCK_HOLDER } from './dependencies.ts';
import type { Metal3RemediationDependencies } from './dependencies.ts';
import type { InFlight } from './in-flight.ts';
import type { Memory } from './memory.ts';
import { holdKeyOf } from './names.ts';
import type { Observation } from './observe.ts';
import { competingRemediationOf } from './competing-remediation.ts';
import { isOverWithoutNode, standsOnHost } from './situation.ts';

const NO_LEASES = 'node leases are switched off; without them another remediator could act on the node';

/** Decides about each remediation with the lock on its node (docs/adr/0009). */
export class LockedDecisions {
  readonly #dependencies: Metal3RemediationDependencies;
  readonly #gate: WriteGate;
  readonly #inFlight: InFlight;
  readonly #locks = new WeakMap<Cluster, NodeLock>();

  constructor(dependencies: Metal3RemediationDependencies, gate: WriteGate, inFlight: InFlight) {
    this.#dependencies = dependencies;
    this.#gate = gate;
    this.#inFlight = inFlight;
  }

  /** With the lock where one is needed; in observe mode nobody is kept off. */
  async decide(observation: Observation, memory: Memory): Promise<FenceDecision> {
    this.#adopt(observation, memory);
    const { place, byFence, snapshot } = observation;
    const competing = this.#competingRemediationOf(observation);
    if (byFence !== undefined && competing === undefined) return decideByFence(snapshot, byFence.fence);
    const decision = this.#decideNow(observation);
    if (!decision.holdsNode || place === undefined || !this.#needsLock(observation, decision) || !this.#gate.mayWrite()) return decision;
    const lock = this.#lockOf(place.cluster);
    if (lock === undefined) return this.#decideNow(observation, NO_LEASES);
    memory.locked = { lock, node: place.nodeName };
    const takenBy = await lock.take(place.nodeName, standsOnHost(snapshot));
    return takenBy === undefined ? decision : this.#decideNow(observation, takenBy);
  }

  /** A predecessor that died may have left the lock behind: it is given back as if it were ours, for it is. */
  #adopt(observation: Observation, memory: Memory): void {
    const { place } = observation;
    if (memory.isAdopted || place === undefined || this.#competingRemediationOf(observation) !== undefined) return;
    memory.isAdopted = true;
    const lock = this.#lockOf(place.cluster);
    if (lock !== undefined) memory.locked ??= { lock, node: place.nodeName };
  }

  /** How many others are under way is counted in the turn in which it is decided, so that two side by side do not both take the last place. */
  #decideNow(observation: Observation, takenBy = this.#competingRemediationOf(observation)): Decision {
    const { snapshot } = observation;
    const full = this.#inFlight.hold(snapshot.remediation.uid);
    const holds = full === undefined ? snapshot.holds : [...snapshot.holds, full];
    const decision = decide({ ...snapshot, holds, ...(takenBy !== undefined && { takenBy }) });
    if (decision.actions.some((action) => isOff(action, snapshot.remediation.uid))) this.#inFlight.begin(snapshot.remediation.uid);
    return decision;
  }

  #competingRemediationOf({ snapshot, remediation }: Observation): string | undefined {
    return competingRemediationOf(snapshot, remediation, this.#dependencies.remediations.lister);
  }

  /** After the actions of a decision. */
  async settle(observation: Observation, memory: Memory, decision: FenceDecision): Promise<void> {
    if (!decision.holdsNode || !this.#needsLock(observation, decision)) await this.unlock(memory);
  }

  /** Where nothing of ours stands and nothing is to be done, the node is anybody's. */
  #needsLock({ snapshot }: Observation, { actions }: FenceDecision): boolean {
    return !isOverWithoutNode(snapshot) && (actions.length > 0 || standsOnHost(snapshot));
  }

  #lockOf(cluster: Cluster): NodeLock | undefined {
    const { clock, options } = this.#dependencies;
    const { nodeLeaseNamespace: namespace } = options;
    if (namespace === undefined) return undefined;
    const lock = this.#locks.get(cluster) ?? new NodeLock({ cluster, clock, namespace, holder: LOCK_HOLDER });
    this.#locks.set(cluster, lock);
    return lock;
  }

  async unlock(memory: Memory): Promise<void> {
    const { locked } = memory;
    if (locked === undefined || !this.#gate.mayWrite()) return;
    await locked.lock.giveBack(locked.node);
    memory.locked = undefined;
  }
}

/** Is it our hold that is set here? */
export function isOff(action: Action | FenceAction, uid: string): boolean {
  return action.kind === 'annotate' && action.changes.some(({ key, to }) => key === holdKeyOf(uid) && to !== undefined);
}
