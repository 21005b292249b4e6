import type { Action, Decision } from '../../src/controllers/metal3-remediation/actions.ts';
import { decide } from '../../src/controllers/metal3-remediation/decide.ts';
import { holdKeyOf, OUT_OF_SERVICE } from '../../src/controllers/metal3-remediation/names.ts';
import { readSpec } from '../../src/controllers/metal3-remediation/spec.ts';
import type { DrainFacts, RemediationFacts, Snapshot } from '../../src/controllers/metal3-remediation/snapshot.ts';
import type { HostFacts } from '../../src/controllers/shared/baremetal-host/host.ts';
import type { Change, HoldFact, Marks } from '../../src/controllers/shared/remediation/actions.ts';
import type { NodeFacts } from '../../src/controllers/shared/remediation/node.ts';
import type { OwnerMachine } from '../../src/controllers/shared/remediation/owner-machine.ts';
import { Operator } from '../baremetal-host/operator.ts';

export const EPOCH_MS = Date.UTC(2027, 0, 1);
export const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;
const HEARTBEAT_MS = 10_000;
const DETACH_MS = 20_000;
const EVICT_MS = 4_000;
export const API = 'infrastructure.cluster.x-k8s.io/v1beta2';
export const HOLD = holdKeyOf('uid-r');

export function remediation(facts: Partial<RemediationFacts> = {}, spec: unknown = {}): RemediationFacts {
  const apiVersion = facts.apiVersion ?? API;
  const base = { apiVersion, name: 'm', namespace: 'metal', uid: 'uid-r', annotations: {}, finalizers: [], isDeleting: false, isPaused: false };
  return { ...base, hasOwner: true, ...readSpec(apiVersion, spec), phase: '', retryCount: 0, phaseSeenMs: 0, ...facts };
}

export function ownerMachine(facts: Partial<OwnerMachine> = {}): OwnerMachine {
  const base = { apiVersion: 'cluster.x-k8s.io/v1beta2', name: 'm', namespace: 'metal', uid: 'uid-m', labels: {}, annotations: {} };
  return { ...base, isDeleting: false, isPaused: false, nodeName: 'n', conditions: [], olderConditions: [], ...facts };
}

export function node(facts: Partial<NodeFacts> = {}): NodeFacts {
  const base = { name: 'n', uid: 'uid-n-1', labels: { host: 'n', zone: 'a' }, annotations: { cni: 'x' }, isDeleting: false, taints: [] };
  return { ...base, isReady: false, ...facts };
}

export function patched(marks: Marks, changes: readonly Change[]): Record<string, string> {
  const result = new Map(Object.entries(marks));
  for (const { key, was, to } of changes) {
    if (result.get(key) !== was) throw new Error(`${key} is ${String(result.get(key))}, not ${String(was)}`);
    if (to === undefined) result.delete(key);
    else result.set(key, to);
  }
  return Object.fromEntries(result);
}

interface Scene {
  remediation?: RemediationFacts;
  machine?: OwnerMachine;
  node?: Snapshot['node'];
  operator?: Operator;
  servesOutOfService?: boolean;
  canReadBmc?: boolean;
  bootMs?: number;
  isBroken?: boolean;
}

/** A remediation with its Machine, host, operator, Node and kubelet. */
export class World {
  remediation: RemediationFacts | undefined;
  machine: OwnerMachine | 'gone';
  node: Snapshot['node'];
  readonly operator: Operator;
  servesOutOfService: boolean;
  canReadBmc: boolean;
  bootMs: number;
  isBroken: boolean;
  /** So long after the taint nobody has asked for the deletion of its pods yet. */
  evictMs = EVICT_MS;
  /** Volumes stay attached for ever. */
  isStuck = false;
  holds: HoldFact[] = [];
  takenBy: string | undefined;
  readonly done: Action[] = [];
  readonly problems = new Set<string>();
  #holdSeenMs: number | undefined;
  #taintSeenMs: number | undefined;
  #onSinceMs: number | undefined = 0;
  #nodes = 1;

  constructor(scene: Scene = {}) {
    this.remediation = scene.remediation ?? remediation();
    this.machine = scene.machine ?? ownerMachine();
    this.node = scene.node ?? node();
    this.operator = scene.operator ?? new Operator();
    this.servesOutOfService = scene.servesOutOfService ?? false;
    this.canReadBmc = scene.canReadBmc ?? false;
    this.bootMs = scene.bootMs ?? MINUTE_MS;
    this.isBroken = scene.isBroken ?? false;
    if (this.operator.annotations[HOLD] !== undefined) this.#holdSeenMs = 0;
  }

  get nowMs(): number {
    return this.operator.nowMs;
  }

  get own(): RemediationFacts {
    if (this.remediation === undefined) throw new Error('the remediation is gone');
    return this.remediation;
  }

  get host(): HostFacts {
    const consumer = { kind: 'Metal3Machine', name: 'mm', namespace: 'metal' };
    const seen = this.#holdSeenMs === undefined ? {} : { holdSeenMs: this.#holdSeenMs };
    return this.operator.facts({ consumer, ...seen, ...(this.canReadBmc && { ownRead: this.operator.ownRead() }) });
  }

  snapshot(): Snapshot {
    const tainted = this.#taintSeenMs ?? (this.#isOutOfService() ? 0 : undefined);
    const isOver = tainted !== undefined && this.nowMs - tainted >= DETACH_MS && !this.isStuck;
    return {
      nowMs: EPOCH_MS + this.nowMs,
      monotonicMs: this.nowMs,
      remediation: this.own,
      machine: this.machine,
      infrastructure: { name: 'mm', namespace: 'metal' },
      host: this.host,
      node: this.node,
      ...(tainted !== undefined && { drain: { ...this.#workload(isOver, this.nowMs - tainted < this.evictMs), seenMs: tainted } }),
      servesOutOfService: this.servesOutOfService,
      canReadBmc: this.canReadBmc,
      holds: this.holds,
      ...(this.takenBy !== undefined && { takenBy: this.takenBy }),
    };
  }

  /** Before its pod is asked to end, nothing else shows. */
  #workload(isOver: boolean, isEarly: boolean): Omit<DrainFacts, 'seenMs'> {
    if (isEarly) return { terminatingPods: 0, awaitedPods: 1, volumeAttachments: 0 };
    return { terminatingPods: isOver ? 0 : 1, awaitedPods: 0, volumeAttachments: isOver ? 0 : 1 };
  }

  decide(): Decision {
    const decision = decide(this.snapshot());
    for (const problem of decision.problems) this.problems.add(problem);
    return decision;
  }

  step(actionsMax = Infinity): number {
    if (this.remediation === undefined) return 0;
    const { actions } = this.decide();
    const chosen = actions.slice(0, actionsMax);
    for (const action of chosen) this.apply(action);
    if (chosen.length < actions.length) this.#forget();
    return chosen.length;
  }

  run(durationMs: number): void {
    const endMs = this.nowMs + durationMs;
    while (this.nowMs < endMs) {
      for (let round = 0; this.step() > 0; round += 1) if (round > 20) throw new Error('it does not come to rest');
      this.pass(5 * SECOND_MS);
    }
  }

  pass(durationMs: number): void {
    for (let left = durationMs; left > 0; left -= SECOND_MS) {
      const wasOn = this.operator.isOn;
      this.operator.advance(this.nowMs + SECOND_MS);
      if (this.operator.isOn && !wasOn) {
        this.#onSinceMs = this.nowMs;
        if (this.#isOutOfService()) throw new Error('LAW P3: a tainted node was started');
      }
      if (!this.operator.isOn) this.#onSinceMs = undefined;
      this.#live();
    }
  }

  /** The health check sees the machine healthy again, or somebody deletes the request. */
  delete(): void {
    if (this.remediation === undefined) return;
    if (this.remediation.finalizers.length === 0) this.remediation = undefined;
    else this.remediation = { ...this.remediation, isDeleting: true, phaseSeenMs: this.nowMs };
  }

  kinds(): string[] {
    return this.done.map((action) => action.event?.reason ?? action.kind);
  }

  apply(action: Action): void {
    this.done.push(action);
    switch (action.kind) {
      case 'annotate':
        this.#annotate(action);
        return;
      case 'status': {
        const { phase, retryCount, lastRemediatedMs } = this.own;
        expectSame({ phase, retryCount, lastRemediatedMs }, action.was);
        const { lastRemediatedMs: at, ...rest } = action.to;
        this.remediation = { ...this.own, ...rest, phaseSeenMs: this.nowMs, ...(at !== undefined && { lastRemediatedMs: at }) };
        return;
      }
      case 'finalizer': {
        const others = this.own.finalizers.filter((each) => each !== action.finalizer);
        const finalizers = action.isPresent ? [...others, action.finalizer] : others;
        this.remediation = this.own.isDeleting && finalizers.length === 0 ? undefined : { ...this.own, finalizers };
        return;
      }
      case 'machine-conditions':
        this.#tell(action);
        return;
      default:
        this.#touchNode(action);
    }
  }

  #touchNode(action: Extract<Action, { kind: 'restore-node' | 'taint' | 'delete-node' }>): void {
    const own = this.node;
    if (typeof own !== 'object' || own.uid !== action.target.uid) throw new Error('another node');
    if (action.kind === 'restore-node') {
      const cordon = action.isCordoned === true ? { isUnschedulable: true as const } : {};
      this.node = { ...own, labels: patched(own.labels, action.labels), annotations: patched(own.annotations, action.annotations), ...cordon };
      return;
    }
    if (action.kind === 'delete-node' || action.isPresent) {
      if (this.operator.isOn) throw new Error('LAW P1: a release while the machine ran');
    }
    if (action.kind === 'delete-node') {
      this.node = 'not-found';
      return;
    }
    const others = own.taints.filter(({ key }) => key !== OUT_OF_SERVICE.key);
    this.node = { ...own, taints: action.isPresent ? [...others, action.taint] : others };
    this.#taintSeenMs = action.isPresent ? this.nowMs : undefined;
  }

  #tell({ lists }: Extract<Action, { kind: 'machine-conditions' }>): void {
    for (const { path, condition } of lists) {
      const own = this.machine;
      if (own === 'gone') throw new Error('no machine');
      const list = path.join('.') === 'status.conditions' ? 'conditions' : 'olderConditions';
      this.machine = { ...own, [list]: [...own[list].filter(({ type }) => type !== condition.type), condition] };
    }
  }

  #annotate({ target, changes, resourceVersion }: Extract<Action, { kind: 'annotate' }>): void {
    if (target.kind === 'BareMetalHost') {
      if (resourceVersion !== undefined && resourceVersion !== String(this.operator.resourceVersion)) throw new Error('conflict');
      this.operator.annotate(patched(this.operator.annotations, changes));
      this.#holdSeenMs = this.operator.annotations[HOLD] === undefined ? undefined : (this.#holdSeenMs ?? this.nowMs);
    } else if (target.kind === 'Machine') {
      if (this.machine !== 'gone') this.machine = { ...this.machine, annotations: patched(this.machine.annotations, changes) };
    } else {
      this.remediation = { ...this.own, annotations: patched(this.own.annotations, changes) };
    }
  }

  /** What the process remembered is gone with it. */
  #forget(): void {
    if (this.#holdSeenMs !== undefined) this.#holdSeenMs = this.nowMs;
    if (this.#taintSeenMs !== undefined) this.#taintSeenMs = this.nowMs;
    if (this.remediation !== undefined) this.remediation = { ...this.remediation, phaseSeenMs: this.nowMs };
  }

  #isOutOfService(): boolean {
    return typeof this.node === 'object' && this.node.taints.some(({ key }) => key === OUT_OF_SERVICE.key);
  }

  #live(): void {
    const sinceMs = this.#onSinceMs;
    if (typeof this.node === 'object' && sinceMs === undefined) this.node = { ...this.node, isReady: false };
    if (sinceMs === undefined || this.isBroken || sinceMs === 0 || this.nowMs - sinceMs < this.bootMs) return;
    if (this.node === 'not-found') {
      this.#nodes += 1;
      this.node = node({ uid: `uid-n-${this.#nodes}`, labels: { host: 'n' }, annotations: {} });
    }
    if (typeof this.node === 'object' && this.nowMs % HEARTBEAT_MS === 0) this.node = { ...this.node, isReady: true, lifeSeenMs: this.nowMs };
  }
}

function expectSame(left: object, right: object): void {
  if (JSON.stringify(left) !== JSON.stringify(right)) throw new Error(`${JSON.stringify(left)} is not ${JSON.stringify(right)}`);
}
