import type { HostEnvironment } from '../../../src/ports/agents.ts';
import type { Call, CallTarget } from '../call.ts';

/** The text of a file of this process; undefined where there is none, `Misconfigured` where it cannot be read. */
export async function hostFile(host: HostEnvironment, call: Call<CallTarget>, path: string): Promise<string | undefined> {
  try {
    return await host.readFile(path);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw call.error('Misconfigured', `file ${path} cannot be read (${code})`);
  }
}

/** JSON; undefined for what is none. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
