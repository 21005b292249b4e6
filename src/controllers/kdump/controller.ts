import { dumpEndsAtMs, isCredible, LEASE_STALE_MS, mayDump, stateOf } from '../../domain/kdump/dump.ts';
import type { DumpFacts, DumpTimes, Liveness } from '../../domain/kdump/dump.ts';
import { malformedMessage } from '../../domain/kdump/message.ts';
import { KDUMP_LEASE } from '../../domain/kdump/record.ts';
import { DEFAULT_DAEMON_TIMING } from '../../domain/timing-daemon.ts';
import { timestamp } from '../../ports/clock.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Cluster, Lister } from '../../ports/cluster.ts';
import type { FastFailure } from '../../ports/fast-detection.ts';
import type { KdumpSocket, KernelDumps, Recognition } from '../../ports/kdump.ts';
import type { Leadership } from '../../ports/leadership.ts';
import type { KdumpMetrics } from '../../ports/metrics.ts';
import { KERNEL_DUMP, NODE_LEASE_NAMESPACE } from '../../ports/resources.ts';
import type { NodeFenceReport } from '../../ports/resources.ts';
import type { Lease, Node } from '../../ports/objects.ts';
import type { Planner } from '../../ports/planner.ts';
import type { Logger, Recorder } from '../../ports/recorder.ts';
import { conflictUnless, gatedWrites } from '../shared/gated-cluster.ts';
import { updateReport } from '../shared/node-report.ts';
import { WriteGate } from '../shared/write-gate.ts';
import { DumpLedger } from './ledger.ts';
import { DumpRecords } from './records.ts';
import { RefusedSources } from './refused-sources.ts';
import { MessageSources } from './sources.ts';
import { tell, withDump } from './telling.ts';
import type { Told } from './telling.ts';

export interface KdumpDependencies {
  clock: Clock;
  cluster: Cluster;
  log: Logger;
  recorder: Recorder;
  metrics: KdumpMetrics;
  leadership: Pick<Leadership, 'isLeading' | 'mayBegin'>;
  socket: KdumpSocket;
  planner: Pick<Planner, 'planFor'>;
  listers: {
    nodes: Lister<Node>;
    reports: Lister<NodeFenceReport>;
    /** Of kubelets. */
    leases: Lister<Lease>;
    /** Of the fence namespace: that of the records. */
    records: Lister<Lease>;
  };
  /** When a sign of life of the node's kubelet was last received here. */
  lifeAtMs: (node: string) => number | undefined;
  /** None was since this process saw the node first. */
  isOnlySeen: (node: string) => boolean;
  /** Who is taken for failed before Kubernetes says so. */
  failureOf: (node: string) => FastFailure | undefined;
  /** Did its daemon attest a crash kernel that notifies? */
  isArmed: (node: string) => boolean;
  /** The fence of this node is to look again. */
  wake: (node: string) => void;
  /** For `nodefence status`. */
  tellProblems: (problems: readonly string[]) => void;
  /** `replica`: no two processes have the same. */
  options: { namespace: string; replica: string; host: string };
}

const TICK_MS = 1_000;
/** A node that lives has no dump; its messages are kept a while for whoever looks at the metric. */
const KEPT_MS = 600_000;
const DEFAULT_TIMES: DumpTimes = {
  finishedTimeoutMs: DEFAULT_DAEMON_TIMING.kdumpFinishedTimeoutMs,
  maxDurationMs: DEFAULT_DAEMON_TIMING.kdumpMaxDurationMs,
};

/** Hears the messages of crash kernels (docs/kdump.md). Every replica hears and records; only the leader tells. Nothing is logged, written or woken per message. */
export class KdumpController implements KernelDumps {
  readonly #dependencies: KdumpDependencies;
  readonly #sources: MessageSources;
  readonly #ledger: DumpLedger;
  readonly #records: DumpRecords;
  readonly #gate: WriteGate;
  readonly #telling: Cluster;
  /** What each node's dump looked like at the last look. */
  readonly #seen = new Map<string, string>();
  /** What was last told of each node, and over what. */
  readonly #toldOf = new Map<string, string>();
  readonly #standing = new Set<string>();
  readonly #refused = new RefusedSources();
  #hasRead = false;
  #cancelTick: () => void = () => undefined;
  #unsubscribe: () => void = () => undefined;
  #told: Promise<void> | undefined;
  #tellProblem: string | undefined;
  #isClosed = false;

  constructor(dependencies: KdumpDependencies) {
    const { clock, cluster, leadership, listers, lifeAtMs, options } = dependencies;
    this.#dependencies = dependencies;
    this.#sources = new MessageSources(listers.nodes);
    this.#ledger = new DumpLedger({
      lifeAtMs,
      renewedAtMs: (node) => renewedAtMs(listers.leases.get(`${NODE_LEASE_NAMESPACE}/${node}`)),
      finishedTimeoutMs: (node) => this.#timesOf(node).finishedTimeoutMs,
      bootID: (node) => listers.nodes.get(node)?.status.nodeInfo?.bootID,
      host: options.host,
    });
    this.#records = new DumpRecords({ clock, cluster, namespace: options.namespace, replica: options.replica, name: KDUMP_LEASE });
    const watches = [listers.nodes, listers.reports];
    this.#gate = new WriteGate({ clock, leadership, enforce: () => watches.every(({ synced }) => synced), watches: () => watches });
    this.#telling = gatedWrites(conflictUnless(() => this.#gate.mayWrite()))(cluster);
  }

  start(): void {
    const { listers, socket } = this.#dependencies;
    const ends = [
      listers.records.onChange(() => this.#read()),
      listers.reports.onChange((before, after) => this.#keepStanding(before?.metadata.name ?? after?.metadata.name ?? '', after)),
    ];
    this.#unsubscribe = () => {
      for (const end of ends) end();
    };
    for (const report of listers.reports.all()) this.#keepStanding(report.metadata.name, report);
    socket.receive((bytes, from) => this.#receive(bytes, from));
    this.#tick();
  }

  wake(): void {
    if (!this.#isClosed) this.#look();
  }

  problems(): string[] {
    const { problem } = this.#records;
    const unwritten = problem === undefined ? [] : [`kdump messages that come here are not known to the other replicas: ${problem}`];
    return [
      ...unwritten,
      ...this.#refused.problems(this.#dependencies.clock.monotonicMs()),
      ...(this.#tellProblem === undefined ? [] : [`what is known of a dump could not be reported: ${this.#tellProblem}`]),
    ];
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#gate.close();
    this.#cancelTick();
    this.#unsubscribe();
    this.#dependencies.socket.close();
    await Promise.all([this.#records.close(), this.#told]);
  }

  factsOf(node: string): DumpFacts {
    const { isArmed } = this.#dependencies;
    const heard = this.#ledger.heardOf(node);
    return { isArmed: isArmed(node), ...(heard === undefined ? {} : { heard }) };
  }

  recognise(node: string): Recognition {
    const { clock, listers } = this.#dependencies;
    const nowMs = clock.monotonicMs();
    const heard = this.#ledger.heardOf(node);
    const facts = this.#nodeFacts(node);
    const renewTime = listers.leases.get(`${NODE_LEASE_NAMESPACE}/${node}`)?.spec.renewTime;
    if (heard === undefined || facts === undefined)
      return { state: 'unheard', detail: 'no kdump message came since its kubelet was last heard', renewTime };
    const words = `${heard.count} kdump messages came from ${heard.source} since ${heard.first}`;
    if (!isCredible(heard, facts, nowMs)) return { state: 'unheard', detail: `${words}: too few, or its kubelet is not silent`, renewTime };
    const isOver = nowMs >= dumpEndsAtMs(heard, this.#timesOf(node));
    return { state: isOver ? 'over' : 'dumping', detail: isOver ? `${words}; the dump is over` : words, renewTime };
  }

  #receive(bytes: Uint8Array, from: string): void {
    const { metrics, clock } = this.#dependencies;
    const malformed = malformedMessage(bytes);
    if (malformed !== undefined) {
      metrics.message(malformed);
      return;
    }
    const source = this.#sources.of(from);
    if ('problem' in source) {
      metrics.message(source.problem);
      this.#refused.add(source, from, clock.monotonicMs());
      return;
    }
    const hasRoom = this.#ledger.hear(source.node, from, clock.monotonicMs(), clock.wallMs());
    metrics.message(hasRoom ? 'accepted' : 'too-many-nodes');
  }

  #read(): void {
    const { listers, options, clock } = this.#dependencies;
    this.#hasRead = true;
    this.#ledger.see(this.#records.read(listers.records.get(`${options.namespace}/${KDUMP_LEASE}`)), clock.monotonicMs(), clock.wallMs());
  }

  /** Reports that say that a node dumps: whoever leads next ends what nobody hears any more. */
  #keepStanding(node: string, report: NodeFenceReport | undefined): void {
    const isStanding = report?.status?.conditions?.some(({ type, status }) => type === KERNEL_DUMP && status === 'True') === true;
    if (isStanding) this.#standing.add(node);
    else this.#standing.delete(node);
  }

  #tick(): void {
    // What stands there already is older than what is said while we look.
    if (!this.#hasRead && this.#dependencies.listers.records.synced) this.#read();
    this.#look();
    if (!this.#isClosed) this.#cancelTick = this.#dependencies.clock.after(TICK_MS, () => this.#tick());
  }

  #look(): void {
    const { clock, listers, lifeAtMs, metrics, tellProblems } = this.#dependencies;
    const nowMs = clock.monotonicMs();
    const lives = (node: string): number => lifeAtMs(node) ?? Number.NEGATIVE_INFINITY;
    this.#ledger.forget((node, { lastMs }) => listers.nodes.get(node) === undefined || (lives(node) > lastMs && nowMs - lastMs > KEPT_MS));
    const isWritten = (node: string): boolean => nowMs - lives(node) >= LEASE_STALE_MS;
    this.#records.offer(this.#ledger.records(isWritten, nowMs));
    this.#notice(nowMs);
    this.#told ??= this.#tell().finally(() => {
      this.#told = undefined;
    });
    const problems = this.problems();
    metrics.problems(problems.length);
    tellProblems(problems);
  }

  /** The fence looks again where a dump began or is over, and for nothing else. */
  #notice(nowMs: number): void {
    const counts = { STARTED: 0, DUMPING: 0, FINISHED: 0 };
    const nodes = this.#ledger.nodes();
    for (const node of nodes) {
      const facts = this.#nodeFacts(node);
      const heard = this.#ledger.heardOf(node);
      if (heard === undefined || facts === undefined) continue;
      const times = this.#timesOf(node);
      if (facts.ready !== 'True') counts[stateOf(heard, times, nowMs)] += 1;
      const words = `${mayDump(heard, facts, nowMs)} ${nowMs >= dumpEndsAtMs(heard, times)}`;
      if (this.#seen.get(node) !== words) this.#dependencies.wake(node);
      this.#seen.set(node, words);
    }
    for (const node of [...this.#seen.keys()]) if (!nodes.has(node)) this.#seen.delete(node);
    // What the report still says is being told, whether anything is heard or not.
    for (const node of [...this.#toldOf.keys()]) if (!nodes.has(node) && !this.#standing.has(node)) this.#toldOf.delete(node);
    this.#dependencies.metrics.dumps(counts);
  }

  async #tell(): Promise<void> {
    const { log } = this.#dependencies;
    const failed: string[] = [];
    for (const node of new Set([...this.#ledger.nodes(), ...this.#standing])) {
      try {
        await this.#tellOf(node);
      } catch (error) {
        // One report that cannot be written keeps no other node from being told of.
        failed.push(`node ${node}: ${error instanceof Error ? error.message : String(error)}`);
        log.warn('kernel dump not reported; tried again', { node, error });
      }
    }
    const [first, ...more] = failed;
    this.#tellProblem = first === undefined || more.length === 0 ? first : `${first}, and ${more.length} more`;
  }

  async #tellOf(node: string): Promise<void> {
    const { clock, listers } = this.#dependencies;
    const facts = this.#nodeFacts(node);
    if (!this.#gate.mayWrite() || facts === undefined) return;
    const nowMs = clock.monotonicMs();
    const heard = this.#ledger.heardOf(node);
    // What others have heard is not known yet.
    if (heard === undefined && !this.#hasRead) return;
    const isHeld = this.#planOf(node)?.kdump !== undefined;
    const told = tell({ heard, node: facts, times: this.#timesOf(node), nowMs, isHeld }, listers.reports.get(node));
    if (told !== undefined) await this.#report(node, told);
  }

  /** Once for what stands: until the watch shows our own write nothing is told again. */
  async #report(name: string, told: Told): Promise<void> {
    const { clock, listers, recorder, log } = this.#dependencies;
    const standing = listers.reports.get(name)?.status?.conditions?.find(({ type }) => type === KERNEL_DUMP);
    const words = `${told.event} ${standing?.lastTransitionTime ?? ''}`;
    const node = listers.nodes.get(name);
    if (this.#toldOf.get(name) === words || node === undefined) return;
    await updateReport({ cluster: this.#telling, listers }, name, (status) => withDump(status, told, timestamp(clock)));
    this.#toldOf.set(name, words);
    recorder.event({ apiVersion: 'v1', kind: 'Node', metadata: node.metadata }, 'Normal', told.event, told.message);
    log.info('kernel dump', { node: name, reason: told.reason, detail: told.message });
  }

  #planOf(node: string): ReturnType<Planner['planFor']> | undefined {
    const known = this.#dependencies.listers.nodes.get(node);
    return known === undefined ? undefined : this.#dependencies.planner.planFor(known);
  }

  #timesOf(node: string): DumpTimes {
    return this.#planOf(node)?.kdump ?? DEFAULT_TIMES;
  }

  #nodeFacts(name: string): Liveness | undefined {
    const { listers, failureOf, lifeAtMs, isOnlySeen } = this.#dependencies;
    const node = listers.nodes.get(name);
    if (node === undefined) return undefined;
    const ready = node.status.conditions?.find(({ type }) => type === 'Ready')?.status ?? 'missing';
    return { ready, silence: failureOf(name), lifeAtMs: lifeAtMs(name) ?? Number.POSITIVE_INFINITY, isOnlySeen: isOnlySeen(name) };
  }
}

function renewedAtMs(lease: Lease | undefined): number | undefined {
  const atMs = Date.parse(lease?.spec.renewTime ?? '');
  return Number.isNaN(atMs) ? undefined : atMs;
}
