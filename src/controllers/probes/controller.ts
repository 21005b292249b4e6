import { internalAddresses } from '../../domain/addresses.ts';
import { devicePaths, pathKey } from '../../domain/device-paths.ts';
import { fenceName } from '../../domain/node-fence.ts';
import { probeFaults } from '../../domain/probe-faults.ts';
import type { Plan } from '../../domain/plan.ts';
import { timestamp } from '../../ports/clock.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Cluster, Lister } from '../../ports/cluster.ts';
import type { Leadership } from '../../ports/leadership.ts';
import type { DeviceMetrics } from '../../ports/metrics.ts';
import type { Node } from '../../ports/objects.ts';
import type { Planner } from '../../ports/planner.ts';
import type { ProbeAnswer, Prober, ProbeRequest, WarmRequest } from '../../ports/probes.ts';
import type { Logger, Recorder } from '../../ports/recorder.ts';
import type { NodeFence, NodeFenceReport, ProbedDevice } from '../../ports/resources.ts';
import { gatedWrites, conflictUnless } from '../shared/gated-cluster.ts';
import { updateReport, type ReportStatus } from '../shared/node-report.ts';
import { InTurns } from '../shared/in-turns.ts';
import { PathMetrics } from './metrics.ts';
import { isOf, spreadMs } from './path.ts';
import type { Path } from './path.ts';
import { Paths } from './paths.ts';
import { introduce, trustMessage, withTrust } from './trust.ts';
import { entryOf, firstExpiry, nameOf, withEntry } from './record.ts';
import { isOffNear, isPrompt, isSuspect } from './warming.ts';

export interface ProbeDependencies {
  clock: Clock;
  cluster: Cluster;
  listers: { nodes: Lister<Node>; fences: Lister<NodeFence>; reports: Lister<NodeFenceReport> };
  planner: Pick<Planner, 'planFor' | 'parametersFor'>;
  prober: Prober;
  leadership: Pick<Leadership, 'isLeading'>;
  recorder: Recorder;
  log: Logger;
  metrics: DeviceMetrics;
  options: { mode: 'observe' | 'enforce' };
  /** What else the report of a node is to say once somebody writes it. */
  recordedWith: (node: string, status: ReportStatus) => ReportStatus;
  /** When a sign of life of this node was last received. Absent: that is not known here. */
  lifeAtMs?: (node: string) => number | undefined;
}

const TICK_MS = 1_000;
/** Reads that are begun in one second, and under way at the same time: a fleet of 5,000 nodes with two plugs each needs 17 a second. */
const BEGUN_MAX = 32;
const UNDER_WAY_MAX = 16;
const DEADLINE_MS = 8_000;
const USUAL_INTERVAL_MS = 600_000;
/** A device that was busy, or a fault that was seen once, is looked at again so soon. */
const AGAIN_MS = 30_000;
/** Connections that a fence is about to need are looked after so often. */
const WARM_AGAIN_MS = 30_000;
/** More nodes that are silent at once are no suspects: it is the API server that does not hear them, or us. */
const SUSPECTS_MAX = 16;
/** Plans are looked at again so often. */
const SURVEY_MS = 60_000;
/** Gauges are counted anew so often: nobody scrapes them faster. */
const SHOW_MS = 5_000;
const NOBODY: ReadonlySet<string> = new Set();
/** One lost answer breaks no path. */
const FAILURES_TO_TELL = 2;

/**
 * Reads every device of every node again and again while nothing is wrong with the node, so that a broken fence path is known before the node fails. Only the
 * leader does; it never sets anything, and gives way to every fence. What it finds stands in the NodeFenceReport, in metrics, and in one Event for each change.
 */
export class ProbeController {
  readonly #dependencies: ProbeDependencies;
  readonly #paths = new Paths();
  readonly #underWay = new Set<Promise<void>>();
  readonly #busy = new Set<Path>();
  readonly #stopping = new AbortController();
  readonly #metrics: PathMetrics;
  readonly #surveying: InTurns;
  #surveyedAtMs = Number.NEGATIVE_INFINITY;
  #shownAtMs = Number.NEGATIVE_INFINITY;
  #isReconfigured = false;
  #cancel: () => void = () => undefined;

  constructor(dependencies: ProbeDependencies) {
    const mayWrite = (): boolean => dependencies.leadership.isLeading && !this.#stopping.signal.aborted;
    this.#dependencies = { ...dependencies, cluster: gatedWrites(conflictUnless(mayWrite))(dependencies.cluster) };
    this.#metrics = new PathMetrics(dependencies.metrics);
    this.#surveying = new InTurns(dependencies.clock);
    dependencies.listers.nodes.onChange((before, after) => {
      if (before !== undefined && after !== undefined && isReady(before) && !isReady(after)) this.#warmAtOnce(after.metadata.name);
    });
  }

  start(): void {
    this.#cancel = this.#dependencies.clock.after(TICK_MS, () => {
      this.#tick();
      if (!this.#stopping.signal.aborted) this.start();
    });
  }

  /** Ends reads under way; resolves when none is left. */
  async close(): Promise<void> {
    this.#cancel();
    this.#surveying.close();
    this.#stopping.abort(new Error('the controller stops'));
    await Promise.allSettled(this.#underWay);
  }

  /** What was mended is read at the next tick, not in its turn. */
  configurationChanged(): void {
    this.#isReconfigured = true;
  }

  #tick(): void {
    const { clock, leadership } = this.#dependencies;
    if (!leadership.isLeading) {
      this.#surveying.close();
      this.#paths.clear();
      this.#surveyedAtMs = Number.NEGATIVE_INFINITY;
      this.#shownAtMs = Number.NEGATIVE_INFINITY;
      this.#metrics.forget();
      return;
    }
    const nowMs = clock.monotonicMs();
    // Changes without end keep nobody from their turn.
    if (!this.#surveying.isUnderWay && (this.#isReconfigured || nowMs - this.#surveyedAtMs >= SURVEY_MS)) this.#survey(nowMs);
    const due = this.#paths.all.filter((path) => path.dueAtMs <= nowMs && !this.#busy.has(path) && !this.#isFenced(path.node));
    const room = Math.min(BEGUN_MAX, UNDER_WAY_MAX - this.#underWay.size);
    for (const path of due.toSorted((left, right) => left.dueAtMs - right.dueAtMs).slice(0, Math.max(0, room))) this.#begin(path);
    if (this.#dependencies.options.mode === 'enforce') this.#warm(nowMs);
    if (nowMs - this.#shownAtMs < SHOW_MS) return;
    this.#shownAtMs = nowMs;
    this.#metrics.show(this.#paths.all, nowMs, clock.wallMs());
  }

  /** Before the first off of a fence, and of a node that may be about to fail, its devices are called once, so that the off finds them connected. What they say is left aside. */
  #warm(nowMs: number): void {
    const { listers, clock, prober } = this.#dependencies;
    if (prober.warm === undefined) return;
    const near = new Set(this.#suspects(nowMs));
    for (const fence of listers.fences.all()) if (isOffNear(fence, clock.wallMs())) near.add(fence.spec.node);
    for (const name of near) this.#warmPaths(name, nowMs);
  }

  /** Its fence begins now: what can be connected while its records are written need not be waited for after them. */
  #warmAtOnce(name: string): void {
    const { leadership, options, clock } = this.#dependencies;
    const [path] = this.#paths.of(name);
    if (path === undefined || !leadership.isLeading || options.mode !== 'enforce' || !isPrompt(path.plan)) return;
    this.#warmPaths(name, clock.monotonicMs(), { isUrgent: true });
  }

  #warmPaths(name: string, nowMs: number, how: Pick<WarmRequest, 'isUrgent'> = {}): void {
    const { listers, prober } = this.#dependencies;
    const node = listers.nodes.get(name);
    if (node === undefined || prober.warm === undefined) return;
    for (const path of this.#paths.of(name)) {
      if (this.#underWay.size >= UNDER_WAY_MAX) return;
      if (this.#busy.has(path) || nowMs - (path.warmedAtMs ?? Number.NEGATIVE_INFINITY) < WARM_AGAIN_MS) continue;
      // Not every device is called at once: its turn comes with the next look.
      if (how.isUrgent !== true) path.warmedAtMs = nowMs;
      this.#follow(path, prober.warm({ ...this.#requestOf(path, node), ...how }));
    }
  }

  /** Nodes that have missed a renewal, and whose off would follow at once; none where many have. */
  #suspects(nowMs: number): ReadonlySet<string> {
    const { listers, lifeAtMs } = this.#dependencies;
    const found = new Set<string>();
    if (lifeAtMs === undefined) return found;
    for (const { node: name, plan } of this.#paths.all) {
      // Most plans wait for longer by themselves: nothing else is asked of their nodes each second.
      if (!isPrompt(plan) || found.has(name)) continue;
      const heardAtMs = lifeAtMs(name);
      if (heardAtMs === undefined || !isSuspect(nowMs - heardAtMs, plan)) continue;
      const node = listers.nodes.get(name);
      if (node !== undefined && isReady(node)) found.add(name);
      if (found.size > SUSPECTS_MAX) return NOBODY;
    }
    return found;
  }

  /** The plugs of all plans, which may have to be made anew; a path that stays keeps its turn. */
  #survey(nowMs: number): void {
    const { listers, planner } = this.#dependencies;
    const isFirst = this.#surveyedAtMs === Number.NEGATIVE_INFINITY;
    const isReconfigured = this.#isReconfigured;
    this.#surveyedAtMs = nowMs;
    this.#isReconfigured = false;
    const wanted = new Map<string, readonly Path[]>();
    const look = (node: Node): void => {
      const { name } = node.metadata;
      const plan = planner.planFor(node);
      const before = this.#paths.of(name);
      wanted.set(name, before[0]?.plan === plan ? before : this.#pathsOf(name, plan, before, { nowMs, isFirst }));
    };
    this.#surveying.begin(listers.nodes.all(), look, () => {
      this.#paths.replace(wanted);
      if (isReconfigured) this.#hurry(nowMs);
    });
  }

  #pathsOf(node: string, plan: Plan, before: readonly Path[], { nowMs, isFirst }: { nowMs: number; isFirst: boolean }): readonly Path[] {
    const intervalMs = plan.probeIntervalMs ?? USUAL_INTERVAL_MS;
    return devicePaths(plan).map((found) => {
      const key = pathKey(found.method);
      const known = before.find(({ method }) => pathKey(method) === key);
      if (known !== undefined) return Object.assign(known, found, { plan, intervalMs, dueAtMs: Math.min(known.dueAtMs, nowMs + intervalMs) });
      // A device that is new in the configuration is read soon, all of them after a start in their turn.
      return this.#fresh({ ...found, node, plan, intervalMs, dueAtMs: nowMs + spreadMs(node, key, isFirst ? intervalMs : SURVEY_MS) });
    });
  }

  /** The paths of nodes of which one is broken, also under another address. */
  #hurry(nowMs: number): void {
    const { reports } = this.#dependencies.listers;
    for (const path of this.#paths.all) {
      const isSuspect =
        path.isBroken || path.failures > 0 || reports.get(path.node)?.status?.devices?.some((device) => device.path === 'broken') === true;
      if (isSuspect) path.dueAtMs = Math.min(path.dueAtMs, nowMs);
    }
  }

  #fresh(found: Pick<Path, 'method' | 'names' | 'switched' | 'isIdentityRequired' | 'node' | 'plan' | 'intervalMs' | 'dueAtMs'>): Path {
    const path: Path = {
      ...found,
      readAtMs: this.#dependencies.clock.monotonicMs(),
      isRead: false,
      isBroken: false,
      failures: 0,
    };
    const recorded = this.#recorded(path);
    // What another leader saw last counts until it is read anew.
    return recorded?.path === 'broken' ? { ...path, isBroken: true, isRead: true, failures: FAILURES_TO_TELL } : path;
  }

  #recorded(path: Path): ProbedDevice | undefined {
    return this.#dependencies.listers.reports.get(path.node)?.status?.devices?.find((device) => isOf(device, path));
  }

  #isFenced(node: string): boolean {
    const fence = this.#dependencies.listers.fences.get(fenceName(node));
    return fence !== undefined && fence.status?.state !== 'final';
  }

  #begin(path: Path): void {
    const recorded = this.#probe(path).catch((error: unknown) => {
      path.dueAtMs = this.#dependencies.clock.monotonicMs() + AGAIN_MS;
      this.#dependencies.log.warn('probe was not recorded', { node: path.node, error: String(error) });
    });
    this.#follow(path, recorded);
  }

  #follow(path: Path, call: Promise<void>): void {
    this.#busy.add(path);
    const ended = call.finally(() => {
      this.#busy.delete(path);
      this.#underWay.delete(ended);
    });
    this.#underWay.add(ended);
  }

  async #probe(path: Path): Promise<void> {
    const { clock, listers, prober } = this.#dependencies;
    const node = listers.nodes.get(path.node);
    if (node === undefined) return;
    const request = this.#requestOf(path, node);
    const { systemUUID } = request.identity;
    const answer = (await this.#introduced(path, node, request)) ? await prober.probe(request) : path.refusal;
    if (this.#stopping.signal.aborted || !this.#dependencies.leadership.isLeading) return;
    const nowMs = clock.monotonicMs();
    path.dueAtMs = nowMs + (answer === undefined ? Math.min(AGAIN_MS, path.intervalMs) : path.intervalMs);
    // While it was read its node may have failed: what a device shows during a fence is the fence's.
    if (answer === undefined || this.#isFenced(path.node)) return;
    await this.#judge(path, node, answer, systemUUID !== undefined);
  }

  #requestOf(path: Path, node: Node): ProbeRequest {
    const { listers, planner } = this.#dependencies;
    const identity = listers.reports.get(path.node)?.status?.identity;
    return {
      method: path.method,
      switched: path.switched,
      identity: {
        node: path.node,
        systemUUID: identity?.systemUUID ?? node.status.nodeInfo?.systemUUID,
        providerID: identity?.providerID ?? node.spec.providerID,
        addresses: identity?.addresses ?? internalAddresses(node.status.addresses),
      },
      deadlineMs: DEADLINE_MS,
      signal: this.#stopping.signal,
      parametersOf: (method) => planner.parametersFor(path.node, method),
    };
  }

  /** May the device be read? One that is trusted by what it showed first is looked at before anybody logs in; why it may not be is left in the path. */
  async #introduced(path: Path, node: Node, request: ProbeRequest): Promise<boolean> {
    const { clock, listers, prober } = this.#dependencies;
    const mayRecord = (): boolean => !this.#isFenced(path.node) && isReady(listers.nodes.get(path.node) ?? node);
    const known = listers.reports.get(path.node)?.status?.trusted ?? [];
    const found = await introduce(prober, request, known, { mayRecord, now: timestamp(clock) });
    const wasStranger = path.isStranger === true;
    path.isStranger = found.kind === 'refused' && found.isStranger;
    path.refusal = found.kind === 'refused' ? found.answer : undefined;
    if (this.#stopping.signal.aborted || !this.#dependencies.leadership.isLeading) return false;
    const place = nameOf(path.method);
    if (path.isStranger && !wasStranger) {
      this.#emit(node, 'Warning', 'DeviceIdentityChanged', `${place}: ${path.refusal?.error ?? ''}`);
      // A second look would only let it stand for longer.
      path.failures = Math.max(path.failures, FAILURES_TO_TELL - 1);
    }
    if (found.kind !== 'record') return found.kind === 'read';
    const paths = this.#paths.of(path.node);
    await this.#update(path.node, (status) => withTrust(status, found.entry, paths));
    this.#emit(node, 'Normal', 'DeviceTrusted', trustMessage(found, place));
    return true;
  }

  async #judge(path: Path, node: Node, answer: ProbeAnswer, isUuidKnown: boolean): Promise<void> {
    const { clock } = this.#dependencies;
    const faults = probeFaults(answer, { isReady: isReady(node), isIdentityRequired: path.isIdentityRequired, isUuidKnown });
    const isBroken = faults.some(({ severity }) => severity === 'error');
    path.failures = isBroken ? path.failures + 1 : 0;
    path.readAtMs = clock.monotonicMs();
    path.isRead = true;
    if (!isBroken) {
      const expiresAtMs = firstExpiry(answer);
      if (expiresAtMs === undefined) delete path.expiresAtMs;
      else path.expiresAtMs = expiresAtMs;
    }
    if (isBroken && path.failures < FAILURES_TO_TELL) {
      path.dueAtMs = path.readAtMs + Math.min(AGAIN_MS, path.intervalMs);
      return;
    }
    path.isBroken = isBroken;
    await this.#record(path, node, answer, faults);
  }

  async #record(path: Path, node: Node, answer: ProbeAnswer, faults: ReturnType<typeof probeFaults>): Promise<void> {
    const { clock } = this.#dependencies;
    const before = this.#recorded(path);
    const now = timestamp(clock);
    const entryAfter = (known: ProbedDevice | undefined): ProbedDevice => entryOf(path, known, answer, faults, { now, wallMs: clock.wallMs() });
    const entry = entryAfter(before);
    const paths = this.#paths.of(path.node);
    await this.#update(path.node, (status) => {
      const known = status.devices?.find((device) => isOf(device, path));
      return withEntry(status, entryAfter(known), paths, now);
    });
    const place = `${nameOf(entry)} (${entry.methods.join(', ')})`;
    if (entry.path === 'broken' && before?.path !== 'broken')
      this.#emit(node, 'Warning', 'FencePathBroken', `A fence could not use ${place}: ${entry.message ?? ''}`);
    if (entry.path === 'working' && before?.path === 'broken') this.#emit(node, 'Normal', 'FencePathRecovered', `${place} can be used again.`);
    if (entry.expiresSoon === true && before?.expiresSoon !== true) {
      const ends = new Date(path.expiresAtMs ?? 0).toISOString();
      this.#emit(
        node,
        'Warning',
        'FenceCredentialExpiring',
        `The certificate or credential of ${place} ends at ${ends}: renew it, or no fence can use it then.`,
      );
    }
  }

  /** A first report is written once, and not by each who has something to say in it. */
  #update(node: string, change: (status: ReportStatus) => ReportStatus): Promise<void> {
    const { recordedWith } = this.#dependencies;
    return updateReport(this.#dependencies, node, (status) => change(recordedWith(node, status)));
  }

  #emit(node: Node, type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.#dependencies.recorder.event({ apiVersion: 'v1', kind: 'Node', metadata: node.metadata }, type, reason, message);
  }
}

function isReady({ status }: Node): boolean {
  return status.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') === true;
}
