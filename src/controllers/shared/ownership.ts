/** Marks of a NodeFence that every controller of this program writes alike, whoever creates it. */
export const FINALIZER = 'nodefence.ha.k8s.io/fence';
export const NODE_LABEL = 'nodefence.ha.k8s.io/node';
export const TRIGGER_LABEL = 'nodefence.ha.k8s.io/trigger';

const LABEL_VALUE_MAX = 63;

/** Labels of a new NodeFence; a node's name may be longer than a label's value. */
export function fenceLabels(node: string, trigger: 'node-condition' | 'remediation'): Record<string, string> {
  return { [TRIGGER_LABEL]: trigger, ...(node.length <= LABEL_VALUE_MAX ? { [NODE_LABEL]: node } : {}) };
}
