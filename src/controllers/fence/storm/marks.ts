import type { MaintenanceMark } from '../../../domain/policies/view.ts';
import type { Node } from '../../../ports/objects.ts';
import { CORDON_BY_PRESERVATION } from '../../../ports/preservation.ts';
import { lookup } from '../../../domain/lookup.ts';

type Source = MaintenanceMark['source'];

/** An annotation or label, and what it must say; `undefined`: anything but `false`. */
interface Word {
  source: Source;
  key: string;
  value?: string;
}

const WORDS: readonly Word[] = [
  { source: 'nodefence', key: 'nodefence/maintenance' },
  { source: 'nodefence', key: 'nodefence.ha.k8s.io/maintenance' },
  { source: 'kured', key: 'weave.works/kured-reboot-in-progress' },
  { source: 'medik8s-exclude', key: 'remediation.medik8s.io/exclude-from-remediation', value: 'true' },
];

/** Taints by which somebody says that he takes this node away: left to him unless its pods hang. */
const DELETIONS: Readonly<Record<string, Source>> = {
  ToBeDeletedByClusterAutoscaler: 'autoscaler',
  'karpenter.sh/disrupted': 'karpenter',
  'karpenter.sh/disruption': 'karpenter',
};
/** Machine-controller-manager says so by a condition while it drains, and by an annotation before. */
const MCM = {
  source: 'machine-controller-manager',
  condition: 'Terminating',
  annotation: 'node.machine.sapcloud.io/trigger-deletion-by-mcm',
} as const;
const KARPENTER_FINALIZER = 'karpenter.sh/termination';

/** What else has to be known of a node before its deletion marks and its cordon count. */
export interface Circumstances {
  /** The cordon is nodefence's own. */
  isCordonOurs: boolean;
  /** No pod that a release would free is left. */
  isEmpty: boolean;
  /** A pod is terminating for longer than its grace and a minute. */
  isHanging: boolean;
}

/** Marks that count whatever else is so: a person's or a controller's word that the node is in hand. */
export function presentMarks(node: Node): MaintenanceMark[] {
  const { labels = {}, annotations = {} } = node.metadata;
  const marks: MaintenanceMark[] = [];
  for (const { source, key, value } of WORDS) {
    for (const [kind, words] of [['annotation', annotations] as const, ['label', labels] as const]) {
      const found = words[key];
      if (found === undefined || (value === undefined ? found === 'false' : found !== value)) continue;
      marks.push({ source, where: `${kind} ${key}=${found.slice(0, 60)} on Node ${node.metadata.name}` });
    }
  }
  return marks;
}

/** Has it a mark that needs a look at its circumstances? */
export function isConditional(node: Node): boolean {
  return node.spec.unschedulable === true || deletionMarks(node).length > 0;
}

/** Marks of somebody who deletes the node, and an admin's cordon of a node that has nothing left to lose. */
export function conditionalMarks(node: Node, circumstances: Circumstances): MaintenanceMark[] {
  const deletions = circumstances.isHanging ? [] : deletionMarks(node);
  const isOurs = circumstances.isCordonOurs || node.metadata.annotations?.[CORDON_BY_PRESERVATION] !== undefined;
  const isCordoned = node.spec.unschedulable === true && !isOurs && circumstances.isEmpty;
  const where = `spec.unschedulable of Node ${node.metadata.name}, and no workload is left on it`;
  return [...deletions, ...(isCordoned ? [{ source: 'cordon' as const, where }] : [])];
}

function deletionMarks({ metadata, spec, status }: Node): MaintenanceMark[] {
  const marks: MaintenanceMark[] = [];
  for (const { key } of spec.taints ?? []) {
    const source = lookup(DELETIONS, key);
    if (source !== undefined) marks.push({ source, where: `taint ${key} on Node ${metadata.name}` });
  }
  if (metadata.annotations?.[MCM.annotation] === 'true')
    marks.push({ source: MCM.source, where: `annotation ${MCM.annotation} on Node ${metadata.name}` });
  if (status.conditions?.some(({ type, status: says }) => type === MCM.condition && says === 'True') === true)
    marks.push({ source: MCM.source, where: `condition ${MCM.condition} of Node ${metadata.name}` });
  if (metadata.deletionTimestamp !== undefined && metadata.finalizers?.includes(KARPENTER_FINALIZER) === true)
    marks.push({ source: 'karpenter', where: `deletionTimestamp of Node ${metadata.name}` });
  return marks;
}
