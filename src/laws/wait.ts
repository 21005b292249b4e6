import type { ApiAction, History } from './history.ts';

/** The waiting that a release rests on: for a watchdog that must have bitten, or for the messages of a kernel that dumps. */
export interface Wait {
  kind: 'watchdog' | 'kdump';
  /** Where its intent was written: a sign of life after it voids what it came to. */
  beganPosition: number;
  /** Where its evidence was written: what the release reads once more, it reads after that. */
  provenPosition: number;
  /** What must hold of it (P1), and the complaint otherwise. */
  checks: readonly (readonly [holds: boolean, why: string])[];
}

/** `undefined` when the fence's newest standing evidence is of a kind that is not waited for. */
export function waitBehind(history: History, release: ApiAction): Wait | undefined {
  const fence = history.fenceOf(release.node, release.position);
  const status = fence?.statuses.before(release.position);
  const proof = status?.evidence.findLast((item) => item.voidedAt === undefined);
  if (fence === undefined || status === undefined || (proof?.kind !== 'watchdog' && proof?.kind !== 'kdump')) return undefined;
  const { kind, source } = proof;
  const entry = status.journal.find(({ id }) => id === source);
  const statuses = fence.statuses.entries;
  const began = statuses.find(({ value }) => value.journal.some(({ id }) => id === source));
  const proven = statuses.find(({ value }) => value.evidence.some((item) => item.source === source));
  const isAdmitted = status.frozen?.plan.minimumEvidence.includes(kind) === true;
  const lastSign = history.lifeSigns(release.node, -1, release.position).at(-1)?.position ?? -1;
  const edges = history.powerEdges(release.node, lastSign, release.position);
  const hasEnded =
    edges.some(({ state, cause }) => state === 'off' || cause === 'panic' || cause === 'reset') ||
    history.hasPanicked(release.node, lastSign, release.position) ||
    !history.isPoweredOn(release.node, release.position);
  return {
    kind,
    beganPosition: began?.position ?? release.position,
    provenPosition: proven?.position ?? release.position,
    checks: [
      [isAdmitted, `its configuration does not admit evidence ${kind}`],
      [entry?.result === 'succeeded' && entry.action !== 'off' && entry.step === 'power-management', `no run had waited for its evidence ${kind}`],
      [kind === 'watchdog' || release.what.startsWith('pod '), 'a kernel that dumps lets pods go, and nothing else'],
      [hasEnded, `${release.node} had neither gone down nor panicked since its last sign of life`],
    ],
  };
}
