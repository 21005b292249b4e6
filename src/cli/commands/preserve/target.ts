import { MACHINE_NODE_LABEL } from '../../../ports/machines.ts';
import type { Machine } from '../../../ports/machines.ts';
import type { Node } from '../../../ports/objects.ts';
import { CommandFailure } from '../failure.ts';

/** What is to be preserved: a Machine, its Node, or both; `asked` is the kind that was named. */
export interface Target {
  asked: 'Node' | 'Machine';
  node: Node | undefined;
  machine: Machine | undefined;
}

/** What a person named: `n1`, `node/n1`, `machine/m1`, `machine/shoot/m1`. */
export interface TargetName {
  kind: 'Node' | 'Machine' | undefined;
  namespace: string | undefined;
  name: string;
}

const NAME = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/u;

/** undefined: this is no name. */
export function targetNameOf(text: string): TargetName | undefined {
  const parts = text.split('/');
  const name = parts.at(-1) ?? '';
  const [prefix, namespace] = parts;
  const kind = parts.length === 1 ? undefined : KINDS[prefix ?? ''];
  const isPlain = parts.length === 1;
  if (!NAME.test(name) || (!isPlain && kind === undefined) || parts.length > (kind === 'Machine' ? 3 : 2)) return undefined;
  if (parts.length === 3 && !NAME.test(namespace ?? '')) return undefined;
  return { kind, namespace: parts.length === 3 ? namespace : undefined, name };
}

const KINDS: Readonly<Record<string, 'Node' | 'Machine'>> = { node: 'Node', nodes: 'Node', machine: 'Machine', machines: 'Machine' };

export interface Known {
  nodes: Iterable<Node>;
  machines: Iterable<Machine>;
  /** Where it was looked for, in words. */
  where: string;
}

/** The one thing that has this name. Throws `CommandFailure` when there is none, or more than one. */
export function findTarget({ kind, namespace, name }: TargetName, { nodes, machines, where }: Known): Target {
  const all = [...machines];
  const node = kind === 'Machine' ? undefined : [...nodes].find(({ metadata }) => metadata.name === name);
  const named =
    kind === 'Node' ? [] : all.filter(({ metadata }) => metadata.name === name && (namespace === undefined || metadata.namespace === namespace));
  const own = node === undefined ? [] : all.filter((machine) => nodeOf(machine) === name);
  const [machine] = named;
  if (node !== undefined) {
    if (named.length > 0 && named.some((each) => nodeOf(each) !== name)) throw both(name, named);
    return { asked: 'Node', node, machine: newest(own) };
  }
  if (machine === undefined)
    throw new CommandFailure(`there is no ${kind ?? 'Node and no Machine'} ${name} ${where}: look at nodefence status, or name another --context`);
  if (named.length > 1) throw new CommandFailure(`several Machines are called ${name}: say ${named.map(pathOf).join(' or ')}`);
  const backing = nodeOf(machine);
  return { asked: 'Machine', machine, node: backing === undefined ? undefined : [...nodes].find(({ metadata }) => metadata.name === backing) };
}

function both(name: string, machines: readonly Machine[]): CommandFailure {
  const whose = machines.map((machine) => `${pathOf(machine)}, of ${nodeOf(machine) === undefined ? 'no Node' : `Node ${nodeOf(machine) ?? ''}`}`);
  return new CommandFailure(
    `${name} is a Node, and also a Machine of another one (${whose.join('; ')}): say node/${name} or ${machines.map(pathOf).join(' or ')}`,
  );
}

/** Of two Machines that name one Node the newer has it, as for the controller. */
function newest(machines: readonly Machine[]): Machine | undefined {
  return machines.toSorted((one, other) => (one.metadata.creationTimestamp ?? '').localeCompare(other.metadata.creationTimestamp ?? '')).at(-1);
}

function nodeOf({ metadata }: Machine): string | undefined {
  const name = metadata.labels?.[MACHINE_NODE_LABEL];
  return name === '' ? undefined : name;
}

function pathOf({ metadata }: Machine): string {
  return `machine/${metadata.namespace ?? ''}/${metadata.name}`;
}
