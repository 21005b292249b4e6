import type { NodeFenceStatus } from '../../domain/node-fence.ts';
import type { TraceEvent } from '../../laws/trace.ts';
import type { ClusterSession } from '../run/cluster-session.ts';
import type { BmcFaults, NAMED_FAULTS } from '../../testbed/devices/bmc/faults.ts';
import type { Replicas } from '../run/replicas.ts';
import type { Watcher } from '../run/watcher.ts';
import type { Fault } from './names.ts';

/** What a fault is played on. */
export interface FaultStage {
  session: ClusterSession;
  replicas: Replicas;
  watcher: Watcher;
  /** The victim; of several, the first. */
  node: string;
  /** Every node that breaks. */
  victims: readonly string[];
  /** Tells the audience what the fault does next. */
  tell(line: string): void;
}

/** A fault under way. */
export interface Blow {
  /** The moment of the fault, milliseconds since 1970. */
  atMs: number;
  /** Resolves when everything that belongs to the fault has been done; the fence need not be over. */
  over: Promise<FaultFindings>;
  /** What this fault in particular must have led to, seen when all is over: says what is not so. */
  judges?: (seen: Seen) => readonly string[];
  /** Watches begin anew because of it: what was listed already is listed again. */
  listsAnew?: true;
  /** Further nodes that are switched because of it, and rightly. */
  others?: readonly string[];
}

/** What is left of a drill when it is over. */
export interface Seen {
  trace: readonly TraceEvent[];
  /** Of the victim's fence. */
  status: NodeFenceStatus | undefined;
}

/** What a fault saw beside the laws. */
export interface FaultFindings {
  /** Why the run is not as it must be. */
  problems: readonly string[];
  children?: ChildrenFound;
  /** How the victim ended, where that is no matter of its fence: `Running:Preserved`. */
  outcome?: string;
  /** When the API server was started anew, milliseconds since 1970. */
  startedAnewAt?: number;
  /** Told to somebody who looks for the cause: `controller-1 was killed at step 12 of the fence`. */
  did?: string;
}

/** Descendants of a controller that was killed. */
export interface ChildrenFound {
  /** How many it had when it was killed. */
  seen: number;
  /** How many were left when the deadlines of the open intents were over. */
  left: number;
  /** When the last one was gone, in milliseconds after the kill; absent when there was none. */
  goneMs?: number;
  /** How many lived when the successor began. */
  outlivedLease: number;
}

/** What it prepares before the blow may take a while. */
export type FaultScript = (stage: FaultStage) => Blow | Promise<Blow>;

export const NOTHING_FOUND: FaultFindings = { problems: [] };

/** Writes the fault into the trace, then does it: the moment stands before the blow. */
export function strike({ session, node }: FaultStage, fault: Fault, blow: () => void): number {
  const at = session.now();
  session.record({ kind: 'fault', at, fault, node });
  blow();
  return at;
}

export function panic({ session, node }: Pick<FaultStage, 'session' | 'node'>): void {
  session.member(node).child.tell({ command: 'panic' });
}

export function tellMachine({ session, node }: Pick<FaultStage, 'session' | 'node'>, command: 'hang' | 'partition' | 'heal'): void {
  session.member(node).child.tell({ command: 'machine', line: { command } });
}

/** `device`: which of the machine's devices, by its number; its BMC otherwise. */
export function tellBmc({ session, node }: Pick<FaultStage, 'session' | 'node'>, faults: BmcFaults | keyof typeof NAMED_FAULTS, device = 0): void {
  session.member(node).child.tell({ command: 'faults', faults, device });
}
