import type { Claim } from '../detection/ownership.ts';

/** `--metal3-remediation`. */
export type Metal3RemediationChoice = 'auto' | 'own' | 'off';
export const METAL3_REMEDIATION_CHOICES: readonly Metal3RemediationChoice[] = ['auto', 'own', 'off'];

export function metal3Claim(choice: Metal3RemediationChoice): Claim {
  const definition = { kind: 'Metal3Remediation', flag: '--metal3-remediation', choice };
  return { other: "Metal3's own controller", kinds: 'Metal3Remediations and BareMetalHosts', definition };
}
