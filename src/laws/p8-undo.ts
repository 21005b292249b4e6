import type { NodeFenceStatus } from '../domain/node-fence.ts';
import type { Node } from '../ports/objects.ts';
import type { ObjectState } from './object-states.ts';
import type { FenceHistory } from './fence-history.ts';
import { Verdict } from './law.ts';
import type { Law } from './law.ts';
import { isPreservationMark } from './preservation-marks.ts';
import { isRemedyMark } from './remedy-marks.ts';
import type { Timeline } from './timeline.ts';

const OWN_PREFIX = 'nodefence.ha.k8s.io/';

/** P8, undo only our own, and all of it: we never take from a Node what another put there, and leave nothing of ours in `final`. */
export const undoOwn: Law = (history) => {
  const verdict = new Verdict();
  for (const [name, timeline] of history.objects.every('nodes')) {
    const left = followNode(name, timeline, (state) => history.isOurs(state.event), verdict);
    for (const fence of history.fences) {
      if (fence.node === name) cleanAtEnd(fence, timeline, left, (position) => history.isLeftOff(name, position), verdict);
    }
  }
  return verdict;
};

/** What of ours stood on the Node after each of its changes. */
type Marks = { position: number; marks: ReadonlySet<string> }[];

function followNode(name: string, timeline: Timeline<ObjectState>, isOurs: (state: ObjectState) => boolean, verdict: Verdict): Marks {
  const ours = new Set<string>();
  const marks: Marks = [];
  let before = new Map<string, string>();
  for (const { position, at, value } of timeline.entries) {
    const after = featuresOf(value.object as Node | undefined);
    const removed = [...before.keys()].filter((feature) => after.get(feature) !== before.get(feature));
    if (value.object !== undefined && isOurs(value)) {
      const stolen = removed.filter((feature) => !ours.has(feature) && !feature.includes(OWN_PREFIX) && !isPreservationMark(feature, before));
      verdict.check(stolen.length === 0, at, `we took ${stolen.join(', ')} from Node ${name}, which another had put there`);
      for (const feature of after.keys()) if (!before.has(feature)) ours.add(feature);
    }
    for (const feature of [...ours]) if (!after.has(feature)) ours.delete(feature);
    marks.push({ position, marks: new Set([...ours].filter((feature) => !isPreservationMark(feature, after) && !isRemedyMark(feature, after))) });
    before = after;
  }
  return marks;
}

function cleanAtEnd(
  fence: FenceHistory,
  timeline: Timeline<ObjectState>,
  marks: Marks,
  isLeftOff: (position: number) => boolean,
  verdict: Verdict,
): void {
  let state: string | undefined;
  for (const { position, at, value } of fence.statuses.entries) {
    const hasChanged = value.state !== state;
    state = value.state;
    if (!hasChanged || timeline.before(position)?.object === undefined) continue;
    const left = [...(marks.findLast((mark) => mark.position < position)?.marks ?? [])];
    const complain = (holds: boolean, what: string): void => {
      verdict.check(holds, at, `${fence.name} ended in ${value.state}, but ${what} on Node ${fence.node}`);
    };
    // Off as it was asked to, or of a machine that is being deleted: nobody comes back to it.
    const isLeftOnPurpose = value.outcome === 'fenced-off' || (value.state === 'final' && value.ending !== undefined);
    if (value.state === 'final' && !isLeftOnPurpose) complain(left.length === 0, `${left.join(', ')} of ours is left`);
    if (value.state === 'final' && value.outcome === 'recovered') complain(!isLeftOff(position), 'the power is off');
    if (value.state === 'error' || isLeftOnPurpose)
      complain(
        left.every((mark) => isReported(mark, value)),
        `${left.join(', ')} of ours is left and not all of it is in status.restore`,
      );
  }
}

/** What is left in `error`, or beside a machine that is left off on purpose, must at least be written down, so that somebody can take it back. */
function isReported(mark: string, { restore }: NodeFenceStatus): boolean {
  if (mark.startsWith('taint ')) return restore?.taints?.some(({ key }) => mark.startsWith(`taint ${key}:`)) === true;
  if (mark === 'cordon' || mark.includes(`${OWN_PREFIX}cordoned`)) return restore?.cordoned === true;
  return mark.includes(OWN_PREFIX) || Object.keys(restore?.annotations ?? {}).some((key) => mark === `annotation ${key}`);
}

/** Everything on a Node that somebody may have put there by hand, with its value. */
function featuresOf(node: Node | undefined): Map<string, string> {
  const features = new Map<string, string>();
  if (node === undefined) return features;
  if (node.spec.unschedulable === true) features.set('cordon', 'true');
  for (const taint of node.spec.taints ?? []) features.set(`taint ${taint.key}:${taint.effect}`, taint.value ?? '');
  for (const [key, value] of Object.entries(node.metadata.annotations ?? {})) features.set(`annotation ${key}`, value);
  for (const [key, value] of Object.entries(node.metadata.labels ?? {})) features.set(`label ${key}`, value);
  return features;
}
