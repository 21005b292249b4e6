import type { ApiEvent, TraceEvent } from '../../laws/trace.ts';
import { LEADER_LEASE } from '../../manager/composition.ts';
import type { Lease } from '../../ports/objects.ts';

/** One term of one leader, as the writes of the Lease show it. */
export interface Term {
  /** Identity that stood in the Lease. */
  identity: string;
  epoch: number;
  /** Its first and its last write of the Lease as holder. */
  fromMs: number;
  lastMs: number;
}

/** Who led, in order, from the API's audit. */
export function termsOf(trace: readonly TraceEvent[]): Term[] {
  const terms: Term[] = [];
  for (const event of trace) {
    const spec = leaseIn(event)?.spec;
    const identity = spec?.holderIdentity ?? '';
    if (identity === '') continue;
    const term = terms.at(-1);
    if (term?.identity === identity) term.lastMs = event.at;
    else terms.push({ identity, epoch: spec?.leaseTransitions ?? 0, fromMs: event.at, lastMs: event.at });
  }
  return terms;
}

/** The controllers' Lease after a successful write of it. */
function leaseIn(event: TraceEvent): Lease | undefined {
  if (event.kind !== 'api' || !isWrite(event) || event.resource !== 'leases.coordination.k8s.io') return undefined;
  const lease = event.object as Lease | undefined;
  return lease?.metadata.name === LEADER_LEASE ? lease : undefined;
}

function isWrite({ verb, status }: ApiEvent): boolean {
  return status < 300 && (verb === 'create' || verb === 'update' || verb === 'patch');
}
