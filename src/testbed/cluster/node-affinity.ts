import type { NodeRequirement, PodTemplateSpec, WorldNode } from './kinds.ts';

/** May this pod run there by its nodeSelector and its required node affinity? Terms are alternatives, requirements of a term are not; an empty term admits nobody. */
export function admits({ nodeSelector = {}, affinity }: Pick<PodTemplateSpec, 'nodeSelector' | 'affinity'>, node: WorldNode): boolean {
  const labels = node.metadata.labels ?? {};
  if (!Object.entries(nodeSelector).every(([key, value]) => labels[key] === value)) return false;
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (required === undefined) return true;
  return (required.nodeSelectorTerms ?? []).some(({ matchExpressions = [], matchFields = [] }) => {
    if (matchExpressions.length + matchFields.length === 0) return false;
    const fields = { 'metadata.name': node.metadata.name };
    return matchExpressions.every((each) => meets(each, labels)) && matchFields.every((each) => meets(each, fields));
  });
}

function meets({ key, operator, values = [] }: NodeRequirement, facts: Readonly<Record<string, string>>): boolean {
  const value = facts[key];
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return value !== undefined && Number(value) > Number(values[0]);
    case 'Lt':
      return value !== undefined && Number(value) < Number(values[0]);
    default:
      throw new Error(`${operator} is no operator of a node affinity`);
  }
}
