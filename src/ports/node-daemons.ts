import type { OrderOutcome } from '../domain/node-daemon/order.ts';
import type { Permit } from '../domain/node-daemon/unfencing.ts';
import type { GrantsEnded, LastOrdered } from '../domain/node-daemon/attestation.ts';

export interface EndingCall {
  signal: AbortSignal;
  /** How long promises are collected. */
  deadlineMs: number;
  /** As `Target.beforeSend`, in the turn in which the ending is written; not called where it stands already. */
  beforeSend(): void;
}

/** What agents are given of the controllers' side of the node daemons. */
export interface NodeDaemons {
  /**
   * Ends the grants for this boot of the node and collects the promises of its peers. There is no way back for that boot, so it is a set: only a run does it, never a
   * confirmation, a read or a probe. May be repeated. Resolves when all have promised, or with what there is when the time is over.
   */
  endGrants(node: string, bootID: string, call: EndingCall): Promise<GrantsEnded>;
  /** That grants were ended was read, maybe before our watch shows it: none leaves here from now on. */
  sawEnded(node: string, bootID: string): void;
  /** A heartbeat of this boot has come in the last seconds, or it has renewed its slot on storage: the machine still runs it. No silence says that it does not. */
  isHeard(node: string, bootID: string): boolean;
  /** Why the times that this boot counts may take longer than is reckoned with; undefined: nothing is known that says so. */
  clockDoubt(node: string, bootID: string): string | undefined;
  /** From now on the leader permits this boot of the node to put its storage registrations back, beside each grant; until what is returned is called. */
  permit(node: string, permit: Omit<Permit, 'epoch'>): () => void;
}

/** What the fence controller is given of how nodes put their storage registrations back. */
export interface Unfencing {
  /** What the node's daemon attests; undefined: it puts nothing back. */
  of(node: string): AttestedUnfencing | undefined;
  /** By a consistent read: why a storage that is closed to the node may be opened by itself at any moment; undefined: it may not. */
  mayRegister(node: string): Promise<string | undefined>;
}

export interface AttestedUnfencing {
  /** Without `0x` and leading zeros. */
  key: string;
  devices: number;
}

export interface OrderCall {
  /** As `Target.beforeSend`, in the turn of every send; where it throws, nothing is sent from then on. */
  beforeSend(): void;
}

export interface OrderUnderWay {
  /** How often it was sent; `error`: why it is sent no more. */
  state(): { sent: number; error?: Error };
  /** What the daemon attests of it; the last word is counted at its end. */
  answered(outcome: Pick<OrderOutcome, 'state' | 'why'>): void;
  /** It is sent no more. */
  end(): void;
}

/** What agents are given to order the daemon of a node to do something on its node. Nothing of it is evidence. */
export interface NodeOrders {
  /**
   * Writes the order into the node's Lease, and answers the heartbeats of that boot with it until `end`. A set: only a run does it. What became of it stands in the
   * attestation. Rejects where another boot is attested, or where it could not be written.
   */
  order(node: string, ordered: LastOrdered, call: OrderCall): Promise<OrderUnderWay>;
  /** A heartbeat of this boot has come in the last seconds. */
  isHeard(node: string, bootID: string): boolean;
}
