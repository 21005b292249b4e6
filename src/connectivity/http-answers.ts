import type { AxiosStatic } from 'axios';
import type { AlertQuery } from '../domain/policies/policy.ts';

const ETCD_HEALTH_PORT = 2381;
const FIRING = 'ALERTS{alertstate="firing"}';
const NAMES_MAX = 256;
const BODY_MAX = 4_194_304;

/** Most clusters ask nobody here: what takes a tenth of a second of every start is loaded when it is needed. */
async function loaded(): Promise<AxiosStatic> {
  return (await import('axios')).default;
}

/** What etcd's health endpoint says; `undefined`: it does not answer, as where it listens on its own host only. */
export async function etcdHealth(host: string, deadlineMs: number): Promise<boolean | undefined> {
  const address = host.includes(':') ? `[${host}]` : host;
  const axios = await loaded();
  try {
    const url = `http://${address}:${ETCD_HEALTH_PORT}/health`;
    const { data } = await axios.get<unknown>(url, { ...limits(deadlineMs), validateStatus: () => true });
    const health = typeof data === 'object' && data !== null && 'health' in data ? data.health : undefined;
    if (typeof health === 'boolean') return health;
    return typeof health === 'string' ? health === 'true' : undefined;
  } catch (error) {
    if (axios.isAxiosError(error)) return undefined;
    throw error;
  }
}

/** Names of the alerts that a Prometheus says fire; `undefined`: it could not be asked, or its answer is none. */
export async function firingAlerts({ url, query = FIRING }: AlertQuery, deadlineMs: number): Promise<readonly string[] | undefined> {
  const axios = await loaded();
  try {
    const { data } = await axios.get<unknown>(`${url.replace(/\/+$/, '')}/api/v1/query`, { ...limits(deadlineMs), params: { query } });
    return alertNames(data);
  } catch (error) {
    if (axios.isAxiosError(error) || error instanceof TypeError) return undefined;
    throw error;
  }
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

function limits(deadlineMs: number): { timeout: number; signal: AbortSignal; maxRedirects: number; maxContentLength: number; proxy: false } {
  // `timeout` does not cover a connection that is never accepted.
  return { timeout: deadlineMs, signal: AbortSignal.timeout(deadlineMs), maxRedirects: 0, maxContentLength: BODY_MAX, proxy: false };
}
