import { request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import { jsonIn } from '../domain/json.ts';
import type { AlertQuery } from '../domain/policies/policy.ts';

const ETCD_HEALTH_PORT = 2381;
const FIRING = 'ALERTS{alertstate="firing"}';
const NAMES_MAX = 256;
const BODY_MAX = 4_194_304;

/** What etcd's health endpoint says; `undefined`: it does not answer, as where it listens on its own host only. */
export async function etcdHealth(host: string, deadlineMs: number): Promise<boolean | undefined> {
  const address = host.includes(':') ? `[${host}]` : host;
  const health = field((await answered(`http://${address}:${ETCD_HEALTH_PORT}/health`, deadlineMs))?.body, 'health');
  if (typeof health === 'boolean') return health;
  return typeof health === 'string' ? health === 'true' : undefined;
}

/** Names of the alerts that a Prometheus says fire; `undefined`: it could not be asked, or its answer is none. */
export async function firingAlerts({ url, query = FIRING }: AlertQuery, deadlineMs: number): Promise<readonly string[] | undefined> {
  const asked = `${url.replace(/\/+$/, '')}/api/v1/query?query=${encodeURIComponent(query)}`;
  const answer = await answered(asked, deadlineMs);
  return answer?.status === 200 ? alertNames(answer.body) : undefined;
}

/** The answer to a GET, with the JSON in it; `undefined`: none, or too much of it, within the deadline. No redirect is followed. */
function answered(text: string, deadlineMs: number): Promise<{ status: number; body: unknown } | undefined> {
  const url = URL.parse(text);
  const request = url?.protocol === 'https:' ? requestSecure : url?.protocol === 'http:' ? requestPlain : undefined;
  if (url === null || request === undefined) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const none = (): void => resolve(undefined);
    const asked = request(url, { agent: false, signal: AbortSignal.timeout(deadlineMs) }, (answer) => {
      const parts: Buffer[] = [];
      let length = 0;
      answer.on('error', none);
      answer.on('data', (part: Buffer) => {
        parts.push(part);
        length += part.length;
        if (length > BODY_MAX) answer.destroy(new Error('too much'));
      });
      answer.once('end', () => resolve({ status: answer.statusCode ?? 0, body: jsonIn(Buffer.concat(parts).toString('utf8')) }));
    });
    asked.on('error', none).once('close', none);
    asked.end();
  });
}

/** Of an instant vector; every result counts, by its label `alertname`. */
export function alertNames(answer: unknown): readonly string[] | undefined {
  const result = field(field(answer, 'data'), 'result');
  if (field(answer, 'status') !== 'success' || !Array.isArray(result)) return undefined;
  const names = result.map((item) => field(field(item, 'metric'), 'alertname')).map((name) => (typeof name === 'string' ? name : 'unnamed'));
  return [...new Set(names)].slice(0, NAMES_MAX);
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
