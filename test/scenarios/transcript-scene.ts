import type { JobResult, JournalEntry, NodeFenceStatus } from '../../src/domain/node-fence.ts';
import { DEFAULT_TIMING } from '../../src/domain/plan.ts';
import { READ_BACK_EVIDENCE } from '../../src/domain/evidence.ts';
import type { IncidentRecord } from '../../src/domain/incident-record.ts';
import { STEPS } from '../../src/domain/plan.ts';
import type { Plan, PlanLevel, PlanMethod, Step, Timing } from '../../src/domain/plan.ts';
import { method, planOf } from '../../src/domain/testing/model.ts';
import type { PreservationGuard } from '../../src/domain/snapshot.ts';
import type { Decision } from '../../src/domain/transition.ts';
import { narrowed } from '../laws/narrowed.ts';
import { Walker } from '../laws/walker.ts';
import { SceneModel } from './pod-scene.ts';
import { requestIn } from './request-words.ts';
import { StormScene } from './storm-scene.ts';

const RESULTS: ReadonlySet<string> = new Set<JobResult>([
  ...(['succeeded', 'refused', 'unreachable', 'timeout', 'misconfigured', 'not-sent', 'stopped'] as const),
  ...(['voided', 'failed', 'interrupted', 'found-done', 'found-not-done'] as const),
]);

/** Steps that one `until` may take. */
const STEPS_MAX = 1_000;

const TIMING: Timing = { ...DEFAULT_TIMING, powerManagementDelayMs: 10_000, healthyDelayMs: 20_000, historyTtlMs: 1_200_000 };

/** What preservation says of the machine, by the words of a story. */
const GUARDS: Readonly<Record<string, PreservationGuard>> = {
  'its machine is preserved': { kind: 'isolate-and-hold', cause: 'user', until: '2023-11-17T22:29:56.000Z' },
  'its machine is preserved automatically': { kind: 'isolate-and-hold', cause: 'automatic' },
  'its healthy machine is preserved by now': { kind: 'never-fence', cause: 'user' },
  'nobody can tell whether it is preserved': { kind: 'unknown' },
  'its machine is deleted': { kind: 'drop' },
};

/** One scenario: commands go in, what the automaton says comes out as lines of text. */
export class Scene {
  #model = modelOf({});
  #walker = walkerOf(this.#model);
  readonly #storm = new StormScene();
  #lines: string[] = [];

  /** Rows of the automaton that have decided so far. */
  readonly rows = new Set<string>();

  /** Carries out the commands of one block and returns what was said meanwhile. */
  play(commands: readonly string[]): string[] {
    this.#lines = [];
    for (const command of commands) this.#command(command.trim());
    const broken = this.#walker.violations.splice(0).map((words) => `LAW BROKEN: ${words}`);
    return [...this.#lines, ...broken];
  }

  #command(text: string): void {
    const [verb = '', ...words] = text.split(/\s+/);
    const rest = words.join(' ');
    const said = this.#storm.command(verb, rest, this.#model.nowMs);
    if (said !== false) {
      this.#lines.push(...said);
      return;
    }
    switch (verb) {
      case 'plan':
        this.#model = modelOf(planFrom(words));
        this.#walker = walkerOf(this.#model);
        this.#walker.onDecision = (decision, before) => this.#tell(decision, before);
        this.#walker.onResult = (entry, kind, result) => this.#say(`  ${kind === 'recover' ? 'read back ' : ''}${nameOf(entry)}: ${result}`);
        return;
      case 'node': {
        this.#node(rest);
        return;
      }
      case 'until': {
        this.#until(rest);
        return;
      }
      case 'decide':
        this.#seeStorm();
        this.#walker.decideAll();
        return;
      case 'pod':
        this.#model.addPod(rest);
        return;
      case 'budget': {
        this.#budget(rest);
        return;
      }
      case 'finish': {
        this.#finish(rest);
        return;
      }
      case 'world': {
        this.#world(rest);
        return;
      }
      case 'show': {
        if (rest === 'pods') this.#lines.push(this.#model.podWords());
        else this.#show();
        return;
      }
      default:
        throw new Error(`unknown command: ${text}`);
    }
  }

  /** `db allows 1`: so many of its pods may go until it is said anew. */
  #budget(what: string): void {
    const [, owner, allowed] = /^(\S+) allows (\d+)$/.exec(what) ?? [];
    if (owner === undefined) throw new Error(`unknown: budget ${what}`);
    this.#model.budget(owner, Number(allowed));
  }

  /** What the cluster around the node says now stands in the next snapshot. Returns when time alone may change it. */
  #seeStorm(): number | undefined {
    if (!this.#storm.isThere) return undefined;
    const holds = this.#storm.holds(this.#model);
    this.#model.holds = holds;
    const times = holds.flatMap(({ untilMs }) => (untilMs === undefined ? [] : [untilMs]));
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** One thing that happens when nothing is out of the ordinary; where a hold ends by time, that instant is not passed over. */
  #proceed(): void {
    const [walker, model] = [this.#walker, this.#model];
    const untilMs = this.#seeStorm();
    const beforeMs = model.nowMs;
    walker.proceed();
    if (untilMs === undefined || untilMs <= beforeMs || walker.machine.kubelet !== 'silent') return;
    if (!walker.isWaiting && model.nowMs <= untilMs) return;
    model.nowMs = untilMs;
    walker.isWaiting = false;
  }

  #node(what: string): void {
    const walker = this.#walker;
    const { model } = walker;
    if (what === 'dies') walker.die();
    else if (what === 'renews its lease') walker.speak();
    else if (what === 'is Ready') walker.speak('True');
    else if (what === 'is NotReady') walker.speak('False');
    else if (what === 'boots') walker.bootAnew();
    else if (what === 'is asked for no more' && model.fence !== undefined) model.fence = { ...model.fence, spec: { node: 'a' } };
    else if (what.startsWith('is asked for by ')) this.#ask(what);
    else if (what === 'may come back') this.#takeBackEnding();
    else if (what === 'is deleted') model.node = undefined;
    else if (what === 'is replaced' && model.node !== undefined) model.node = { ...model.node, uid: 'uid-b' };
    else throw new Error(`unknown: node ${what}`);
  }

  /** `is asked for by NodeFenceRemediation r-1 [to end in off|isolation] [by the methods a,b]`: a NodeFence that somebody else creates, or marks. */
  #ask(what: string): void {
    const { model } = this.#walker;
    const spec = requestIn(what);
    model.askedPlan = spec.methods === undefined ? undefined : narrowed(model.plan, spec.methods);
    model.fence = { ...(model.fence ?? { uid: 'fence-1', status: undefined, deleting: false, finalized: true }), spec };
  }

  /** `may come back`: who asked for a fence that ends in off does not any more. */
  #takeBackEnding(): void {
    const { model } = this.#walker;
    if (model.fence === undefined) throw new Error('there is no NodeFence');
    const { ending: _before, ...spec } = model.fence.spec;
    model.fence = { ...model.fence, spec };
  }

  /** `record failed failed`: earlier fences of the node, as its report has them. */
  #record(outcomes: string): void {
    const { model } = this.#walker;
    const wallMs = 1_700_000_000_000 + model.nowMs;
    const incidents = outcomes.split(' ').map((outcome, index, all): IncidentRecord => {
      const startedAt = new Date(wallMs - (all.length - index) * 3_600_000).toISOString();
      const how = outcome === 'failed' ? ('failed' as const) : ('recovered' as const);
      return { incident: index + 1, startedAt, outcome: how, trigger: 'node-condition', evidence: [], timeline: {}, summary: '' };
    });
    model.record = { incidents };
    model.lastIncident = incidents.length;
  }

  #world(what: string): void {
    const { model, machine } = this.#walker;
    const outcomes = /^record (.+)$/.exec(what)?.[1];
    if (outcomes !== undefined) {
      this.#record(outcomes);
      return;
    }
    const guard = GUARDS[what];
    if (guard !== undefined) {
      model.preservation = guard;
      return;
    }
    if (what === 'the preservation is over') {
      model.preservation = undefined;
      return;
    }
    if (what === 'a person resumes the node' && model.record !== undefined) {
      model.record = { ...model.record, resumedAfter: model.lastIncident };
      return;
    }
    if (what === 'another leader writes' && model.fence?.status !== undefined) {
      model.fence = { ...model.fence, status: { ...model.fence.status, epoch: model.epoch + 1 } };
      return;
    }
    if (what === 'the configuration is mended') {
      model.plan = { ...model.plan, problems: [] };
      return;
    }
    const hold = /^hold (?!over$)(\S+)$/.exec(what)?.[1];
    const crash = /^crash (before|after) the effect$/.exec(what)?.[1];
    const pass = /^(\d+)s pass$/.exec(what)?.[1];
    if (hold !== undefined) model.holds = [{ reason: hold, policy: hold, message: `policy ${hold} forbids to act now` }];
    else if (what === 'hold over') model.holds = [];
    else if (what === 'stop') model.stop = { by: 'NodeFenceStop maintenance', reason: 'hands off' };
    else if (what === 'stop over') model.stop = undefined;
    else if (crash !== undefined) this.#walker.crash(crash === 'after');
    else if (what === 'a person pulls the plug and acknowledges') {
      this.#walker.powerOff();
      this.#walker.acknowledge();
    } else if (what === 'a person acknowledges') this.#walker.acknowledge();
    else if (what === 'volumes stay attached') machine.stuckVolume = true;
    else if (what === 'volumes are detached') machine.stuckVolume = false;
    else if (what === 'kubectl delete nodefence' && model.fence !== undefined) model.fence = { ...model.fence, deleting: true };
    else if (pass !== undefined) model.nowMs += Number(pass) * 1_000;
    else throw new Error(`unknown: world ${what}`);
  }

  #finish(result: string): void {
    if (result === '') this.#walker.finish();
    else if (isResult(result)) this.#walker.finish(result);
    else throw new Error(`unknown result: ${result}`);
  }

  /** Lets all go well until a run of this operation has begun, this state is reached, or nothing moves any more. */
  #until(goal: string): void {
    const walker = this.#walker;
    const { model } = walker;
    const reached = (): boolean => {
      if (goal === 'the fence is gone') return model.fence === undefined && model.rows.length > 0;
      if (goal === 'held') return model.fence?.status?.hold !== undefined;
      const entry = walker.entry;
      return entry === undefined ? model.fence?.status?.state === goal : nameOf(entry) === goal || entry.action === goal;
    };
    walker.isWaiting = false;
    const isStill = (): boolean => walker.isWaiting;
    for (let steps = 0; !reached(); steps += 1) {
      if (isStill()) {
        if (goal !== 'nothing moves') this.#say('  (nothing moves until something happens)');
        return;
      }
      if (steps > STEPS_MAX) throw new Error(`never: until ${goal}; rows ${model.rows.slice(-5).join(' ')}`);
      this.#proceed();
    }
  }

  #tell(decision: Decision, before: NodeFenceStatus | undefined): void {
    this.rows.add(decision.row);
    const after = decision.status;
    const move = after !== undefined && before !== undefined && (after.state !== before.state || after.step !== before.step);
    if (decision.create !== undefined) this.#say(`${decision.row}: NodeFence created`);
    if (decision.dispatch !== undefined) this.#say(`${decision.row}: ${decision.dispatch.kind} ${nameOf(decision.dispatch.entry)}`);
    else if (move) this.#say(`${decision.row}: ${before.state}/${before.step} -> ${after.state}/${after.step}`);
    for (const event of decision.events) this.#say(`  ${event.type} ${event.reason}: ${event.message}`);
    if (decision.removeFinalizer === true) this.#say(`${decision.row}: finalizer removed`);
  }

  #show(): void {
    const { fence } = this.#walker.model;
    if (fence?.status === undefined) {
      this.#lines.push('no NodeFence');
      return;
    }
    const { status } = fence;
    const last = status.evidence.at(-1);
    const proof = last === undefined ? 'none' : last.voidedAt === undefined ? last.kind : `${last.kind}, void: ${last.voidedBecause ?? ''}`;
    this.#lines.push(`state ${status.state}, step ${status.step}, level ${status.level}, retries ${status.retries}, restarts ${status.restarts}`);
    this.#lines.push(`outcome ${status.outcome ?? 'none'}; evidence ${proof}; released ${releasedOf(status)}`);
    this.#lines.push(`to take back: ${restoreOf(status)}${status.hold === undefined ? '' : `; held by ${status.hold.policy}`}`);
    this.#lines.push(`message: ${status.message ?? ''}`);
  }

  #say(text: string): void {
    const atS = (this.#walker.model.nowMs - 1_000_000) / 1_000;
    this.#lines.push(`${atS.toFixed(1).padStart(7)}s ${text}`);
  }
}

function isResult(text: string): text is JobResult {
  return RESULTS.has(text);
}

function nameOf(entry: JournalEntry): string {
  return entry.action === 'confirm' ? `confirm ${entry.operation}` : entry.operation;
}

function releasedOf({ released, storageRelease }: NodeFenceStatus): string {
  if (released !== undefined || storageRelease === undefined) return released?.by ?? 'nothing';
  return `${storageRelease.pods} pods on ${storageRelease.storages.join(', ')}`;
}

function restoreOf({ restore }: NodeFenceStatus): string {
  const edges = (restore?.edges ?? []).map((edge) => `${edge.method} is ${edge.state}`);
  const all = [...(restore?.cordoned === true ? ['cordon'] : []), ...(restore?.taints === undefined ? [] : ['taint']), ...edges];
  return all.length === 0 ? 'nothing' : all.join(', ');
}

function modelOf(plan: Partial<Plan>): SceneModel {
  return new SceneModel(planOf({ timing: TIMING, ...plan }));
}

function walkerOf(model: SceneModel): Walker {
  const walker = new Walker(model.plan, true, model);
  walker.machine.kubelet = 'ready';
  walker.isLeftAlone = true;
  return walker;
}

/** `retries=2 restarts=1 release=none levels=2 supplies=2 off-on-purpose deletes unverified no-power nothing storage isolation-levels=2 wrong=recovery release=evict pace=6 order=gold,silver release-timeout=60 must-move`. */
function planFrom(words: readonly string[]): Partial<Plan> {
  const settings = new Map(words.map((word): [string, string] => [word.split('=')[0] ?? '', word.split('=')[1] ?? '']));
  const number = (key: string, otherwise: number): number => Number(settings.get(key) ?? otherwise);
  const release = (['none', 'evict', 'delete-pods', 'out-of-service'] as const).find((mode) => mode === settings.get('release')) ?? 'auto';
  const action = settings.has('off-on-purpose') ? 'off' : settings.has('deletes') ? 'delete' : 'reboot';
  const powerManagement = Array.from({ length: number('levels', 1) }, (_item, index): PlanLevel => {
    const device = index === 0 ? 'bmc' : `pdu-${index}`;
    const supplies = number('supplies', 1);
    const methods = Array.from({ length: supplies }, (_supply, plug) =>
      method(supplies === 1 ? device : `${device}-${plug + 1}`, 'redfish', action, { device, plug: supplies === 1 ? '' : String(plug + 1) }),
    );
    return { level: index + 1, methods };
  });
  const wrong = settings.get('wrong');
  const unverified = settings.has('unverified') ? { identity: 'unverified' as const } : {};
  return {
    stepRetries: number('retries', 2),
    maxRestarts: number('restarts', 1),
    release,
    powerManagement: settings.has('no-power') ? [] : powerManagement,
    ...unverified,
    ...(settings.has('isolation-levels') ? { isolation: isolationLevels(number('isolation-levels', 1)) } : {}),
    ...(settings.has('storage') ? storagePlan() : {}),
    ...(settings.has('must-move') ? { preserved: 'power-off' as const } : {}),
    ...(settings.has('release-timeout') ? { timing: { ...TIMING, releaseTimeoutMs: number('release-timeout', 60) * 1_000 } } : {}),
    ...(settings.has('pace') ? { podsPerMinute: number('pace', 6) } : {}),
    ...(settings.has('order') ? { priorityOrder: (settings.get('order') ?? '').split(',') } : {}),
    ...(settings.has('nothing') ? { isolation: [], recovery: [], powerManagement: [] } : {}),
    ...(isStep(wrong)
      ? {
          problems: [
            {
              step: wrong,
              severity: 'error',
              where: 'ConfigMap fence-config-a, key config.properties, line 3',
              message: 'no agent redfsh: did you mean redfish?',
            },
          ],
        }
      : {}),
  };
}

function isStep(text: string | undefined): text is Step {
  return STEPS.some((step) => step === text);
}

function isolationLevels(count: number): PlanLevel[] {
  return Array.from({ length: count }, (_item, index) => ({
    level: index + 1,
    methods: [index === 0 ? method('cordon', 'cordon', 'run') : method(`fallback-${index + 1}`, 'cordon', 'run')],
  }));
}

/** Isolation closes both paths to the storage; recovery opens them. */
function storagePlan(): Partial<Plan> {
  return {
    isolation: [{ level: 1, methods: [port('san-a', 'close'), port('san-b', 'close')] }],
    recovery: [{ level: 1, methods: [port('san-a', 'open'), port('san-b', 'open')] }],
    minimumEvidence: READ_BACK_EVIDENCE,
  };
}

/** A port of a storage switch that isolation closes, and recovery opens. */
function port(storage: string, verb: 'close' | 'open'): PlanMethod {
  const action = verb === 'close' ? 'off' : 'on';
  return method(`${verb}-${storage}`, 'fc-switch', action, { kind: 'fabric', device: `switch-${storage}`, plug: `port-7-${storage}`, storage });
}
