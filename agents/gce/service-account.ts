import { createPrivateKey, sign, type KeyObject } from 'node:crypto';

import { textAt } from '../shared/web/web-client.ts';
import { postForm, SCOPE, tokenOf, type Grant, type TokenReach } from './oauth.ts';

const TOKEN_URI = 'https://oauth2.googleapis.com/token';
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
/** The most that the endpoint takes. */
const LIFETIME_SECONDS = 3_600;

/** A signed claim for a token (RFC 7523). Source: "Using OAuth 2.0 for Server to Server Applications", developers.google.com. */
export function serviceAccountGrant(reach: TokenReach, info: unknown, wrong: (why: string) => Error): Grant {
  const [email, pem] = [textAt(info, 'client_email'), textAt(info, 'private_key')];
  if (email === undefined || pem === undefined) throw wrong('it has no client_email or no private_key');
  const key = keyOf(pem, wrong);
  const url = textAt(info, 'token_uri') ?? TOKEN_URI;
  const keyId = textAt(info, 'private_key_id');
  const claim = (): string => {
    const iat = Math.floor(reach.time.nowMs / 1_000);
    const header = { alg: 'RS256', typ: 'JWT', ...(keyId === undefined ? {} : { kid: keyId }) };
    const signed = `${encoded(header)}.${encoded({ iss: email, scope: SCOPE, aud: url, iat, exp: iat + LIFETIME_SECONDS })}`;
    return `${signed}.${sign('sha256', Buffer.from(signed), key).toString('base64url')}`;
  };
  return async (call) => {
    const secrets: string[] = [pem];
    const asked = `token endpoint ${url}`;
    const ask = (): ReturnType<typeof postForm> => {
      const assertion = claim();
      secrets.push(assertion);
      return postForm(reach, call, { url, fields: { grant_type: JWT_BEARER, assertion }, secrets });
    };
    const first = await ask();
    // Signed by a clock that is wrong: once more by the cloud's.
    const answer = reach.time.hear(first) && first.status === 400 ? await ask() : first;
    return tokenOf(reach, call, answer, asked, secrets);
  };
}

function keyOf(pem: string, wrong: (why: string) => Error): KeyObject {
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === 'rsa') return key;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
  }
  throw wrong('its private_key is no RSA key in PEM form');
}

function encoded(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
