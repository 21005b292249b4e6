import { NODE_CONFIG_PREFIX } from './configuration.ts';
import type { Configuration, NamedConfig } from './configuration.ts';
import { plugsIn } from './plug-owners.ts';
import type { PlugOwners } from './plug-owners.ts';
import { stepsOf } from './resolve-plan.ts';

type Data = NamedConfig['data'];

interface Entry {
  data: Data;
  plugs: readonly [plug: string, where: string][];
}

/** Which node's ConfigMap switches which plug. After one node's ConfigMap changed only that one is read again: a cluster has thousands. */
export class PlugIndex {
  readonly #shared = new Map<string, Data>();
  readonly #entries = new Map<string, Entry>();
  readonly #owners = new Map<string, Map<string, string>>();

  /** The owners under this configuration; ConfigMaps count as unchanged while their `data` is the same object. Valid until the next update. */
  update(configuration: Configuration): PlugOwners {
    if (this.#hasSharedChanged(configuration)) for (const node of [...this.#entries.keys()]) this.#remove(node);
    for (const node of [...this.#entries.keys()]) if (!configuration.configMaps.has(NODE_CONFIG_PREFIX + node)) this.#remove(node);
    for (const { name, data } of configuration.configMaps.values()) {
      if (!name.startsWith(NODE_CONFIG_PREFIX)) continue;
      const node = name.slice(NODE_CONFIG_PREFIX.length);
      if (this.#entries.get(node)?.data === data) continue;
      this.#remove(node);
      this.#add(node, data, configuration);
    }
    return this.#owners;
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

  #add(node: string, data: Data, configuration: Configuration): void {
    const plugs = plugsIn(stepsOf(node, configuration));
    this.#entries.set(node, { data, plugs });
    for (const [plug, where] of plugs) {
      const nodes = this.#owners.get(plug) ?? new Map<string, string>();
      this.#owners.set(plug, nodes.set(node, where));
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
