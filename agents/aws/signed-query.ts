// It is a CommonJS module: Node finds no name in it but the default one.
import aws4 from 'aws4';

import type { Call } from '../shared/call.ts';
import { CloudTime } from '../shared/cloud/clock-skew.ts';
import { Throttled, waitOf } from '../shared/cloud/repeat.ts';
import type { Reach } from '../shared/cloud/accounts.ts';
import { WebClient, type WebAnswer } from '../shared/web/web-client.ts';
import { failureIn } from './answers.ts';
import type { AwsAccess, Keys } from './parameters.ts';

/** At once, to one endpoint. */
const SOCKETS_MAX = 16;
/** EC2 API reference, "Error codes": requests that came too often, and a service that has no time now. */
const BUSY = new Set(['RequestLimitExceeded', 'Throttling', 'ThrottlingException', 'RequestThrottled', 'Unavailable', 'ServiceUnavailable']);
/** Ours is another time than theirs. */
const SKEWED = new Set(['RequestExpired', 'SignatureDoesNotMatch', 'AuthFailure', 'RequestTimeTooSkewed']);

/** As the SDKs name services in variables of endpoints (AWS SDKs reference guide, "Service-specific endpoints"). */
const SERVICE_VARIABLES = { ec2: 'EC2', sts: 'STS', autoscaling: 'AUTO_SCALING' } as const;

export interface Query {
  service: 'ec2' | 'sts' | 'autoscaling';
  /** Absent: not signed. */
  keys: Keys | undefined;
  action: string;
  version: string;
  parameters: Readonly<Record<string, string>>;
  gate?: (() => void) | undefined;
  secrets?: readonly string[];
}

/** The Query API of EC2 and STS: form-encoded, signed by Signature Version 4 with the cloud's own time. */
export class SignedQuery {
  readonly #settings: AwsAccess;
  readonly #reach: Reach;
  readonly #client: WebClient;
  readonly #time: CloudTime;
  readonly #regionOf: (call: Call) => Promise<string>;

  /** `regionOf`: asked once for each query; whoever gives it keeps it. */
  constructor(settings: AwsAccess, reach: Reach, regionOf: (call: Call) => Promise<string>) {
    this.#settings = settings;
    this.#reach = reach;
    this.#regionOf = regionOf;
    this.#client = new WebClient(settings.trust, reach, SOCKETS_MAX);
    this.#time = new CloudTime(reach.clock);
  }

  /** One answer; signed anew once where our clock was the reason. Rejects `Throttled` where nothing was taken up. */
  async ask(call: Call, query: Query): Promise<WebAnswer> {
    // Another call may hear of the right time while this one is under way.
    const { aheadMs } = this.#time;
    const first = await this.#send(call, query);
    this.#time.hear(first);
    const failure = first.status < 400 ? undefined : failureIn(first.text);
    if (failure !== undefined && SKEWED.has(failure.code) && this.#time.isFarFrom(aheadMs)) return this.#judged(await this.#send(call, query), query);
    return this.#judged(first, query);
  }

  close(): void {
    this.#client.close();
  }

  /** A set is taken for not begun only where EC2 itself says so: a bare 503 may come from somebody between, behind whom it was done. */
  #judged(answer: WebAnswer, { gate }: Query): WebAnswer {
    const failure = answer.status < 400 ? undefined : failureIn(answer.text);
    const isBusy = failure === undefined ? answer.status === 503 && gate === undefined : BUSY.has(failure.code);
    if (answer.status === 429 || isBusy)
      throw new Throttled(
        `HTTP ${answer.status}${failure === undefined ? '' : `: ${failure.code}: ${failure.message}`}`,
        waitOf(answer, this.#reach.clock),
      );
    return answer;
  }

  async #send(call: Call, { service, keys, action, version, parameters, gate, secrets = [] }: Query): Promise<WebAnswer> {
    const region = await this.#regionOf(call);
    const url = new URL(this.#endpoint(service, region));
    const body = new URLSearchParams({ Action: action, Version: version, ...parameters }).toString();
    const path = url.pathname === '' ? '/' : url.pathname;
    const headers: Record<string, string> = { 'Content-Type': 'application/x-www-form-urlencoded; charset=utf-8', Accept: 'application/xml' };
    if (keys !== undefined) {
      headers['X-Amz-Date'] = amzDate(this.#time.nowMs);
      const request = { host: url.host, path, method: 'POST', service, region, headers, body };
      const { accessKeyId, secretAccessKey, sessionToken } = keys;
      Object.assign(headers, aws4.sign(request, { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) }).headers);
    }
    const hidden = [keys?.secretAccessKey, keys?.sessionToken, headers['Authorization'], ...secrets];
    return this.#client.exchange(call, { method: 'POST', url: url.href, body, headers, gate, secrets: hidden });
  }

  /** Partitions: all but China have one suffix (endpoints of EC2 and STS, AWS general reference). */
  #endpoint(service: Query['service'], region: string): string {
    const { endpoint, stsEndpoint, autoscalingEndpoint } = this.#settings;
    const { host } = this.#reach;
    const written = { ec2: endpoint, sts: stsEndpoint, autoscaling: autoscalingEndpoint }[service];
    const suffix = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
    return (
      written ??
      host.variable(`AWS_ENDPOINT_URL_${SERVICE_VARIABLES[service]}`) ??
      host.variable('AWS_ENDPOINT_URL') ??
      `https://${service}.${region}.${suffix}/`
    );
  }
}

/** `20261126T080000Z` */
function amzDate(atMs: number): string {
  return new Date(atMs).toISOString().replaceAll(/[:-]|\.\d{3}/g, '');
}
