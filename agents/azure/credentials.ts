import type { Call } from '../shared/call.ts';
import { firstCredentials, type CredentialSource } from '../shared/cloud/credentials.ts';
import type { Reach } from '../shared/cloud/instance-agent.ts';
import { repeated, Throttled, waitOf } from '../shared/cloud/repeat.ts';
import type { Token } from '../shared/cloud/tokens.ts';
import { deviceMessage } from '../shared/ssh/words.ts';
import { member, textAt, WebClient, WebFailure, type WebAnswer } from '../shared/web/web-client.ts';
import type { AzureSettings } from './parameters.ts';

const CLOUD_FILE = '/etc/kubernetes/azure.json';
const ASSERTION = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
/** Where nobody answers within this, we are in no instance. */
const METADATA_TRUST = { ca: undefined, fingerprint: undefined, insecure: false, connectTimeoutMs: 1_000 };

/** Tokens for ARM, from the first place that has credentials. */
export class AzureCredentials {
  readonly #settings: AzureSettings;
  readonly #reach: Reach;
  readonly #client: WebClient;
  readonly #metadata: WebClient;

  constructor(settings: AzureSettings, reach: Reach) {
    this.#settings = settings;
    this.#reach = reach;
    this.#client = new WebClient(settings.trust, reach, 4);
    this.#metadata = new WebClient(METADATA_TRUST, { clock: reach.clock }, 4);
  }

  find(call: Call): Promise<{ credentials: Token; source: string }> {
    const { foreignHost } = this.#settings;
    if (this.#settings.isManaged) return firstCredentials(call, [this.#ofManagedIdentity()], foreignHost);
    return firstCredentials(
      call,
      [this.#ofParameters(), this.#ofEnvironment(), this.#ofWorkloadIdentity(), this.#ofCloudFile(), this.#ofManagedIdentity()],
      foreignHost,
    );
  }

  close(): void {
    this.#client.close();
    this.#metadata.close();
  }

  #ofParameters(): CredentialSource<Token> {
    const { clientId, clientSecret, tenantId } = this.#settings;
    return {
      name: 'parameters',
      find: async (call) => {
        if (clientId === undefined || clientSecret === undefined) return { absent: 'no username' };
        const tenant = tenantId ?? this.#reach.host.variable('AZURE_TENANT_ID');
        if (tenant === undefined) throw call.error('Misconfigured', 'tenantId is missing: it belongs to username and password');
        return { credentials: await this.#token(call, 'parameters', tenant, { client_id: clientId, client_secret: clientSecret }) };
      },
    };
  }

  #ofEnvironment(): CredentialSource<Token> {
    const { host } = this.#reach;
    return {
      name: 'environment',
      isOfProcess: true,
      find: async (call) => {
        const [id, secret, tenant] = ['AZURE_CLIENT_ID', 'AZURE_CLIENT_SECRET', 'AZURE_TENANT_ID'].map((name) => host.variable(name));
        if (secret === undefined && host.variable('AZURE_CLIENT_CERTIFICATE_PATH') !== undefined)
          return { absent: 'AZURE_CLIENT_CERTIFICATE_PATH is set, which nodefence does not use' };
        if (secret === undefined) return { absent: 'AZURE_CLIENT_SECRET is not set' };
        if (id === undefined || tenant === undefined) return { absent: `${id === undefined ? 'AZURE_CLIENT_ID' : 'AZURE_TENANT_ID'} is not set` };
        return { credentials: await this.#token(call, 'environment', tenant, { client_id: id, client_secret: secret }) };
      },
    };
  }

  /** The service account's token for a token of Azure (Microsoft Entra Workload ID). */
  #ofWorkloadIdentity(): CredentialSource<Token> {
    const { host } = this.#reach;
    return {
      name: 'workload identity',
      isOfProcess: true,
      find: async (call) => {
        const [path, id, tenant] = ['AZURE_FEDERATED_TOKEN_FILE', 'AZURE_CLIENT_ID', 'AZURE_TENANT_ID'].map((name) => host.variable(name));
        if (path === undefined) return { absent: 'AZURE_FEDERATED_TOKEN_FILE is not set' };
        if (id === undefined || tenant === undefined) return { absent: `${id === undefined ? 'AZURE_CLIENT_ID' : 'AZURE_TENANT_ID'} is not set` };
        const assertion = (await host.readFile(path))?.trim() ?? '';
        if (assertion === '') throw call.error('Misconfigured', `AZURE_FEDERATED_TOKEN_FILE names ${path}, which is not there or empty`);
        const form = { client_id: id, client_assertion_type: ASSERTION, client_assertion: assertion };
        return { credentials: await this.#token(call, 'workload identity', tenant, form) };
      },
    };
  }

  /** What the cloud provider of the node uses. */
  #ofCloudFile(): CredentialSource<Token> {
    return {
      name: CLOUD_FILE,
      isOfProcess: true,
      find: async (call) => {
        const file = await this.#cloudFile(call);
        if (file === undefined) return { absent: 'there is none' };
        const [id, secret, tenant] = ['aadClientId', 'aadClientSecret', 'tenantId'].map((name) => textAt(file, name));
        if (member(file, 'useManagedIdentityExtension') === true) return { absent: 'it uses the managed identity' };
        if (id === undefined || secret === undefined || tenant === undefined) return { absent: 'it has no aadClientId with aadClientSecret' };
        return { credentials: await this.#token(call, CLOUD_FILE, tenant, { client_id: id, client_secret: secret }) };
      },
    };
  }

  #ofManagedIdentity(): CredentialSource<Token> {
    const { host } = this.#reach;
    return {
      name: 'managed identity',
      isOfProcess: true,
      find: async (call) => {
        const assigned = this.#settings.isManaged ? undefined : textAt(await this.#cloudFile(call), 'userAssignedIdentityID');
        const id = this.#settings.clientId ?? host.variable('AZURE_CLIENT_ID') ?? assigned ?? '';
        const base = (host.variable('AZURE_POD_IDENTITY_AUTHORITY_HOST') ?? 'http://169.254.169.254').replace(/\/$/, '');
        const query = new URLSearchParams({
          'api-version': '2018-02-01',
          resource: this.#settings.audience,
          ...(id === '' ? {} : { client_id: id }),
        });
        try {
          const url = `${base}/metadata/identity/oauth2/token?${query.toString()}`;
          const answer = await repeated(call, async () =>
            this.#patient(await this.#metadata.exchange(call, { method: 'GET', url, headers: { Metadata: 'true' } })),
          );
          if (answer.status !== 200) return { absent: `the metadata service gives no token: HTTP ${answer.status}: ${wordsOf(answer)}` };
          return { credentials: this.#tokenIn(call, 'managed identity', answer) };
        } catch (error) {
          if (error instanceof WebFailure && error.kind === 'unreachable') return { absent: `no metadata service answers: ${error.message}` };
          throw error;
        }
      },
    };
  }

  async #cloudFile(call: Call): Promise<unknown> {
    const text = await this.#reach.host.readFile(CLOUD_FILE);
    if (text === undefined) return undefined;
    try {
      return JSON.parse(text) as unknown;
    } catch (error) {
      if (error instanceof SyntaxError) throw call.error('Misconfigured', `${CLOUD_FILE} is no JSON`);
      throw error;
    }
  }

  /** The OAuth 2.0 client credentials flow (Microsoft identity platform). */
  async #token(call: Call, source: string, tenant: string, form: Readonly<Record<string, string>>): Promise<Token> {
    const { authority, cloudAuthority, audience } = this.#settings;
    const base = (authority ?? this.#reach.host.variable('AZURE_AUTHORITY_HOST') ?? cloudAuthority).replace(/\/$/, '');
    const secrets = [form['client_secret'], form['client_assertion']];
    const answer = await repeated(call, async () =>
      this.#patient(
        await this.#client.exchange(call, {
          method: 'POST',
          url: `${base}/${encodeURIComponent(tenant)}/oauth2/v2.0/token`,
          headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
          body: new URLSearchParams({ grant_type: 'client_credentials', scope: `${audience}/.default`, ...form }).toString(),
          secrets,
        }),
        secrets,
      ),
    );
    if (answer.status !== 200)
      throw call.error('Misconfigured', `no token for the credentials of ${source}: HTTP ${answer.status}: ${wordsOf(answer, secrets)}`);
    return this.#tokenIn(call, source, answer);
  }

  #tokenIn(call: Call, source: string, { body }: WebAnswer): Token {
    const [text, seconds] = [textAt(body, 'access_token'), Number(member(body, 'expires_in'))];
    if (text === undefined || text === '' || !Number.isFinite(seconds))
      throw call.error('Unreachable', `an answer that is no token, for the credentials of ${source}`);
    return { text, expiresAtMs: this.#reach.clock.wallMs() + seconds * 1_000 };
  }

  #patient(answer: WebAnswer, secrets: readonly (string | undefined)[] = []): WebAnswer {
    if (answer.status === 429 || answer.status >= 500)
      throw new Throttled(`token: HTTP ${answer.status}: ${wordsOf(answer, secrets)}`, waitOf(answer, this.#reach.clock));
    return answer;
  }
}

function wordsOf({ body, text }: WebAnswer, secrets: readonly (string | undefined)[] = []): string {
  const code = textAt(body, 'error');
  return deviceMessage(code === undefined ? text : `${code}: ${textAt(body, 'error_description') ?? ''}`, secrets);
}
