import type { Outcome, PlugEntry } from '../../src/ports/agents.ts';
import type { Call } from '../shared/call.ts';
import type { CloudAccount, InstanceView, MachineFacts } from '../shared/cloud/instance.ts';
import type { Cloud, Reach } from '../shared/cloud/instance-agent.ts';
import { repeated, sentOnce, Throttled, waitOf } from '../shared/cloud/repeat.ts';
import { deviceMessage } from '../shared/ssh/words.ts';
import { listAt, member, WebClient, WebFailure, type WebAnswer } from '../shared/web/web-client.ts';
import { actionIn, failureIn, serverIn, type HetznerServer } from './answers.ts';
import { tokenOf, type FoundToken } from './credentials.ts';
import { endpointOf, hetznerInstance, hetznerSettings, isNumber, plugProblem, type HetznerSettings } from './parameters.ts';

const SOCKETS_MAX = 16;
const LISTED_MAX = 1_000;
const PAGE = 50;
const ACTIONS_MAX = 256;
/** An hour's allowance comes back evenly, one request a second ("Rate Limiting"). */
const RATE_WAIT_MS = 1_000;
/** Another action is under way at the server, or came between: nothing of this request was begun ("Errors"). */
const IN_THE_WAY = new Set(['locked', 'conflict']);

export const hetznerCloud: Cloud<HetznerSettings> = {
  isPublic: true,
  settingsOf: hetznerSettings,
  open: (settings, reach) => new HetznerAccount(settings, reach),
};

interface Begun {
  name: string;
  wanted: 'on' | 'off';
  action: string;
  failed?: string;
}

interface Ask {
  method: 'GET' | 'POST';
  path: string;
  gate?: () => void;
}

/** Servers of one project, by the Hetzner Cloud API (v1). */
class HetznerAccount implements CloudAccount {
  readonly #settings: HetznerSettings;
  readonly #reach: Reach;
  readonly #client: WebClient;
  readonly #endpoint: string;
  /** The last action of each server, oldest first. */
  readonly #begun = new Map<string, Begun>();
  #token: FoundToken | undefined;

  constructor(settings: HetznerSettings, reach: Reach) {
    this.#settings = settings;
    this.#reach = reach;
    this.#client = new WebClient(settings.trust, reach, SOCKETS_MAX);
    this.#endpoint = endpointOf(settings.endpoint, reach.host.variable('HCLOUD_ENDPOINT'));
  }

  async read(call: Call): Promise<InstanceView> {
    const server = await this.#server(call);
    const failed = await this.#failed(call, server);
    return {
      id: server.id,
      state: server.state,
      detail: failed === undefined ? server.detail : `${server.detail}; ${failed}`,
      machine: factsOf(call, server),
    };
  }

  async set(call: Call, { id }: InstanceView, state: 'on' | 'off'): Promise<Outcome> {
    const name = state === 'off' ? 'poweroff' : 'poweron';
    const ask: Ask = { method: 'POST', path: `/servers/${id}/actions/${name}`, gate: () => call.target.beforeSend() };
    this.#begun.delete(id);
    return sentOnce(call, async () => {
      const answer = await this.#ask(call, ask);
      const { status, body } = answer;
      if (status === 200 || status === 201) {
        const action = actionIn(body);
        if (action !== undefined) this.#remember(id, { name, wanted: state, action: action.id });
        return { result: 'accepted', detail: `HTTP ${status}${action === undefined ? '' : `, action ${action.id}`}` };
      }
      const failure = failureIn(body);
      if (failure !== undefined && IN_THE_WAY.has(failure.code)) throw new Throttled(`HTTP ${status}: ${failure.words}`);
      // What broke inside may have been done: reads decide.
      if (status >= 500) return { result: 'unclear', detail: `HTTP ${status}: ${failure?.words ?? deviceMessage(answer.text, [])}` };
      throw this.#refusal(call, answer);
    });
  }

  async list(call: Call): Promise<readonly PlugEntry[]> {
    const found: PlugEntry[] = [];
    for (let page: unknown = 1; typeof page === 'number' && found.length < LISTED_MAX;) {
      const { body } = await this.#get(call, `/servers?per_page=${PAGE}&page=${page}`);
      for (const one of listAt(body, 'servers')) {
        const server = serverIn(one);
        if (server !== undefined) found.push({ plug: server.id, state: server.state, ...(server.name === undefined ? {} : { alias: server.name }) });
      }
      page = member(body, 'meta', 'pagination', 'next_page');
    }
    return found.slice(0, LISTED_MAX);
  }

  close(): Promise<void> {
    this.#client.close();
    return Promise.resolve();
  }

  async #server(call: Call): Promise<HetznerServer> {
    const { plug } = call.target;
    const problem = plugProblem(plug);
    if (problem !== undefined) throw call.error('Misconfigured', problem);
    const answer = await this.#get(call, isNumber(plug) ? `/servers/${plug}` : `/servers?name=${encodeURIComponent(plug)}`);
    const server = isNumber(plug) ? serverIn(member(answer.body, 'server')) : this.#named(call, answer);
    if (server === undefined) throw call.error('Unreachable', `an answer that is no server of Hetzner Cloud: ${deviceMessage(answer.text, [])}`);
    if (isNumber(plug) && server.id !== plug) throw call.error('Unreachable', `asked for server ${plug}, and was shown ${server.id}`);
    return server;
  }

  #named(call: Call, { body }: WebAnswer): HetznerServer | undefined {
    const { plug } = call.target;
    if (!Array.isArray(member(body, 'servers'))) return undefined;
    const named = listAt(body, 'servers')
      .flatMap((one) => serverIn(one) ?? [])
      .filter(({ name }) => name === plug);
    const [server] = named;
    if (named.length === 1) return server;
    const how = named.length === 0 ? 'no server of this project bears this name: not known to be off' : `${named.length} servers bear this name`;
    throw call.error('Misconfigured', `${how}; write the number of the server as plug`);
  }

  /** Where the last action was accepted and failed since: Hetzner's words. Not asked for where the state is the wished one. */
  async #failed(call: Call, { id, state, isLocked }: HetznerServer): Promise<string | undefined> {
    const begun = this.#begun.get(id);
    if (begun === undefined || isLocked || state === begun.wanted) return undefined;
    if (begun.failed !== undefined) return begun.failed;
    try {
      const { status, body } = await this.#ask(call, { method: 'GET', path: `/actions/${begun.action}` });
      const failed = status === 200 ? actionIn(body)?.failed : undefined;
      if (failed !== undefined) begun.failed = `the accepted ${begun.name} ended in an error: ${failed}`;
    } catch (error) {
      // The state was read; that nobody tells of the action takes nothing from it.
      if (!(error instanceof WebFailure || error instanceof Throttled)) throw error;
    }
    return begun.failed;
  }

  #remember(id: string, begun: Begun): void {
    const [oldest] = this.#begun.keys();
    if (this.#begun.size >= ACTIONS_MAX && oldest !== undefined) this.#begun.delete(oldest);
    this.#begun.set(id, begun);
  }

  async #get(call: Call, path: string): Promise<WebAnswer> {
    const answer = await repeated(call, () => this.#ask(call, { method: 'GET', path }));
    if (answer.status !== 200) throw this.#refusal(call, answer);
    return answer;
  }

  /** With a token that is looked for anew, once, where the one in use is not taken any more. Rejects `Throttled` where nothing was taken up. */
  async #ask(call: Call, ask: Ask): Promise<WebAnswer> {
    const used = (this.#token ??= await tokenOf(this.#settings, this.#reach.host, call));
    let answer = await this.#send(call, ask, used);
    if (answer.status === 401) {
      const found = await tokenOf(this.#settings, this.#reach.host, call);
      this.#token = found;
      // Than the one that was sent: another call may have found it meanwhile.
      if (found.text !== used.text) answer = await this.#send(call, ask, found);
    }
    const isBusy = answer.status === 429 || (answer.status === 503 && ask.method === 'GET');
    if (isBusy)
      throw new Throttled(`HTTP ${answer.status}: ${failureIn(answer.body)?.words ?? ''}`, waitOf(answer, this.#reach.clock) ?? RATE_WAIT_MS);
    return answer;
  }

  #send(call: Call, { method, path, gate }: Ask, { text }: FoundToken): Promise<WebAnswer> {
    const headers = { Authorization: `Bearer ${text}`, Accept: 'application/json' };
    return this.#client.exchange(call, { method, url: `${this.#endpoint}${path}`, headers, gate, secrets: [text] });
  }

  #refusal(call: Call, { status, body, text }: WebAnswer): Error {
    const failure = failureIn(body);
    const words = `HTTP ${status}: ${failure?.words ?? deviceMessage(text, [])} (token: ${this.#token?.source ?? 'none'})`;
    if (status === 404) return call.error('Misconfigured', `${words}: look whether the token is of the right project; it is no proof that it is off`);
    if (status === 401) return call.error('Misconfigured', words);
    if (failure?.code === 'token_readonly') return call.error('Refused', `${words}: give a token with the permission to read and write`);
    return call.error(status >= 500 || status < 400 ? 'Unreachable' : 'Refused', words);
  }
}

/** By its number, which no other server will have. Addresses count without one only: a Node may have an address that its cloud does not know. */
function factsOf(call: Call, { id, addresses }: HetznerServer): MachineFacts {
  const { providerID } = call.target.identity;
  if (providerID?.startsWith('hcloud://') !== true) return { providerID: 'unknown', addresses };
  return { providerID: hetznerInstance(providerID)?.plug === id ? 'same' : 'other' };
}
