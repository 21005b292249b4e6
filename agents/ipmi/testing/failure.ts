import { AgentError } from '../../../src/ports/agents.ts';

/** What a call was rejected with. Rejects itself where that is no `AgentError`, or nothing. */
export async function failure(promise: Promise<unknown>): Promise<AgentError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof AgentError)) throw new Error(`no AgentError: ${String(error)}`);
  return error;
}
