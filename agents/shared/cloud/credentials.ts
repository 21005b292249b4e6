import { AgentError, type HostEnvironment, type Target } from '../../../src/ports/agents.ts';
import type { Call, CallTarget } from '../call.ts';

/** Credentials, or why there are none: `AWS_ACCESS_KEY_ID is not set`. */
export type Found<C> = { credentials: C } | { absent: string };

/** One place where credentials may be. */
export interface CredentialSource<C, T extends CallTarget = Target> {
  /** As the cloud's own documentation calls it: `environment`, `web identity`, `instance role`. */
  name: string;
  /** It is the process' own, of its environment, files or instance, and no part of the configuration. */
  isOfProcess?: true;
  /** Rejects where they are here and cannot be had. */
  find(call: Call<T>): Promise<Found<C>>;
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

/** A source of several; one that is there and cannot be read is for a person to mend, and its error names the place. */
export function namedSource<C>(name: string, find: (call: Call<CallTarget>) => Promise<Found<C>> | Found<C>): CredentialSource<C, CallTarget> {
  return {
    name,
    find: async (call) => {
      try {
        return await find(call);
      } catch (error) {
        if (error instanceof AgentError || !(error instanceof Error)) throw error;
        throw call.error('Misconfigured', `${name}: ${error.message}`);
      }
    },
  };
}

/** A flag as tools of clouds read it from a variable. */
export function isYes(text: string | undefined): boolean {
  return /^(1|t|true|yes)$/i.test(text ?? '');
}

/** Where no process lends its environment, nothing is set. */
export const NO_HOST: HostEnvironment = { variable: () => undefined, readFile: () => Promise.resolve(undefined) };
