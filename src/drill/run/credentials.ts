import { randomBytes } from 'node:crypto';

/** 16 characters: IPMI allows 20, but Debian’s ipmi_sim refused a login with so many. */
const SECRET_BYTES = 12;

/** Tokens and passwords of one drill, so that the judge can look for them where they must not stand. */
export class SecretsOfDrill {
  readonly all: string[] = [];
  readonly #tokens = new Map<string, string>();

  fresh(): string {
    const secret = randomBytes(SECRET_BYTES).toString('base64url');
    this.all.push(secret);
    return secret;
  }

  /** The token of this API user, which somebody else has made. */
  bind(user: string, token: string): void {
    this.all.push(token);
    this.#tokens.set(user, token);
  }

  /** Of this API user; always the same. */
  token(user: string): string {
    const token = this.#tokens.get(user) ?? this.fresh();
    this.#tokens.set(user, token);
    return token;
  }
}
