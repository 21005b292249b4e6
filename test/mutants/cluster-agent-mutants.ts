import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const CLUSTER_AGENTS = 'agents/cluster-agents.test.ts';

/** Defects of the agents that change a Node: cordon, uncordon, taint. */
export const CLUSTER_AGENT_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'node edit without version',
    defect: 'a Node is changed although somebody has changed it since it was read',
    file: 'agents/shared/node-edit.ts',
    edits: [['metadata: { resourceVersion: node.metadata.resourceVersion, ...', 'metadata: { ...']],
    killedBy: byTest(CLUSTER_AGENTS, 'makes the Node unschedulable with our mark, once'),
  },
  {
    name: 'node edit given up',
    defect: 'a Node is changed for a caller who gave up',
    file: 'agents/shared/node-edit.ts',
    edits: [["if (target.signal.aborted) throw nodeError('NotSent', target, asked, 'the call was given up before anything was sent');", '']],
    killedBy: byTest(CLUSTER_AGENTS, 'sends nothing when the lease check throws or the call was given up'),
  },
  {
    name: "somebody's cordon marked",
    defect: 'a cordon of somebody else becomes ours',
    file: 'agents/cordon/agent.ts',
    edits: [['if (isCordoned(node)) return Object.keys', 'if (isMarkedByUs(node)) return Object.keys']],
    killedBy: byTest(CLUSTER_AGENTS, 'leaves the cordon of an admin as it is, without a mark'),
  },
  {
    name: "somebody's cordon lifted",
    defect: 'a cordon of somebody else is taken away',
    file: 'agents/uncordon/agent.ts',
    edits: [['if (!before.wasOurs) return Object.keys', 'if (before.wasOurs && !isCordoned(node)) return Object.keys']],
    killedBy: byTest(CLUSTER_AGENTS, 'leaves the cordon of an admin as it is, without a mark'),
  },
  {
    name: 'mark of another fence',
    defect: 'the mark of another fence counts as ours',
    file: 'agents/shared/cordon-mark.ts',
    edits: [['=== fenceName(node.metadata.name);', '!== undefined;']],
    killedBy: byTest(CLUSTER_AGENTS, 'leaves what carries the mark of another fence'),
  },
  {
    name: 'autoscaler of somebody',
    defect: 'what somebody else told the autoscaler is taken back',
    file: 'agents/shared/cordon-mark.ts',
    edits: [['if (annotations[AUTOSCALER_MARK] === undefined) return {};', '']],
    killedBy: byTest(CLUSTER_AGENTS, 'leaves what carries the mark of another fence'),
  },
  {
    name: 'unmarked taint removed',
    defect: 'a taint without our mark is removed',
    file: 'agents/taint/agent.ts',
    edits: [['if (!marks(node).includes(entry(wanted))) return undefined;', '']],
    killedBy: byTest(CLUSTER_AGENTS, 'leaves the same taint of an admin, and does not take it back'),
  },
  {
    name: "somebody's taint kept",
    defect: 'a taint of somebody else that stands there counts as ours',
    file: 'agents/taint/agent.ts',
    edits: [["if (taint !== undefined && (taint.value ?? '') !== wanted.value) {", "if (taint !== undefined && taint.key === '') {"]],
    killedBy: byTest(CLUSTER_AGENTS, 'refuses to replace the value that somebody else set'),
  },
];
