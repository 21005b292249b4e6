import type { StormPolicy } from '../domain/policies/policy.ts';
import { CLUSTER_CONFIG } from './configuration.ts';
import type { Configuration, ConfigText } from './configuration.ts';
import { clusterLayer } from './node-groups.ts';
import { POLICY_PREFIX } from './policies-written.ts';
import { resolvePolicies } from './policies.ts';
import { Problems } from './problems.ts';

/** The storm policies, the same array until a ConfigMap changes that they are made of. */
export class PolicyCache {
  #policies: readonly StormPolicy[] | undefined;
  #texts: readonly ConfigText[] = [];
  #configuration: Configuration | undefined;

  of(configuration: Configuration): readonly StormPolicy[] {
    // Asked thousands of times a second in a storm, and there is a ConfigMap for each node.
    if (this.#policies !== undefined && configuration === this.#configuration) return this.#policies;
    this.#configuration = configuration;
    const texts = [...configuration.configMaps.values()].filter(({ name }) => name === CLUSTER_CONFIG || name.startsWith(POLICY_PREFIX));
    const isSame = texts.length === this.#texts.length && texts.every((text, index) => text === this.#texts[index]);
    if (this.#policies !== undefined && isSame) return this.#policies;
    // What is wrong is told with the cluster's problems.
    const ignored = new Problems();
    this.#texts = texts;
    this.#policies = resolvePolicies(configuration, clusterLayer(configuration, ignored)?.settings, ignored);
    return this.#policies;
  }
}
