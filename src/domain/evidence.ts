import type { Evidence } from './node-fence.ts';
import type { EvidenceGrade, EvidenceKind, Plan, Step } from './plan.ts';

/** What each kind of evidence proves and permits; docs/laws.md has the table. */
export interface EvidenceRule {
  grade: EvidenceGrade;
  proves: string;
  /** May pods be deleted with grace 0, and the out-of-service taint be set? */
  permitsTaint: boolean;
  permitsForcedDeletion: boolean;
  /** May VolumeAttachments be deleted, after the pods? */
  permitsDetach: boolean;
  /** Only pods whose writable volumes are all on the revoked storages. */
  scopedToStorage: boolean;
}

const NOTHING_RUNS = { permitsTaint: true, permitsForcedDeletion: true, permitsDetach: true, scopedToStorage: false };
const PODS_ONLY = { permitsTaint: false, permitsForcedDeletion: true, permitsDetach: false };

export const EVIDENCE_RULES: Readonly<Record<EvidenceKind, EvidenceRule>> = {
  'power-off': { grade: 'read-back', proves: 'nothing runs there', ...NOTHING_RUNS },
  'instance-stopped': { grade: 'read-back', proves: 'the instance does not run', ...NOTHING_RUNS },
  'host-off': { grade: 'read-back', proves: 'the host of the machine does not run', ...NOTHING_RUNS },
  'storage-revoked': { grade: 'read-back', proves: 'no writes to the named storages', ...PODS_ONLY, scopedToStorage: true },
  'booted-anew': { grade: 'inferred', proves: 'the old processes are gone', ...PODS_ONLY, permitsForcedDeletion: false, scopedToStorage: false },
  ack: { grade: 'person', proves: 'an operator saw it', ...NOTHING_RUNS },
  watchdog: { grade: 'inferred', proves: 'it reset itself', ...NOTHING_RUNS },
  kdump: { grade: 'inferred', proves: 'the old kernel stopped', ...PODS_ONLY, scopedToStorage: false },
};

/** Kinds that `minimum_evidence=read-back` admits; `watchdog` and `kdump` must be named one by one. */
export const READ_BACK_EVIDENCE: readonly EvidenceKind[] = ['power-off', 'instance-stopped', 'host-off', 'storage-revoked', 'ack'];

/** The newest evidence that stands and that the plan admits for a release of the whole node; `undefined` when there is none. */
export function validEvidence(evidence: readonly Evidence[], plan: Plan): Evidence | undefined {
  return evidence.findLast(
    (item) =>
      item.voidedAt === undefined &&
      plan.minimumEvidence.includes(item.kind) &&
      EVIDENCE_RULES[item.kind].permitsForcedDeletion &&
      !EVIDENCE_RULES[item.kind].scopedToStorage,
  );
}

/** The newest evidence that stands and that the plan admits for a release of what writes to the storages that it names. */
export function validRevocation(evidence: readonly Evidence[], plan: Plan): Evidence | undefined {
  return evidence.findLast(
    (item) => item.voidedAt === undefined && plan.minimumEvidence.includes(item.kind) && EVIDENCE_RULES[item.kind].scopedToStorage,
  );
}

/** What a release in this step rests on. */
export function proofOf(evidence: readonly Evidence[], plan: Plan, step: Step): Evidence | undefined {
  return step === 'isolation' ? validRevocation(evidence, plan) : validEvidence(evidence, plan);
}

/** What its machine comes up again after by itself: its watchdog has reset it, or its crash kernel boots it. */
export const RESETS: ReadonlySet<EvidenceKind> = new Set(['watchdog', 'kdump']);

/** The newest evidence for a release of the whole node whose machine is off, and stays so until somebody switches it on. */
export function provenOff(evidence: readonly Evidence[], plan: Plan): Evidence | undefined {
  return validEvidence(
    evidence.filter(({ kind }) => !RESETS.has(kind)),
    plan,
  );
}

/** Why an evidence ended that nothing has disproved. */
export const SWITCHED_ON = 'switched on by us';

/** P2: every standing evidence loses its force; what was voided before keeps its reason. */
export function voidEvidence(evidence: readonly Evidence[], at: string, because: string): Evidence[] {
  return evidence.map((item) => (item.voidedAt === undefined ? { ...item, voidedAt: at, voidedBecause: because } : item));
}
