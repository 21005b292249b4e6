import { createPublicKey, generateKeyPairSync, randomBytes, verify } from 'node:crypto';

import type { CloudAnswer, CloudRequest } from './cloud-server.ts';
import type { CloudFaults } from './faults.ts';

const ACCOUNT = 'fence@nodefence-emulated.iam.gserviceaccount.com';
const AUDIENCE = '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/cluster';
const SUBJECT_TOKEN = 'a token of another identity provider';
const LIFETIME_SECONDS = 3_600;
/** A signature may be made so far in the future. */
const SKEW_SECONDS = 60;

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';

/** Contents of credential files, by their type. */
export interface GceCredentials {
  serviceAccount: string;
  authorizedUser: string;
  /** Reads the subject's token from this path; `impersonates`: and then becomes the service account. */
  externalFile(path: string, impersonates: boolean): string;
  externalURL: string;
  impersonated: string;
  /** What stands in the subject's token file. */
  subjectToken: string;
}

/** Gives tokens as Google's endpoints do: OAuth 2.0 for service accounts and users, the Security Token Service, IAM credentials, the metadata server. */
export class GceIdentity {
  readonly #tokens = new Set<string>();
  readonly #faults: () => CloudFaults;
  readonly #keys = generateKeyPairSync('rsa', { modulusLength: 1_024 });

  constructor(faults: () => CloudFaults) {
    this.#faults = faults;
  }

  isGood(authorization: string | undefined): boolean {
    return authorization !== undefined && this.#tokens.has(authorization.replace(/^Bearer /, ''));
  }

  forgetAll(): void {
    this.#tokens.clear();
  }

  credentials(url: string): GceCredentials {
    const impersonation = `${url}/v1/projects/-/serviceAccounts/${ACCOUNT}:generateAccessToken`;
    const external = (source: object, impersonates: boolean): string =>
      JSON.stringify({
        type: 'external_account',
        audience: AUDIENCE,
        subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
        token_url: `${url}/v1/token`,
        credential_source: source,
        ...(impersonates ? { service_account_impersonation_url: impersonation } : {}),
      });
    const authorizedUser = { type: 'authorized_user', client_id: 'client', client_secret: 'secret of the client', refresh_token: 'a refresh token' };
    return {
      serviceAccount: JSON.stringify({
        type: 'service_account',
        project_id: 'nodefence-emulated',
        private_key_id: 'key-1',
        private_key: this.#keys.privateKey.export({ type: 'pkcs8', format: 'pem' }),
        client_email: ACCOUNT,
        token_uri: `${url}/token`,
      }),
      authorizedUser: JSON.stringify({ ...authorizedUser, token_uri: `${url}/token` }),
      externalFile: (file, impersonates) => external({ file }, impersonates),
      externalURL: external(
        { url: `${url}/subject`, headers: { Flavor: 'cluster' }, format: { type: 'json', subject_token_field_name: 'value' } },
        false,
      ),
      impersonated: JSON.stringify({
        type: 'impersonated_service_account',
        service_account_impersonation_url: impersonation,
        source_credentials: { ...authorizedUser, token_uri: `${url}/token` },
      }),
      subjectToken: SUBJECT_TOKEN,
    };
  }

  /** `POST token`. */
  token({ body }: CloudRequest, url: string): CloudAnswer {
    const form = new URLSearchParams(body);
    if (this.#faults().refusesLogin === true) return denied('invalid_grant', 'Invalid grant: account not found');
    if (form.get('grant_type') === 'refresh_token') {
      const isRight = form.get('refresh_token') === 'a refresh token' && form.get('client_secret') === 'secret of the client';
      return isRight ? this.#granted() : denied('invalid_grant', 'Token has been expired or revoked.');
    }
    if (form.get('grant_type') !== JWT_BEARER) return denied('unsupported_grant_type', 'Invalid grant_type');
    const problem = this.#problemOf(form.get('assertion') ?? '', url);
    return problem === undefined ? this.#granted() : denied('invalid_grant', problem);
  }

  /** `POST sts`. */
  exchange({ body }: CloudRequest): CloudAnswer {
    const form = new URLSearchParams(body);
    if (form.get('grant_type') !== TOKEN_EXCHANGE || form.get('audience') !== AUDIENCE)
      return denied('invalid_request', 'Invalid value for "audience"');
    if (form.get('subject_token') !== SUBJECT_TOKEN) return denied('invalid_grant', 'The given credential is rejected by the attribute condition.');
    return this.#granted({ issued_token_type: 'urn:ietf:params:oauth:token-type:access_token' });
  }

  /** `POST generateAccessToken`. */
  impersonate({ body, headers }: CloudRequest): CloudAnswer {
    if (!this.isGood(headers['authorization']))
      return json(401, { error: { code: 401, message: 'Request had invalid authentication credentials.' } });
    const { scope } = JSON.parse(body) as { scope?: string[] };
    if (scope === undefined || scope.length === 0) return json(400, { error: { code: 400, message: 'scope is required' } });
    const expireTime = new Date(this.#nowMs() + LIFETIME_SECONDS * 1_000).toISOString();
    return json(200, { accessToken: this.#issue(), expireTime });
  }

  /** `GET subject`: another identity provider. */
  subject({ headers }: CloudRequest): CloudAnswer {
    return headers['flavor'] === 'cluster' ? json(200, { value: SUBJECT_TOKEN }) : json(403, {});
  }

  /** `GET metadata token`. */
  metadata({ headers }: CloudRequest): CloudAnswer {
    const flavor = { 'Metadata-Flavor': 'Google' };
    if (headers['metadata-flavor'] !== 'Google') return { status: 403, headers: flavor, body: 'Missing Metadata-Flavor:Google header.' };
    if (this.#faults().refusesLogin === true) return { status: 404, headers: flavor, body: 'service account not found' };
    return { ...this.#granted(), headers: flavor };
  }

  #nowMs(): number {
    return Date.now() + (this.#faults().aheadMs ?? 0);
  }

  #issue(): string {
    const token = `ya29.${randomBytes(24).toString('base64url')}`;
    this.#tokens.add(token);
    return token;
  }

  #granted(more: object = {}): CloudAnswer {
    return json(200, { access_token: this.#issue(), expires_in: LIFETIME_SECONDS, token_type: 'Bearer', ...more });
  }

  #problemOf(assertion: string, url: string): string | undefined {
    const [header = '', claims = '', signature = ''] = assertion.split('.');
    const key = createPublicKey(this.#keys.publicKey.export({ type: 'spki', format: 'pem' }));
    const isSigned = verify('sha256', Buffer.from(`${header}.${claims}`), key, Buffer.from(signature, 'base64url'));
    const { alg } = parsed(header);
    if (!isSigned || alg !== 'RS256') return 'Invalid JWT Signature.';
    const { iss, aud, scope, iat, exp } = parsed(claims);
    if (iss !== ACCOUNT || aud !== `${url}/token` || typeof scope !== 'string') return 'Invalid JWT: Failed audience check.';
    const now = this.#nowMs() / 1_000;
    const isTimely = typeof iat === 'number' && typeof exp === 'number' && iat <= now + SKEW_SECONDS && exp > now && exp - iat <= LIFETIME_SECONDS;
    return isTimely
      ? undefined
      : 'Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values.';
  }
}

function parsed(part: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(part, 'base64url').toString('utf8')) as Record<string, unknown>;
}

function denied(error: string, description: string): CloudAnswer {
  return json(400, { error, error_description: description });
}

export function json(status: number, body: object): CloudAnswer {
  return { status, headers: { 'Content-Type': 'application/json; charset=UTF-8' }, body: JSON.stringify(body) };
}
