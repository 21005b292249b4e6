import { STEPS } from '../domain/plan.ts';
import type { NodeFacts } from './configuration.ts';
import type { ResolvedSteps } from './plan-checks.ts';
import type { ResolvedMethod } from './plan-method.ts';
import type { Problems } from './problems.ts';

/** What is asked of it to make a plan. */
export type Machines = Pick<MachineIndex, 'nodeOf' | 'sharersOf'>;

/** What names a machine → the one node that is it. What names several machines names none. */
export class MachineIndex {
  /** One node, as nearly always, or several. */
  readonly #nodes = new Map<string, string | ReadonlySet<string>>();

  constructor(nodes: Iterable<NodeFacts>) {
    for (const node of nodes) this.replace(undefined, node);
  }

  /** The node whose machine is called so. */
  nodeOf(name: string): string | undefined {
    const found = this.#nodes.get(plain(name));
    return typeof found === 'string' ? found : undefined;
  }

  /** Other nodes that are called so too: one machine that registered under two names, or two that were cloned. */
  sharersOf(name: string, node: string): readonly string[] {
    return ownersIn(this.#nodes.get(plain(name))).filter((owner) => owner !== node);
  }

  /** A node that came, went or changed: costs as much as it has names, however many nodes there are. */
  replace(before: NodeFacts | undefined, after: NodeFacts | undefined): void {
    if (before !== undefined) for (const name of namesOf(before)) this.#remove(name, before.name);
    if (after !== undefined) for (const name of namesOf(after)) this.#add(name, after.name);
  }

  #add(name: string, node: string): void {
    const known = this.#nodes.get(name);
    this.#nodes.set(name, known === undefined ? node : new Set([...ownersIn(known), node]));
  }

  #remove(name: string, node: string): void {
    const left = ownersIn(this.#nodes.get(name)).filter((owner) => owner !== node);
    const [only] = left;
    if (only === undefined) this.#nodes.delete(name);
    else this.#nodes.set(name, left.length === 1 ? only : new Set(left));
  }
}

function ownersIn(known: string | ReadonlySet<string> | undefined): string[] {
  return typeof known === 'string' ? [known] : [...(known ?? [])];
}

/** The very text where it is plain already: thousands of nodes have theirs in the cache. */
function plain(name: string): string {
  const text = name.trim().toLowerCase();
  return text === name ? name : text;
}

/** Name, host names, providerID, the instance in it, system UUID. */
function namesOf({ name, providerID, systemUUID, addresses }: NodeFacts): Set<string> {
  const hosts = addresses.filter(({ type }) => type === 'Hostname' || type.endsWith('DNS')).map(({ address }) => address);
  const instance = providerID?.split('/').at(-1);
  const given = [name, ...hosts, providerID, instance, systemUUID].filter((part): part is string => part !== undefined && part !== '');
  return new Set(given.map(plain));
}

/** A plug or a machine's UUID that is provably another node's: an off would hit a healthy machine. */
export function checkMachines(node: NodeFacts, steps: ResolvedSteps, machines: Pick<MachineIndex, 'nodeOf'>, problems: Problems): void {
  const own = namesOf(node);
  for (const step of STEPS) {
    for (const method of steps[step].flatMap(({ methods }) => methods)) {
      for (const [what, name] of chosenBy(method)) {
        if (own.has(plain(name))) continue;
        const other = machines.nodeOf(name);
        if (other === undefined) continue;
        const message = `${what} ${name.slice(0, 100)} is the machine of node ${other}, not of ${node.name}: name the machine of ${node.name}`;
        problems.error(method.where, message, step);
      }
    }
  }
}

/** How a method says which machine it means. A bare number is an outlet, whatever a node is called. */
function chosenBy({ plug, parameters }: ResolvedMethod): [what: string, name: string][] {
  const uuid = parameters['system_uuid'] ?? '';
  return [
    ...(/^\d*$/.test(plug) ? [] : [['plug', plug] satisfies [string, string]]),
    ...(uuid === '' ? [] : [['system_uuid', uuid] satisfies [string, string]]),
  ];
}
