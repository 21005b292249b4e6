import type { Datagram } from '../../domain/node-daemon/datagram.ts';
import type { Order } from '../../domain/node-daemon/order.ts';
import { vouchedByAllUntilMs } from '../../domain/node-daemon/peers.ts';
import { unpackRun } from '../../domain/node-daemon/unfencing.ts';
import type { Permit } from '../../domain/node-daemon/unfencing.ts';
import { open, seal } from '../../domain/node-daemon/seal.ts';
import type { Mac } from '../../domain/node-daemon/seal.ts';
import type { Clock } from '../../ports/clock.ts';
import type { DaemonLog, DatagramSocket, ExchangeKeys, KnownOthers } from '../../ports/node-daemon.ts';
import type { StorageSlots } from '../../ports/storage-lease.ts';
import { AnswerBudget } from './answer-budget.ts';
import type { DaemonTimes } from './daemon-times.ts';
import type { Promises } from './promises.ts';
import { Reaching } from './reaching.ts';
import { SlotAnswers } from './slot-answers.ts';

export interface ExchangePorts {
  clock: Clock;
  socket: DatagramSocket;
  keys: ExchangeKeys;
  promises: Promises;
  /** Absent: this node shares no storage lease. */
  slots?: StorageSlots;
  log: DaemonLog;
}

export interface ExchangeOptions {
  node: string;
  bootID: string;
  times: Pick<DaemonTimes, 'current'>;
}

export interface ExchangeHooks {
  /** Bits of `SIGNS`. */
  signs(): number;
  kept(untilMs: number): void;
  /** The leader permits to unfence; absent: nobody wants to know. */
  permitted?(permit: Permit, untilMs: number): void;
  /** A controller said in which term it leads. */
  heardTerm(epoch: number): void;
  ordered(received: ReceivedOrder): void;
}

/** An order that the controllers sealed. */
export interface ReceivedOrder {
  order: Order;
  epoch: number;
  isForThisBoot: boolean;
  /** Since the heartbeat was sent that it answers; undefined: this process remembers none such. */
  ageMs: number | undefined;
}

/** Peers are asked when no controller granted for so long. */
const ASK_PEERS_AFTER_MS = 2_000;

/** What only a controller says. */
const OF_CONTROLLERS: ReadonlySet<Datagram['type']> = new Set([
  'grant',
  'unfence-permit',
  'order',
  'promise-request',
  'reach-request',
  'slot-request',
]);

const NOBODY: KnownOthers = { controllerKeys: [], controllerAddresses: [], told: { peers: [] }, accepted: [] };

/** Asks controllers and peers to go on, and answers peers who ask. What is sent, what is received, and nothing that waits. */
export class Exchange {
  readonly #ports: ExchangePorts;
  readonly #options: ExchangeOptions;
  readonly #hooks: ExchangeHooks;
  #known: KnownOthers = NOBODY;
  /** When which request was sent, by its counter; `to` is the peer that was asked, undefined: the controllers. */
  readonly #asked = new Map<number, { atMs: number; to: string | undefined }>();
  readonly #vouches = new Map<string, number>();
  readonly #refused = new Map<string, number>();
  readonly #answers = new AnswerBudget();
  readonly #reaching: Reaching;
  readonly #slots: SlotAnswers | undefined;
  #counter = 0;
  #sentAtMs = Number.NEGATIVE_INFINITY;
  #grantedUntilMs = Number.NEGATIVE_INFINITY;
  #areGrantsEnded = false;

  constructor(ports: ExchangePorts, options: ExchangeOptions, hooks: ExchangeHooks) {
    this.#ports = ports;
    this.#options = options;
    this.#hooks = hooks;
    const own = { node: options.node, bootID: options.bootID, publicKey: ports.keys.publicKey };
    const macWith = (key: string): Mac | undefined => this.#macWith(key);
    this.#reaching = new Reaching({ ...ports, own, macWith, nextCounter: () => this.#nextCounter(ports.clock.monotonicMs()) });
    this.#slots = ports.slots === undefined ? undefined : new SlotAnswers({ ...ports, slots: ports.slots, own });
  }

  start(): void {
    this.#ports.socket.receive((bytes, from) => this.#receive(bytes, from));
  }

  get known(): KnownOthers {
    return this.#known;
  }

  know(known: KnownOthers): void {
    this.#known = known;
  }

  /** When the last heartbeat was sent that a controller granted; undefined: none was. */
  get grantedAtMs(): number | undefined {
    return this.#grantedUntilMs === Number.NEGATIVE_INFINITY ? undefined : this.#grantedUntilMs - this.#grantMs;
  }

  /** The end of the last grant of a controller. */
  get grantedUntilMs(): number {
    return this.#grantedUntilMs;
  }

  /** A controller said that this boot is kept up no more. */
  get areGrantsEnded(): boolean {
    return this.#areGrantsEnded;
  }

  /** Datagrams that were not what they claimed to be, by reason. */
  get refused(): ReadonlyMap<string, number> {
    return this.#refused;
  }

  /** The machine slept: answers to what was asked before say nothing of now. */
  forget(): void {
    this.#asked.clear();
    this.#vouches.clear();
    this.#reaching.forget();
    this.#slots?.forget();
  }

  /** Whoever stops says so at once: its silence is no failure. */
  farewell(): void {
    this.#sendHeartbeats(this.#ports.clock.monotonicMs());
  }

  tick(): void {
    const nowMs = this.#ports.clock.monotonicMs();
    this.#reaching.tick();
    this.#slots?.tick();
    if (nowMs - this.#sentAtMs < this.#options.times.current.heartbeatIntervalMs) return;
    this.#sentAtMs = nowMs;
    this.#answers.renew();
    for (const [counter, { atMs }] of this.#asked) if (nowMs - atMs > this.#grantMs) this.#asked.delete(counter);
    this.#sendHeartbeats(nowMs);
    if (nowMs - (this.#grantedUntilMs - this.#grantMs) > ASK_PEERS_AFTER_MS) this.#askPeers(nowMs);
  }

  /** G: how long a grant or vouch holds, from when it was asked for. */
  get #grantMs(): number {
    return this.#options.times.current.grantMs;
  }

  #sendHeartbeats(nowMs: number): void {
    const [key] = this.#known.controllerKeys;
    const mac = key === undefined ? undefined : this.#macWith(key);
    if (mac === undefined) return;
    const bytes = seal({ ...this.#own('heartbeat'), counter: this.#ask(nowMs, undefined), signs: this.#hooks.signs() }, mac);
    for (const address of this.#known.controllerAddresses) this.#ports.socket.send(address, bytes);
  }

  #askPeers(nowMs: number): void {
    const { publicKey } = this.#ports.keys;
    for (const { node, publicKey: key, address } of this.#known.told.peers) {
      const mac = this.#known.accepted.includes(node) ? this.#macWith(key) : undefined;
      if (mac === undefined) continue;
      this.#ports.socket.send(address, seal({ ...this.#own('vouch-request'), counter: this.#ask(nowMs, node), publicKey }, mac));
    }
  }

  #own(type: Datagram['type']): Omit<Datagram, 'counter'> {
    const { node, bootID } = this.#options;
    return { type, sender: node, bootID, signs: 0 };
  }

  #ask(nowMs: number, to: string | undefined): number {
    const counter = this.#nextCounter(nowMs);
    this.#asked.set(counter, { atMs: nowMs, to });
    return counter;
  }

  #nextCounter(nowMs: number): number {
    this.#counter = Math.max(this.#counter + 1, Math.floor(nowMs * 1_000));
    return this.#counter;
  }

  #receive(bytes: Uint8Array, from: string): void {
    const opened = open(bytes, (claimed) => this.#keysOf(claimed, from));
    if ('problem' in opened) {
      this.#refused.set(opened.problem, (this.#refused.get(opened.problem) ?? 0) + 1);
      return;
    }
    const { datagram, mac } = opened;
    if (datagram.type === 'grant' || datagram.type === 'vouch') this.#granted(datagram);
    if (datagram.type === 'refusal') this.#refusal(datagram);
    if (datagram.type === 'unfence-permit') this.#permitted(datagram);
    if (datagram.type === 'order') this.#order(datagram);
    if (datagram.type === 'vouch-request') this.#answer(datagram, mac, from);
    if (datagram.type === 'promise-request') this.#promise(datagram, mac, from);
    if (datagram.type === 'reach-request') this.#reaching.ask(datagram, mac, from);
    if (datagram.type === 'slot-request') this.#slots?.ask(datagram, mac, from);
    if (datagram.type === 'ping') this.#pong(datagram, mac, from);
    if (datagram.type === 'alive') this.#reaching.answered(datagram);
  }

  /** Under which keys this sender may say this: only a controller grants and asks for promises, and only a peer of this node vouches. */
  #keysOf(claimed: Datagram, from: string): Mac[] {
    const { type, sender, bootID, publicKey } = claimed;
    const isController = bootID === undefined;
    if (type === 'alive') return this.#reaching.keysOf(claimed);
    if (OF_CONTROLLERS.has(type) || (type === 'refusal' && isController))
      return isController ? this.#known.controllerKeys.map((key) => this.#macWith(key)).filter((mac) => mac !== undefined) : [];
    if (type === 'vouch-request' || type === 'ping') {
      if (publicKey === undefined || isController || sender === this.#options.node) return [];
      const isPeer = this.#known.told.peers.some(({ address }) => address === from);
      if (!this.#answers.mayAnswer(from, isPeer)) return [];
      return [this.#macWith(publicKey)].filter((mac) => mac !== undefined);
    }
    const peer = isController ? undefined : this.#known.told.peers.find(({ node }) => node === sender);
    return peer === undefined ? [] : [this.#macWith(peer.publicKey)].filter((mac) => mac !== undefined);
  }

  /** Undefined where what was written as a key is none. */
  #macWith(publicKey: string): Mac | undefined {
    try {
      return this.#ports.keys.macWith(publicKey);
    } catch (error) {
      if (error instanceof TypeError) return undefined;
      throw error;
    }
  }

  /** Holds from when it was asked for, so that it ends no later than G after the answer left. */
  #granted({ type, counter, sender, signs }: Datagram): void {
    const asked = this.#asked.get(counter);
    const from = type === 'vouch' ? sender : undefined;
    if (asked === undefined || asked.to !== from) return;
    if (from === undefined) this.#hooks.heardTerm(signs);
    const untilMs = asked.atMs + this.#grantMs;
    if (untilMs <= this.#ports.clock.monotonicMs()) return;
    if (from === undefined) {
      this.#grantedUntilMs = Math.max(this.#grantedUntilMs, untilMs);
      this.#hooks.kept(untilMs);
      return;
    }
    this.#vouches.set(from, Math.max(this.#vouches.get(from) ?? Number.NEGATIVE_INFINITY, untilMs));
    const enoughUntilMs = this.#enoughUntilMs();
    if (enoughUntilMs !== undefined) this.#hooks.kept(enoughUntilMs);
  }

  /** As a grant, it answers a heartbeat of this very process, and holds for as long; and it names this node and this boot. */
  #permitted({ counter, subject, subjectBootID, publicKey = '', signs: epoch }: Datagram): void {
    const asked = this.#asked.get(counter);
    const { node, bootID } = this.#options;
    const of = unpackRun(publicKey);
    if (asked === undefined || asked.to !== undefined || of === undefined || subject !== node || subjectBootID !== bootID) return;
    this.#hooks.permitted?.({ ...of, epoch, bootID }, asked.atMs + this.#grantMs);
  }

  #enoughUntilMs(): number | undefined {
    const { told, accepted, counted = [told] } = this.#known;
    for (const node of this.#vouches.keys()) if (!accepted.includes(node)) this.#vouches.delete(node);
    return vouchedByAllUntilMs(this.#options.node, counted, this.#vouches);
  }

  /** An order holds as a grant does: from when the heartbeat was sent that it answers, by this node's own clock. */
  #order({ order, counter, signs: epoch, subject, subjectBootID }: Datagram): void {
    if (order === undefined) return;
    const { node, bootID } = this.#options;
    const asked = this.#asked.get(counter);
    const ageMs = asked === undefined || asked.to !== undefined ? undefined : this.#ports.clock.monotonicMs() - asked.atMs;
    this.#hooks.ordered({ order, epoch, ageMs, isForThisBoot: subject === node && subjectBootID === bootID });
  }

  #refusal({ counter, sender, bootID, signs }: Datagram): void {
    const asked = this.#asked.get(counter);
    if (asked === undefined || (bootID !== undefined && asked.to !== sender)) return;
    if (bootID === undefined) this.#hooks.heardTerm(signs);
    if (bootID === undefined && !this.#areGrantsEnded) {
      this.#areGrantsEnded = true;
      this.#ports.log.warn('the controller keeps this boot up no more');
    }
  }

  #answer({ bootID, counter }: Datagram, mac: Mac, from: string): void {
    if (bootID === undefined) return;
    const type = this.#ports.promises.mayVouchFor(bootID) ? 'vouch' : 'refusal';
    this.#ports.socket.send(from, seal({ ...this.#own(type), counter }, mac));
  }

  /** Only for this boot: a node that was started anew is another one. */
  #pong({ subject, subjectBootID, counter }: Datagram, mac: Mac, from: string): void {
    const { node, bootID } = this.#options;
    if (subject === node && subjectBootID === bootID) this.#ports.socket.send(from, seal({ ...this.#own('alive'), counter }, mac));
  }

  #promise({ subject, subjectBootID, counter }: Datagram, mac: Mac, from: string): void {
    if (subject === undefined || subjectBootID === undefined || subjectBootID === this.#options.bootID) return;
    void this.#ports.promises.promise(subject, subjectBootID).then((isOnDisk) => {
      if (isOnDisk) this.#ports.socket.send(from, seal({ ...this.#own('promise'), counter, subject, subjectBootID }, mac));
    });
  }
}
