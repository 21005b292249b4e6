import type { HostEnvironment, Target } from '../../../src/ports/agents.ts';
import type { Call, CallTarget } from '../call.ts';

/** One place where credentials may be. */
export interface CredentialSource<C, T extends CallTarget = Target> {
  /** As the cloud's own documentation calls it: `environment`, `web identity`, `instance role`. */
  name: string;
  /** The credentials, or why there are none here: `AWS_ACCESS_KEY_ID is not set`. Rejects where they are here and cannot be had. */
  find(call: Call<T>): Promise<{ credentials: C } | { absent: string }>;
}

/** The first source that has any, in the order of the cloud's own tools; `Misconfigured` names all that were tried. */
export async function firstCredentials<C, T extends CallTarget = Target>(
  call: Call<T>,
  sources: readonly CredentialSource<C, T>[],
): Promise<{ credentials: C; source: string }> {
  const tried: string[] = [];
  for (const source of sources) {
    const found = await source.find(call);
    if ('credentials' in found) return { credentials: found.credentials, source: source.name };
    tried.push(`${source.name} (${found.absent})`);
  }
  throw call.error('Misconfigured', `no credentials found: tried ${tried.join(', ')}`);
}

/** Where no process lends its environment, nothing is set. */
export const NO_HOST: HostEnvironment = { variable: () => undefined, readFile: () => Promise.resolve(undefined) };
