/** What a user writes on a Node, and what scale-down-disabled means: usage of Gardener's machine-controller-manager and of the cluster autoscaler. */
export const PRESERVE = 'node.machine.sapcloud.io/preserve';
export const SCALE_DOWN_DISABLED = 'cluster-autoscaler.kubernetes.io/scale-down-disabled';
const PRESERVED_TAINT = 'node.machine.sapcloud.io/preserved';
/** docs/preservation.md: annotations of our own, and the one which says that a cordon is preservation's. */
const OWN_ANNOTATIONS = 'ha.k8s.io/preserve-';
export const CORDON_MARK = `${OWN_ANNOTATIONS}cordoned`;

const BEGINNINGS: readonly string[] = [
  `annotation ${PRESERVE}`,
  // And the annotation which says that it is ours.
  `annotation ${SCALE_DOWN_DISABLED}`,
  `annotation ${OWN_ANNOTATIONS}`,
  `taint ${PRESERVED_TAINT}:`,
];

/**
 * Of preservation and not of the fence: it comes and goes by the marks of users and by time, whatever a fence does meanwhile. A user's `preserve` goes too when
 * its time is over, and what he wrote about scaling down is overwritten. A cordon is one where the Node says so.
 */
export function isPreservationMark(feature: string, features: ReadonlyMap<string, string>): boolean {
  if (feature === 'cordon') return features.has(`annotation ${CORDON_MARK}`);
  return BEGINNINGS.some((beginning) => feature.startsWith(beginning));
}
