import type { OperatorPace } from '../../../src/testbed/operators/baremetal-operator.ts';
import type { NodeFenceRemediationSpec } from '../../../src/ports/remediation.ts';
import type { DeviceBehaviour } from '../../../src/testbed/simulation/devices.ts';

/** The controllers beside the one that fences, and whether each is composed. */
export interface Composed {
  remediation: boolean;
  healthChecks: boolean;
  preservation: boolean;
  /** Machine remediation and Metal3Remediation, where somebody asks for machines by their hosts. */
  hosts?: true;
}

/** A MachineHealthCheck over the Machines of the nodes that may be acted on; it makes requests of a template of ours. */
export interface Check {
  /** So long must Ready be Unknown or False. */
  timeoutMs: number;
  /** `unhealthyLessThanOrEqualTo`. */
  atMost: string;
  spec: NodeFenceRemediationSpec;
}

/** A NodeFenceRemediation that somebody deletes after a while; `timesOutMs`: and gives up before, as NodeHealthCheck does, which also has the node's lease meanwhile. */
export interface RequestDeed {
  what: 'request';
  spec: NodeFenceRemediationSpec;
  timesOutMs?: number;
  hasLease: boolean;
}

/**
 * What people and other clients of the API ask for, of one node, and what else is to be seen of it there. illness: it stays Ready, and a condition says that
 * it is ill. preserve: the annotation of the Node or of its Machine, until it is taken away. delete-machine: somebody deletes the Machine.
 */
export type Deed = { node: string; atMs: number; durationMs: number } & (
  | RequestDeed
  | { what: 'illness' }
  | { what: 'preserve'; on: 'node' | 'machine'; value: Preserving }
  | { what: 'delete-machine' }
);

/** `''`: whatever stands there is emptied. */
export type Preserving = 'now' | 'when-failed' | 'false' | '';

/** The pool of the Machines that preservation keeps, as its ConfigMap has it. */
export interface Pool {
  /** So many are preserved automatically. */
  most: number;
  preserveMs: number;
  healthMs: number;
}

/**
 * Machines that are asked for by their hosts. Served: an operator of BareMetalHosts switches them, and no fence. Else nobody minds the hosts, and their
 * nodes, which are among those that the others may act on, are fenced for whoever asks.
 */
export interface Hosts {
  nodes: readonly string[];
  isServed: boolean;
  pace: OperatorPace;
  deeds: readonly HostDeed[];
}

/**
 * fail: the node fails; a partition ends by itself, else the operator is asked for a cycle in the end. ask: its Machine is marked, again and again where `everyMs`
 * is given, or a Metal3Remediation made, and all that taken back. operator: it stands still, or dies and comes again. bmc: the device behaves otherwise.
 * host: a person tells the operator to keep away, or deletes the host and makes it anew.
 */
export type HostDeed = { node: string; atMs: number; durationMs: number } & (
  | { what: 'fail'; fault: 'partition' | 'panic' | 'hang' }
  | { what: 'ask'; by: 'machine' | 'metal3'; retryLimit: number; timeoutSeconds: number; everyMs?: number }
  | { what: 'operator'; how: 'stopped' | 'restarted' }
  | { what: 'bmc'; behaviour: DeviceBehaviour }
  | { what: 'host'; how: 'paused' | 'deleted' }
);

/** The condition of a Node that is ill. */
export const ILLNESS = 'SimulatedIllness';

/** Plain data, drawn from the seed alone. */
export interface SecondaryControllers {
  composed: Composed;
  /** Those that are theirs to act on: for all others must come what would come without them. */
  nodes: readonly string[];
  check?: Check;
  pool?: Pool;
  deeds: readonly Deed[];
  hosts?: Hosts;
}

/** When the last deed is over. */
export function deedsEndMs(secondaries: SecondaryControllers | undefined): number {
  return Math.max(0, ...[...(secondaries?.deeds ?? []), ...(secondaries?.hosts?.deeds ?? [])].map(({ atMs, durationMs }) => atMs + durationMs));
}
