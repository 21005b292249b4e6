import type { Action, Decision, HealthCheckView, Notice, Waiting } from './actions.ts';
import { belonging, evaluatedStatus, pausedStatus, pauseReasons } from './check-status.ts';
import type { Subject } from './evaluate.ts';
import { evaluate } from './evaluate.ts';
import { remedy } from './remedy.ts';
import type { Means, Remedy } from './remedy.ts';
import type { Requests } from './requests.ts';
import type { ClusterFacts, HealthCheck, Heard, MachineFacts, ReadCheck } from './snapshot.ts';
import { keyOf } from './snapshot.ts';
import { isInFlight, refOf } from './target.ts';
import type { Target } from './target.ts';
import { scaled, thresholdOf } from './threshold.ts';
import type { IntOrPercent } from './threshold.ts';
import type { Verdict } from './verdict.ts';

/** What a check asks of the world around it. A machine is named by its key. */
export interface Surroundings {
  /** missing: it must have one, and there is none. */
  clusterOf(check: HealthCheck): ClusterFacts | 'missing' | undefined;
  machineOf(machine: string): MachineFacts | undefined;
  nodeOf(machine: string): Subject['node'];
  /** Whose Nodes it is among: see NodeFacts. */
  nodesOf(machine: MachineFacts): string;
  requests: Requests;
  /** The check that has this machine: of those that select it the one that was there first. */
  keeperOf(machine: string): string | undefined;
  maxInFlight: IntOrPercent | undefined;
  /** Why the Nodes of the check's Cluster can not be read; undefined: that is not known. */
  whyUnheard(check: HealthCheck): string | undefined;
}

const ALWAYS: Heard = { nodesMs: new Map() };

function byUrgency(one: Target, other: Target): number {
  const since = (target: Target): number => (target.verdict.kind === 'unhealthy' ? (target.verdict.sinceMs ?? Infinity) : Infinity);
  const [left, right] = [since(one), since(other)];
  if (left !== right) return left < right ? -1 : 1;
  return one.subject.machine.name < other.subject.machine.name ? -1 : 1;
}

/** One MachineHealthCheck and its machines. Keeps what it found of each until something about it changes; holds nothing that could not be found anew. */
export class Ward {
  readonly check: HealthCheck;
  /** Why nothing is done by this check. */
  readonly #problems: readonly string[];
  readonly #around: Surroundings;
  readonly #targets = new Map<string, Target | undefined>();
  /** Not judged since something about them changed. */
  readonly #stale = new Set<string>();
  /** Those of which more is to be thought than that they are well. */
  readonly #restless = new Map<string, Target>();
  /** What was last found to be done about a machine, and under which circumstances. */
  readonly #remedies = new Map<string, { isAllowed: boolean; hasPlace: boolean; template: Means['template']; remedy: Remedy }>();
  /** Machines that another check has, and which. */
  readonly #foreign = new Map<string, string>();
  #healthy = 0;
  #names: readonly string[] | undefined;
  #judgedMs = -Infinity;

  constructor({ check, problems }: ReadCheck, around: Surroundings) {
    this.check = check;
    this.#problems = problems;
    this.#around = around;
  }

  /** Something is done by it. */
  get isUsable(): boolean {
    return this.#problems.length === 0 && !this.check.isDeleting;
  }

  machines(): Iterable<string> {
    return this.#targets.keys();
  }

  /** The machine is a target, and something about it may have changed. */
  touch(machine: string): void {
    if (!this.#targets.has(machine)) {
      this.#targets.set(machine, undefined);
      this.#names = undefined;
    }
    this.#stale.add(machine);
  }

  drop(machine: string): void {
    this.#forget(machine);
    this.#stale.delete(machine);
    if (this.#targets.delete(machine)) this.#names = undefined;
  }

  touchAll(): void {
    for (const machine of this.#targets.keys()) this.#stale.add(machine);
  }

  /** Everything about this check now. */
  decide(nowMs: number, heard: Heard = ALWAYS): Decision {
    const { check } = this;
    const cluster = this.#around.clusterOf(check);
    const problems =
      this.#problems.length > 0 ? this.#problems : cluster === 'missing' ? [`Cluster ${check.namespace}/${check.clusterName ?? ''} not found`] : [];
    if (problems.length > 0 || cluster === 'missing') return this.#idle(problems);
    if (check.isDeleting) return this.#idle([]);
    const owning = belonging(check, cluster);
    const reasons = pauseReasons(check, cluster);
    if (reasons.length > 0) {
      const action = check.flavour === 'openshift' ? undefined : (owning ?? pausedStatus(check, reasons, nowMs));
      return { ...this.#idle([], true), actions: action === undefined ? [] : [action] };
    }
    this.#judge(cluster, nowMs, heard);
    for (const { verdict } of this.#restless.values()) {
      if (verdict.kind === 'unheard') return this.#deaf();
    }
    return this.#act(owning, nowMs);
  }

  #forget(machine: string): void {
    if (this.#targets.get(machine)?.verdict.kind === 'healthy') this.#healthy -= 1;
    this.#restless.delete(machine);
    this.#remedies.delete(machine);
    this.#foreign.delete(machine);
  }

  #settle(machine: string): void {
    this.#restless.delete(machine);
    this.#remedies.delete(machine);
  }

  #judge(cluster: ClusterFacts | undefined, nowMs: number, { machinesMs = 0, nodesMs }: Heard): void {
    const isBack = nowMs < this.#judgedMs;
    this.#judgedMs = nowMs;
    for (const [machine, { verdict }] of this.#restless) {
      // What time has decided is decided anew when the clock is set back.
      if (isBack || (verdict.kind === 'pending' && verdict.dueMs <= nowMs)) this.#stale.add(machine);
    }
    for (const key of this.#stale) {
      const machine = this.#around.machineOf(key);
      if (machine === undefined) continue;
      this.#forget(key);
      const heardSinceMs = { machine: machinesMs, node: nodesMs.get(this.#around.nodesOf(machine)) ?? 0 };
      const subject = { machine, node: this.#around.nodeOf(key), heardSinceMs, ...(cluster !== undefined && { cluster }) };
      const verdict = evaluate(subject, this.check, nowMs);
      const keeper = this.#around.keeperOf(key);
      const isOurs = keeper === undefined || keeper === keyOf(this.check);
      if (!isOurs) this.#foreign.set(key, keeper);
      const target = { subject, verdict, request: this.#around.requests.of(this.check, key), isOurs };
      this.#targets.set(key, target);
      this.#restless.set(key, target);
      if (verdict.kind === 'healthy') this.#healthy += 1;
    }
    this.#stale.clear();
  }

  #act(owning: Action | undefined, nowMs: number): Decision {
    const { check } = this;
    const most = check.maxInFlight ?? this.#around.maxInFlight;
    // The order matters only where not all of them have their turn.
    const restless = most === undefined ? [...this.#restless.values()] : [...this.#restless.values()].sort(byUrgency);
    const failed = restless.filter(({ verdict }) => verdict.kind === 'unhealthy').length;
    const names = this.#sortedNames();
    const threshold = thresholdOf(check.trigger, { expected: names.length, healthy: this.#healthy, failed });
    const { requests } = this.#around;
    const template = requests.templateOf(check);
    const means: Means = { check, nowMs, isAllowed: threshold.isAllowed, template, requests };
    const actions: Action[] = [];
    const waiting: Waiting[] = [];
    const notices: Notice[] = [];
    const places = most === undefined ? Infinity : scaled(most, names.length, 'up');
    let inFlight = restless.filter((target) => isInFlight(target, check)).length;
    let refusal: string | undefined;
    for (const target of restless) {
      const done = this.#remedyOf(target, means, inFlight < places);
      if (done.takesPlace) inFlight += 1;
      actions.push(...done.actions);
      if (done.waiting !== undefined) waiting.push(done.waiting);
      if (done.waiting !== undefined) notices.push(...waitsFor(target, done.waiting));
      if (target.verdict.kind === 'unhealthy' && target.request === undefined) refusal ??= requests.refusalOf(target.subject.machine.uid);
      const isSettled = target.verdict.kind === 'healthy' && done.actions.length === 0 && !isInFlight(target, check);
      if (isSettled) this.#settle(keyOf(target.subject.machine));
    }
    const templateFault =
      template === 'missing' ? `${check.template?.kind ?? ''} ${check.namespace}/${check.template?.name ?? ''} not found` : undefined;
    const faults = { ...(templateFault !== undefined && { templateFault }), ...(refusal !== undefined && { requestFault: refusal }) };
    const own = owning ?? evaluatedStatus(check, { names, healthy: this.#healthy, failed, threshold, ...faults }, nowMs);
    const dueMs = this.#dueMs();
    return {
      actions: own === undefined ? actions : [...actions, own],
      views: [
        {
          ...this.#view(false),
          expectedMachines: names.length,
          currentHealthy: this.#healthy,
          failed,
          remediationsAllowed: threshold.remediationsAllowed,
          inFlight,
          waiting,
          ...(!threshold.isAllowed && { blocked: threshold.message }),
          ...(templateFault !== undefined && { problem: templateFault }),
        },
      ],
      notices: [...restless.flatMap((target) => this.#noticeOf(target)), ...notices],
      problems: this.#told([
        ...(templateFault === undefined ? [] : [templateFault]),
        ...this.#overlaps(),
        ...restless.flatMap(({ verdict }) => problemOf(verdict)),
      ]),
      ...(dueMs !== undefined && { nextDueMs: dueMs }),
    };
  }

  /** Nothing is thought out twice while thousands of machines wait for their writes. */
  #remedyOf(target: Target, means: Means, hasPlace: boolean): Remedy {
    const key = keyOf(target.subject.machine);
    const { isAllowed, template } = means;
    const known = this.#remedies.get(key);
    if (known?.isAllowed === isAllowed && known.hasPlace === hasPlace && known.template === template) return known.remedy;
    const found = { isAllowed, hasPlace, template, remedy: remedy(target, means, hasPlace) };
    this.#remedies.set(key, found);
    return found.remedy;
  }

  #dueMs(): number | undefined {
    let first: number | undefined;
    for (const { verdict } of this.#restless.values()) {
      if (verdict.kind === 'pending' && (first === undefined || verdict.dueMs < first)) first = verdict.dueMs;
    }
    return first;
  }

  #sortedNames(): readonly string[] {
    this.#names ??= [...this.#targets.keys()].map((machine) => machine.slice(machine.indexOf('/') + 1)).sort();
    return this.#names;
  }

  #overlaps(): string[] {
    return [...new Set(this.#foreign.values())].sort().map((other) => {
      const count = [...this.#foreign.values()].filter((each) => each === other).length;
      return `${count} of its machines are selected by MachineHealthCheck ${other} as well, which has them: here they are only counted`;
    });
  }

  #told(problems: readonly string[]): string[] {
    return problems.map((problem) => `MachineHealthCheck ${keyOf(this.check)}: ${problem}`);
  }

  #view(isPaused: boolean): HealthCheckView {
    const { namespace, name, status } = this.check;
    const { expectedMachines = 0, currentHealthy = 0, remediationsAllowed = 0 } = status;
    return { namespace, name, expectedMachines, currentHealthy, failed: 0, remediationsAllowed, inFlight: 0, isPaused, waiting: [] };
  }

  /** Nothing is evaluated; the view shows what was last written. */
  /** Nothing is concluded of machines whose Nodes can not be read; told on the check, with the cause where it is known. */
  #deaf(): Decision {
    const why = this.#around.whyUnheard(this.check);
    const message = `the Nodes of its machines can not be read: ${why ?? 'they are not listed yet'}. Nothing is concluded of them`;
    const event = { type: 'Warning', reason: 'NodesUnreadable', message: `No machine is checked: ${message}` } as const;
    const notices = why === undefined ? [] : [{ target: refOf(this.check, 'MachineHealthCheck'), event }];
    return { ...this.#idle([message]), notices };
  }

  #idle(problems: readonly string[], isPaused = false): Decision {
    const [problem] = problems;
    const view = { ...this.#view(isPaused), ...(problem !== undefined && { problem }) };
    return { actions: [], views: [view], notices: [], problems: this.#told(problems) };
  }

  #noticeOf({ verdict, subject: { machine, node } }: Target): Notice[] {
    if (verdict.kind !== 'pending') return [];
    const isOpenShift = this.check.flavour === 'openshift';
    const nodeName = typeof node === 'object' ? node.name : '';
    const subject = isOpenShift ? `${keyOf(this.check)}/${machine.name}/${nodeName}` : keyOf(machine);
    const message = `Machine ${subject} has unhealthy ${isOpenShift ? 'node' : 'Node'} ${nodeName}`;
    return [{ target: refOf(machine, 'Machine'), event: { type: 'Normal', reason: 'DetectedUnhealthy', message } }];
  }
}

/** Who else has the node, and that nobody would replace it, is told on the Machine. */
function waitsFor({ subject: { machine } }: Target, { why, holder, isOrphan }: Waiting): Notice[] {
  const target = refOf(machine, 'Machine');
  if (isOrphan === true) return [{ target, event: { type: 'Normal', reason: 'SkippedNoController', message: why } }];
  const message = `Machine ${keyOf(machine)} is not remediated yet: ${why}`;
  return holder === undefined ? [] : [{ target, event: { type: 'Normal', reason: 'RemediationWaits', message } }];
}

function problemOf(verdict: Verdict): string[] {
  return verdict.kind === 'open' && verdict.problem !== undefined ? [verdict.problem] : [];
}
