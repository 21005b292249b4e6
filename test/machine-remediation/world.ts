import type { Action, Decision } from '../../src/controllers/machine-remediation/actions.ts';
import { decide } from '../../src/controllers/machine-remediation/decide.ts';
import { HOLD, OUT_OF_SERVICE, REQUEST } from '../../src/controllers/machine-remediation/names.ts';
import type { HealthCheckFacts, MachineFacts, Settings, Snapshot } from '../../src/controllers/machine-remediation/snapshot.ts';
import type { HostFacts } from '../../src/controllers/shared/baremetal-host/host.ts';
import type { Change, HoldFact } from '../../src/controllers/shared/remediation/actions.ts';
import type { NodeFacts } from '../../src/controllers/shared/remediation/node.ts';
import { Operator } from '../baremetal-host/operator.ts';

export const EPOCH_MS = Date.UTC(2027, 0, 1);
export const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;
const STEP_MS = 5_000;

const HEARTBEAT_MS = 10_000;

export function machine(facts: Partial<MachineFacts> = {}): MachineFacts {
  return {
    apiVersion: 'machine.openshift.io/v1beta1',
    name: 'm',
    namespace: 'machines',
    uid: 'uid-m',
    labels: {},
    annotations: { 'metal3.io/BareMetalHost': 'metal/host', [REQUEST]: '' },
    isDeleting: false,
    isPaused: false,
    hasController: true,
    ...facts,
  };
}

export function node(facts: Partial<NodeFacts> = {}): NodeFacts {
  const labels = { 'kubernetes.io/hostname': 'n', zone: 'a' };
  return { name: 'n', uid: 'uid-n-1', labels, annotations: { cni: '10.0.0.0/24' }, isDeleting: false, taints: [], isReady: true, ...facts };
}

interface Scene {
  mode?: Settings['mode'];
  machine?: MachineFacts;
  node?: NodeFacts | undefined;
  operator?: Operator;
  canReadBmc?: boolean;
  bootMs?: number;
  /** A health check that asks again every so often while the Node is missing. */
  asksEveryMs?: number;
  /** How many are attached to its Node. */
  volumes?: number;
}

function patched(marks: Readonly<Record<string, string>>, changes: readonly Change[]): Record<string, string> {
  const result = new Map(Object.entries(marks));
  for (const { key, was, to } of changes) {
    if (result.get(key) !== was) throw new Error(`${key} is ${String(result.get(key))}, not ${String(was)}`);
    if (to === undefined) result.delete(key);
    else result.set(key, to);
  }
  return Object.fromEntries(result);
}

/** A Machine, its host with an operator and a BMC, and a kubelet that registers some time after the power came. */
export class World {
  machine: MachineFacts | undefined;
  node: NodeFacts | undefined;
  readonly operator: Operator;
  mode: Settings['mode'];
  canReadBmc: boolean;
  bootMs: number;
  /** The kubelet does not come up any more. */
  isBroken = false;
  holds: HoldFact[] = [];
  takenBy: string | undefined;
  healthChecks: HealthCheckFacts[] = [];
  /** Attached to its Node; detached so long after that is out of service. */
  volumes: number;
  detachMs = 20 * SECOND_MS;
  servesOutOfService = true;
  readonly done: Action[] = [];
  readonly problems = new Set<string>();
  readonly #asksEveryMs: number | undefined;
  #holdSeenMs: number | undefined;
  #taintSeenMs: number | undefined;
  #taintedAtMs: number | undefined;
  #onSinceMs: number | undefined = 0;
  #nodes = 1;

  constructor(scene: Scene = {}) {
    this.machine = scene.machine ?? machine();
    this.node = 'node' in scene ? scene.node : node();
    this.operator = scene.operator ?? new Operator();
    this.mode = scene.mode ?? 'incident';
    this.canReadBmc = scene.canReadBmc ?? false;
    this.bootMs = scene.bootMs ?? MINUTE_MS;
    this.volumes = scene.volumes ?? 0;
    this.#asksEveryMs = scene.asksEveryMs;
  }

  get nowMs(): number {
    return this.operator.nowMs;
  }

  get host(): HostFacts {
    const consumer = { kind: 'Machine', name: 'm', namespace: 'machines' };
    const seen = this.#holdSeenMs === undefined ? {} : { holdSeenMs: this.#holdSeenMs };
    return this.operator.facts({ consumer, ...seen, ...(this.canReadBmc && { ownRead: this.operator.ownRead() }) });
  }

  snapshot(): Snapshot {
    const taintSeenMs = this.isOutOfService ? (this.#taintSeenMs ??= this.nowMs) : this.#taintSeenMs;
    const volumes = {
      attached: this.volumes,
      servesOutOfService: this.servesOutOfService,
      ...(taintSeenMs !== undefined && { waitedSinceMs: taintSeenMs }),
    };
    const isTold = this.volumes > 0 && this.node !== undefined && this.operator.annotations[HOLD] !== undefined;
    const settings = { mode: this.mode, powerOffTimeoutMs: 10 * MINUTE_MS, canReadBmc: this.canReadBmc };
    return {
      nowMs: EPOCH_MS + this.nowMs,
      monotonicMs: this.nowMs,
      settings,
      host: this.host,
      healthChecks: this.healthChecks,
      holds: this.holds,
      ...(this.machine !== undefined && { machine: this.machine }),
      ...(this.node !== undefined && { node: this.node }),
      ...(isTold && { volumes }),
      ...(this.takenBy !== undefined && { takenBy: this.takenBy }),
    };
  }

  get isOutOfService(): boolean {
    return this.node?.taints.some(({ key }) => key === 'node.kubernetes.io/out-of-service') === true;
  }

  decide(): Decision {
    const decision = decide(this.snapshot());
    for (const problem of decision.problems) this.problems.add(problem);
    return decision;
  }

  /** The controller does at most so many of its actions, then it crashes: its own memory is gone. */
  step(actionsMax = Infinity): number {
    const { actions } = this.decide();
    const chosen = actions.slice(0, actionsMax);
    for (const action of chosen) this.apply(action);
    if (chosen.length < actions.length) {
      this.#holdSeenMs = this.operator.annotations[HOLD] === undefined ? undefined : this.nowMs;
      this.#taintSeenMs = undefined;
    }
    return chosen.length;
  }

  /** Time goes by; the controller looks every few seconds, and goes on while it has something to do. */
  run(durationMs: number): void {
    const endMs = this.nowMs + durationMs;
    while (this.nowMs < endMs) {
      for (let round = 0; this.step() > 0; round += 1) if (round > 20) throw new Error('it does not come to rest');
      this.pass(STEP_MS);
    }
  }

  pass(durationMs: number): void {
    for (let left = durationMs; left > 0; left -= SECOND_MS) {
      const wasOn = this.operator.isOn;
      this.operator.advance(this.nowMs + SECOND_MS);
      if (this.operator.isOn && !wasOn) this.#onSinceMs = this.nowMs;
      if (!this.operator.isOn) this.#onSinceMs = undefined;
      this.#live();
      if (this.#taintedAtMs !== undefined && this.nowMs - this.#taintedAtMs >= this.detachMs) this.volumes = 0;
      const asks = this.#asksEveryMs;
      if (asks !== undefined && this.node === undefined && this.nowMs % asks === 0) this.ask();
    }
  }

  ask(): void {
    if (this.machine !== undefined) this.machine = { ...this.machine, annotations: { ...this.machine.annotations, [REQUEST]: '' } };
  }

  unask(): void {
    if (this.machine === undefined) return;
    const { [REQUEST]: _request, ...annotations } = this.machine.annotations;
    this.machine = { ...this.machine, annotations };
  }

  apply(action: Action): void {
    this.done.push(action);
    switch (action.kind) {
      case 'annotate': {
        this.#annotate(action);
        return;
      }
      case 'restore-node': {
        const { node: own } = this;
        if (own?.uid !== action.target.uid) throw new Error('another node');
        const cordon = action.isCordoned === true ? { isUnschedulable: true as const } : {};
        this.node = { ...own, labels: patched(own.labels, action.labels), annotations: patched(own.annotations, action.annotations), ...cordon };
        return;
      }
      case 'taint':
        if (this.node?.uid !== action.target.uid) throw new Error('another node');
        if (action.isPresent && this.operator.isOn) throw new Error('LAW P1: its Node was tainted while the machine ran');
        this.node = { ...this.node, taints: action.isPresent ? [...this.node.taints, action.taint] : [] };
        this.#taintedAtMs = action.isPresent ? this.nowMs : undefined;
        return;
      case 'delete-node':
        if (this.node?.uid !== action.target.uid) throw new Error('another node');
        if (this.operator.isOn) throw new Error('LAW P1: its Node was deleted while the machine ran');
        this.node = undefined;
        this.#taintedAtMs = undefined;
        return;
      case 'delete-machine':
        this.machine = undefined;
        return;
    }
  }

  kinds(): string[] {
    return this.done.map((action) => action.event?.reason ?? action.kind);
  }

  #annotate(action: Extract<Action, { kind: 'annotate' }>): void {
    if (action.target.kind === 'BareMetalHost') {
      const { resourceVersion } = action;
      if (resourceVersion !== undefined && resourceVersion !== String(this.operator.resourceVersion)) throw new Error('conflict');
      const isLetOn = action.changes.some(({ key, to }) => key === HOLD && to === undefined);
      if (isLetOn && this.node?.taints.some(({ value }) => value === OUT_OF_SERVICE.value))
        throw new Error('LAW P3: it is switched on while its Node is out of service');
      this.operator.annotate(patched(this.operator.annotations, action.changes));
      this.#holdSeenMs = this.operator.annotations[HOLD] === undefined ? undefined : (this.#holdSeenMs ?? this.nowMs);
    } else if (this.machine !== undefined) {
      this.machine = { ...this.machine, annotations: patched(this.machine.annotations, action.changes) };
    }
  }

  #live(): void {
    const onSinceMs = this.#onSinceMs;
    if (onSinceMs === undefined || this.isBroken) return;
    if (this.node === undefined && this.nowMs - onSinceMs >= this.bootMs && this.nowMs > 0) {
      this.#nodes += 1;
      this.node = node({ uid: `uid-n-${this.#nodes}`, labels: { 'kubernetes.io/hostname': 'n' }, annotations: {} });
      this.volumes = 0;
      this.#taintSeenMs = undefined;
    }
    if (this.node !== undefined && this.nowMs % HEARTBEAT_MS === 0 && onSinceMs > 0) this.node = { ...this.node, lifeSeenMs: this.nowMs };
  }
}
