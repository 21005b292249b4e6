import { doubtsOf } from '../../config/other-controller.ts';
import type { OtherFacts } from '../../config/other-controller.ts';

/** `--machine-remediation`. */
export type MachineRemediationChoice = 'incident' | 'seed-table' | 'off';
export const MACHINE_REMEDIATION_CHOICES: readonly MachineRemediationChoice[] = ['incident', 'seed-table', 'off'];

/** Machines of one group as they are served, and what was found of whoever obeys the same annotation on them. */
export interface GroupFacts extends OtherFacts {
  group: string;
  /** undefined: its Machines are not served. */
  version: string | undefined;
}

/** All that is looked at. */
export interface FoundFacts {
  groups: readonly GroupFacts[];
  /** BareMetalHosts are served. */
  hasHosts: boolean;
  /** Of an operator that serves them, under one of the names that it is known by. */
  operator: OtherFacts;
}

/** Whose Machines are ours, and what is known of their hosts. */
export interface OwnPart {
  groups: readonly { group: string; version: string }[];
  hasHosts: boolean;
}

export interface GroupMode {
  isOwn: boolean;
  /** Why, in words. */
  reason: string;
}

/** Ours only where no other controller can be at work; off wherever that is in doubt: two would switch one machine off twice. */
export function detectGroup(facts: GroupFacts): GroupMode {
  if (facts.version === undefined) return { isOwn: false, reason: 'no Machines are served' };
  const doubts = doubtsOf('another controller', facts);
  return doubts.length > 0 ? { isOwn: false, reason: doubts.join('; ') } : { isOwn: true, reason: 'no sign of another controller' };
}

/** An operator serves BareMetalHosts, or may: then nobody else switches them. */
export function mayHaveOperator({ operator, hasHosts }: FoundFacts): boolean {
  return hasHosts && doubtsOf('an operator of BareMetalHosts', operator).length > 0;
}
