import { TAINT_MARK } from '../../../agents/taint/agent.ts';
import { autoscalerLetBack } from '../../ports/cordon-marks.ts';
import { isCordonOfAnother } from '../../domain/cordon-of-another.ts';
import { OUT_OF_SERVICE_OWNER } from '../../controllers/fence/ownership.ts';
import { OUT_OF_SERVICE_TAINT } from '../../domain/advance.ts';
import { CORDON_MARK } from '../../domain/node-fence.ts';
import type { Node, Taint } from '../../ports/objects.ts';
import { CORDON_BY_PRESERVATION } from '../../ports/preservation.ts';
import { CORDON_BY_REMEDY, REMEDIATION_POD, REMEDIATION_TIMESTAMP } from '../../ports/remedies.ts';

/** What takes back all of ours on a Node and nothing else (P8); undefined: nothing of ours stands there. */
export interface NodeChange {
  patch: object;
  /** What is taken back, in words. */
  words: string[];
}

export function takenBack(node: Node, keepsCordon: boolean): NodeChange | undefined {
  const { annotations = {}, resourceVersion } = node.metadata;
  const words: string[] = [];
  const marks: Record<string, null> = { ...autoscalerLetBack(node) };
  if (Object.keys(marks).length > 0) words.push('the autoscaler is let back');
  const spec: { unschedulable?: null; taints?: Taint[] } = {};
  const cordonMarks = [CORDON_MARK, CORDON_BY_PRESERVATION, CORDON_BY_REMEDY].filter((mark) => annotations[mark] !== undefined);
  for (const mark of cordonMarks) marks[mark] = null;
  const isOfAnother = cordonMarks.some((mark) => isCordonOfAnother(node, mark));
  if (cordonMarks.length > 0 && node.spec.unschedulable === true && !isOfAnother) {
    if (keepsCordon) words.push('our cordon stays, without our mark');
    else {
      spec.unschedulable = null;
      words.push('uncordoned');
    }
  }
  const own = ownTaints(annotations);
  for (const mark of [OUT_OF_SERVICE_OWNER, TAINT_MARK, REMEDIATION_TIMESTAMP, REMEDIATION_POD])
    if (annotations[mark] !== undefined) marks[mark] = null;
  const taints = node.spec.taints ?? [];
  const ours = taints.filter((taint) => own.has(textOf(taint)));
  if (ours.length > 0) {
    spec.taints = taints.filter((taint) => !ours.includes(taint));
    words.push(...ours.map((taint) => `taint ${taint.key} removed`));
  }
  if (Object.keys(marks).length === 0) return undefined;
  // Whoever changed the Node in between is not overwritten.
  return { patch: { metadata: { resourceVersion, annotations: marks }, spec }, words };
}

function ownTaints(annotations: Readonly<Record<string, string>>): ReadonlySet<string> {
  const listed = (annotations[TAINT_MARK] ?? '').split(',').filter((text) => text !== '');
  return new Set([...listed, ...(annotations[OUT_OF_SERVICE_OWNER] === undefined ? [] : [textOf(OUT_OF_SERVICE_TAINT)])]);
}

function textOf({ key, value = '', effect }: Taint): string {
  return `${key}=${value}:${effect}`;
}
