import type { ObjectRef } from './actions.ts';
import { poolOf } from './pools.ts';
import type { MachineDeploymentFacts, MachineFacts, MachineSetFacts, NodeFacts } from './snapshot.ts';

/** What an object is, then what it refers to. Two objects that share a link are decided together; everything else of them may change without moving them. */
export type Linked = readonly [string, ...string[]];

const WORDS: Readonly<Record<ObjectRef['kind'], string>> = {
  Node: 'node',
  Machine: 'machine',
  MachineSet: 'set',
  MachineDeployment: 'deployment',
};

export function linkOf({ kind, name, namespace }: Pick<ObjectRef, 'kind' | 'name' | 'namespace'>): string {
  return `${WORDS[kind]} ${namespace === undefined ? name : `${namespace}/${name}`}`;
}

export const LINKS = {
  Node: ({ name, labels }: Pick<NodeFacts, 'name' | 'labels'>): Linked => [linkOf({ kind: 'Node', name }), ...poolLink(poolOf(labels))],
  Machine: ({ name, namespace, machineSet, nodeName, labels }: MachineFacts): Linked => [
    linkOf({ kind: 'Machine', name, namespace }),
    ...(machineSet === undefined ? [] : [linkOf({ kind: 'MachineSet', name: machineSet, namespace })]),
    ...(nodeName === undefined ? [] : [linkOf({ kind: 'Node', name: nodeName })]),
    ...poolLink(poolOf(labels)),
  ],
  MachineSet: ({ name, namespace, deployment }: MachineSetFacts): Linked => [
    linkOf({ kind: 'MachineSet', name, namespace }),
    ...(deployment === undefined ? [] : [linkOf({ kind: 'MachineDeployment', name: deployment, namespace })]),
  ],
  MachineDeployment: ({ name, namespace, labels }: MachineDeploymentFacts): Linked => [
    linkOf({ kind: 'MachineDeployment', name, namespace }),
    ...poolLink(poolOf(labels)),
  ],
};

export function poolLink(name: string | undefined): string[] {
  return name === undefined ? [] : [`pool ${name}`];
}

/** Nodes without pool and Machine do not concern each other: they go together by name, so that there are not thousands of pools of one Node. */
const LONE_POOLS = 64;

/** For a Node that nothing else refers to. */
export function loneLink(node: string): string {
  let sum = 0;
  for (let index = 0; index < node.length; index += 1) sum = (sum * 31 + node.charCodeAt(index)) % LONE_POOLS;
  return `lone ${String(sum)}`;
}
