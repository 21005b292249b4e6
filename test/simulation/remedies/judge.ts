import { DEFAULT_EXPECTATIONS } from '../../../src/laws/expectations.ts';
import { History } from '../../../src/laws/history.ts';
import type { ApiEvent, TraceEvent } from '../../../src/laws/trace.ts';
import type { Node, Pod } from '../../../src/ports/objects.ts';
import { CALM_API } from '../../../src/testbed/simulation/network.ts';
import { CONTROLLER_USER } from '../api.ts';
import type { Scenario } from '../scenario.ts';
import { unhealthyAllowed } from '../storm-truth.ts';
import { ON_TARGET } from './configuration.ts';
import { CORDON_MARK, FENCES, isClaim, isEvicting, isEvictRun, isOfRemedies, isWrite, JOBS, positionsAfter, toldOf } from './remedy-events.ts';
import type { SeenFence, SeenJob, SeenPosition } from './remedy-events.ts';

/** P6, with what times of two processes may differ. */
const STOP_MS = 2_000 + DEFAULT_EXPECTATIONS.toleranceMs;
/** What the same leader began on another node just before is known to it; and so much later to its successor too. */
const KNOWN_MS = 3_000;
/** Times of creation are whole seconds. */
const CREATION_MS = 1_000;
/** Until a run that was begun stands written as running. */
const BEGUN_MS = 10_000;
/** Of a node that is not Ready: until a leader that was stopped for a moment must know. */
const UNREADY_KNOWN_MS = 20_000;

interface Act {
  position: number;
  at: number;
  node: string;
  what: string;
  /** It brings back what a remedy did. */
  isUndo: boolean;
}

interface Since<T> {
  value: T;
  atMs: number;
}

export interface RemedyVerdict {
  violations: string[];
  /** By rule: how often it was put to the test. */
  checks: Readonly<Record<string, number>>;
}

/** What anybody may see of remedies from outside, by audit and machines alone, against what docs/remedies.md promises. */
export function judgeRemedies(trace: readonly TraceEvent[], scenario: Scenario): RemedyVerdict {
  if (scenario.remedies === undefined) return { violations: [], checks: {} };
  const judge = new RemedyJudge(trace, scenario);
  judge.run();
  return { violations: judge.violations, checks: Object.fromEntries(judge.checks) };
}

class RemedyJudge {
  readonly violations: string[] = [];
  readonly checks = new Map<string, number>();
  readonly #history: History;
  readonly #scenario: Scenario;
  /** By node: what stands written, and since when each phase does. */
  readonly #positions = new Map<string, readonly Since<SeenPosition>[]>();
  readonly #episodes = new Set<string>();
  /** By node: a fence that is open, and that no remedy asked for. */
  readonly #foreign = new Map<string, number>();
  readonly #unready = new Map<string, number>();
  /** Runs, and steps of a pass, that had a Job. */
  readonly #begun = new Map<string, string>();
  /** Runs that were written down as running. */
  readonly #ran = new Set<string>();
  /** By the name of a Job. */
  readonly #jobs = new Map<string, SeenJob>();
  /** When each remedy was seen to evict first, by node, episode and serial. */
  readonly #evicting = new Map<string, number>();
  /** By uid. */
  readonly #podsCreated = new Map<string, number>();
  readonly #slackMs: number;

  constructor(trace: readonly TraceEvent[], scenario: Scenario) {
    this.#scenario = scenario;
    this.#history = new History(trace, { ...DEFAULT_EXPECTATIONS, controllerUser: CONTROLLER_USER });
    // What has left may be on its way for so long.
    this.#slackMs = scenario.api === CALM_API && scenario.crowd === undefined ? 0 : scenario.api.slowLatencyMs[1];
  }

  run(): void {
    for (const [position, event] of this.#history.events.entries()) {
      if (event.kind === 'node' && event.what === 'pod-start') this.#podStarts(event.at, event.node, event.pod ?? '', position);
      if (event.kind !== 'api' || event.status >= 300) continue;
      // What is begun is judged by what stood before it.
      if (event.user === CONTROLLER_USER) this.#acted(position, event);
      this.#heard(position, event);
    }
  }

  #heard(position: number, event: ApiEvent): void {
    if (!isWrite(event)) return;
    const written = positionsAfter(event);
    if (written !== undefined) this.#wrote(position, written, event.at);
    if (event.resource === FENCES) this.#fenceHeard(position, event);
    if (event.resource === 'nodes') this.#nodeHeard(event);
    if (event.resource === 'pods' && event.verb === 'create' && event.subresource === undefined)
      this.#podsCreated.set((event.object as Pod | undefined)?.metadata.uid ?? '', event.at);
    const job = event.object as SeenJob | undefined;
    if (event.resource === JOBS && event.verb === 'create' && job !== undefined) this.#jobs.set(job.metadata.name, job);
    if (event.resource === JOBS && event.verb === 'delete' && isByPerson(event)) this.#jobTakenAway(event.name ?? '');
  }

  #wrote(position: number, { node, positions }: { node: string; positions: readonly SeenPosition[] }, at: number): void {
    const before = this.#positions.get(node) ?? [];
    for (const { episode } of positions) this.#episodes.add(episode);
    for (const { phase, run } of positions) if (phase === 'running' && run !== undefined) this.#ran.add(run.id);
    for (const each of positions.filter(isEvicting)) {
      const key = runKey(node, each);
      if (this.#evicting.has(key)) continue;
      this.#evicting.set(key, at);
      if (isEvictRun(each)) this.#storm({ position, node, at: at - BEGUN_MS, what: `${each.run?.remedy ?? ''} was begun`, isUndo: false });
    }
    const since = (now: SeenPosition): number =>
      before.find(({ value }) => value.threshold === now.threshold && value.phase === now.phase && value.run?.id === now.run?.id)?.atMs ?? at;
    this.#positions.set(
      node,
      positions.map((value) => ({ value, atMs: since(value) })),
    );
  }

  #fenceHeard(position: number, event: ApiEvent): void {
    const name = event.name ?? (event.object as SeenFence | undefined)?.metadata.name ?? '';
    const fence = this.#history.objects.of(FENCES, name)?.before(position + 1)?.object as SeenFence | undefined;
    const node = fence?.spec.node ?? name.replace(/^node-fence-/u, '');
    const isForeign = fence !== undefined && fence.status?.state !== 'final' && !isOfRemedies(fence, this.#episodes);
    if (!isForeign) this.#foreign.delete(node);
    else if (!this.#foreign.has(node)) this.#foreign.set(node, event.at);
  }

  #nodeHeard(event: ApiEvent): void {
    const node = event.object as Node | undefined;
    const name = event.name ?? node?.metadata.name ?? '';
    const isReady = node?.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
    if (isReady || event.verb === 'delete') this.#unready.delete(name);
    else if (!this.#unready.has(name)) this.#unready.set(name, event.at);
  }

  #acted(position: number, event: ApiEvent): void {
    for (const act of this.#actsBy(position, event)) {
      this.#stopped(act);
      const foreignSinceMs = this.#foreign.get(act.node) ?? Infinity;
      this.#check('fence', event.at <= foreignSinceMs + STOP_MS + this.#slackMs, act, 'a fence is open there that no remedy asked for');
      if (!act.isUndo && !this.#isGoingOn(act, event)) this.#storm(act);
    }
    if (event.resource === JOBS && event.verb === 'create') this.#jobBegun(event);
    if (event.resource === 'nodes') this.#cordonKept(position, event);
  }

  *#actsBy(position: number, event: ApiEvent): Generator<Act> {
    const base = { position, at: event.at };
    const named = (node: string, what: string, isUndo = this.#isRecovering(node)): Act => ({ ...base, node, what, isUndo });
    if (event.resource === JOBS && event.verb === 'create') {
      const job = event.object as SeenJob;
      yield named(toldOf(job, 'NODE_NAME'), `Job ${job.metadata.name} (${toldOf(job, 'REMEDY_NAME')}) was created`);
    }
    if (event.resource === 'pods' && event.subresource === 'eviction' && event.verb === 'create') {
      const pod = this.#history.objects.of('pods', event.name ?? '', event.namespace)?.before(position)?.object as Pod | undefined;
      if (pod !== undefined) this.#evicted(event.at, pod);
      if (pod?.spec.nodeName !== undefined) yield named(pod.spec.nodeName, `pod ${pod.metadata.name} was evicted`);
    }
    if (event.resource === 'nodes' && event.verb === 'patch') {
      const name = event.name ?? '';
      const [before, after] = [markOf(this.#history.node(name, position)), markOf(event.object as Node | undefined)];
      if (before === undefined && after !== undefined) yield named(name, `${name} was cordoned by a remedy`, false);
      if (before !== undefined && after === undefined) yield named(name, `the cordon of a remedy was taken back on ${name}`, true);
    }
    const fence = event.object as SeenFence | undefined;
    if (event.resource === FENCES && (event.verb === 'create' || event.verb === 'patch') && fence !== undefined && isClaim(fence)) {
      const before = this.#history.objects.of(FENCES, fence.metadata.name)?.before(position)?.object as SeenFence | undefined;
      if (before?.spec.requestedBy?.uid !== fence.spec.requestedBy?.uid) yield named(fence.spec.node, `a fence of ${fence.spec.node} was asked for`);
    }
  }

  /** Who comes back to the node is not evicted again and again. */
  #evicted(at: number, { metadata: { name, uid = '' }, spec: { nodeName = '' } }: Pod): void {
    const evicting = (this.#positions.get(nodeName) ?? []).filter(({ value }) => isEvicting(value));
    if (evicting.length === 0) return;
    const sinceMs = Math.max(...evicting.map(({ value }) => this.#evicting.get(runKey(nodeName, value)) ?? at));
    const createdMs = this.#podsCreated.get(uid) ?? 0;
    this.#check('comes-back', createdMs <= sinceMs + CREATION_MS, { node: nodeName, at, what: `pod ${name} was evicted` }, 'it had come since');
  }

  /** Evictions of a run were judged when it was begun: they go on when a storm policy trips later. */
  #isGoingOn({ node }: Act, { subresource }: ApiEvent): boolean {
    return subresource === 'eviction' && (this.#positions.get(node) ?? []).some(({ value }) => isEvictRun(value));
  }

  #isRecovering(node: string): boolean {
    return (this.#positions.get(node) ?? []).some(({ value }) => value.run?.of === 'recovery');
  }

  #stopped(act: Act): void {
    const stop = this.#history.stopsFor(act.node, act.position).find(({ createdAt }) => act.at > createdAt + STOP_MS + this.#slackMs);
    this.#check('stop', stop === undefined, act, `NodeFenceStop ${stop?.name ?? ''} had stood for ${seconds(act.at - (stop?.createdAt ?? 0))}`);
  }

  #storm({ node, at, what, position }: Act): void {
    const { policies } = this.#scenario.configuration;
    if (policies === 'off') return;
    const nodes = this.#scenario.nodes.filter((name) => this.#history.node(name, position) !== undefined);
    const others = nodes.filter((name) => name !== node);
    const isUnhealthy = (name: string): boolean => this.#isActedOn(name, at) || at - (this.#unready.get(name) ?? at) > UNREADY_KNOWN_MS;
    const unhealthy = others.filter(isUnhealthy);
    const allowed = unhealthyAllowed(nodes.length);
    const act = { node, at, what };
    this.#check('max-unhealthy', unhealthy.length < allowed, act, `${unhealthy.join(', ')} of ${nodes.length} nodes are unhealthy, or remedied`);
    const running = others.filter((name) => this.#isRunning(name, at));
    this.#check('max-concurrent', running.length < (policies === 'one-at-a-time' ? 1 : 3), act, `remedies run on ${running.join(', ')}`);
  }

  /** A remedy has begun there, and its condition is not over. */
  #isActedOn(node: string, at: number): boolean {
    return (this.#positions.get(node) ?? []).some(
      ({ value, atMs }) => value.hasActed === true && value.phase !== 'recovered' && value.run?.of !== 'recovery' && at - atMs > KNOWN_MS,
    );
  }

  #isRunning(node: string, at: number): boolean {
    return (this.#positions.get(node) ?? []).some(
      ({ value, atMs }) => value.phase === 'running' && value.run !== undefined && value.run.of !== 'recovery' && at - atMs > KNOWN_MS,
    );
  }

  /** One Job for each remedy of each attempt, written down before. */
  #jobBegun({ at, object }: ApiEvent): void {
    const job = object as SeenJob;
    const [node, remedy, attempt] = [toldOf(job, 'NODE_NAME'), toldOf(job, 'REMEDY_NAME'), Number(toldOf(job, 'ATTEMPT'))];
    const condition = toldOf(job, 'NODE_CONDITION_TYPE');
    const found = (this.#positions.get(node) ?? []).find(
      ({ value: { threshold, run, attempt: now } }) => run?.remedy === remedy && now === attempt && threshold.startsWith(condition),
    )?.value;
    const act = { node, at, what: `Job ${job.metadata.name} (${remedy}, attempt ${attempt}) was created` };
    this.#check('written', found?.run !== undefined && (found.phase === 'starting' || found.phase === 'running'), act, 'no such run stands written');
    if (found?.run === undefined) return;
    const key = `${node} ${found.threshold} ${found.episode} ${found.attempt} ${found.run.of}`;
    const before = found.run.of === 'recovery' ? undefined : this.#begun.get(key);
    this.#check('once', before === undefined && !this.#begun.has(found.run.id), act, `${before ?? found.run.id} was there for the same attempt`);
    for (const known of [key, found.run.id]) this.#begun.set(known, job.metadata.name);
  }

  /** Its leader died before it wrote that it runs: to a successor a Job that a person took away was never there, and the attempt has yet to begin. */
  #jobTakenAway(name: string): void {
    const known = [...this.#begun].filter(([, job]) => job === name).map(([key]) => key);
    if (known.some((key) => this.#ran.has(key))) return;
    for (const key of known) this.#begun.delete(key);
  }

  #podStarts(at: number, node: string, key: string, position: number): void {
    const [namespace = '', name = ''] = key.split('/');
    const pod = this.#history.objects.of('pods', name, namespace)?.before(position)?.object;
    const job = this.#jobs.get(pod?.metadata.labels?.['job-name'] ?? '');
    if (job === undefined) return;
    const isMeant = toldOf(job, 'REMEDY_NAME') === ON_TARGET;
    const act = { node, at, what: `pod ${key} of ${toldOf(job, 'REMEDY_NAME')} for ${toldOf(job, 'NODE_NAME')} starts` };
    this.#check('place', isMeant === (node === toldOf(job, 'NODE_NAME')), act, `it starts on ${node}`);
  }

  /** Nobody of ours takes the cordon of a remedy back and leaves its mark, which would hide whose the next one is. */
  #cordonKept(position: number, event: ApiEvent): void {
    const before = this.#history.node(event.name ?? '', position);
    const after = event.object as Node | undefined;
    if (after === undefined || event.verb === 'delete' || markOf(after) === undefined) return;
    const isBroken = before?.spec.unschedulable === true && after.spec.unschedulable !== true;
    this.#check('cordon', !isBroken, { node: event.name ?? '', at: event.at, what: 'a cordon was taken back' }, 'the mark of a remedy stays');
  }

  #check(rule: string, holds: boolean, { node, at, what }: Pick<Act, 'node' | 'at' | 'what'>, why: string): void {
    this.checks.set(rule, (this.checks.get(rule) ?? 0) + 1);
    if (!holds) this.violations.push(`remedies, ${rule} at ${String(Math.round(at * 1_000) / 1_000)}: ${what}, but ${why} (${node})`);
  }
}

function isByPerson({ user }: ApiEvent): boolean {
  return user !== CONTROLLER_USER && !user.startsWith('system:');
}

function markOf(node: Node | undefined): string | undefined {
  return node?.metadata.annotations?.[CORDON_MARK];
}

function runKey(node: string, { episode, serial }: SeenPosition): string {
  return `${node} ${episode} ${serial ?? 0}`;
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
