import type { Call } from '../shared/call.ts';
import { sessionIn, failureIn } from './answers.ts';
import type { Keys } from './parameters.ts';
import type { SignedQuery } from './signed-query.ts';

const VERSION = '2011-06-15';
const SESSION_NAME = 'nodefence';

/** Temporary keys from STS (API reference, version 2011-06-15). */
export class SecurityTokens {
  readonly #query: SignedQuery;

  constructor(query: SignedQuery) {
    this.#query = query;
  }

  /** The token itself is the proof: the request is not signed. */
  withWebIdentity(call: Call, roleArn: string, token: string): Promise<Keys> {
    const parameters = { RoleArn: roleArn, RoleSessionName: SESSION_NAME, WebIdentityToken: token };
    return this.#ask(call, undefined, 'AssumeRoleWithWebIdentity', parameters, [token]);
  }

  withRole(call: Call, keys: Keys, roleArn: string, externalId: string | undefined): Promise<Keys> {
    const parameters = { RoleArn: roleArn, RoleSessionName: SESSION_NAME, ...(externalId === undefined ? {} : { ExternalId: externalId }) };
    return this.#ask(call, keys, 'AssumeRole', parameters, []);
  }

  async #ask(call: Call, keys: Keys | undefined, action: string, parameters: Record<string, string>, secrets: readonly string[]): Promise<Keys> {
    const answer = await this.#query.ask(call, { service: 'sts', keys, action, version: VERSION, parameters, secrets });
    const session = answer.status === 200 ? sessionIn(answer.text) : undefined;
    if (session !== undefined) return session;
    const failure = failureIn(answer.text);
    throw call.error(
      'Misconfigured',
      `${action} for ${parameters['RoleArn'] ?? ''}: ${failure === undefined ? `HTTP ${answer.status}` : `${failure.code}: ${failure.message}`}`,
    );
  }
}
