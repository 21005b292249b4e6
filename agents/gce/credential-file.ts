import type { HostEnvironment } from '../../src/ports/agents.ts';
import type { Call } from '../shared/call.ts';
import { member, textAt } from '../shared/web/web-client.ts';
import { isOfGoogle, isSafe } from './endpoints.ts';
import { externalGrant } from './external-account.ts';
import { jsonOf } from '../shared/cloud/host-file.ts';
import { impersonatedGrant } from './impersonation.ts';
import type { Grant, TokenReach } from './oauth.ts';
import { serviceAccountGrant } from './service-account.ts';
import { userGrant } from './user-account.ts';

/** A credential file, and where it was found. */
export interface CredentialFile {
  text: string;
  /** `GOOGLE_APPLICATION_CREDENTIALS`; told in errors, which never tell a value of the file. */
  where: string;
  /** It came with the parameters: whoever writes them may not lead files and tokens of this process anywhere but to Google. */
  isGiven: boolean;
}

/** Members of a credential file that say where something is sent. */
const ADDRESSES = ['token_uri', 'token_url', 'service_account_impersonation_url'];
const TYPES = 'service_account, authorized_user, external_account or impersonated_service_account';

/** What fetches tokens by a credential file; `Misconfigured` where the file cannot be one. Source: AIP-4110, 4112, 4113, 4117. */
export function grantOf(reach: TokenReach, host: HostEnvironment, call: Call, file: CredentialFile): Grant {
  const { where, isGiven } = file;
  const wrong = (why: string): Error => call.error('Misconfigured', `${where}: ${why}`);
  const info = jsonOf(file.text);
  if (textAt(info, 'type') === undefined) throw wrong('it is no JSON of a credential file');
  const isForeign = isGiven && ['external_account', 'impersonated_service_account'].includes(textAt(info, 'type') ?? '');
  for (const name of ADDRESSES) {
    const address = textAt(info, name);
    if (address === undefined) continue;
    if (!isSafe(address)) throw wrong(`its ${name} must be an https URL`);
    if (isForeign && !isOfGoogle(address)) throw wrong(`its ${name} must be of googleapis.com, where it is given as a parameter`);
  }
  return built(reach, host, call, info, file, wrong);
}

function built(reach: TokenReach, host: HostEnvironment, call: Call, info: unknown, file: CredentialFile, wrong: (why: string) => Error): Grant {
  const type = textAt(info, 'type');
  switch (type) {
    case 'service_account':
      return serviceAccountGrant(reach, info, wrong);
    case 'authorized_user':
      return userGrant(reach, info, wrong);
    case 'external_account': {
      const grant = externalGrant(reach, host, info, wrong);
      return textAt(info, 'service_account_impersonation_url') === undefined ? grant : impersonatedGrant(reach, info, grant, wrong);
    }
    case 'impersonated_service_account': {
      const source = member(info, 'source_credentials');
      if (textAt(source, 'type') === 'impersonated_service_account') throw wrong('its source_credentials impersonate as well');
      return impersonatedGrant(reach, info, grantOf(reach, host, call, { ...file, text: JSON.stringify(source ?? null) }), wrong);
    }
    default:
      throw wrong(`its type must be ${TYPES}`);
  }
}
