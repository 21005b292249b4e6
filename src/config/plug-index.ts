import { EqualLists, sameItems } from '../domain/equal-lists.ts';
import { EqualParts } from '../domain/equal-parts.ts';
import { NODE_CONFIG_PREFIX } from './configuration.ts';
import type { Configuration, NamedConfig, NodeFacts } from './configuration.ts';
import { matchingGroups } from './node-groups.ts';
import { OwnedPlugs } from './owned-plugs.ts';
import type { Ownership } from './owned-plugs.ts';
import { plugsIn } from './plug-owners.ts';
import { stepsOf } from './resolve-plan.ts';
import { NodeSight } from './seen-node.ts';
import type { SeenNode } from './seen-node.ts';

type Data = NamedConfig['data'];

interface Entry {
  /** What the plugs were made of; unchanged while every part is the same. */
  own: Data | undefined;
  groups: readonly Data[];
  /** `undefined`: there is no such Node, or it is not known. */
  node: SeenNode | undefined;
  isOfAll: boolean;
  plugs: readonly Ownership[];
}

/** Nodes of one group are switched by the same text. */
const PLACES_MAX = 1_000;
const LISTS_MAX = 16;

/** Which node's configuration switches which plug. After one node's ConfigMap changed only that one is read again: a cluster has thousands. */
export class PlugIndex {
  readonly #shared = new Map<string, Data>();
  readonly #entries = new Map<string, Entry>();
  readonly #owners = new OwnedPlugs();
  readonly #places = new EqualParts(PLACES_MAX);
  readonly #groups = new EqualLists<Data>(LISTS_MAX);
  readonly #sight = new NodeSight();

  /**
   * The owners under this configuration; ConfigMaps count as unchanged while their `data` is the same object. Valid until the next update.
   * `nodes`: every Node there is, so that those of a group are known; absent: only ConfigMaps of single nodes are.
   */
  update(configuration: Configuration, nodes?: ReadonlyMap<string, NodeFacts>): OwnedPlugs {
    if (this.#hasSharedChanged(configuration)) for (const node of [...this.#entries.keys()]) this.#remove(node);
    const groups = new Set(configuration.groups);
    const named = new Set(nodes?.keys());
    for (const config of configuration.configMaps.values())
      if (config.name.startsWith(NODE_CONFIG_PREFIX) && !groups.has(config)) named.add(config.name.slice(NODE_CONFIG_PREFIX.length));
    for (const node of [...this.#entries.keys()]) if (!named.has(node)) this.#remove(node);
    for (const node of named) this.#see(node, configuration, nodes);
    return this.#owners;
  }

  /** After the one Node changed, came or went, and nothing else did. */
  updateNode(node: string, configuration: Configuration, nodes: ReadonlyMap<string, NodeFacts>): void {
    if (nodes.has(node) || configuration.configMaps.has(NODE_CONFIG_PREFIX + node)) this.#see(node, configuration, nodes);
    else this.#remove(node);
  }

  /** Templates, methods and the cluster's ConfigMap count for any node. */
  #hasSharedChanged(configuration: Configuration): boolean {
    const shared = [...configuration.configMaps.values()].filter(({ name }) => !name.startsWith(NODE_CONFIG_PREFIX));
    const isSame = shared.length === this.#shared.size && shared.every(({ name, data }) => this.#shared.get(name) === data);
    if (isSame) return false;
    this.#shared.clear();
    for (const { name, data } of shared) this.#shared.set(name, data);
    return true;
  }

  #see(node: string, configuration: Configuration, nodes: ReadonlyMap<string, NodeFacts> | undefined): void {
    const known = nodes?.get(node);
    const own = configuration.configMaps.get(NODE_CONFIG_PREFIX + node)?.data;
    const groups = known === undefined ? [] : matchingGroups(configuration, known).map(({ data }) => data);
    const isOfAll = nodes !== undefined;
    const before = this.#entries.get(node);
    const isSame = before?.own === own && before?.isOfAll === isOfAll && sameItems(before.groups, groups) && isSameNode(before.node, known);
    if (isSame) return;
    this.#remove(node);
    if (own === undefined && groups.length === 0) return;
    const isGone = isOfAll && known === undefined;
    const more = isGone ? `; there is no Node ${node}: delete that ConfigMap if the machine is gone` : '';
    const plugsOf = (facts: NodeFacts | undefined): Ownership[] =>
      plugsIn(stepsOf(node, facts, configuration)).map(([plug, where]) => ({ plug, node, where: this.#places.of(where + more) }));
    const { seen, found: plugs } = known === undefined ? { seen: undefined, found: plugsOf(undefined) } : this.#sight.through(known, plugsOf);
    this.#entries.set(node, { own, groups: this.#groups.of(groups), node: seen, isOfAll, plugs });
    for (const owner of plugs) this.#owners.add(owner);
  }

  #remove(node: string): void {
    for (const owner of this.#entries.get(node)?.plugs ?? []) this.#owners.remove(owner);
    this.#entries.delete(node);
  }
}

function isSameNode(before: SeenNode | undefined, now: NodeFacts | undefined): boolean {
  return before === undefined || now === undefined ? before === now : before.isSameIn(now);
}
