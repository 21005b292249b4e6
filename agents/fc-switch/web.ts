import type { Clock } from '../../src/ports/clock.ts';
import type { AddressCheck } from '../shared/address/address-check.ts';
import type { Call, CallTarget } from '../shared/call.ts';
import { deviceMessage } from '../shared/ssh/words.ts';
import { originOf } from '../shared/web/place.ts';
import { WebClient, WebFailure, type WebAnswer, type WebRequest } from '../shared/web/web-client.ts';
import type { WebSettings } from './parameters.ts';

/** The requests of one call to one switch, over one connection that is closed at its end: their session slots are few. */
export class Web {
  readonly settings: WebSettings;
  readonly #call: Call<CallTarget>;
  readonly #client: WebClient;

  constructor(settings: WebSettings, call: Call<CallTarget>, reach: { clock: Clock; check: AddressCheck }) {
    this.settings = settings;
    this.#call = call;
    this.#client = new WebClient(settings, reach);
  }

  get secrets(): readonly string[] {
    const { username, password } = this.settings;
    return [password, Buffer.from(`${username}:${password}`).toString('base64')];
  }

  /** The value of a header for basic authentication. */
  get basic(): string {
    return `Basic ${Buffer.from(`${this.settings.username}:${this.settings.password}`).toString('base64')}`;
  }

  /** One request, one answer of any status; `call` when it is not the own one. Rejects with `AgentError`, or with what the gate threw. */
  async exchange(
    { path, ...request }: Omit<WebRequest, 'url' | 'secrets'> & { path: string },
    call: Call<CallTarget> = this.#call,
  ): Promise<WebAnswer> {
    const url = `${originOf(this.settings)}${path}`;
    try {
      return await this.#client.exchange(call, { ...request, url, secrets: this.secrets });
    } catch (error) {
      throw error instanceof WebFailure ? error.typed(call) : error;
    }
  }

  close(): void {
    this.#client.close();
  }

  /** An answer in one line, without secrets. */
  describe(answer: WebAnswer, besides: readonly string[] = []): string {
    const said = deviceMessage(answer.text.replaceAll(/<[^>]*>/g, ' '), [...this.secrets, ...besides]);
    return `HTTP ${answer.status}${said === '' ? '' : `: ${said}`}`;
  }
}
