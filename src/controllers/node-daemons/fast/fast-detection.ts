import { SIGNS } from '../../../domain/node-daemon/datagram.ts';
import { HEARD_FOR_MS, judgeFast } from '../../../domain/node-daemon/fast-detection.ts';
import type { FastFacts, FastVerdict } from '../../../domain/node-daemon/fast-detection.ts';
import type { Plan } from '../../../domain/plan.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Lister } from '../../../ports/cluster.ts';
import type { FastDetection, FastFailure } from '../../../ports/fast-detection.ts';
import type { Leadership } from '../../../ports/leadership.ts';
import type { NodeDaemonMetrics } from '../../../ports/metrics.ts';
import type { Lease, Node } from '../../../ports/objects.ts';
import type { Planner } from '../../../ports/planner.ts';
import type { Recorder } from '../../../ports/recorder.ts';
import type { AttestedNode, AttestedNodes } from '../attested-nodes.ts';
import type { Heard, Heartbeats } from '../heartbeats.ts';
import type { OffReads } from './off-reads.ts';
import type { PeersQuestions } from './peers-questions.ts';
import { wordsOf } from './words.ts';

/** What it needs beside the daemons: absent where nobody is to be suspected. */
export interface FastDetectionSources {
  planner: Pick<Planner, 'planFor' | 'parametersFor'>;
  /** Of namespace kube-node-lease. */
  kubeletLeases: Pick<Lister<Lease>, 'freshAtMs' | 'freshSinceMs'>;
  /** When a sign of life of the kubelet was last received. */
  lifeAtMs: (node: string) => number | undefined;
  recorder: Recorder;
  /** The verdict on this node has changed. */
  wake: (node: string) => void;
}

export interface FastDetectionParts extends FastDetectionSources {
  clock: Pick<Clock, 'monotonicMs' | 'after'>;
  leadership: Pick<Leadership, 'isLeading' | 'epoch'>;
  nodes: Pick<AttestedNodes, 'get'>;
  clusterNodes: Pick<Lister<Node>, 'get'>;
  heartbeats: Pick<Heartbeats, 'all' | 'last' | 'fromMs' | 'interrupted'>;
  questions: PeersQuestions;
  reads: OffReads;
  metrics: Pick<NodeDaemonMetrics, 'suspected'>;
}

/** What was made of the silence of one node. */
export interface Suspicion {
  verdict: Exclude<FastVerdict, 'none'>;
  row: string;
  message: string;
  since: string;
}

const TICK_MS = 250;
/** A turn that comes later than this: this process stood still, and what it did not hear meanwhile says nothing. */
const LATE_MS = 1_000;
/** One lost heartbeat is asked about; it takes three to be suspected. */
const ASK_AFTER_MS = 1_500;
const READ_AFTER_MS = 2_000;
/** Who fell silent longer ago does not count among those that fell silent at once. */
const AT_ONCE_MS = 60_000;
/** By then Kubernetes itself says that the node is lost. */
const OVER_MS = 120_000;
/** Silent nodes whose peers are asked at the same time. */
const ASKED_MAX = 64;
/** A kubelet that lives has renewed its Lease within it; only a watch that has brought something since can show that it has not. */
const KUBELET_RENEWAL_MS = 10_000;
const NOBODY: ReadonlySet<string> = new Set();

/** Finds nodes that have failed within seconds: a suspicion by silence, that others must confirm. */
export class SilenceDetector implements FastDetection {
  readonly #parts: FastDetectionParts;
  readonly #suspicions = new Map<string, Suspicion>();
  #leads: { epoch: number; sinceMs: number } | undefined;
  #tickedAtMs: number | undefined;
  #crowd = { expected: 0, silent: 0 };
  #cancel: () => void = () => undefined;

  constructor(parts: FastDetectionParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#tick();
    this.#cancel = this.#parts.clock.after(TICK_MS, () => this.start());
  }

  close(): void {
    this.#cancel();
  }

  failureOf(node: string): FastFailure | undefined {
    const suspicion = this.#suspicions.get(node);
    if (suspicion?.verdict !== 'failed' || !this.#parts.leadership.isLeading) return undefined;
    // A heartbeat may have come since the last look.
    const judged = this.#judged(node, this.#parts.clock.monotonicMs());
    return judged?.verdict === 'failed' ? { since: suspicion.since, message: suspicion.message } : undefined;
  }

  heardAtMs(node: string): number | undefined {
    return this.#parts.heartbeats.last(node)?.atMs;
  }

  suspicionOf(node: string): Suspicion | undefined {
    return this.#suspicions.get(node);
  }

  #tick(): void {
    const { clock, leadership, heartbeats, questions, reads } = this.#parts;
    const nowMs = clock.monotonicMs();
    if (this.#tickedAtMs !== undefined && nowMs - this.#tickedAtMs > TICK_MS + LATE_MS) heartbeats.interrupted(nowMs);
    this.#tickedAtMs = nowMs;
    if (!leadership.isLeading) {
      this.#leads = undefined;
      this.#suspicions.clear();
      questions.keepOnly(NOBODY);
      reads.keepOnly(NOBODY);
      return;
    }
    if (this.#leads?.epoch !== leadership.epoch) this.#leads = { epoch: leadership.epoch, sinceMs: nowMs };
    const quiet = this.#count(nowMs);
    for (const node of quiet.slice(0, ASKED_MAX)) this.#investigate(node, nowMs);
    const now = new Set(quiet);
    questions.keepOnly(now);
    reads.keepOnly(now);
    for (const node of new Set([...this.#suspicions.keys(), ...quiet])) this.#note(node, now.has(node) ? this.#judged(node, nowMs) : undefined);
    this.#parts.metrics.suspected(this.#counts());
  }

  /** Who is silent, the latest first: who fell silent long ago keeps nobody from being asked about. */
  #count(nowMs: number): string[] {
    const { heartbeats } = this.#parts;
    const quiet: { node: string; atMs: number }[] = [];
    const crowd = { expected: 0, silent: 0 };
    for (const [node, heard] of heartbeats.all()) {
      const silentMs = nowMs - heard.atMs;
      if (silentMs >= OVER_MS) continue;
      const isExpected = this.#isHeardLong(heard) && (heard.signs & SIGNS.leaving) === 0 && silentMs < AT_ONCE_MS;
      if (isExpected) crowd.expected += 1;
      if (silentMs < ASK_AFTER_MS) continue;
      if (isExpected && this.#parts.nodes.get(node)?.attestation.isEnding !== true) crowd.silent += 1;
      quiet.push({ node, atMs: heard.atMs });
    }
    this.#crowd = crowd;
    return quiet.sort((a, b) => b.atMs - a.atMs).map(({ node }) => node);
  }

  #isHeardLong(heard: Heard): boolean {
    return heard.atMs - this.#heardFromMs(heard) >= HEARD_FOR_MS;
  }

  #heardFromMs(heard: Heard): number {
    return Math.max(this.#parts.heartbeats.fromMs(heard), this.#leads?.sinceMs ?? Number.POSITIVE_INFINITY);
  }

  /** Asks its peers and reads its devices, unless it is rather we who do not hear. */
  #investigate(name: string, nowMs: number): void {
    const { clusterNodes, questions, reads } = this.#parts;
    const known = this.#known(name);
    const node = clusterNodes.get(name);
    if (known === undefined || node === undefined || known.plan.fastDetectionMs === undefined) return;
    const { verdict, id } = judgeFast(this.#facts(known, nowMs + known.plan.fastDetectionMs));
    if (verdict === 'held' || id === 'left' || id === 'heard-too-short') return;
    questions.ask(known.attested);
    if (nowMs - known.heard.atMs >= READ_AFTER_MS) reads.read(node, known.plan, known.heard.atMs);
  }

  #judged(name: string, nowMs: number): Suspicion | undefined {
    const known = this.#known(name);
    if (known === undefined) return undefined;
    const facts = this.#facts(known, nowMs);
    const { id, verdict } = judgeFast(facts);
    if (verdict === 'none') return undefined;
    const since = new Date(known.heard.wallMs).toISOString().replace(/\.\d+Z$/u, 'Z');
    return { verdict, row: id, since, message: wordsOf(id, verdict, since, facts) };
  }

  /** Undefined: nothing was heard of the boot that the node attests and its Node shows. */
  #known(name: string): Known | undefined {
    const { nodes, heartbeats, clusterNodes, planner } = this.#parts;
    const attested = nodes.get(name);
    const heard = heartbeats.last(name);
    const node = clusterNodes.get(name);
    if (attested === undefined || heard === undefined || node === undefined) return undefined;
    const { bootID } = attested.attestation;
    if (heard.bootID !== bootID || node.status.nodeInfo?.bootID !== bootID) return undefined;
    return { attested, heard, plan: planner.planFor(node) };
  }

  #facts({ attested, heard, plan }: Known, nowMs: number): FastFacts {
    const { questions, reads } = this.#parts;
    const { node, attestation } = attested;
    return {
      ...{ nowMs, ...this.#crowd, timeoutMs: plan.fastDetectionMs },
      heard: { lastMs: heard.atMs, fromMs: this.#heardFromMs(heard) },
      hasLeft: attestation.isEnding === true || (heard.signs & SIGNS.leaving) !== 0,
      peers: questions.viewOf(attested, heard.atMs),
      readsOff: reads.readsOff(node, heard.atMs),
      isLeaseStale: this.#isLeaseStale(node, plan, nowMs),
    };
  }

  #isLeaseStale(node: string, { timing }: Plan, nowMs: number): boolean {
    const { lifeAtMs, kubeletLeases } = this.#parts;
    const lastMs = lifeAtMs(node);
    if (lastMs === undefined || kubeletLeases.freshAtMs < lastMs + KUBELET_RENEWAL_MS) return false;
    return nowMs >= Math.max(lastMs, kubeletLeases.freshSinceMs ?? lastMs) + timing.lifeWaitMs;
  }

  #note(node: string, after: Suspicion | undefined): void {
    const { clusterNodes, recorder, wake } = this.#parts;
    const before = this.#suspicions.get(node);
    if (after === undefined) this.#suspicions.delete(node);
    else this.#suspicions.set(node, before?.row === after.row && before.since === after.since ? before : after);
    if (before?.verdict === after?.verdict) return;
    const about = clusterNodes.get(node);
    if (before === undefined && after !== undefined && about !== undefined)
      recorder.event({ apiVersion: 'v1', kind: 'Node', metadata: about.metadata }, 'Warning', 'NodeSuspected', after.message);
    if (before?.verdict === 'failed' || after?.verdict === 'failed') wake(node);
  }

  #counts(): Record<Suspicion['verdict'], number> {
    const counts = { suspected: 0, held: 0, failed: 0 };
    for (const { verdict } of this.#suspicions.values()) counts[verdict] += 1;
    return counts;
  }
}

interface Known {
  attested: AttestedNode;
  heard: Heard;
  plan: Plan;
}
