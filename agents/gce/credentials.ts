import type { HostEnvironment } from '../../src/ports/agents.ts';
import type { Call } from '../shared/call.ts';
import { firstCredentials, type CredentialSource } from '../shared/cloud/credentials.ts';
import { repeated } from '../shared/cloud/repeat.ts';
import { TokenKeeper, type Token } from '../shared/cloud/tokens.ts';
import { grantOf } from './credential-file.ts';
import { hostFile } from '../shared/cloud/host-file.ts';
import { metadataSource } from './metadata-server.ts';
import type { Grant, TokenReach } from './oauth.ts';

/** The metadata server is asked over connections of its own: nothing else answers as fast, or is given up as early. */
export interface CredentialReach {
  tokens: TokenReach;
  metadata: TokenReach;
  host: HostEnvironment;
}

/** Tokens of one account. Each is fetched from the first place that has credentials, in the order of Google's own libraries (AIP-4110). */
export class Credentials {
  readonly #reach: CredentialReach;
  readonly #serviceaccount: string | undefined;
  readonly #keeper: TokenKeeper<Token>;

  constructor(reach: CredentialReach, serviceaccount: string | undefined) {
    this.#reach = reach;
    this.#serviceaccount = serviceaccount;
    this.#keeper = new TokenKeeper(reach.tokens.clock);
  }

  /** The kept token, or a new one. */
  token(call: Call): Promise<Token> {
    return this.#keeper.get(() =>
      repeated(call, async () => {
        const { credentials: grant } = await firstCredentials(call, this.#sources());
        return grant(call);
      }),
    );
  }

  /** The cloud does not take it any more. */
  drop(token: Token): void {
    this.#keeper.drop(token);
  }

  #sources(): readonly CredentialSource<Grant>[] {
    const { tokens, metadata, host } = this.#reach;
    const given = this.#serviceaccount;
    if (given !== undefined) return [this.#given(given)];
    return [
      { name: 'environment', find: (call) => this.#environment(tokens, host, call) },
      { name: 'gcloud', find: (call) => this.#gcloud(tokens, host, call) },
      metadataSource(metadata, host),
    ];
  }

  /** The parameter, and nothing else where it is given: another account than the one that is meant would be a surprise. */
  #given(given: string): CredentialSource<Grant> {
    const { tokens, host } = this.#reach;
    const path = given.trimStart().startsWith('{') ? undefined : given;
    return {
      name: 'serviceaccount',
      find: async (call) => {
        const text = path === undefined ? given : await hostFile(host, call, path);
        if (text === undefined) throw call.error('Misconfigured', 'serviceaccount: there is no such file');
        return { credentials: grantOf(tokens, host, call, { text, where: 'serviceaccount', isGiven: path === undefined }) };
      },
    };
  }

  async #environment(tokens: TokenReach, host: HostEnvironment, call: Call): Promise<{ credentials: Grant } | { absent: string }> {
    const where = 'GOOGLE_APPLICATION_CREDENTIALS';
    const path = host.variable(where);
    if (path === undefined) return { absent: `${where} is not set` };
    const text = await hostFile(host, call, path);
    if (text === undefined) throw call.error('Misconfigured', `${where}: there is no file ${path}`);
    return { credentials: grantOf(tokens, host, call, { text, where, isGiven: false }) };
  }

  async #gcloud(tokens: TokenReach, host: HostEnvironment, call: Call): Promise<{ credentials: Grant } | { absent: string }> {
    const home = host.variable('HOME');
    const folder = host.variable('CLOUDSDK_CONFIG') ?? (home === undefined ? undefined : `${home}/.config/gcloud`);
    if (folder === undefined) return { absent: 'neither CLOUDSDK_CONFIG nor HOME is set' };
    const where = `${folder}/application_default_credentials.json`;
    const text = await hostFile(host, call, where);
    if (text === undefined) return { absent: `there is no ${where}` };
    return { credentials: grantOf(tokens, host, call, { text, where, isGiven: false }) };
  }
}
