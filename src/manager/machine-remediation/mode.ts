import type { Claim } from '../detection/ownership.ts';

/** `--machine-remediation`. */
export type MachineRemediationChoice = 'incident' | 'seed-table' | 'off';
export const MACHINE_REMEDIATION_CHOICES: readonly MachineRemediationChoice[] = ['incident', 'seed-table', 'off'];

/** Machines are served by Cluster API or OpenShift in any case; whose the annotation is, only who is at work tells. */
export const MACHINES_CLAIM: Claim = { other: 'another controller', kinds: 'Machines' };
