import type { Lister } from '../../ports/cluster.ts';
import type { Metal3Remediation } from '../../ports/metal3.ts';
import { standsOnHost } from './situation.ts';
import type { Snapshot } from './snapshot.ts';

/** The lock on a node is one for all remediations: of several for one Machine the oldest goes first, and the others wait until it is done. In words; `undefined`: none is in the way. */
export function competingRemediationOf(snapshot: Snapshot, own: Metal3Remediation, remediations: Lister<Metal3Remediation>): string | undefined {
  const machine = machineOf(own);
  if (machine === undefined || standsOnHost(snapshot)) return undefined;
  for (const other of remediations.all()) {
    const { metadata } = other;
    if (metadata.uid === own.metadata.uid || machineOf(other) !== machine || isDone(other)) continue;
    if (isBegun(other) || ageOf(other) < ageOf(own)) return `Metal3Remediation ${metadata.namespace ?? ''}/${metadata.name}`;
  }
  return undefined;
}

function machineOf({ metadata }: Metal3Remediation): string | undefined {
  return metadata.ownerReferences?.find(({ kind }) => kind === 'Machine')?.uid;
}

function isBegun({ metadata }: Metal3Remediation): boolean {
  return (metadata.finalizers ?? []).length > 0;
}

/** Its owner is asked, or its node is back. */
function isDone(remediation: Metal3Remediation): boolean {
  const { phase = '' } = remediation.status ?? {};
  return phase === 'Failed' || phase === 'Deleting machine' || (phase === 'Waiting' && !isBegun(remediation));
}

/** Sorts by time, then by identity, so that of two made at once one goes on. */
function ageOf({ metadata }: Metal3Remediation): string {
  return `${metadata.creationTimestamp ?? ''} ${metadata.uid ?? ''}`;
}
