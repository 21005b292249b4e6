import { CORDON_MARK, PRESERVE, PRESERVED_TAINT, SCALE_DOWN_DISABLED } from '../controllers/preservation/names.ts';
import { GROUP } from '../ports/resources.ts';

const BEGINNINGS: readonly string[] = [
  `annotation ${PRESERVE}`,
  // And the annotation which says that it is ours.
  `annotation ${SCALE_DOWN_DISABLED}`,
  `annotation ${GROUP}/preserve-`,
  `taint ${PRESERVED_TAINT}:`,
];

/**
 * Of preservation and not of the fence: it comes and goes by the marks of users and by time, whatever a fence does meanwhile. A user's `preserve` goes too when
 * its time is over (seed 001), and what he wrote about scaling down is overwritten (seed 000, note 6). A cordon is one where the Node says so.
 */
export function isPreservationMark(feature: string, features: ReadonlyMap<string, string>): boolean {
  if (feature === 'cordon') return features.has(`annotation ${CORDON_MARK}`);
  return BEGINNINGS.some((beginning) => feature.startsWith(beginning));
}
