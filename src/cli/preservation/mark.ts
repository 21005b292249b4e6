import { PRESERVE } from '../../controllers/preservation/names.ts';
import { managerOf } from '../../domain/managed-fields.ts';
import { PRESERVE_REASON, PRESERVE_REQUESTED_BY } from '../../ports/authorship.ts';
import type { KubeObject } from '../../ports/objects.ts';

const AUTHOR = 'its author as written there: ';

/** Of one that names its author: what a machine controller writes names none. */
export function isAuthored(mark: string): boolean {
  return mark.includes(AUTHOR);
}

/**
 * What a person has written on a Node or a Machine, by whom as it says, and when. Admission has no clock: the time is that of the API server, of the last change
 * by the program that wrote the mark, so that the mark is not younger.
 */
export function describeMark(kind: 'Node' | 'Machine', { metadata }: KubeObject): string | undefined {
  const { name, annotations = {}, managedFields = [] } = metadata;
  const value = annotations[PRESERVE];
  if (value === undefined) return undefined;
  const { manager = 'a program without a name', time } = managerOf(managedFields, ['metadata', 'annotations', PRESERVE]) ?? {};
  const when = time === undefined ? 'when is not kept by this API server' : `by ${manager}, at ${time} or before`;
  const said = annotations[PRESERVE_REQUESTED_BY];
  const reason = annotations[PRESERVE_REASON];
  return [
    `${kind} ${name} is marked ${value}, ${when}`,
    ...(said === undefined ? [] : [`${AUTHOR}${said}`]),
    ...(reason === undefined ? [] : [`reason: ${reason}`]),
  ].join('; ');
}
