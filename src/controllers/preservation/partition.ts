import { poolOf } from './pools.ts';
import type { MachineDeploymentFacts, MachineFacts, MachineSetFacts, NodeFacts } from './snapshot.ts';

/** What decides which objects concern each other; everything else of an object may change without moving it. */
export type Placed =
  | { kind: 'Machine'; facts: MachineFacts }
  | { kind: 'Node'; facts: Pick<NodeFacts, 'name' | 'labels'> }
  | { kind: 'MachineSet'; facts: MachineSetFacts }
  | { kind: 'MachineDeployment'; facts: MachineDeploymentFacts };

/** Nodes without pool and Machine do not concern each other: they go together by name, so that there are not thousands of parts. */
const LONE_PARTS = 64;

/** What an object stands for, then what it refers to; two objects that share a link are decided together. */
export function linksOf(placed: Placed): [string, ...string[]] {
  switch (placed.kind) {
    case 'Machine': {
      const { namespace, name, machineSet, nodeName, labels } = placed.facts;
      return [
        `machine ${namespace}/${name}`,
        ...given('set', machineSet === undefined ? undefined : `${namespace}/${machineSet}`),
        ...given('node', nodeName),
        ...given('pool', poolOf(labels)),
      ];
    }
    case 'Node':
      return [`node ${placed.facts.name}`, ...given('pool', poolOf(placed.facts.labels))];
    case 'MachineSet': {
      const { namespace, name, deployment } = placed.facts;
      return [`set ${namespace}/${name}`, ...given('deployment', deployment === undefined ? undefined : `${namespace}/${deployment}`)];
    }
    case 'MachineDeployment': {
      const { namespace, name, labels } = placed.facts;
      return [`deployment ${namespace}/${name}`, ...given('pool', poolOf(labels))];
    }
  }
}

function given(kind: string, name: string | undefined): string[] {
  return name === undefined ? [] : [`${kind} ${name}`];
}

/** For a Node that nothing else refers to. */
export function loneLink(name: string): string {
  let sum = 0;
  for (let index = 0; index < name.length; index += 1) sum = (sum * 31 + name.charCodeAt(index)) % LONE_PARTS;
  return `lone ${String(sum)}`;
}

/** Links that stand together are one part. Answers by the part's number; the numbers are those of this instance only. */
export class Partition {
  readonly #numbers = new Map<string, number>();
  readonly #parents: number[] = [];

  join(links: readonly string[]): void {
    const [first, ...rest] = links;
    if (first === undefined) return;
    let root = this.#rootOf(this.#numberOf(first));
    for (const link of rest) {
      const other = this.#rootOf(this.#numberOf(link));
      this.#parents[Math.max(root, other)] = Math.min(root, other);
      root = Math.min(root, other);
    }
  }

  /** undefined: nothing stands there. */
  partOf(link: string): number | undefined {
    const number = this.#numbers.get(link);
    return number === undefined ? undefined : this.#rootOf(number);
  }

  #numberOf(link: string): number {
    const known = this.#numbers.get(link);
    if (known !== undefined) return known;
    this.#numbers.set(link, this.#parents.length);
    this.#parents.push(this.#parents.length);
    return this.#parents.length - 1;
  }

  #rootOf(number: number): number {
    let root = number;
    for (let parent = this.#parents[root]; parent !== undefined && parent !== root; parent = this.#parents[root]) {
      const above = this.#parents[parent] ?? parent;
      this.#parents[root] = above;
      root = above;
    }
    return root;
  }
}
