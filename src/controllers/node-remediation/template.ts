import { changesTo } from '../shared/remediation/actions.ts';
import type { Annotate, Marks, ObjectRef } from '../shared/remediation/actions.ts';
import { MULTIPLE_TEMPLATES } from './names.ts';

/** Every template says that others of its kind may be used beside it: one without would make medik8s refuse them all. `undefined`: it does. */
export function decideTemplate(target: ObjectRef, annotations: Marks): Annotate | undefined {
  if (annotations[MULTIPLE_TEMPLATES] !== undefined) return undefined;
  return { kind: 'annotate', target, changes: changesTo(annotations, { [MULTIPLE_TEMPLATES]: 'true' }) };
}
