/** docs/remedies.md: annotations of remedies on a Node, and the one which says that a cordon is theirs. */
const OWN_ANNOTATIONS = ['nodefence.ha.k8s.io/remediation-timestamp', 'nodefence.ha.k8s.io/remediation-podname'];
export const REMEDY_CORDON_MARK = 'nodefence.ha.k8s.io/cordoned-by-remedy';

const FEATURES: ReadonlySet<string> = new Set([...OWN_ANNOTATIONS, REMEDY_CORDON_MARK].map((key) => `annotation ${key}`));

/** Of remedies and not of the fence, which may be one of them: their cordon stands until their recovery, their records stay. */
export function isRemedyMark(feature: string, features: ReadonlyMap<string, string>): boolean {
  return feature === 'cordon' ? features.has(`annotation ${REMEDY_CORDON_MARK}`) : FEATURES.has(feature);
}
