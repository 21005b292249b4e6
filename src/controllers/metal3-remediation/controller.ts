import type { BareMetalHost, Metal3Remediation } from '../../ports/metal3.ts';
import type { KubeObject, Node } from '../../ports/objects.ts';
import { NodeLock } from '../shared/claims/node-lock.ts';
import { gatedWrites, unlessMoved } from '../shared/gated-cluster.ts';
import { isPassing, Moved, wasOvertaken } from '../shared/moved.ts';
import { WriteGate } from '../shared/write-gate.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { Action, Decision } from './actions.ts';
import { decideByFence } from './by-fence.ts';
import type { FenceDecision } from './by-fence.ts';
import { decide } from './decide.ts';
import { LOCK_HOLDER } from './dependencies.ts';
import type { Metal3RemediationDependencies, NodeCluster } from './dependencies.ts';
import { InFlight } from './in-flight.ts';
import { Memory } from './memory.ts';
import { holdKeyOf } from './names.ts';
import { observe } from './observe.ts';
import type { Sight } from './observe.ts';
import { perform } from './perform.ts';
import { rivalOf } from './rival.ts';
import { standsOnHost } from './situation.ts';
import { readSpec } from './spec.ts';

/** A remediation that waits for nothing in particular is looked at so often: its Machine may be gone. */
const RELOOK_MS = 60_000;
/** Somebody else wrote first. */
const ANEW_MS = 500;
/** While its watches are silent. */
const UNHEARD_MS = 5_000;
/** After a write: what it has changed is looked at. */
const SOON_MS = 100;
const NO_LEASES = 'node leases are switched off; without them another remediator could act on the node';
/** What a release waits for: silence. */
const SILENCE_POLL_MS = 2_000;

/**
 * Metal3Remediation: observe, decide, write, one remediation at a time each. It keeps nothing that is not in the objects but its own first sights. Only the leader
 * looks; everything is read from the API's quorum, so that the watches only say when.
 */
export class Metal3RemediationController {
  readonly #dependencies: Metal3RemediationDependencies;
  /** By key of the queue. */
  readonly #memories = new Map<string, Memory>();
  readonly #locks = new WeakMap<Cluster, NodeLock>();
  readonly #inFlight: InFlight;
  readonly #unsubscribe: (() => void)[] = [];
  readonly #gate: WriteGate;

  constructor(dependencies: Metal3RemediationDependencies) {
    const { clock, leadership, remediations, hosts, nodes, options } = dependencies;
    const watches = [remediations.lister, hosts, nodes];
    this.#gate = new WriteGate({ clock, leadership, enforce: () => options.enforce, watches: () => watches });
    const gate = gatedWrites(unlessMoved(() => this.#gate.mayWrite()));
    const gated = (found: NodeCluster): NodeCluster => ({ ...found, cluster: gate(found.cluster) });
    const workloads: Metal3RemediationDependencies['workloads'] = async (secret) => {
      const found = await dependencies.workloads(secret);
      return found && gated(found);
    };
    this.#dependencies = { ...dependencies, own: gated(dependencies.own), workloads };
    this.#inFlight = new InFlight(dependencies);
  }

  /** Follows the listers from now on, whether they are synced or not. */
  start(): void {
    const { remediations, templates, hosts, nodes, queue } = this.#dependencies;
    this.#unsubscribe.push(
      remediations.lister.onChange((before, after) => {
        queue.add(keyOf(remediations.resource.kind, (after ?? before) as KubeObject));
      }),
      templates.lister.onChange((_before, after) => {
        if (after !== undefined) queue.add(keyOf(templates.resource.kind, after));
      }),
      hosts.onChange((before, after) => {
        this.#hostSeen(before, after);
      }),
      nodes.onChange((before, after) => {
        this.#nodeSeen((after ?? before) as Node);
      }),
    );
    this.wake();
  }

  /** What is decided and not sent by now is not sent. */
  close(): void {
    this.#gate.close();
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
  }

  /** Looks at everything: leadership has come. */
  wake(): void {
    const { remediations, templates, queue } = this.#dependencies;
    for (const { resource, lister } of [remediations, templates]) {
      for (const each of lister.all()) queue.add(keyOf(resource.kind, each));
    }
  }

  /** Standing problems of all remediations, one sentence each. */
  problems(): string[] {
    const standing = [...this.#memories.values()].flatMap(({ problems }) => [...problems]);
    return [...new Set([...this.#gate.silence('Metal3Remediation'), ...standing])].sort();
  }

  /** The work of one key of the queue. Rejects when the API server could not be asked. */
  async reconcile(key: string): Promise<{ afterMs: number } | undefined> {
    const { leadership, remediations, own } = this.#dependencies;
    if (!leadership.isLeading) return undefined;
    if (this.#gate.isSilent) return { afterMs: UNHEARD_MS };
    const [kind = '', namespace = '', name = ''] = key.split(/[ /]/);
    if (kind !== remediations.resource.kind) return this.#lookAtTemplate(key, namespace, name);
    const object = await own.cluster.get(remediations.resource, name, namespace);
    const memory = await this.#memoryOf(key, object);
    if (object === undefined || memory === undefined) return undefined;
    try {
      const sight = await observe(this.#dependencies, object, memory);
      this.#adopt(sight, memory);
      const decision = await this.#decide(sight, memory);
      memory.unheard.over();
      this.#tell(key, memory, object, decision.problems);
      const afterMs = await this.#act(sight, memory, decision);
      if (!decision.holdsNode || !this.#needsLock(sight, decision)) await this.#unlock(memory);
      if (afterMs !== undefined) return { afterMs };
      const dueMs = decision.nextDueMs === undefined ? RELOOK_MS : Math.min(RELOOK_MS, decision.nextDueMs - sight.snapshot.nowMs);
      return { afterMs: Math.max(0, dueMs) };
    } catch (error) {
      if (wasOvertaken(error) || error instanceof Moved) return { afterMs: ANEW_MS };
      // The queue tells the log of each; whoever looks at the remediation need not know of a call that succeeds at the next try.
      if (!isPassing(error) || memory.unheard.isToBeTold())
        this.#tell(key, memory, object, [`${key}: ${error instanceof Error ? error.message : String(error)}`]);
      throw error;
    }
  }

  /** With the lock where one is needed; in observe mode nobody is kept off. */
  async #decide(sight: Sight, memory: Memory): Promise<FenceDecision> {
    const { place, byFence, snapshot } = sight;
    const rival = this.#rivalOf(sight);
    if (byFence !== undefined && rival === undefined) return decideByFence(snapshot, byFence.fence);
    const decision = this.#decideNow(sight);
    if (!decision.holdsNode || place === undefined || !this.#needsLock(sight, decision) || !this.#gate.mayWrite()) return decision;
    const lock = this.#lockOf(place.cluster);
    if (lock === undefined) return this.#decideNow(sight, NO_LEASES);
    memory.locked = { lock, node: place.nodeName };
    const takenBy = await lock.take(place.nodeName, standsOnHost(snapshot));
    return takenBy === undefined ? decision : this.#decideNow(sight, takenBy);
  }

  /** A predecessor that died may have left the lock behind: it is given back as if it were ours, for it is. */
  #adopt(sight: Sight, memory: Memory): void {
    const { place } = sight;
    if (memory.isAdopted || place === undefined || this.#rivalOf(sight) !== undefined) return;
    memory.isAdopted = true;
    const lock = this.#lockOf(place.cluster);
    if (lock !== undefined) memory.locked ??= { lock, node: place.nodeName };
  }

  /** How many others are under way is counted in the turn in which it is decided, so that two side by side do not both take the last place. */
  #decideNow(sight: Sight, takenBy = this.#rivalOf(sight)): Decision {
    const { snapshot } = sight;
    const full = this.#inFlight.hold(snapshot.remediation.uid);
    const holds = full === undefined ? snapshot.holds : [...snapshot.holds, full];
    const decision = decide({ ...snapshot, holds, ...(takenBy !== undefined && { takenBy }) });
    const begins = decision.actions.some((action) => action.kind === 'annotate' && isOff(action, snapshot.remediation.uid));
    if (begins) this.#inFlight.begin(snapshot.remediation.uid);
    return decision;
  }

  #rivalOf({ snapshot, remediation }: Sight): string | undefined {
    return rivalOf(snapshot, remediation, this.#dependencies.remediations.lister);
  }

  /** Where nothing of ours stands and nothing is to be done, the node is anybody's. */
  #needsLock({ snapshot }: Sight, { actions }: FenceDecision): boolean {
    return actions.length > 0 || standsOnHost(snapshot);
  }

  #lockOf(cluster: Cluster): NodeLock | undefined {
    const { clock, options } = this.#dependencies;
    const { nodeLeaseNamespace: namespace } = options;
    if (namespace === undefined) return undefined;
    const lock = this.#locks.get(cluster) ?? new NodeLock({ cluster, clock, namespace, holder: LOCK_HOLDER });
    this.#locks.set(cluster, lock);
    return lock;
  }

  async #unlock(memory: Memory): Promise<void> {
    const { locked } = memory;
    if (locked === undefined || !this.#gate.mayWrite()) return;
    await locked.lock.giveBack(locked.node);
    memory.locked = undefined;
  }

  /** Does what was decided, in its order. Resolves with the time to the next look where that differs from what was decided. */
  async #act(sight: Sight, memory: Memory, { actions }: FenceDecision): Promise<number | undefined> {
    for (const action of actions) {
      if (!this.#gate.mayWrite()) return undefined;
      const { metrics } = this.#dependencies;
      try {
        await perform(this.#dependencies, memory, sight, action);
        metrics.acted(action.kind, 'done');
      } catch (error) {
        metrics.acted(action.kind, error instanceof Moved || wasOvertaken(error) ? 'conflict' : 'failed');
        if (action.kind === 'annotate' && isOff(action, memory.uid)) this.#inFlight.forget(memory.uid);
        if (wasOvertaken(error)) return ANEW_MS;
        if (!(error instanceof Moved)) throw error;
        this.#dependencies.log.debug('remediation decided again after a conflict', {
          object: sight.snapshot.remediation.name,
          action: action.kind,
          error,
        });
        return 'proof' in action ? SILENCE_POLL_MS : ANEW_MS;
      }
    }
    return actions.length > 0 ? SOON_MS : undefined;
  }

  /** A remediation of another uid under its name is another; what was locked for one that is gone is given back. */
  async #memoryOf(key: string, object: Metal3Remediation | undefined): Promise<Memory | undefined> {
    const known = this.#memories.get(key);
    const uid = object?.metadata.uid;
    if (known !== undefined && known.uid !== uid) {
      await this.#unlock(known);
      this.#inFlight.forget(known.uid);
      this.#memories.delete(key);
    }
    if (uid === undefined) return undefined;
    const memory = this.#memories.get(key) ?? new Memory(this.#dependencies.clock, uid);
    this.#memories.set(key, memory);
    return memory;
  }

  async #lookAtTemplate(key: string, namespace: string, name: string): Promise<undefined> {
    const { own, templates, log, recorder } = this.#dependencies;
    const object = await own.cluster.get(templates.resource, name, namespace);
    if (object === undefined) return undefined;
    const { group, version, kind } = templates.resource;
    const apiVersion = `${group}/${version}`;
    for (const problem of readSpec(apiVersion, object.spec?.template?.spec).problems) {
      log.warn('remediation template problem', { problem: `${key}: ${problem}` });
      if (this.#gate.mayWrite()) recorder.event({ apiVersion, kind, metadata: object.metadata }, 'Warning', 'TemplateNotFollowed', problem);
    }
    return undefined;
  }

  #hostSeen(before: BareMetalHost | undefined, after: BareMetalHost | undefined): void {
    const { served } = this.#dependencies;
    if (after !== undefined) served.see(after);
    else if (before !== undefined) served.forget(before);
    const { metadata } = (after ?? before) as BareMetalHost;
    const hostKey = `${metadata.namespace ?? ''}/${metadata.name}`;
    for (const [key, memory] of this.#memories) {
      if (memory.hostKey !== hostKey) continue;
      if (after !== undefined) memory.watched(after);
      this.#dependencies.queue.add(key);
    }
  }

  #nodeSeen({ metadata }: Node): void {
    for (const [key, { nodeName }] of this.#memories) if (nodeName === metadata.name) this.#dependencies.queue.add(key);
  }

  /** Each problem is said once for as long as it stands, on the remediation too: nothing else shows there. */
  #tell(key: string, memory: Memory, object: Metal3Remediation, problems: readonly string[]): void {
    const { log, recorder, remediations, metrics } = this.#dependencies;
    const { group, version, kind } = remediations.resource;
    const told = new Set([...memory.problems].map(wordsOf));
    for (const problem of problems) {
      if (told.has(wordsOf(problem))) continue;
      log.warn('remediation problem', { problem });
      const about = { apiVersion: `${group}/${version}`, kind, metadata: object.metadata };
      if (this.#gate.mayWrite()) recorder.event(about, 'Warning', 'RemediationBlocked', problem.replace(`${key}: `, ''));
    }
    memory.problems = new Set(problems);
    metrics.problems(this.problems().length);
  }
}

/** What counts down is the same problem all the while. */
function wordsOf(problem: string): string {
  return problem.replaceAll(/\d+/gu, '#');
}

function isOff({ changes }: Extract<Action, { kind: 'annotate' }>, uid: string): boolean {
  return changes.some(({ key, to }) => key === holdKeyOf(uid) && to !== undefined);
}

function keyOf(kind: string, { metadata }: KubeObject): string {
  return `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;
}
