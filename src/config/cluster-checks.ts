import type { PlanProblem } from '../domain/plan.ts';
import { CONFIG_KEY, NODE_CONFIG_PREFIX, place } from './configuration.ts';
import type { Configuration } from './configuration.ts';
import { checkSelectors, clusterLayer } from './node-groups.ts';
import { checkKeys } from './node-settings.ts';
import { resolvePolicies } from './policies.ts';
import { Problems } from './problems.ts';

export const REMEDIES_NAME = 'fence-remedies';
export const REMEDIES_LABEL = 'nodefence/remedies';

export function isRemedies({ name, labels }: { name: string; labels?: Readonly<Record<string, string>> | undefined }): boolean {
  return name === REMEDIES_NAME || (labels !== undefined && Object.hasOwn(labels, REMEDIES_LABEL));
}

/**
 * What is wrong with the configuration of the whole cluster, told once and not again for every node: the cluster's own keys, selectors,
 * policies, remedies. None of it spoils a fence; what does stands in the plans too.
 */
export function clusterProblems(configuration: Configuration): PlanProblem[] {
  const problems = new Problems();
  const layer = clusterLayer(configuration, problems);
  if (layer !== undefined) checkKeys(layer.settings, true, configuration.registry, { general: problems, switching: problems });
  checkSelectors(configuration, problems);
  resolvePolicies(configuration, layer?.settings, problems);
  for (const config of configuration.configMaps.values()) {
    if (!isRemedies(config) && config.name.startsWith(NODE_CONFIG_PREFIX) && config.data[CONFIG_KEY] === undefined)
      problems.error(place(config), `has no key ${CONFIG_KEY}: put the steps under that key`);
  }
  return problems.all();
}
