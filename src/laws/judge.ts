import { DEFAULT_EXPECTATIONS } from './expectations.ts';
import type { Expectations } from './expectations.ts';
import { History } from './history.ts';
import type { Law, LawName, LawResult } from './law.ts';
import { proofBeforeRelease } from './p1-proof.ts';
import { ownBranch } from './p10-own-branch.ts';
import { silenceIsTheEnd } from './p11-silence.ts';
import { expiringEvidence } from './p2-expiry.ts';
import { order } from './p3-order.ts';
import { writeAhead } from './p4-write-ahead.ts';
import { oneFencer } from './p5-one-fencer.ts';
import { holdsWin } from './p6-holds.ts';
import { wrongConfigurationFails } from './p7-configuration.ts';
import { undoOwn } from './p8-undo.ts';
import { noSecretLeaves } from './p9-secrets.ts';
import type { TraceEvent } from './trace.ts';
import { countOverlaps } from './writers.ts';

export const LAWS: Readonly<Record<LawName, Law>> = {
  P1: proofBeforeRelease,
  P2: expiringEvidence,
  P3: order,
  P4: writeAhead,
  P5: oneFencer,
  P6: holdsWin,
  P7: wrongConfigurationFails,
  P8: undoOwn,
  P9: noSecretLeaves,
  P10: ownBranch,
  P11: silenceIsTheEnd,
};

export interface Judgement {
  laws: Record<LawName, LawResult>;
  writers: { overlaps: number };
}

/** Judges a run from outside: what devices, the API's audit, the disk and the power supply saw. The trace need not be sorted. */
export function judge(trace: readonly TraceEvent[], expectations: Partial<Expectations> = {}): Judgement {
  const complete = { ...DEFAULT_EXPECTATIONS, ...expectations };
  const history = new History(trace, complete);
  const result = (name: LawName): LawResult => {
    const { checks, violations } = LAWS[name](history, complete);
    return { checks, violations: [...violations] };
  };
  const laws = {
    P1: result('P1'),
    P2: result('P2'),
    P3: result('P3'),
    P4: result('P4'),
    P5: result('P5'),
    P6: result('P6'),
    P7: result('P7'),
    P8: result('P8'),
    P9: result('P9'),
    P10: result('P10'),
    P11: result('P11'),
  };
  return { laws, writers: { overlaps: countOverlaps(trace) } };
}

/** All violations as `P1 at 1234: ...`. */
export function violationsOf(judgement: Judgement): string[] {
  return Object.entries(judgement.laws).flatMap(([name, { violations }]) => violations.map((violation) => `${name} ${violation}`));
}
