import type { Secret } from '../../ports/objects.ts';

/** The keys of a Secret as an agent gets them. */
export function decoded(secret: Secret): Record<string, string> {
  return Object.fromEntries(Object.entries(secret.data ?? {}).map(([key, text]) => [key, Buffer.from(text, 'base64').toString('utf8')]));
}
