import { readFileSync } from 'node:fs';
import { PRESERVED_TAINT, PRESERVE } from '../../src/controllers/preservation/names.ts';
import type { MachineFacts, MachinePhase, Marks, NodeFacts, PreservedCondition } from '../../src/controllers/preservation/snapshot.ts';
import { machine, node, NOW_MS } from './world.ts';

interface Described {
  phase?: MachinePhase;
  nodeLabel?: string;
  annotations?: Marks;
  /** Seconds from now. */
  expiry?: number | null;
}

interface DescribedNode {
  exists: boolean;
  annotations: Marks;
  tainted: boolean;
  unschedulable: boolean;
  preservedCondition: PreservedCondition | null;
}

/** One of a list of machines; ages and expiries in seconds. */
export interface ListedMachine {
  name: string;
  phase: MachinePhase;
  age?: number;
  expiry?: number;
  priority?: number;
  preserve?: string;
  lastApplied?: string;
  nodePreserve?: string;
}

/** All that any case sets up; which of it is there depends on `op`. */
export interface Setup {
  machine: Described;
  node: DescribedNode;
  machineAnnotations: Marks | null;
  nodeAnnotations: Marks;
  nodeLabel: string;
  nodeExists: boolean;
  nodeFound: boolean;
  nodeValue: string;
  machineValue: string;
  lastAppliedNodeValue: string;
  lastApplied: string;
  expiry: number | null;
  nodeAnnotated: boolean;
  machineAnnotated: boolean;
  removed: boolean;
  value: string;
  removeAnnotations: boolean;
  phase: MachinePhase;
  drainError: boolean;
  existing: { status: PreservedCondition['status']; reason?: string; message: string } | null;
  expiryText: string;
  max: number;
  statusCount: number;
  machines: ListedMachine[];
  diff: number;
  replicas: number;
  maxUnavailable: number;
  preservedFailed: number;
  available: number;
  zones: number;
  readyStatus: 'True' | 'False';
  readySince: number;
  drainTimeout: number;
  sinceStatusUpdate: number;
  maxEvictRetries: number;
  maxReplacements: number;
}

export interface Case {
  id: string;
  title: string;
  op: string;
  quirk?: boolean;
  setup: Setup;
  expect: Record<string, unknown>;
}

export const CASES = JSON.parse(readFileSync(new URL('fixtures/mcm-preservation-cases.json', import.meta.url), 'utf8')) as readonly Case[];

export function caseOf(id: string): Case {
  const found = CASES.find((each) => each.id === id);
  if (found === undefined) throw new Error(`no case ${id}`);
  return found;
}

export function inSeconds(seconds: number | null | undefined): number | undefined {
  return seconds === null || seconds === undefined ? undefined : NOW_MS + seconds * 1000;
}

/** The machine `m` and its node as `setup.machine` and `setup.node` describe them. */
export function described(setup: Setup, extra: Marks = {}): { machine: MachineFacts; node: NodeFacts | undefined } {
  const { machine: own, node: backing } = setup;
  const expiryMs = inSeconds(own.expiry);
  const { nodeName: _nodeName, ...base } = machine('m', { phase: own.phase ?? '', annotations: { ...own.annotations, ...extra } });
  const subject = {
    ...base,
    ...(own.nodeLabel !== undefined && own.nodeLabel !== '' && { nodeName: own.nodeLabel }),
    ...(expiryMs !== undefined && { expiryMs }),
  };
  if (!backing.exists) return { machine: subject, node: undefined };
  const facts = { annotations: backing.annotations, isUnschedulable: backing.unschedulable, taints: backing.tainted ? [PRESERVED_TAINT] : [] };
  const preserved = backing.preservedCondition === null ? {} : { preserved: backing.preservedCondition };
  return { machine: subject, node: node(own.nodeLabel ?? '', { ...facts, ...preserved }) };
}

/** One of a list, with its annotations. */
export function listed(each: ListedMachine): MachineFacts {
  const expiryMs = inSeconds(each.expiry);
  return machine(each.name, {
    phase: each.phase,
    createdMs: NOW_MS - (each.age ?? 0) * 1000,
    annotations: each.preserve === undefined ? {} : { [PRESERVE]: each.preserve },
    ...(expiryMs !== undefined && { expiryMs }),
    ...(each.priority !== undefined && { priority: each.priority }),
  });
}
