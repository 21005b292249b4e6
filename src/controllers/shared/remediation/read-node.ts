import type { Node } from '../../../ports/objects.ts';
import type { NodeFacts } from './node.ts';

/** A Node as a remediation sees it; what was heard of it is added by whoever hears. */
export function readNode({ metadata, spec, status }: Node): NodeFacts {
  return {
    name: metadata.name,
    uid: metadata.uid ?? '',
    labels: metadata.labels ?? {},
    annotations: metadata.annotations ?? {},
    isDeleting: metadata.deletionTimestamp !== undefined,
    taints: (spec.taints ?? []).map(({ key, value, effect }) => ({ key, effect, ...(value !== undefined && { value }) })),
    isReady: status.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') === true,
    ...(spec.unschedulable === true && { isUnschedulable: true as const }),
    ...(spec.providerID !== undefined && { providerID: spec.providerID }),
  };
}
