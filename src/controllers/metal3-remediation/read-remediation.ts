import type { Metal3Remediation } from '../../ports/metal3.ts';
import { timeOf } from '../shared/remediation/actions.ts';
import { PAUSED } from '../shared/remediation/read-machine.ts';
import { phaseOf } from './names.ts';
import type { RemediationFacts } from './snapshot.ts';
import { readSpec } from './spec.ts';

/** What is known of it besides the object. */
export interface RemediationObservation {
  hasOwner: boolean;
  isClusterPaused: boolean;
  phaseSeenMs: number;
}

/** A remediation as it stands at the API. Throws where its phase is none that is known: what was done for it is not known either. */
export function readRemediation(object: Metal3Remediation, apiVersion: string, observation: RemediationObservation): RemediationFacts {
  const { metadata, spec, status } = object;
  const phase = phaseOf(apiVersion, status?.phase);
  if (phase === undefined) throw new Error(`status.phase: ${status?.phase ?? ''} is none that is known`);
  const annotations = metadata.annotations ?? {};
  const lastRemediatedMs = timeOf(status?.lastRemediated);
  return {
    apiVersion,
    name: metadata.name,
    namespace: metadata.namespace ?? '',
    uid: metadata.uid ?? '',
    annotations,
    finalizers: metadata.finalizers ?? [],
    isDeleting: metadata.deletionTimestamp !== undefined,
    isPaused: observation.isClusterPaused || annotations[PAUSED] !== undefined,
    hasOwner: observation.hasOwner,
    ...readSpec(apiVersion, spec),
    phase,
    retryCount: status?.retryCount ?? 0,
    ...(lastRemediatedMs !== undefined && { lastRemediatedMs }),
    phaseSeenMs: observation.phaseSeenMs,
  };
}
