import { CONTROLLERS_TOLD, controllersData, parseControllers } from '../../domain/node-daemon/controllers.ts';
import { checkDaemonTiming, daemonTiming } from '../../domain/node-daemon/times.ts';
import type { WrittenTimes } from '../../domain/node-daemon/times.ts';
import type { AttestedWell } from '../../domain/node-daemon/found-well.ts';
import { SIGNS } from '../../domain/node-daemon/datagram.ts';
import { sameContent } from '../../domain/canonical.ts';
import type { GrantsEnded, LastOrdered } from '../../domain/node-daemon/attestation.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { FastDetection, FastFailure } from '../../ports/fast-detection.ts';
import type { AttestedUnfencing, EndingCall, NodeDaemons, NodeOrders, OrderCall, OrderUnderWay, Unfencing } from '../../ports/node-daemons.ts';
import { LEASES } from '../../ports/resources.ts';
import { Executor } from '../shared/executor.ts';
import { conflictUnless, gatedWrites, notSentUnless } from '../shared/gated-cluster.ts';
import { WriteGate } from '../shared/write-gate.ts';
import { WriteRateLimiter } from '../shared/write-rate-limiter.ts';
import { Chains } from './actions.ts';
import type { Chain } from './actions.ts';
import { Announcements } from './announcements.ts';
import { AttestedNodes } from './attested-nodes.ts';
import { daemonWords, reportOf } from './daemon-report.ts';
import type { NodeDaemonDependencies } from './dependencies.ts';
import { Endings } from './endings.ts';
import { SilenceDetector } from './fast/fast-detection.ts';
import { OffReads } from './fast/off-reads.ts';
import { PeersQuestions } from './fast/peers-questions.ts';
import { ForgottenNodes } from './forgotten-nodes.ts';
import { GrantEnder } from './grant-ender.ts';
import { mayRegister } from './may-register.ts';
import { Heartbeats } from './heartbeats.ts';
import { Orders } from './orders.ts';
import { Permits } from './permits.ts';
import { PeersAssignment } from './peers-assignment.ts';
import { Promises } from './promises.ts';
import { Receiver } from './receiver.ts';
import { ReplicaAddresses } from './replica-addresses.ts';
import { SharedKeys } from './shared-keys.ts';
import { SharedSecret } from './shared-secret.ts';
import type { SecretRead } from './shared-secret.ts';
import { SlotQuestions } from './storage/slot-questions.ts';
import { StorageWords } from './storage/storage-words.ts';
import { perform } from './write.ts';

const TICK_MS = 1_000;
/** What is told of nodes and to them is decided so often. */
const RECONCILE_MS = 2_000;
const READ_KEY_MS = 30_000;
/** A daemon that is silent for so long is reported, and nobody is told to ask it. */
const REPORT_SILENT_MS = 30_000;
const UNASKED_AFTER_MS = 300_000;

/**
 * The controllers' side of the node daemons (docs/adr/0012-node-daemons-authenticate-by-keys-in-the-api.md). Every replica hears; only the leader grants, tells and
 * ends.
 */
export class NodeDaemonController implements NodeDaemons, NodeOrders, FastDetection, Unfencing {
  readonly #dependencies: NodeDaemonDependencies;
  readonly #nodes: AttestedNodes;
  readonly #keys: SharedKeys;
  readonly #secret: SharedSecret;
  readonly #heartbeats = new Heartbeats();
  readonly #endings = new Endings();
  readonly #permits = new Permits();
  readonly #gate: WriteGate;
  readonly #ender: GrantEnder;
  readonly #orders: Orders;
  readonly #chains = new Chains();
  readonly #peers: PeersAssignment;
  readonly #forgotten: ForgottenNodes;
  readonly #replicas: ReplicaAddresses;
  readonly #announcements: Announcements;
  readonly #executor: Executor<Chain>;
  readonly #receiver: Receiver;
  readonly #slots: SlotQuestions;
  readonly #storageWords: StorageWords;
  readonly #silence: SilenceDetector | undefined;
  readonly #closing = new AbortController();
  #cancelTick: () => void = () => undefined;
  #unsubscribe: () => void = () => undefined;
  #isClosed = false;
  #reconciledAtMs = Number.NEGATIVE_INFINITY;
  #keyReadAtMs = Number.NEGATIVE_INFINITY;
  #hearsSinceMs = Number.POSITIVE_INFINITY;
  /** When each attestation was first seen. */
  readonly #attestsSinceMs = new Map<string, number>();
  /** Leads since, as far as this has noticed. */
  #leads: { epoch: number; sinceMs: number } | undefined;
  #isReadingEndings = false;
  #problems: { key?: string; endings?: string; times?: string | undefined } = {};

  constructor(dependencies: NodeDaemonDependencies) {
    const { clock, log, leadership, metrics, socket, keyPairs, listers, recorder, options } = dependencies;
    const { namespace, topologyKeys } = options;
    this.#dependencies = dependencies;
    this.#nodes = new AttestedNodes(listers.leases, namespace);
    this.#keys = new SharedKeys(keyPairs);
    const watches = [listers.leases, listers.nodes, listers.configMaps];
    this.#gate = new WriteGate({ clock, leadership, enforce: () => watches.every(({ synced }) => synced), watches: () => watches });
    const mayWrite = (): boolean => this.#gate.mayWrite();
    const cluster = gatedWrites(conflictUnless(mayWrite))(dependencies.cluster);
    this.#secret = new SharedSecret({ cluster, namespace, pairs: keyPairs });
    const nodes = this.#nodes;
    const keys = this.#keys;
    const endings = this.#endings;
    const promises = new Promises({ clock, socket, leadership, nodes, keys });
    const endingCluster = gatedWrites(notSentUnless(mayWrite))(dependencies.cluster);
    this.#ender = new GrantEnder({ clock, log, cluster: endingCluster, namespace, endings, promises });
    const orders = new Orders({ log, recorder, metrics, socket, leadership, cluster: endingCluster, clusterNodes: listers.nodes, namespace });
    this.#orders = orders;
    const questions = new PeersQuestions({ clock, socket, nodes, keys });
    this.#slots = new SlotQuestions({ clock, socket, nodes, keys, heartbeats: this.#heartbeats });
    this.#storageWords = new StorageWords({ clock, nodes, heartbeats: this.#heartbeats });
    const heard = { heartbeats: this.#heartbeats, permits: this.#permits, slots: this.#slots, orders };
    this.#receiver = new Receiver({ clock, socket, leadership, metrics, nodes, keys, endings, promises, questions, ...heard });
    this.#silence = this.#silenceDetector(questions);
    this.#peers = new PeersAssignment({
      ...{ nodes, chains: this.#chains, topologyKeys, clusterNodes: listers.nodes },
      isEnded: (node, bootID) => endings.isEnded(node, bootID),
      isSilent: (node) => this.#isSilentFor(node, UNASKED_AFTER_MS),
    });
    this.#forgotten = new ForgottenNodes({ nodes, clusterNodes: listers.nodes, heartbeats: this.#heartbeats, chains: this.#chains });
    this.#replicas = new ReplicaAddresses({ id: options.replica, address: socket.address });
    this.#announcements = new Announcements({ clock, log, cluster: dependencies.cluster, replicas: this.#replicas, options });
    this.#executor = this.#executorOn(cluster, mayWrite);
  }

  /** Follows the listers from now on, whether they are synced or not. */
  start(): void {
    const { listers, socket, clock } = this.#dependencies;
    this.#unsubscribe = listers.leases.onChange((_before, after) => {
      if (after !== undefined) this.#endings.see(after);
    });
    this.#hearsSinceMs = clock.monotonicMs();
    socket.receive((bytes, from) => this.#receiver.receive(bytes, from));
    this.#announcements.start();
    this.#silence?.start();
    this.#tick();
  }

  /** Leadership has come. */
  wake(): void {
    if (!this.#isClosed) this.#look();
  }

  /** What a person should look at, one sentence each. */
  problems(): string[] {
    const { key, endings, times } = this.#problems;
    const own = [key, endings, times, this.#heartbeats.clocks.problem].filter((problem) => problem !== undefined);
    return [...this.#gate.silence('node daemons'), ...own, ...this.#executor.problems()];
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#gate.close();
    this.#closing.abort(new Error('the controller stops'));
    this.#silence?.close();
    this.#cancelTick();
    this.#unsubscribe();
    this.#dependencies.socket.close();
    await Promise.all([this.#executor.close(), this.#announcements.close()]);
  }

  endGrants(node: string, bootID: string, call: EndingCall): Promise<GrantsEnded> {
    return this.#ender.endGrants(node, bootID, call);
  }

  order(node: string, ordered: LastOrdered, call: OrderCall): Promise<OrderUnderWay> {
    return this.#orders.order(node, ordered, call);
  }

  sawEnded(node: string, bootID: string): void {
    this.#ender.sawEnded(node, bootID);
  }

  isHeard(node: string, bootID: string): boolean {
    const isBeating = this.#heartbeats.last(node)?.bootID === bootID && this.#heartbeats.isHeard(node, this.#dependencies.clock.monotonicMs());
    return isBeating || this.#slots.isAlive(node, bootID);
  }

  clockDoubt(node: string, bootID: string): string | undefined {
    return this.#heartbeats.clocks.doubt(node, bootID);
  }

  permit(node: string, permit: Parameters<NodeDaemons['permit']>[1]): () => void {
    return this.#permits.give(node, { ...permit, epoch: this.#dependencies.leadership.epoch });
  }

  of(node: string): AttestedUnfencing | undefined {
    const unfence = this.#nodes.get(node)?.attestation.unfence;
    return unfence && { key: unfence.key, devices: unfence.devices.length };
  }

  mayRegister(node: string): Promise<string | undefined> {
    return mayRegister(this.#dependencies.cluster, this.#dependencies.options.namespace, node);
  }

  /** Before the node was lost its daemon attested a crash kernel that notifies somebody. */
  isKdumpArmed(node: string): boolean {
    const kdump = this.#nodes.get(node)?.attestation.kdump;
    return kdump?.isArmed === true && kdump.notifies.length > 0;
  }

  /** Of which boot, and when it was looked at, decides what it is worth. */
  foundWell(node: string): AttestedWell | undefined {
    const { bootID, foundWell = [] } = this.#nodes.get(node)?.attestation ?? {};
    return bootID === undefined || foundWell.length === 0 ? undefined : { bootID, foundWell };
  }

  failureOf(node: string): FastFailure | undefined {
    return this.#silence?.failureOf(node);
  }

  heardAtMs(node: string): number | undefined {
    const atMs = [this.#silence?.heardAtMs(node), this.#slots.aliveAtMs(node)].filter((time) => time !== undefined);
    return atMs.length === 0 ? undefined : Math.max(...atMs);
  }

  renewsLease(node: string): boolean | undefined {
    return this.#dependencies.leadership.isLeading ? this.#slots.renews(node) : undefined;
  }

  reachesStorage(node: string): ReturnType<NonNullable<FastDetection['reachesStorage']>> {
    return this.#dependencies.leadership.isLeading ? this.#storageWords.of(node) : undefined;
  }

  #silenceDetector(questions: PeersQuestions): SilenceDetector | undefined {
    const { fast, clock, leadership, listers, metrics } = this.#dependencies;
    if (fast === undefined) return undefined;
    const { prober, ...sources } = fast;
    const reads = new OffReads({ clock, planner: sources.planner, prober, signal: this.#closing.signal });
    const parts = { clock, leadership, metrics, nodes: this.#nodes, clusterNodes: listers.nodes, heartbeats: this.#heartbeats };
    return new SilenceDetector({ ...parts, ...sources, questions, reads });
  }

  #executorOn(cluster: Cluster, mayWrite: () => boolean): Executor<Chain> {
    const { clock, log, metrics, listers, options } = this.#dependencies;
    return new Executor<Chain>({
      clock,
      log,
      controller: 'node-daemons',
      mayWrite,
      perform: async (_action, { actions: [action] }) => {
        await perform({ cluster, clock, listers, namespace: options.namespace, nodes: this.#nodes, secret: this.#secret }, action);
        if (action.kind === 'make-key' || action.kind === 'change-key') this.#keyReadAtMs = Number.NEGATIVE_INFINITY;
      },
      acted: (kind, result) => metrics.acted(kind, result),
      ended: () => undefined,
      rateLimiter: new WriteRateLimiter(clock),
    });
  }

  #tick(): void {
    this.#look();
    if (!this.#isClosed) this.#cancelTick = this.#dependencies.clock.after(TICK_MS, () => this.#tick());
  }

  #look(): void {
    const { clock, leadership } = this.#dependencies;
    const nowMs = clock.monotonicMs();
    if (leadership.isLeading && this.#leads?.epoch !== leadership.epoch) {
      this.#leads = { epoch: leadership.epoch, sinceMs: nowMs };
      this.#peers.restart();
      this.#reconciledAtMs = Number.NEGATIVE_INFINITY;
    }
    if (leadership.isLeading && !this.#endings.areReadFor(leadership.epoch)) void this.#readEndings(leadership.epoch);
    if (leadership.isLeading) this.#slots.look();
    else this.#slots.clear();
    if (nowMs - this.#keyReadAtMs >= READ_KEY_MS) void this.#readKey(nowMs);
    this.#count(nowMs);
    if (nowMs - this.#reconciledAtMs < RECONCILE_MS) return;
    this.#reconciledAtMs = nowMs;
    this.#reconcile(nowMs);
  }

  /** Before the first grant: a predecessor may have written what the watch does not show yet. */
  async #readEndings(epoch: number): Promise<void> {
    if (this.#isReadingEndings) return;
    this.#isReadingEndings = true;
    const { cluster, options, log } = this.#dependencies;
    try {
      this.#endings.readAll(await cluster.list(LEASES, { namespace: options.namespace }), epoch);
      delete this.#problems.endings;
    } catch (error) {
      this.#problems.endings = `no node is granted to go on: which grants were ended could not be read: ${wordsOf(error)}`;
      log.warn('ended grants not read; tried again', { error });
    } finally {
      this.#isReadingEndings = false;
    }
  }

  async #readKey(nowMs: number): Promise<void> {
    this.#keyReadAtMs = nowMs;
    try {
      const { privateKeys, action }: SecretRead = await this.#secret.read();
      this.#chains.want('key', action);
      if (privateKeys.length > 0) this.#keys.adopt(privateKeys);
      delete this.#problems.key;
    } catch (error) {
      const isBroken = error instanceof TypeError || error instanceof DOMException;
      const remedy = isBroken ? ': delete that Secret, and the leader makes a new one' : '';
      this.#problems.key = `the controllers’ key could not be read: ${wordsOf(error)}${remedy}`;
      this.#dependencies.log.warn('exchange key not read; tried again', { error });
    }
  }

  #count(nowMs: number): void {
    const counts = { attested: 0, heard: 0, armed: 0, 'alive-on-storage': 0, 'clock-slow': 0, 'clock-fast': 0 };
    const attested = new Map<string, string>();
    const { clocks } = this.#heartbeats;
    for (const { node, attestation } of this.#nodes.all()) {
      counts.attested += 1;
      attested.set(node, attestation.bootID);
      const wrong = clocks.wrong(node, attestation.bootID);
      if (wrong !== undefined) counts[`clock-${wrong}`] += 1;
      if (!this.#attestsSinceMs.has(node)) this.#attestsSinceMs.set(node, nowMs);
      if (this.#slots.stateOf(node) === 'alive') counts['alive-on-storage'] += 1;
      if (!this.#heartbeats.isHeard(node, nowMs)) continue;
      counts.heard += 1;
      if (((this.#heartbeats.last(node)?.signs ?? 0) & SIGNS.watchdogArmed) !== 0) counts.armed += 1;
    }
    clocks.see(attested);
    const problems = this.problems();
    this.#dependencies.metrics.daemons(counts);
    this.#dependencies.metrics.problems(problems.length);
    this.#dependencies.tellProblems(problems);
    this.#heartbeats.retain((node) => attested.has(node));
    for (const node of [...this.#attestsSinceMs.keys()]) if (!attested.has(node)) this.#attestsSinceMs.delete(node);
  }

  #reconcile(nowMs: number): void {
    const { listers, options } = this.#dependencies;
    this.#replicas.see(listers.leases.get(`${options.namespace}/${options.replicasLease}`), nowMs);
    if (!this.#gate.mayWrite()) {
      this.#executor.submit([]);
      return;
    }
    this.#tellControllers(nowMs);
    this.#peers.reconcile();
    this.#forgotten.reconcile(nowMs);
    this.#report(nowMs);
    this.#executor.submit(this.#chains.all());
  }

  #tellControllers(nowMs: number): void {
    const { listers, options } = this.#dependencies;
    const standing = listers.configMaps.get(`${options.namespace}/${CONTROLLERS_TOLD}`)?.data ?? {};
    const told = { publicKeys: this.#keys.publicKeys, addresses: this.#replicas.at(nowMs), times: this.#toldTimes(standing) };
    const isWanted = told.publicKeys.length > 0 && !sameContent({ ...standing, ...controllersData(told) }, standing);
    this.#chains.want('controllers', isWanted ? { kind: 'tell-controllers', told } : undefined);
  }

  /** What breaks a timing rule is told to no node: they go on with what they were told before. */
  #toldTimes(standing: Readonly<Record<string, string>>): WrittenTimes {
    const written = this.#dependencies.writtenTimes();
    const broken = checkDaemonTiming(daemonTiming(written)).find(({ severity }) => severity === 'error');
    this.#problems.times = broken && `node daemons are not told the times of fence-cluster-config: ${broken.message}`;
    return broken === undefined ? written : (parseControllers(standing)?.times ?? {});
  }

  #report(nowMs: number): void {
    const { listers, recorder } = this.#dependencies;
    const { clocks } = this.#heartbeats;
    for (const { node, attestation } of this.#nodes.all()) {
      const { bootID } = attestation;
      const report = listers.reports.get(node);
      const standing = daemonWords(report);
      const heard = this.#heartbeats.last(node);
      const suspicion = this.#silence?.suspicionOf(node);
      const isKnown = heard !== undefined || this.#isSilentFor(node, REPORT_SILENT_MS);
      const seen = heard && {
        signs: heard.signs,
        isSilent: nowMs - heard.atMs >= REPORT_SILENT_MS,
        at: new Date(heard.wallMs).toISOString().replace(/\.\d+Z$/u, 'Z'),
        clock: clocks.lasting(node, bootID, standing),
      };
      const isWanted = isKnown && listers.nodes.get(node) !== undefined && listers.reports.synced;
      if (isWanted) clocks.tell(node, bootID, { clusterNodes: listers.nodes, recorder, standing });
      this.#chains.want(`report of ${node}`, isWanted ? reportOf(node, attestation, report, seen, suspicion, this.#slots.stateOf(node)) : undefined);
    }
  }

  /** Nobody was heard before this listened, or before nodes were told that it leads. */
  #isSilentFor(node: string, forMs: number): boolean {
    const nowMs = this.#dependencies.clock.monotonicMs();
    const couldMs = [this.#hearsSinceMs, this.#leads?.sinceMs ?? nowMs, this.#attestsSinceMs.get(node) ?? nowMs];
    return nowMs - (this.#heartbeats.last(node)?.atMs ?? Math.max(...couldMs)) >= forMs;
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
