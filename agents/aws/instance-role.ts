import type { Call } from '../shared/call.ts';
import type { Reach } from '../shared/cloud/accounts.ts';
import { WebClient, WebFailure, type WebAnswer, type WebRequest } from '../shared/web/web-client.ts';

/** Where nobody answers within this, we are in no instance. */
const CONNECT_TIMEOUT_MS = 1_000;
const TOKEN_SECONDS = 21_600;
const TRUST = { ca: undefined, fingerprint: undefined, insecure: false, connectTimeoutMs: CONNECT_TIMEOUT_MS };

/** What is at link-local addresses: the metadata service of our own instance (IMDSv2 only), and that of containers. */
export class InstanceRole {
  readonly #client: WebClient;
  readonly #base: string;

  constructor({ clock, host }: Reach) {
    this.#client = new WebClient(TRUST, { clock }, 4);
    this.#base = (host.variable('AWS_EC2_METADATA_SERVICE_ENDPOINT') ?? 'http://169.254.169.254').replace(/\/$/, '');
  }

  ask(call: Call, request: WebRequest): Promise<WebAnswer> {
    return this.#client.exchange(call, request);
  }

  /** Text below /latest/meta-data; or why there is none. */
  async metadata(call: Call, path: string): Promise<string | { absent: string }> {
    try {
      const headers = { 'X-aws-ec2-metadata-token-ttl-seconds': String(TOKEN_SECONDS) };
      const session = await this.ask(call, { method: 'PUT', url: `${this.#base}/latest/api/token`, headers });
      if (session.status !== 200) return { absent: `the metadata service gives no token (HTTP ${session.status}); a hop limit of 1 keeps pods out` };
      const token = session.text.trim();
      const url = `${this.#base}/latest/meta-data/${path}`;
      const answer = await this.ask(call, { method: 'GET', url, headers: { 'X-aws-ec2-metadata-token': token }, secrets: [token] });
      return answer.status === 200 ? answer.text : { absent: `the metadata service has no ${path} (HTTP ${answer.status})` };
    } catch (error) {
      if (error instanceof WebFailure && error.kind === 'unreachable') return { absent: `no metadata service answers: ${error.message}` };
      throw error;
    }
  }

  close(): void {
    this.#client.close();
  }
}
