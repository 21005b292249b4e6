import type { Credential, CredentialSource } from './credential-source.ts';
import type { TextSource } from './text-source.ts';

export interface StoredTexts {
  token?: TextSource;
  certificate?: TextSource;
  key?: TextSource;
}

/** A token or a client certificate that stands in the configuration or in files. */
export class StoredCredential implements CredentialSource {
  readonly #texts: StoredTexts;

  constructor(texts: StoredTexts) {
    this.#texts = texts;
  }

  async current(): Promise<Credential> {
    const { token, certificate, key } = this.#texts;
    return {
      ...(token === undefined ? {} : { token: (await token.read()).trim() }),
      ...(certificate === undefined ? {} : { certificatePem: await certificate.read() }),
      ...(key === undefined ? {} : { keyPem: await key.read() }),
    };
  }

  readAnew(): void {
    this.rejected();
  }

  rejected(): boolean {
    return [this.#texts.token, this.#texts.certificate, this.#texts.key].map((text) => text?.expire() ?? false).includes(true);
  }
}
