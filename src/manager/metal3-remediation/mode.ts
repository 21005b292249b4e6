import { doubtsOf } from '../../config/other-controller.ts';
import type { OtherFacts } from '../../config/other-controller.ts';
import type { Metal3RemediationVersion } from '../../ports/metal3.ts';

/** `--metal3-remediation`. */
export type Metal3RemediationChoice = 'auto' | 'own' | 'off';
export const METAL3_REMEDIATION_CHOICES: readonly Metal3RemediationChoice[] = ['auto', 'own', 'off'];

/** What was found of Metal3Remediations, and of Metal3's own controller for them. */
export interface Metal3Facts extends OtherFacts {
  /** undefined: they, their templates, or BareMetalHosts are not served. */
  served: Metal3RemediationVersion | undefined;
  /** The definition is ours. */
  isOurs: boolean;
  /** Of an operator that serves BareMetalHosts, under one of the names that it is known by. */
  operator: OtherFacts;
}

/** Why not, or why, in words. */
export interface Metal3Mode {
  isOwn: boolean;
  reason: string;
}

/** Ours only where Metal3's own controller can not be at work; off wherever that is in doubt: both would write the same objects. */
export function detectMetal3(choice: Metal3RemediationChoice, facts: Metal3Facts): Metal3Mode {
  const off = (reason: string): Metal3Mode => ({ isOwn: false, reason });
  if (choice === 'off') return off('--metal3-remediation off');
  if (facts.served === undefined) return off('no Metal3Remediations and BareMetalHosts are served');
  const doubts = doubtsOf("Metal3's own controller", facts);
  if (doubts.length > 0) return off(doubts.join('; '));
  if (choice === 'own') return { isOwn: true, reason: "--metal3-remediation own, and no sign of Metal3's own controller" };
  return facts.isOurs
    ? { isOwn: true, reason: "the Metal3Remediation definition is ours, and no sign of Metal3's own controller" }
    : off('the Metal3Remediation definition is not ours, so its controller may come back: --metal3-remediation own says that it will not');
}
