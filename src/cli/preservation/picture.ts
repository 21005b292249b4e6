import type { PreservationMode } from '../../config/preservation-mode.ts';
import { decide } from '../../controllers/preservation/decide.ts';
import type { Decision } from '../../controllers/preservation/actions.ts';
import { fenceProof, provenFor } from '../../controllers/preservation/fence-proof.ts';
import { machineDeploymentFacts, machineFacts, machineSetFacts } from '../../controllers/preservation/machine-facts.ts';
import { effectiveValue, readMarks } from '../../controllers/preservation/marks.ts';
import type { PreserveValue } from '../../controllers/preservation/marks.ts';
import { nodeFacts } from '../../controllers/preservation/node-facts.ts';
import type { NodeFacts, PoolSettings, Snapshot } from '../../controllers/preservation/snapshot.ts';
import type { Machine, MachineDeployment, MachineSet } from '../../ports/machines.ts';
import type { Node } from '../../ports/objects.ts';
import type { PreservationView } from '../../ports/preservation.ts';
import type { NodeFence } from '../../ports/resources.ts';

/** Everything that preservation reads, as it was listed. */
export interface PreservationInput {
  mode: PreservationMode;
  nodes: Iterable<Node>;
  fences: Iterable<NodeFence>;
  machines: Iterable<Machine>;
  machineSets: Iterable<MachineSet>;
  machineDeployments: Iterable<MachineDeployment>;
  pools: ReadonlyMap<string, PoolSettings>;
  nowMs: number;
}

/** One row for people: a Machine or a Node that is preserved, is asked to be, or has a problem. */
export interface PreservedRow extends Omit<PreservationView, 'expiryMs'> {
  /** RFC 3339. */
  until?: string;
  /** What the annotations ask for; absent: nothing. */
  asked?: Exclude<PreserveValue, 'none'>;
  /** Who wrote them, as they say, and when; absent: there are none, or it was not looked at. */
  marks?: readonly string[];
}

/** What the controller sees, and what it decides about it. */
export interface PreservationPicture {
  snapshot: Snapshot;
  decision: Decision;
}

/** The controller's own `decide` over what the API shows. undefined: preservation is off. */
export function pictureOf(input: PreservationInput): PreservationPicture | undefined {
  const { mode, nowMs, pools } = input;
  if (mode.mode === 'off') return undefined;
  const proofs = new Map([...input.fences].map((fence) => [fence.spec.node, fenceProof(fence)]));
  const nodes = [...input.nodes].map((node): NodeFacts => {
    const facts = nodeFacts(node);
    const proof = proofs.get(facts.name);
    return proof === undefined ? facts : { ...facts, fence: provenFor(proof, node.status.nodeInfo?.bootID) };
  });
  const snapshot: Snapshot = {
    nowMs,
    mode: mode.mode,
    hasExpiryField: mode.hasExpiryField,
    spelling: mode.spelling,
    requestsWhenFailed: mode.mode === 'observe' && mode.hasExpiryField,
    machines: [...input.machines].map(machineFacts),
    nodes,
    machineSets: [...input.machineSets].map(machineSetFacts),
    machineDeployments: [...input.machineDeployments].map(machineDeploymentFacts),
    pools,
  };
  return { snapshot, decision: decide(snapshot) };
}

/** Rows that a person wants to see, the preserved ones first. */
export function preservedRows({ snapshot, decision }: PreservationPicture): PreservedRow[] {
  const nodes = new Map(snapshot.nodes.map((node) => [node.name, node]));
  const machines = new Map(snapshot.machines.map((machine) => [`${machine.namespace}/${machine.name}`, machine]));
  const rows = decision.views.flatMap(({ expiryMs, ...view }): PreservedRow[] => {
    const node = view.node === undefined ? undefined : nodes.get(view.node);
    const machine = view.kind === 'Machine' ? machines.get(`${view.namespace ?? ''}/${view.name}`) : undefined;
    const asked = effectiveValue(readMarks(machine?.annotations, node?.annotations, node?.uid), node !== undefined);
    if (!view.isPreserved && asked === 'none' && view.problem === undefined) return [];
    const until = expiryMs === undefined ? {} : { until: new Date(expiryMs).toISOString() };
    return [{ ...view, ...until, ...(asked !== 'none' && { asked }) }];
  });
  return rows.sort((one, other) => Number(other.isPreserved) - Number(one.isPreserved) || (one.name < other.name ? -1 : 1));
}
