import { createHash } from 'node:crypto';
import type { ApiTransport } from '../ports/api-transport.ts';
import type { Clock } from '../ports/clock.ts';

/** 401: nobody that the API server knows; 403: somebody who may not; 429: too many strangers; 503: the API server does not say. */
export type Access = 'granted' | 401 | 403 | 429 | 503;

export interface TokenReviewsOptions {
  transport: Pick<ApiTransport, 'request'>;
  clock: Clock;
  /** What is to be read, as the rule of a role names it. */
  path: string;
}

const DEADLINE_MS = 5_000;
/** As long as the API server remembers a token by default. */
const KNOWN_MS = 60_000;
/** While the API server does not answer, whoever was let in last is let in still: the metrics of an outage are those that are needed. */
const KNOWN_IN_OUTAGE_MS = 15 * 60_000;
const REMEMBERED_MAX = 256;
/** Tokens that were not let in before, each second: a stranger must not have us flood the API server. */
const NEW_EACH_SECOND = 5;
const TOKEN_LONGEST = 16_384;
const BEARER = /^Bearer +([\w.~+/=-]+)$/i;

interface Answer {
  access: Access;
  atMs: number;
}

/** Whether the sender of a request may read a page: the API server says whose token it is (TokenReview), and what that may (SubjectAccessReview). */
export class TokenReviews {
  readonly #options: TokenReviewsOptions;
  /** By the digest of the token; the oldest first. */
  readonly #answers = new Map<string, Answer>();
  /** By the same digest: whoever comes meanwhile waits for the same answer. */
  readonly #asking = new Map<string, Promise<Access>>();
  #second = { startMs: Number.NEGATIVE_INFINITY, asked: 0 };

  constructor(options: TokenReviewsOptions) {
    this.#options = options;
  }

  async access(authorization: string | undefined): Promise<Access> {
    const token = (authorization ?? '').length > TOKEN_LONGEST ? undefined : BEARER.exec(authorization ?? '')?.[1];
    if (token === undefined) return 401;
    const key = createHash('sha256').update(token).digest('base64');
    const known = this.#answers.get(key);
    if (known !== undefined && this.#ageMs(known) < KNOWN_MS) return known.access;
    const asked = this.#asking.get(key);
    if (asked === undefined && known?.access !== 'granted' && !this.#mayAsk()) return 429;
    try {
      return await (asked ?? this.#begin(key, token));
    } catch {
      // Nobody is asked to mend it here: the watches say that the API server is away.
      return known?.access === 'granted' && this.#ageMs(known) < KNOWN_IN_OUTAGE_MS ? 'granted' : 503;
    }
  }

  #begin(key: string, token: string): Promise<Access> {
    const asking = this.#review(token)
      .then((access) => {
        this.#remember(key, { access, atMs: this.#options.clock.monotonicMs() });
        return access;
      })
      .finally(() => this.#asking.delete(key));
    this.#asking.set(key, asking);
    return asking;
  }

  #ageMs({ atMs }: Answer): number {
    return this.#options.clock.monotonicMs() - atMs;
  }

  #mayAsk(): boolean {
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs - this.#second.startMs >= 1_000) this.#second = { startMs: nowMs, asked: 0 };
    this.#second.asked += 1;
    return this.#second.asked <= NEW_EACH_SECOND;
  }

  #remember(key: string, answer: Answer): void {
    this.#answers.delete(key);
    this.#answers.set(key, answer);
    if (this.#answers.size <= REMEMBERED_MAX) return;
    // Strangers do not push out whoever is to be let in during an outage.
    const [oldest] = this.#answers.keys();
    const [useless = oldest] = [...this.#answers].find((one) => one[1].access !== 'granted' || this.#ageMs(one[1]) >= KNOWN_IN_OUTAGE_MS) ?? [];
    if (useless !== undefined) this.#answers.delete(useless);
  }

  async #review(token: string): Promise<Access> {
    const whose = await this.#ask<TokenReview>('authentication.k8s.io', 'TokenReview', { token });
    const { authenticated, user } = whose.status ?? {};
    if (authenticated !== true || user?.username === undefined) return 401;
    const { username, uid, groups, extra } = user;
    const nonResourceAttributes = { path: this.#options.path, verb: 'get' };
    const may = await this.#ask<AccessReview>('authorization.k8s.io', 'SubjectAccessReview', {
      ...{ user: username, uid, groups, extra, nonResourceAttributes },
    });
    return may.status?.allowed === true ? 'granted' : 403;
  }

  async #ask<T>(group: string, kind: string, spec: object): Promise<T> {
    const apiVersion = `${group}/v1`;
    const path = `/apis/${apiVersion}/${kind.toLowerCase()}s`;
    const body = { apiVersion, kind, metadata: {}, spec };
    const { status, body: answer } = await this.#options.transport.request({ method: 'POST', path, body, deadlineMs: DEADLINE_MS });
    if (status !== 201 && status !== 200) throw new Error(`${kind}: HTTP ${status}`);
    return answer as T;
  }
}

interface TokenReview {
  status?: { authenticated?: boolean; user?: { username?: string; uid?: string; groups?: readonly string[]; extra?: object } };
}

interface AccessReview {
  status?: { allowed?: boolean };
}
