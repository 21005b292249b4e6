import { sameContent } from '../domain/canonical.ts';
import { NODE_CONFIG_PREFIX } from './configuration.ts';
import type { Configuration, NamedConfig, NodeFacts } from './configuration.ts';
import { matchingGroups } from './node-groups.ts';
import { plugsIn } from './plug-owners.ts';
import { stepsOf } from './resolve-plan.ts';

type Data = NamedConfig['data'];

interface Entry {
  /** What the plugs were made of; unchanged while every part is the same. */
  own: Data | undefined;
  groups: readonly Data[];
  /** `undefined`: there is no such Node, or it is not known. */
  facts: NodeFacts | undefined;
  isOfAll: boolean;
  plugs: readonly [plug: string, where: string][];
}

/** Which node's configuration switches which plug. After one node's ConfigMap changed only that one is read again: a cluster has thousands. */
export class PlugIndex {
  readonly #shared = new Map<string, Data>();
  readonly #entries = new Map<string, Entry>();
  readonly #owners = new Map<string, Map<string, string>>();

  /**
   * The owners under this configuration; ConfigMaps count as unchanged while their `data` is the same object. Valid until the next update.
   * `nodes`: every Node there is, so that those of a group are known; absent: only ConfigMaps of single nodes are.
   */
  update(configuration: Configuration, nodes?: ReadonlyMap<string, NodeFacts>): ReadonlyMap<string, ReadonlyMap<string, string>> {
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
    const isSame = before?.own === own && before?.isOfAll === isOfAll && before.groups.length === groups.length && sameContent(before.facts, known);
    if (before !== undefined && isSame && groups.every((data, index) => before.groups[index] === data)) return;
    this.#remove(node);
    if (own === undefined && groups.length === 0) return;
    const isGone = isOfAll && known === undefined;
    const more = isGone ? `; there is no Node ${node}: delete that ConfigMap if the machine is gone` : '';
    const plugs = plugsIn(stepsOf(node, known, configuration)).map(([plug, where]): [string, string] => [plug, where + more]);
    this.#entries.set(node, { own, groups, facts: known, isOfAll, plugs });
    for (const [plug, where] of plugs) {
      const owners = this.#owners.get(plug) ?? new Map<string, string>();
      this.#owners.set(plug, owners.set(node, where));
    }
  }

  #remove(node: string): void {
    for (const [plug] of this.#entries.get(node)?.plugs ?? []) {
      const nodes = this.#owners.get(plug);
      nodes?.delete(node);
      if (nodes?.size === 0) this.#owners.delete(plug);
    }
    this.#entries.delete(node);
  }
}
