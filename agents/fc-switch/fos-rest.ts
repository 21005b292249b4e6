import type { Outcome, PortState } from '../../src/ports/agents.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { Call, type CallTarget } from '../shared/call.ts';
import type { PortView } from '../shared/interfaces/port-view.ts';
import { member, type WebAnswer } from '../shared/web/web-client.ts';
import type { Web } from './web.ts';
import { brocadePort } from './ports.ts';

const JSON_TYPE = 'application/yang-data+json';
const XML_TYPE = 'application/yang-data+xml';
const LOGOUT_MS = 2_000;
/** As the switch numbers them (brocade-interface, fibrechannel). */
const ENABLED = { online: 2, offline: 6 } as const;
const OPERATIONAL = { online: 2, offline: 3, faulty: 5 } as const;

/** Brocade Fabric OS by its REST API: a session for each call, ended whatever happens, since a switch has three of them. */
export class FosRest {
  readonly #web: Web;
  readonly #call: Call<CallTarget>;
  readonly #clock: Clock;
  readonly #query: string;

  constructor(web: Web, call: Call<CallTarget>, clock: Clock, virtualFabric: number | undefined) {
    this.#web = web;
    this.#call = call;
    this.#clock = clock;
    this.#query = virtualFabric === undefined ? '' : `?vf-id=${virtualFabric}`;
  }

  /** Logs in, lets `work` ask, logs out. */
  async session<T>(work: (token: string) => Promise<T>): Promise<T> {
    const answer = await this.#web.exchange({ method: 'POST', path: '/rest/login', headers: { Authorization: this.#web.basic, Accept: JSON_TYPE } });
    const token = answer.headers['authorization'];
    if (answer.status >= 300 || token === undefined || token === '') throw this.#denied(answer, 'login');
    try {
      return await work(token);
    } finally {
      await this.#logOut(token);
    }
  }

  async read(token: string, plug: string): Promise<PortView> {
    const name = this.#nameOf(plug);
    const path = `/rest/running/brocade-interface/fibrechannel/name/${encodeURIComponent(name)}${this.#query}`;
    const answer = await this.#web.exchange({ method: 'GET', path, headers: { Authorization: token, Accept: JSON_TYPE } });
    if (answer.status !== 200) throw this.#denied(answer, `port ${name}`, [token]);
    const found = member(member(answer.body, 'Response'), 'fibrechannel');
    const shown: readonly unknown[] = Array.isArray(found) ? found : [found];
    const ports = shown.filter((port) => member(port, 'name') === name);
    const [port] = ports;
    if (port === undefined || ports.length > 1)
      return { name, description: undefined, state: 'unknown', detail: `no port ${name} in: ${this.#web.describe(answer, [token])}` };
    const [enabled, operational, persistent] = ['enabled-state', 'operational-status', 'persistent-disable'].map((key) => numberAt(port, key));
    const description = member(port, 'user-friendly-name');
    return {
      name,
      description: typeof description === 'string' ? description : undefined,
      state: stateOf(enabled, operational, persistent),
      hasLink: operational === OPERATIONAL.online,
      detail: `port ${name} enabled-state=${enabled ?? 'none'} operational-status=${operational ?? 'none'} persistent-disable=${persistent ?? 'none'}`,
    };
  }

  /** Sent once. 2xx is accepted; 5xx and a busy switch are unclear, reads decide. */
  async set(token: string, plug: string, wanted: 'open' | 'closed', beforeSend: () => void): Promise<Outcome> {
    const name = this.#nameOf(plug);
    const value = wanted === 'closed' ? 1 : 0;
    const answer = await this.#web.exchange({
      method: 'PATCH',
      path: `/rest/running/brocade-interface/fibrechannel${this.#query}`,
      headers: { Authorization: token, Accept: JSON_TYPE, 'Content-Type': XML_TYPE },
      body: `<fibrechannel><name>${name}</name><persistent-disable>${value}</persistent-disable></fibrechannel>`,
      gate: beforeSend,
    });
    const detail = `persistent-disable=${value}: ${this.#web.describe(answer, [token])}`;
    if (answer.status >= 200 && answer.status < 300) return { result: 'accepted', detail };
    if (answer.status >= 500 || answer.status === 408 || answer.status === 429) return { result: 'unclear', detail };
    throw this.#denied(answer, `persistent-disable=${value}`, [token]);
  }

  /** Within two seconds of its own: the call may be over, and the session must not stay. */
  async #logOut(token: string): Promise<void> {
    const { device, plug } = this.#call.target;
    const call = new Call<CallTarget>(this.#clock, { device, plug, signal: new AbortController().signal, deadlineMs: LOGOUT_MS }, 'logout');
    try {
      await this.#web.exchange({ method: 'POST', path: '/rest/logout', headers: { Authorization: token, Accept: JSON_TYPE } }, call);
    } catch (error) {
      // It ends the session by itself when it cannot be asked.
      if (!(error instanceof Error)) throw error;
    } finally {
      call.release();
    }
  }

  #denied(answer: WebAnswer, asked: string, besides: readonly string[] = []): Error {
    const message = `${asked}: ${this.#web.describe(answer, besides)}`;
    const isBusy =
      answer.status >= 500 ||
      answer.status === 408 ||
      answer.status === 429 ||
      /busy|max(?:imum)? (?:limit|number)|sessions? (?:limit|reached)/i.test(message);
    return this.#call.error(isBusy || answer.status < 300 ? 'Unreachable' : 'Refused', message);
  }

  #nameOf(plug: string): string {
    const problem = brocadePort(plug);
    if (problem !== undefined) throw this.#call.error('Misconfigured', problem);
    return plug.includes('/') ? plug : `0/${plug}`;
  }
}

/** Closed is disabled now, disabled after a restart, and off line. */
function stateOf(enabled: number | undefined, operational: number | undefined, persistent: number | undefined): PortState {
  const isKnown = operational !== undefined && Object.values<number>(OPERATIONAL).includes(operational);
  if (!isKnown || (persistent !== 0 && persistent !== 1) || (enabled !== ENABLED.online && enabled !== ENABLED.offline)) return 'unknown';
  if (enabled === ENABLED.online && persistent === 0) return 'open';
  return enabled === ENABLED.offline && persistent === 1 && operational === OPERATIONAL.offline ? 'closed' : 'pending';
}

/** Fabric OS writes numbers as numbers or as text. */
function numberAt(port: unknown, key: string): number | undefined {
  const value = member(port, key);
  if (typeof value === 'number') return value;
  return typeof value === 'string' && /^\d{1,6}$/.test(value) ? Number(value) : undefined;
}
