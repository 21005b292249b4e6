import type { Clock } from '../../ports/clock.ts';
import type { BareMetalHost, Metal3Remediation } from '../../ports/metal3.ts';
import { HostObservations } from '../shared/baremetal-host/host-observations.ts';
import type { NodeLock } from '../shared/claims/node-lock.ts';
import { FirstSeenPhase } from '../shared/first-seen-phase.ts';
import { LongTrouble } from '../shared/long-trouble.ts';
import { LifeReads } from './life-reads.ts';
import { holdKeyOf } from './names.ts';

/** What this process remembers of one remediation: its own first sights, and its lock. Nothing is decided wrongly without it, only later. */
export class Memory {
  readonly uid: string;
  readonly life: LifeReads;
  readonly hosts: HostObservations;
  readonly phase: FirstSeenPhase;
  /** `namespace/name` of the host that it is about. */
  hostKey: string | undefined;
  /** The node that it is about, where that is in this cluster. */
  nodeName: string | undefined;
  /** A lock that was taken, and may be ours still. */
  locked: { lock: NodeLock; node: string } | undefined;
  isAdopted = false;
  /** It was looked at: what it has switched off counts for the storm policies, as far as it could be read. */
  isSeen = false;
  /** Calls that fail and are tried again. */
  readonly failing: LongTrouble;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #deniedSinceMs: number | undefined;
  #taint: { node: string; seenMs: number } | undefined;
  readonly #fence: FirstSeenPhase;

  constructor(clock: Pick<Clock, 'monotonicMs'>, uid: string) {
    this.#clock = clock;
    this.uid = uid;
    this.failing = new LongTrouble(clock);
    this.phase = new FirstSeenPhase(clock);
    this.#fence = new FirstSeenPhase(clock);
    this.life = new LifeReads(clock);
    this.hosts = new HostObservations(clock, [holdKeyOf(uid)]);
  }

  /** Since when it has been seen in this phase of this retry, or being deleted. */
  phaseSeenMs({ metadata, status }: Metal3Remediation): number {
    return this.phase.sinceMs([status?.phase ?? '', status?.retryCount ?? 0, metadata.deletionTimestamp ?? ''].join(' '));
  }

  /** Since when the Node with this uid has been seen out of service. */
  taintSeenMs(node: string): number {
    if (this.#taint?.node !== node) this.#taint = { node, seenMs: this.#clock.monotonicMs() };
    return this.#taint.seenMs;
  }

  /** For how long its Node may not be read, told at each look. */
  deniedForMs(isDenied: boolean): number {
    const nowMs = this.#clock.monotonicMs();
    this.#deniedSinceMs = isDenied ? (this.#deniedSinceMs ?? nowMs) : undefined;
    return nowMs - (this.#deniedSinceMs ?? nowMs);
  }

  forgetTaint(): void {
    this.#taint = undefined;
  }

  /** Since when the NodeFence with this uid has been seen. */
  fenceSeenMs(uid: string): number {
    return this.#fence.sinceMs(uid);
  }

  /** Whether it, or its fence, is held, told at each look: none of its times runs meanwhile. */
  held(isHeld: boolean): void {
    this.phase.held(isHeld);
    this.#fence.held(isHeld);
  }

  /**
   * A host as the watch shows it. One that is on ends what was seen of its off; the beginning of an off is seen in a pass alone, after the Lease of the Node was
   * read, so that no renewal from before it is taken for one after it.
   */
  watched(host: BareMetalHost): void {
    if (host.status?.poweredOn === true) this.hosts.see(host);
  }
}
