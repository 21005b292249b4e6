import { ATTESTATION, PEERS } from '../../../src/domain/node-daemon/attestation.ts';
import type { Datagram } from '../../../src/domain/node-daemon/datagram.ts';
import { open, seal } from '../../../src/domain/node-daemon/seal.ts';
import type { DatagramSocket } from '../../../src/ports/node-daemon.ts';
import { keyOf, macOf } from '../../../src/testbed/simulation/keys.ts';
import type { DaemonWorld } from './world.ts';

interface Attested {
  peers: string[];
  domains?: Readonly<Record<string, string>>;
  watchdog?: { state: string };
  storage?: string;
  kdump?: { isArmed: boolean; notifies: string[] };
  proposedBmc?: { address: string; mac?: string };
  foundWell?: { type: string; at: string }[];
}

/** A controller as its page describes it: grants what asks, tells who the peers are, ends grants, and counts. It shares no code with the controllers'. */
export class ControllerModel {
  readonly #world: DaemonWorld;
  readonly #socket: DatagramSocket;
  readonly #address: string;
  isSilent = false;
  readonly ended = new Set<string>();
  /** Peers that promised, by the boot that they promised about. */
  readonly promised = new Map<string, Set<string>>();
  /** Since when nothing can keep the boot up any more, by node. */
  readonly endedAtMs = new Map<string, number>();
  /** What the last heartbeat said, by node. */
  readonly signs = new Map<string, number>();
  #eligible = new Map<string, string[]>();

  constructor(world: DaemonWorld, name = 'controller') {
    this.#world = world;
    this.#address = `${name}:7411`;
    this.#socket = world.socket(name, this.#address);
    this.#socket.receive((bytes, from) => this.#receive(bytes, from));
    this.tell('');
  }

  /** What nodes are told of the controllers, and of the times that they shall have: `isolation_timeout=60000ms`. */
  tell(times: string): void {
    const data = { 'public-keys': keyOf('controller'), addresses: this.#address, times };
    this.#world.put('ConfigMap', { metadata: { name: 'nodefence-controllers' }, data } as never);
  }

  /** Tells each machine its peers; `domains` by machine. */
  assign(peersOf: Readonly<Record<string, readonly string[]>>, domains: Readonly<Record<string, string>> = {}): void {
    for (const [node, peers] of Object.entries(peersOf)) {
      const told = peers.map((peer) => ({
        node: peer,
        publicKey: keyOf(peer),
        address: `${peer}:7411`,
        ...(domains[peer] === undefined ? {} : { domain: domains[peer] }),
      }));
      const name = `nodefence-node-${node}`;
      const found = this.#world.object('Lease', name) ?? { metadata: { name } };
      const text = JSON.stringify({ ...(domains[node] === undefined ? {} : { domain: domains[node] }), peers: told });
      this.#world.put('Lease', { ...found, metadata: { ...found.metadata, annotations: { ...found.metadata.annotations, [PEERS]: text } } });
    }
  }

  attested(node: string): Attested | undefined {
    const text = this.#world.object('Lease', `nodefence-node-${node}`)?.metadata.annotations?.[ATTESTATION];
    return text === undefined ? undefined : (JSON.parse(text) as Attested);
  }

  /** From now on nobody is granted for this boot; peers are asked for their promise each second. */
  end(node: string): void {
    const machine = this.#world.machines.get(node);
    const attested = this.attested(node);
    if (machine === undefined || attested === undefined) throw new Error(`${node} attested nothing`);
    this.ended.add(machine.bootID);
    this.#eligible.set(node, attested.peers);
    this.promised.set(machine.bootID, new Set());
    this.#askPromises(node, machine.bootID);
  }

  #askPromises(node: string, bootID: string): void {
    const eligible = this.#eligible.get(node) ?? [];
    const missing = eligible.filter((peer) => this.promised.get(bootID)?.has(peer) !== true);
    if (!this.#mayStillBeKept(node, missing)) {
      this.endedAtMs.set(node, this.#world.clock.monotonicMs());
      return;
    }
    for (const peer of missing)
      this.#send(`${peer}:7411`, peer, {
        type: 'promise-request',
        counter: 1,
        sender: 'controller-a',
        signs: 0,
        subject: node,
        subjectBootID: bootID,
      });
    this.#world.clock.after(1_000, () => this.#askPromises(node, bootID));
  }

  /** By the page: more than half of the failure domains that it attests, its own counted; more than half of the peers where all are of one. */
  #mayStillBeKept(node: string, missing: readonly string[]): boolean {
    const { peers = [], domains } = this.attested(node) ?? {};
    if (domains === undefined || missing.some((peer) => !peers.includes(peer))) return missing.length > 0;
    const placeOf = (name: string): string => domains[name] ?? `alone ${name}`;
    const places = new Set([node, ...peers].map(placeOf));
    const [voting, all] = places.size === 1 ? [missing.length, peers.length] : [new Set(missing.map(placeOf)).size, places.size];
    return voting > all / 2;
  }

  #send(address: string, node: string, datagram: Datagram): void {
    this.#socket.send(address, seal(datagram, macOf(keyOf('controller'), keyOf(node))));
  }

  #receive(bytes: Uint8Array, from: string): void {
    const opened = open(bytes, ({ sender }) => [macOf(keyOf('controller'), keyOf(sender))]);
    if ('problem' in opened || this.isSilent) return;
    const { type, sender, bootID = '', subjectBootID = '', counter } = opened.datagram;
    if (type === 'promise') this.promised.get(subjectBootID)?.add(sender);
    if (type !== 'heartbeat') return;
    this.signs.set(sender, opened.datagram.signs);
    this.#send(from, sender, { type: this.ended.has(bootID) ? 'refusal' : 'grant', counter, sender: 'controller-a', signs: 0 });
  }
}
