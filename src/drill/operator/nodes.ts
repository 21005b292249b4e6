import { CONFIG_KEY, NODE_CONFIG_PREFIX, SELECTOR_KEY } from '../../config/configuration.ts';
import type { Configuration, NamedConfig, NodeFacts } from '../../config/configuration.ts';
import { parseProperties } from '../../config/properties.ts';

/** A node that stands alone has nowhere to send its workload to. */
const NODES_MIN = 2;

export interface NamedNode {
  name: string;
  labels: Readonly<Record<string, string>>;
  /** Something says how it is fenced. */
  isConfigured: boolean;
}

/** Nodes with a ConfigMap of their own, then as many for the groups as `count` leaves (one each at least), then bystanders up to two. */
export function nodesOf(configuration: Configuration, count: number): NamedNode[] {
  const { groups } = configuration;
  const nodes: NamedNode[] = [...configuration.configMaps.values()]
    .filter((config) => config.name.startsWith(NODE_CONFIG_PREFIX) && !groups.includes(config))
    .map(({ name }) => ({ name: name.slice(NODE_CONFIG_PREFIX.length), labels: {}, isConfigured: true }));
  const taken = new Set(nodes.map(({ name }) => name));
  const next = (prefix: string): string => {
    let number = 1;
    while (taken.has(`${prefix}-${number}`)) number += 1;
    taken.add(`${prefix}-${number}`);
    return `${prefix}-${number}`;
  };
  for (let index = 0; groups.length > 0 && (index < groups.length || nodes.length < count); index += 1) {
    const group = groups[index % groups.length];
    const name = next('worker');
    if (group !== undefined) nodes.push({ name, labels: labelsFor(group, name), isConfigured: true });
  }
  while (nodes.length < NODES_MIN) nodes.push({ name: next('bystander'), labels: {}, isConfigured: false });
  return nodes;
}

/** Labels that the group's selector asks for, and those that its values quote. */
function labelsFor(group: NamedConfig, node: string): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const text of Object.values(group.data))
    for (const [, label] of text.matchAll(/\{label:([^}]+)\}/g)) if (label !== undefined) labels[label] = node;
  const selector = parseProperties(group.data[CONFIG_KEY] ?? '').entries.find(({ key }) => key === SELECTOR_KEY)?.value ?? '';
  for (const term of selector.split(',')) {
    const [label = '', value = ''] = term.split('=').map((part) => part.trim());
    if (label !== '') labels[label] = value;
  }
  return labels;
}

/** What the drill's kubelet will say of the node. */
export function factsOf({ name, labels }: NamedNode): NodeFacts {
  const addresses = [
    { type: 'InternalIP', address: '127.0.0.1' },
    { type: 'Hostname', address: name },
  ];
  return { name, labels: { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux', ...labels }, annotations: {}, addresses };
}
