/** corev1.NodeSelectorRequirement. */
export interface NodeSelectorRequirement {
  key: string;
  operator: string;
  values?: string[];
}

/** corev1.NodeSelectorTerm. */
export interface NodeSelectorTerm {
  matchExpressions?: NodeSelectorRequirement[];
  matchFields?: NodeSelectorRequirement[];
}

/** corev1.Affinity, as far as it is read or written; the rest is handed on. */
export interface Affinity {
  nodeAffinity?: { requiredDuringSchedulingIgnoredDuringExecution?: { nodeSelectorTerms?: NodeSelectorTerm[] } };
}

/** The affinity, and never on this node. */
export function keptOff(node: string, affinity: Affinity | undefined): Affinity {
  return required(affinity, {
    matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'NotIn', values: [node] }],
    // The label may name the host otherwise than the Node is named.
    matchFields: [{ key: 'metadata.name', operator: 'NotIn', values: [node] }],
  });
}

/** The affinity, and only on this node. */
export function keptOn(node: string, affinity: Affinity | undefined): Affinity {
  return required(affinity, { matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] });
}

/** Terms are alternatives, so each of them must ask for it; one that is empty matches nothing and may not begin to. */
function required(affinity: Affinity | undefined, more: NodeSelectorTerm): Affinity {
  const written = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [{}];
  const meant = written.filter(({ matchExpressions = [], matchFields = [] }) => matchExpressions.length + matchFields.length > 0);
  const nodeSelectorTerms = (meant.length === 0 ? [{}] : meant).map(({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm) => ({
    matchExpressions: [...matchExpressions, ...(more.matchExpressions ?? [])],
    matchFields: [...matchFields, ...(more.matchFields ?? [])],
  }));
  return { ...affinity, nodeAffinity: { ...affinity?.nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } };
}
