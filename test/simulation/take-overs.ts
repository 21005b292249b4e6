import { LEADER_LEASE } from '../../src/manager/composition.ts';
import type { NodeFenceStatus } from '../../src/domain/node-fence.ts';
import type { ApiEvent, DeviceEvent } from '../../src/laws/trace.ts';
import type { Lease, ObjectMeta } from '../../src/ports/objects.ts';

const LEASE_MS = 15_000;
const LEASE_RESERVE_MS = 1_000;
/** Clocks differ by one percent each way; a request is at most so long on its way to a device. */
const DRIFT = 1.011;
const ON_ITS_WAY_MS = 25;

interface Term {
  /** Process name. Empty: nobody holds it. */
  holder: string;
  epoch: number;
  sinceMs: number;
  renewedAtMs: number;
  /** Devices that this holder has read. */
  read: Set<string>;
}

interface OpenIntent {
  id: string;
  device: string;
  epoch: number;
  deadlineMs: number;
  seenAtMs: number;
}

/**
 * One leader (P5), judged from outside at every event: who holds the Lease, what the holder may touch, and when. Returns what is broken. It knows more than `src/laws` may: which process made a call.
 */
export class TakeOvers {
  #term: Term = { holder: '', epoch: 0, sinceMs: 0, renewedAtMs: 0, read: new Set() };
  /** Processes that gave the Lease back, and when. */
  readonly #handedOver = new Map<string, number>();
  /** By fence. */
  readonly #intents = new Map<string, readonly OpenIntent[]>();
  #count = 0;

  /** Process that holds the Lease. */
  get holder(): string | undefined {
    return this.#term.holder === '' ? undefined : this.#term.holder;
  }

  /** Since when; `Infinity` while nobody does. */
  get heldSinceMs(): number {
    return this.#term.holder === '' ? Number.POSITIVE_INFINITY : this.#term.sinceMs;
  }

  /** How often a process took the Lease after another one. */
  get count(): number {
    return this.#count;
  }

  /** A request of a controller, as it took effect; `process` made it. */
  called(event: ApiEvent, process: string, nowMs: number): string | undefined {
    if (event.status >= 300 || event.verb === 'get' || event.verb === 'list' || event.verb === 'watch') {
      return undefined;
    }
    // A review is a question that is asked by POST: nothing is stored.
    if (event.resource.endsWith('reviews.authorization.k8s.io')) return undefined;
    if (event.resource === 'leases.coordination.k8s.io') {
      return event.name === LEADER_LEASE ? this.#leaseWritten(event.object as Lease, process, nowMs) : undefined;
    }
    if (event.resource === 'nodefences.ha.k8s.io') {
      this.#fenceWritten(event, nowMs);
    }
    return this.#handedOver.has(process)
      ? `P5: ${process} wrote ${event.resource} ${event.name ?? ''} after it had handed the Lease over`
      : undefined;
  }

  /** A device was asked something. */
  asked(event: DeviceEvent, nowMs: number): string | undefined {
    const term = this.#term;
    const what = `${event.session} ${event.action === 'set' ? `set ${event.device} ${event.want ?? ''}` : `${event.action === 'run' ? 'began a program on' : 'asked'} ${event.device}`}`;
    if (event.action === 'set' || event.action === 'run') {
      const wrong = this.#wrongSet(event, nowMs);
      if (wrong !== undefined) {
        return `P5: ${what} ${wrong}`;
      }
    }
    if (event.session !== term.holder) {
      return undefined;
    }
    for (const intent of [...this.#intents.values()].flat()) {
      const waitedMs = nowMs - Math.max(intent.seenAtMs, term.sinceMs);
      if (intent.device === event.device && intent.epoch < term.epoch && waitedMs * DRIFT < intent.deadlineMs) {
        return `P5: ${what} ${waitedMs.toFixed(0)} ms after it could see intent ${intent.id} of epoch ${intent.epoch}, whose deadline is ${intent.deadlineMs} ms`;
      }
    }
    if (event.action === 'read') {
      term.read.add(event.device);
    }
    return undefined;
  }

  #wrongSet(event: DeviceEvent, nowMs: number): string | undefined {
    const { holder, renewedAtMs, read } = this.#term;
    // What had left before the Lease was given back may arrive after it: its intent stays open, and the successor waits that out.
    if (holder !== event.session && nowMs - (this.#handedOver.get(event.session) ?? Number.NEGATIVE_INFINITY) <= ON_ITS_WAY_MS) {
      return undefined;
    }
    if (event.session !== holder) {
      return `while ${holder === '' ? 'nobody' : holder} held the Lease`;
    }
    const ageMs = nowMs - renewedAtMs;
    if (ageMs > (LEASE_MS - LEASE_RESERVE_MS) * DRIFT + ON_ITS_WAY_MS) {
      return `${ageMs.toFixed(0)} ms after it last renewed the Lease`;
    }
    return event.action === 'run' || read.has(event.device) ? undefined : 'before it had read it';
  }

  #leaseWritten(lease: Lease, process: string, nowMs: number): string | undefined {
    const term = this.#term;
    if ((lease.spec.holderIdentity ?? '') === '') {
      this.#handedOver.set(process, nowMs);
      this.#term = { ...term, holder: '', renewedAtMs: nowMs };
      return undefined;
    }
    if (process === term.holder) {
      term.renewedAtMs = nowMs;
      return undefined;
    }
    const waitedMs = nowMs - term.renewedAtMs;
    const isEarly = term.holder !== '' && waitedMs * DRIFT < LEASE_MS;
    this.#count += term.epoch === 0 ? 0 : 1;
    this.#term = { holder: process, epoch: lease.spec.leaseTransitions ?? 0, sinceMs: nowMs, renewedAtMs: nowMs, read: new Set() };
    return isEarly ? `P5: ${process} took the Lease ${waitedMs.toFixed(0)} ms after ${term.holder} had renewed it` : undefined;
  }

  #fenceWritten(event: ApiEvent, nowMs: number): void {
    const name = event.name ?? '';
    const status = (event.object as { status?: Partial<NodeFenceStatus> } | undefined)?.status;
    const known = this.#intents.get(name) ?? [];
    const { metadata } = (event.object ?? {}) as { metadata?: ObjectMeta };
    const isGone = metadata?.deletionTimestamp !== undefined && (metadata.finalizers ?? []).length === 0;
    const open = isGone ? [] : (status?.journal ?? []).filter((entry) => entry.finishedAt === undefined && entry.device !== '');
    this.#intents.set(
      name,
      open.map(({ id, device, epoch, deadlineMs }) => known.find((intent) => intent.id === id) ?? { id, device, epoch, deadlineMs, seenAtMs: nowMs }),
    );
  }
}
