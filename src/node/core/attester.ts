import { ATTESTATION, attestationName, parsePeers } from '../../domain/node-daemon/attestation.ts';
import type { Attestation, PeersTold } from '../../domain/node-daemon/attestation.ts';
import { sameContent } from '../../domain/canonical.ts';
import type { CountedPeers } from '../../domain/node-daemon/peers.ts';
import { ApiStatusError } from '../../ports/api-transport.ts';
import { microTimestamp } from '../../ports/clock.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { DaemonLog } from '../../ports/node-daemon.ts';
import type { DaemonTimes } from './daemon-times.ts';
import type { Lease } from '../../ports/objects.ts';
import { LEASES } from '../../ports/resources.ts';

export interface AttesterPorts {
  clock: Clock;
  cluster: Pick<Cluster, 'get' | 'create' | 'mergePatch'>;
  log: DaemonLog;
}

export interface AttesterOptions {
  node: string;
  /** The fence namespace. */
  namespace: string;
  times: Pick<DaemonTimes, 'current'>;
}

/** What it says of itself; the peers, and how they are counted, are added here. */
export type Said = Omit<Attestation, 'peers' | 'domains'>;

const CONFLICT = 409;
const NOT_FOUND = 404;
const RETRY_MS = 2_000;
const TRIES = 3;
/** Ways to count that may stand at once; where there are more, nobody is counted until one is acknowledged. */
const COUNTED_MAX = 8;

/**
 * Writes the attestation into the node's Lease: every interval, and at once where something changed. One write at a time, each under the resourceVersion of the
 * one before it, so that a write that comes late changes nothing that was accepted since.
 */
export class Attester {
  readonly #ports: AttesterPorts;
  readonly #options: AttesterOptions;
  readonly #say: () => Said;
  readonly #changed: () => void;
  #lease: Lease | undefined;
  #told: PeersTold = { peers: [] };
  /** Named in the last attestation that the API server acknowledged and in every one that was sent since: whichever of them it has, these stand in it. */
  #accepted: readonly string[] = [];
  /** How they are counted by the last attestation that the API server acknowledged, and by every one that was sent since. */
  #counted: readonly CountedPeers[] = [];
  #attestedAtMs: number | undefined;
  #acknowledged: Said | undefined;
  #problem: string | undefined;
  #writing: Promise<unknown> = Promise.resolve();
  #cancelNext: () => void = () => undefined;
  #turn = 0;
  #isClosed = false;

  /** `changed` is called where the peers, or those that are accepted, may be others than before. */
  constructor(ports: AttesterPorts, options: AttesterOptions, say: () => Said, changed: () => void) {
    this.#ports = ports;
    this.#options = options;
    this.#say = say;
    this.#changed = changed;
  }

  get told(): PeersTold {
    return this.#told;
  }

  /** Peers whose vouch the controller knows of, whichever of the last writes the API server has. */
  get accepted(): readonly string[] {
    return this.#accepted;
  }

  /** Vouches are enough only where they are by each of these. */
  get counted(): readonly CountedPeers[] {
    return this.#counted;
  }

  /** When the API server last acknowledged an attestation, on the running clock. */
  get attestedAtMs(): number | undefined {
    return this.#attestedAtMs;
  }

  /** What it said in the last write that the API server acknowledged. */
  get acknowledged(): Said | undefined {
    return this.#acknowledged;
  }

  get problem(): string | undefined {
    return this.#problem;
  }

  start(): void {
    this.#next(0);
  }

  /** Something that is attested has changed. */
  wake(): void {
    if (!this.#isClosed) this.#next(0);
  }

  /** Writes until the API server has acknowledged what `say` says by then, or `deadlineMs` is over. Nothing is written afterwards. */
  async end(deadlineMs: number): Promise<boolean> {
    this.#isClosed = true;
    this.#cancelNext();
    const { clock } = this.#ports;
    const endsAtMs = clock.monotonicMs() + deadlineMs;
    for (;;) {
      if (await this.#attest()) return true;
      if (clock.monotonicMs() + RETRY_MS > endsAtMs) return false;
      await clock.sleep(RETRY_MS);
    }
  }

  #next(delayMs: number): void {
    this.#cancelNext();
    const turn = (this.#turn += 1);
    this.#cancelNext = this.#ports.clock.after(delayMs, () => {
      void this.#attest().then((isWritten) => {
        // Whoever woke it while this was written has a turn of its own, which must not be put off.
        if (!this.#isClosed && turn === this.#turn) this.#next(isWritten ? this.#options.times.current.attestationIntervalMs : RETRY_MS);
      });
    });
  }

  /** Never rejects: what went wrong is told once, and kept as the problem. */
  async #attest(): Promise<boolean> {
    const attesting = this.#writing.then(async () => this.#written());
    this.#writing = attesting;
    return attesting;
  }

  async #written(): Promise<boolean> {
    try {
      let isWritten = await this.#write();
      for (let tries = 1; tries < TRIES && !isWritten; tries += 1) isWritten = await this.#write();
      if (!isWritten) throw new Error(`somebody else writes Lease ${attestationName(this.#options.node)} all the time`);
      this.#problem = undefined;
      this.#attestedAtMs = this.#ports.clock.monotonicMs();
      return true;
    } catch (error) {
      const problem = `the attestation cannot be written: ${error instanceof Error ? error.message : String(error)}`;
      if (problem !== this.#problem) this.#ports.log.warn('the attestation cannot be written', { error: problem });
      this.#problem = problem;
      return false;
    }
  }

  /** False: somebody else wrote meanwhile; what stands there is known now. */
  async #write(): Promise<boolean> {
    const { cluster, clock } = this.#ports;
    const { node, namespace } = this.#options;
    const name = attestationName(node);
    if (this.#lease === undefined) this.#learn(await cluster.get(LEASES, name, namespace));
    const peers = this.#told.peers.map((peer) => peer.node);
    const counting = countedOf(this.#told);
    this.#expect(peers, counting);
    const said = this.#say();
    const annotations = { [ATTESTATION]: JSON.stringify({ ...said, peers, domains: domainsOf(node, counting) } satisfies Attestation) };
    const spec = { holderIdentity: node, renewTime: microTimestamp(clock) };
    try {
      const resourceVersion = this.#lease?.metadata.resourceVersion;
      const written =
        resourceVersion === undefined
          ? await cluster.create(LEASES, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name, namespace, annotations }, spec })
          : await cluster.mergePatch(LEASES, name, { metadata: { resourceVersion, annotations }, spec }, { namespace });
      this.#acknowledged = said;
      this.#accept(peers, [counting]);
      this.#learn(written);
      return true;
    } catch (error) {
      if (!(error instanceof ApiStatusError) || (error.status !== CONFLICT && error.status !== NOT_FOUND)) throw error;
      this.#lease = undefined;
      return false;
    }
  }

  /** Whom nobody may rely on any more, and how they may count from now on, is known before the write leaves. */
  #expect(peers: readonly string[], counting: CountedPeers): void {
    const isKnown = this.#counted.some((one) => sameContent(one, counting));
    const counted = isKnown ? this.#counted : [...this.#counted, counting];
    const isTooMany = counted.length > COUNTED_MAX;
    this.#accept(isTooMany ? [] : this.#accepted.filter((peer) => peers.includes(peer)), isTooMany ? this.#counted : counted);
  }

  #accept(peers: readonly string[], counted: readonly CountedPeers[]): void {
    const isSame = peers.join() === this.#accepted.join() && sameContent(counted, this.#counted);
    this.#accepted = peers;
    this.#counted = counted;
    if (!isSame) this.#changed();
  }

  #learn(lease: Lease | undefined): void {
    this.#lease = lease;
    const told = (lease === undefined ? undefined : parsePeers(lease)) ?? { peers: [] };
    this.#told = told;
    this.#changed();
  }
}

function countedOf({ domain, peers }: PeersTold): CountedPeers {
  return {
    ...(domain === undefined ? {} : { domain }),
    peers: peers.map((peer) => ({ node: peer.node, ...(peer.domain === undefined ? {} : { domain: peer.domain }) })),
  };
}

function domainsOf(node: string, { domain, peers }: CountedPeers): Record<string, string> {
  const all = [{ node, domain }, ...peers];
  return Object.fromEntries(all.flatMap((one) => (one.domain === undefined ? [] : [[one.node, one.domain]])));
}
