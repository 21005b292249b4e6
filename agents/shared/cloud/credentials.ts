import type { HostEnvironment, Target } from '../../../src/ports/agents.ts';
import type { Call, CallTarget } from '../call.ts';

/** One place where credentials may be. */
export interface CredentialSource<C, T extends CallTarget = Target> {
  /** As the cloud's own documentation calls it: `environment`, `web identity`, `instance role`. */
  name: string;
  /** It is the process' own, of its environment, files or instance, and no part of the configuration. */
  isOfProcess?: true;
  /** The credentials, or why there are none here: `AWS_ACCESS_KEY_ID is not set`. Rejects where they are here and cannot be had. */
  find(call: Call<T>): Promise<{ credentials: C } | { absent: string }>;
}

/**
 * The first source that has any, in the order of the cloud's own tools; `Misconfigured` names all that were tried. `foreignHost`: a host that is none of the
 * cloud's and that the configuration names: whoever may write that must not be given what the process itself is trusted with.
 */
export async function firstCredentials<C, T extends CallTarget = Target>(
  call: Call<T>,
  sources: readonly CredentialSource<C, T>[],
  foreignHost?: string,
): Promise<{ credentials: C; source: string }> {
  const tried: string[] = [];
  for (const source of sources) {
    if (foreignHost !== undefined && source.isOfProcess === true) {
      tried.push(`${source.name} (not given to ${foreignHost}, which the configuration names)`);
      continue;
    }
    const found = await source.find(call);
    if ('credentials' in found) return { credentials: found.credentials, source: source.name };
    tried.push(`${source.name} (${found.absent})`);
  }
  throw call.error('Misconfigured', `no credentials found: tried ${tried.join(', ')}`);
}

/** Where no process lends its environment, nothing is set. */
export const NO_HOST: HostEnvironment = { variable: () => undefined, readFile: () => Promise.resolve(undefined) };
