import { NAMESPACE } from '../access.ts';
import { DEFAULT_CHOICE } from '../deployment.ts';

/** What an installation chooses, in the words of Helm, in place of what stands in our objects. */
const CHOSEN: readonly (readonly [string, string])[] = [
  [NAMESPACE, '{{ .Release.Namespace }}'],
  [DEFAULT_CHOICE.image, '{{ include "nodefence.image" . }}'],
];
const BRACES = /\{\{/g;

/** The same object with Helm's expressions for what an installation chooses. Braces of our own stay braces. */
export function withPlaceholders(object: object): object {
  return JSON.parse(JSON.stringify(object), (_key, value: unknown) => (typeof value === 'string' ? textOf(value) : value)) as object;
}

function textOf(value: string): string {
  const literal = value.replaceAll(BRACES, '{{ "{{" }}');
  return CHOSEN.reduce((text, [ours, theirs]) => text.replaceAll(ours, theirs), literal);
}
