import type { ObjectRef } from './actions.ts';
import { timeText } from './condition.ts';
import { effectiveValue, isKnownValue, readMarks } from './marks.ts';
import type { PreserveMarks, PreserveValue } from './marks.ts';
import { NODE_EXPIRY } from './names.ts';
import type { MachineFacts, MachinePhase, NodeFacts } from './snapshot.ts';

/** What is preserved: a Machine with its Node, a Machine alone, or a Node alone. */
export interface Subject {
  machine: MachineFacts | undefined;
  node: NodeFacts | undefined;
  marks: PreserveMarks;
  value: PreserveValue;
  phase: MachinePhase;
  expiryMs: number | undefined;
  /** The machines of a pool and zone that share a maximum; undefined: none is known. */
  group: string | undefined;
  pool: string | undefined;
  problem?: string;
}

export function machineRef(machine: MachineFacts): ObjectRef {
  return { kind: 'Machine', name: machine.name, namespace: machine.namespace, uid: machine.uid };
}

export function nodeRef(node: NodeFacts): ObjectRef {
  return { kind: 'Node', name: node.name, uid: node.uid };
}

export interface Place {
  group: string | undefined;
  pool: string | undefined;
}

function unknownValue(marks: PreserveMarks): string | undefined {
  const { machine, node } = marks;
  const isNode = node !== undefined && !isKnownValue(node);
  const text = isNode ? node : node === undefined ? machine : undefined;
  if (text === undefined || isKnownValue(text)) return undefined;
  const told = `${JSON.stringify(text.slice(0, 64))} is not one of now, when-failed, false`;
  return isNode ? `the node's value ${told}; what counted before it still counts` : `the machine's value ${told}, so it asks for nothing`;
}

/** A node that a machine names but that is not there is a problem only where it matters: `node "x" not found`. */
export function machineSubject(machine: MachineFacts, node: NodeFacts | undefined, phase: MachinePhase, place: Place): Subject {
  const marks = readMarks(machine.annotations, node?.annotations, node?.uid);
  const value = effectiveValue(marks, node !== undefined);
  const missing = machine.nodeName !== undefined && node === undefined && value !== 'none' ? `node "${machine.nodeName}" not found` : undefined;
  const problem = unknownValue(marks) ?? missing;
  const { expiryMs } = machine;
  return { machine, node, marks, value, phase, expiryMs, ...place, ...(problem !== undefined && { problem }) };
}

/** An expiry that nobody can read counts as none, and is written anew. */
function nodeExpiryMs(node: NodeFacts): number | undefined {
  const ms = Date.parse(node.annotations[NODE_EXPIRY] ?? '');
  return Number.isNaN(ms) ? undefined : ms;
}

export function plainSubject(node: NodeFacts, phase: MachinePhase, place: Place): Subject {
  const marks = readMarks(undefined, node.annotations);
  const problem = unknownValue(marks);
  const value = effectiveValue(marks, true);
  return { machine: undefined, node, marks, value, phase, expiryMs: nodeExpiryMs(node), ...place, ...(problem !== undefined && { problem }) };
}

/** `Machine shoot/m1`, `Node n1`. */
export function subjectName({ machine, node }: Subject): string {
  if (machine !== undefined) return `Machine ${machine.namespace}/${machine.name}`;
  return `Node ${node?.name ?? ''}`;
}

/** When its failure began, as far as that is written anywhere. */
export function phaseSinceMs({ machine, node }: Subject): number | undefined {
  return machine === undefined ? node?.readySinceMs : machine.phaseSinceMs;
}

/** What an annotation on a Node without a Machine holds. */
export function expiryText(expiryMs: number | undefined): string | undefined {
  return expiryMs === undefined ? undefined : timeText(expiryMs);
}
