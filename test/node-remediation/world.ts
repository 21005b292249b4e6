import type { Action, Decision } from '../../src/controllers/node-remediation/actions.ts';
import { decide } from '../../src/controllers/node-remediation/decide.ts';
import type { FenceFacts } from '../../src/controllers/shared/claims/fence-facts.ts';
import type { RequestFacts, Snapshot } from '../../src/controllers/node-remediation/snapshot.ts';
import { readSpec } from '../../src/controllers/node-remediation/spec.ts';
import type { HostFacts } from '../../src/controllers/shared/baremetal-host/host.ts';
import type { NodeFacts } from '../../src/controllers/shared/remediation/node.ts';
import type { OwnerMachine } from '../../src/controllers/shared/remediation/owner-machine.ts';
import { node, ownerMachine, patched } from '../metal3-remediation/world.ts';

export const EPOCH_MS = Date.UTC(2027, 0, 1);
export const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;
export const API = 'ha.k8s.io/v1';
export const FINALIZER = 'nodefence.ha.k8s.io/remediation';

export function request(facts: Partial<RequestFacts> = {}, spec: unknown = {}): RequestFacts {
  const apiVersion = facts.apiVersion ?? API;
  const base = { apiVersion, kind: 'NodeFenceRemediation', name: 'n', namespace: 'machines', uid: 'uid-r', labels: {}, annotations: {} };
  const status = { phase: '' as const, retryCount: 0, conditions: [], phaseSeenMs: 0 };
  return { ...base, finalizers: [], createdMs: EPOCH_MS, isDeleting: false, isPaused: false, ...readSpec(apiVersion, spec), ...status, ...facts };
}

/** What the fence comes to, and how long after its beginning. */
export interface Course {
  sentMs?: number;
  offMs?: number;
  finalMs?: number;
  outcome?: NonNullable<FenceFacts['outcome']>;
  stuckMs?: number;
  /** It is on again, and its kubelet says nothing. */
  staysSilent?: true;
}

const WELL: Required<Pick<Course, 'sentMs' | 'offMs' | 'finalMs' | 'outcome'>> = {
  sentMs: 10 * SECOND_MS,
  offMs: 30 * SECOND_MS,
  finalMs: 120 * SECOND_MS,
  outcome: 'recovered',
};

interface Scene {
  request?: RequestFacts;
  machine?: Snapshot['machine'];
  node?: NodeFacts | undefined;
  courses?: Course[];
}

/** A request, and a fence controller that takes it up. */
export class World {
  request: RequestFacts | undefined;
  machine: Snapshot['machine'];
  node: NodeFacts | undefined;
  fence: FenceFacts | undefined;
  host: HostFacts | undefined;
  inFlight: Snapshot['inFlight'] = { count: 0 };
  nowMs = 0;
  nodeSeenMs = 0;
  /** The machine is on. */
  isOn = true;
  fences = 0;
  readonly done: Action[] = [];
  readonly problems = new Set<string>();
  readonly #courses: readonly Course[];
  #begunMs = 0;
  #withdrawnMs: number | undefined;

  constructor(scene: Scene = {}) {
    this.request = scene.request ?? request();
    this.machine = scene.machine ?? 'none';
    this.node = 'node' in scene ? scene.node : node();
    this.#courses = scene.courses ?? [WELL];
  }

  get own(): RequestFacts {
    if (this.request === undefined) throw new Error('the request is gone');
    return this.request;
  }

  get owner(): OwnerMachine {
    if (typeof this.machine !== 'object') throw new Error('there is no Machine');
    return this.machine;
  }

  snapshot(): Snapshot {
    return {
      nowMs: EPOCH_MS + this.nowMs,
      monotonicMs: this.nowMs,
      request: this.own,
      machine: this.machine,
      inFlight: this.inFlight,
      nodeSeenMs: this.nodeSeenMs,
      ...(this.node !== undefined && { node: this.node }),
      ...(this.fence !== undefined && { fence: this.fence }),
      ...(this.host !== undefined && { host: this.host }),
    };
  }

  decide(): Decision {
    const decision = decide(this.snapshot());
    for (const problem of decision.problems) this.problems.add(problem);
    return decision;
  }

  step(actionsMax = Infinity): number {
    if (this.request === undefined) return 0;
    const { actions } = this.decide();
    const chosen = actions.slice(0, actionsMax);
    for (const action of chosen) this.apply(action);
    if (chosen.length < actions.length) this.#forget();
    return chosen.length;
  }

  /** What the process remembered is gone with it. */
  #forget(): void {
    if (this.request !== undefined) this.request = { ...this.request, phaseSeenMs: this.nowMs };
  }

  run(durationMs: number): void {
    const endMs = this.nowMs + durationMs;
    while (this.nowMs < endMs) {
      for (let round = 0; this.step() > 0; round += 1) if (round > 20) throw new Error('it does not come to rest');
      this.pass(5 * SECOND_MS);
    }
  }

  /** Until the phase is as it is named. */
  until(phase: RequestFacts['phase']): void {
    for (let round = 0; round < 1_000; round += 1) {
      if (this.own.phase === phase) return;
      if (this.step() === 0) this.pass(5 * SECOND_MS);
    }
    throw new Error(`${phase} never came`);
  }

  pass(durationMs: number): void {
    for (let left = durationMs; left > 0; left -= SECOND_MS) {
      this.nowMs += SECOND_MS;
      this.#fence();
    }
  }

  delete(): void {
    if (this.request === undefined) return;
    if (this.request.finalizers.length === 0) this.request = undefined;
    else this.request = { ...this.request, isDeleting: true, phaseSeenMs: this.nowMs };
  }

  annotate(key: string, value = ''): void {
    this.request = { ...this.own, annotations: { ...this.own.annotations, [key]: value } };
  }

  condition(type: string): string | undefined {
    return this.own.conditions.find((each) => each.type === type)?.status;
  }

  kinds(): string[] {
    return this.done.map(({ kind }) => kind);
  }

  reasons(): string[] {
    return this.done.flatMap(({ event }) => (event === undefined ? [] : [event.reason]));
  }

  apply(action: Action): void {
    this.done.push(action);
    switch (action.kind) {
      case 'annotate':
        if (action.target.kind === this.own.kind) this.request = { ...this.own, annotations: patched(this.own.annotations, action.changes) };
        else if (action.target.kind === 'Machine') this.machine = { ...this.owner, annotations: patched(this.owner.annotations, action.changes) };
        else if (this.host !== undefined) this.host = { ...this.host, annotations: patched(this.host.annotations, action.changes) };
        return;
      case 'machine-conditions':
        this.#tell(action);
        return;
      case 'finalizer': {
        const finalizers = action.isPresent ? [action.finalizer] : [];
        const annotations = { ...this.own.annotations, ...action.annotations };
        this.request = this.own.isDeleting && !action.isPresent ? undefined : { ...this.own, finalizers, annotations };
        return;
      }
      case 'status':
        this.#status(action);
        return;
      case 'request-fence':
        this.#request(action.target.uid, action.ending);
        return;
      case 'withdraw-fence':
        if (this.fence !== undefined) this.fence = { ...this.fence, isDeleting: true };
        this.#withdrawnMs = this.nowMs;
        return;
      case 'delete-node':
        if (this.isOn) throw new Error('LAW P1: its Node was deleted while the machine ran');
        this.node = undefined;
    }
  }

  #request(uid: string, ending: 'off' | undefined): void {
    if (this.fence !== undefined && this.fence.isJoinable !== true && (this.fence.isDeleting || !this.fence.isFinal)) return;
    if (this.fence?.requestedByUID === uid) return;
    this.fences += 1;
    this.#begunMs = this.nowMs;
    const own = { name: 'node-fence-n', uid: `uid-f-${this.fences}`, requestedByUID: uid, owner: 'NodeFenceRemediation machines/n' };
    this.fence = { ...own, isDeleting: false, isFinal: false, isOffSent: false, isOff: false, isStuck: false };
    if (ending === 'off') this.#ending = 'fenced-off';
    else this.#ending = undefined;
  }

  #ending: 'fenced-off' | undefined;

  #status({ was, to }: Extract<Action, { kind: 'status' }>): void {
    const { phase, retryCount, lastRemediatedMs } = this.own;
    if (JSON.stringify({ phase, retryCount, lastRemediatedMs }) !== JSON.stringify(was)) throw new Error('status is another');
    const isNew = to.phase !== phase || to.retryCount !== retryCount;
    this.request = {
      ...this.own,
      phase: to.phase,
      retryCount: to.retryCount,
      conditions: to.conditions,
      ...(to.lastRemediatedMs !== undefined && { lastRemediatedMs: to.lastRemediatedMs }),
      ...(to.nodeFence !== undefined && { nodeFence: to.nodeFence }),
      ...(isNew && { phaseSeenMs: this.nowMs }),
    };
  }

  #tell({ lists }: Extract<Action, { kind: 'machine-conditions' }>): void {
    for (const { path, condition } of lists) {
      const own = this.owner;
      const list = path.join('.') === 'status.conditions' ? 'conditions' : 'olderConditions';
      this.machine = { ...own, [list]: [...own[list].filter(({ type }) => type !== condition.type), condition] };
    }
  }

  /** The fence controller, as far as a request can tell. */
  #fence(): void {
    const own = this.fence;
    if (own === undefined) return;
    if (own.isDeleting) {
      if (this.nowMs - (this.#withdrawnMs ?? 0) < 10 * SECOND_MS) return;
      this.fence = undefined;
      if (!this.isOn) this.#on();
      return;
    }
    if (own.isFinal || own.heldBecause !== undefined || own.requestedByUID !== this.request?.uid) return;
    const course: Course = this.#courses[Math.min(this.fences, this.#courses.length) - 1] ?? WELL;
    const ageMs = this.nowMs - this.#begunMs;
    const isDue = (dueMs: number | undefined): boolean => dueMs !== undefined && ageMs >= dueMs;
    if (isDue(course.offMs)) this.#off();
    const isFinal = isDue(course.finalMs);
    const outcome = this.#ending ?? course.outcome;
    const ended = isFinal && outcome !== undefined ? { outcome, finalAtMs: EPOCH_MS + this.nowMs } : {};
    const nodeUID = own.nodeUID ?? this.node?.uid;
    const begun = { ...own, ...(nodeUID !== undefined && { nodeUID }) };
    this.fence = { ...begun, isOffSent: isDue(course.sentMs), isOff: isDue(course.offMs), isStuck: isDue(course.stuckMs), isFinal, ...ended };
    if (isFinal && outcome === 'recovered') this.#on();
  }

  #off(): void {
    this.isOn = false;
    if (this.node !== undefined) this.node = { ...this.node, isReady: false };
  }

  #on(): void {
    this.isOn = true;
    const course: Course = this.#courses[Math.min(this.fences, this.#courses.length) - 1] ?? WELL;
    if (this.node !== undefined) this.node = { ...this.node, isReady: course.staysSilent !== true };
  }
}

export { node, ownerMachine };
