import { textAt } from '../shared/web/web-client.ts';
import { postForm, tokenOf, type Grant, type TokenReach } from './oauth.ts';

const TOKEN_URI = 'https://oauth2.googleapis.com/token';

/** A person's refresh token, as `gcloud auth application-default login` leaves one (AIP-4113). */
export function userGrant(reach: TokenReach, info: unknown, wrong: (why: string) => Error): Grant {
  const [id, secret, refresh] = ['client_id', 'client_secret', 'refresh_token'].map((name) => textAt(info, name));
  if (id === undefined || secret === undefined || refresh === undefined) throw wrong('it has no client_id, client_secret or refresh_token');
  const url = textAt(info, 'token_uri') ?? TOKEN_URI;
  const secrets = [secret, refresh];
  return async (call) => {
    const fields = { grant_type: 'refresh_token', client_id: id, client_secret: secret, refresh_token: refresh };
    const answer = await postForm(reach, call, { url, fields, secrets });
    return tokenOf(reach, call, answer, `token endpoint ${url}`, secrets);
  };
}
