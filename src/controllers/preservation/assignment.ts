import type { Pools } from './pools.ts';
import type { MachineFacts, NodeFacts, Snapshot } from './snapshot.ts';
import type { Place } from './subject.ts';

/** A Machine with the Node that it has. */
export interface Assigned {
  machine: MachineFacts;
  node: NodeFacts | undefined;
  place: Place;
}

export interface Assignment {
  assigned: readonly Assigned[];
  /** Machines whose node another machine claims as well: nothing is known of them for sure. */
  disputed: readonly { machine: MachineFacts; owner: MachineFacts }[];
  /** Nodes that no Machine names. */
  plain: readonly { node: NodeFacts; place: Place }[];
}

function isNewer(one: MachineFacts, other: MachineFacts): boolean {
  return one.createdMs > other.createdMs || (one.createdMs === other.createdMs && one.uid > other.uid);
}

/** Of two machines that name one node the newer has it. */
export function assign(snapshot: Snapshot, pools: Pools): Assignment {
  const nodes = new Map(snapshot.nodes.map((node) => [node.name, node]));
  const owners = new Map<string, MachineFacts>();
  for (const machine of snapshot.machines) {
    const { nodeName } = machine;
    const other = nodeName === undefined ? undefined : owners.get(nodeName);
    if (nodeName !== undefined && (other === undefined || isNewer(machine, other))) owners.set(nodeName, machine);
  }
  const assigned: Assigned[] = [];
  const disputed: { machine: MachineFacts; owner: MachineFacts }[] = [];
  for (const machine of snapshot.machines) {
    const { nodeName = '' } = machine;
    const owner = owners.get(nodeName) ?? machine;
    const node = nodes.get(nodeName);
    if (owner === machine) assigned.push({ machine, node, place: pools.placeOf(machine, node) });
    else disputed.push({ machine, owner });
  }
  const plain = snapshot.nodes.filter(({ name }) => !owners.has(name));
  return { assigned, disputed, plain: plain.map((node) => ({ node, place: pools.placeOf(undefined, node) })) };
}
