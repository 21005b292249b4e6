import { STEPS } from '../domain/plan.ts';
import type { NodeFacts } from './configuration.ts';
import type { ResolvedSteps } from './plan-checks.ts';
import type { ResolvedMethod } from './plan-method.ts';
import type { Problems } from './problems.ts';

/** What names a machine → the one node that is it. What names several machines names none. */
export class MachineIndex {
  readonly #nodes = new Map<string, string | undefined>();

  constructor(nodes: Iterable<NodeFacts>) {
    for (const node of nodes) for (const name of namesOf(node)) this.#nodes.set(name, this.#nodes.has(name) ? undefined : node.name);
  }

  /** The node whose machine is called so. */
  nodeOf(name: string): string | undefined {
    return this.#nodes.get(plain(name));
  }
}

function plain(name: string): string {
  return name.trim().toLowerCase();
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
