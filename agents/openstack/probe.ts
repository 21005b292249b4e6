import type { Call } from '../shared/call.ts';
import { WebFailure, textAt } from '../shared/web/web-client.ts';
import { utc, type Session } from './keystone.ts';
import type { Server } from './server.ts';

/** Why nova would refuse a stop, as far as it can be known: it has no dry run, and its policy cannot be asked for. */
export function refusalOfProbe({ isLocked }: Server, { roles, source }: Session): string | undefined {
  if (isLocked && !roles.includes('admin')) return 'the server is locked: only an admin may stop it (openstack server unlock)';
  if (roles.length > 0 && roles.every((role) => role === 'reader'))
    return `the credentials of ${source} have the role reader alone: nova's default policy lets it stop nothing`;
  return undefined;
}

/** When the application credential, or the password, ends; undefined where it does not, or nobody tells. */
export async function credentialEnd(call: Call, session: Session): Promise<string | undefined> {
  const { client, keystone, userId, applicationCredential, text, passwordExpiresAt } = session;
  if (applicationCredential === undefined || userId === undefined) return passwordExpiresAt;
  const url = `${keystone}/users/${encodeURIComponent(userId)}/application_credentials/${encodeURIComponent(applicationCredential)}`;
  try {
    const { body } = await client.exchange(call, {
      method: 'GET',
      url,
      headers: { 'X-Auth-Token': text, Accept: 'application/json' },
      secrets: [text],
    });
    return utc(textAt(body, 'application_credential', 'expires_at'));
  } catch (error) {
    // The state was read; an access rule may keep this from being told.
    if (error instanceof WebFailure) return undefined;
    throw error;
  }
}
