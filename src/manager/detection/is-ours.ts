import { LABELS } from '../../manifests/access.ts';
import type { KubeObject } from '../../ports/objects.ts';

const PART_OF = 'app.kubernetes.io/part-of';

/** This program has installed it. */
export function isOurs(definition: Pick<KubeObject, 'metadata'> | undefined): boolean {
  return definition?.metadata.labels?.[PART_OF] === LABELS[PART_OF];
}
