import type { Outcome, PlugEntry } from '../../src/ports/agents.ts';
import type { Call } from '../shared/call.ts';
import type { CloudAccount, InstanceView, MachineFacts } from '../shared/cloud/instance.ts';
import type { Reach } from '../shared/cloud/instance-agent.ts';
import { sentOnce } from '../shared/cloud/repeat.ts';
import { normalUUID } from '../shared/machine-uuid.ts';
import { listAt, member, textAt, type WebAnswer } from '../shared/web/web-client.ts';
import { Keystone } from './keystone.ts';
import { faultIn, NovaApi, wordsOf } from './nova.ts';
import { isId, openstackInstance } from './parameters.ts';
import { credentialEnd, refusalOfProbe } from './probe.ts';
import { Proofs } from './proof.ts';
import { serverIn, shownBy, wordsFor, type Server } from './server.ts';
import type { OpenStackSettings } from './settings.ts';

const LISTED_MAX = 1_000;

/** Servers of one project. */
export class OpenStackAccount implements CloudAccount {
  readonly #settings: OpenStackSettings;
  readonly #keystone: Keystone;
  readonly #nova: NovaApi;
  readonly #proofs: Proofs;

  constructor(settings: OpenStackSettings, reach: Reach) {
    this.#settings = settings;
    this.#keystone = new Keystone(settings, reach);
    this.#nova = new NovaApi(this.#keystone, reach.clock);
    this.#proofs = new Proofs(this.#nova);
  }

  async read(call: Call): Promise<InstanceView> {
    const { server, answer } = await this.#server(call);
    const shown = shownBy(server);
    const { state, why } = shown.state === 'claims' ? await this.#proofs.of(call, server) : { ...shown, state: shown.state };
    const failure = await this.#proofs.failure(call, server, state);
    const details = [wordsFor(server), why, failure].filter((part) => part !== undefined);
    const deviceMs = Date.parse(answer.headers['date'] ?? '');
    return {
      id: server.id,
      state,
      detail: details.join('; '),
      machine: this.#machineOf(call, server),
      ...(Number.isNaN(deviceMs) ? {} : { deviceTime: new Date(deviceMs).toISOString() }),
      ...(call.target.isProbe === true ? await this.#probed(call, server) : {}),
    };
  }

  async set(call: Call, { id }: InstanceView, state: 'on' | 'off'): Promise<Outcome> {
    const verb = state === 'off' ? 'os-stop' : 'os-start';
    const request = { method: 'POST' as const, path: `/servers/${encodeURIComponent(id)}/action`, body: JSON.stringify({ [verb]: null }) };
    this.#proofs.forget(id);
    return sentOnce(call, async () => {
      const answer = await this.#nova.exchange(call, { ...request, gate: () => call.target.beforeSend() });
      if (answer.status === 202) {
        const requestId = answer.headers['x-openstack-request-id'] ?? answer.headers['x-compute-request-id'];
        if (requestId !== undefined) this.#proofs.told(id, { wanted: state, requestId });
        return { result: 'accepted', detail: `HTTP 202 ${requestId ?? ''}`.trim() };
      }
      if (isUnclear(answer)) return { result: 'unclear', detail: `HTTP ${answer.status}: ${wordsOf(answer)}` };
      throw await this.#nova.refusal(call, answer);
    });
  }

  async list(call: Call): Promise<readonly PlugEntry[]> {
    const entries: PlugEntry[] = [];
    let path: string | undefined = '/servers/detail?limit=500';
    while (path !== undefined && entries.length < LISTED_MAX) {
      const { body } = await this.#nova.get(call, path);
      const servers = serversIn(body);
      entries.push(...servers.map(entryOf));
      const isMore = listAt(body, 'servers_links').some((link) => textAt(link, 'rel') === 'next');
      const last = servers.at(-1);
      path = isMore && last !== undefined ? `/servers/detail?limit=500&marker=${encodeURIComponent(last.id)}` : undefined;
    }
    return entries.slice(0, LISTED_MAX);
  }

  close(): Promise<void> {
    this.#keystone.close();
    return Promise.resolve();
  }

  async #server(call: Call): Promise<{ server: Server; answer: WebAnswer }> {
    const { plug } = call.target;
    const answer = await this.#nova.get(
      call,
      isId(plug) ? `/servers/${plug.toLowerCase()}` : `/servers/detail?name=${encodeURIComponent(exactly(plug))}`,
    );
    const found = isId(plug) ? serversIn({ servers: [member(answer.body, 'server')] }) : this.#named(call, plug, serversIn(answer.body));
    const [server] = found;
    if (server === undefined) throw call.error('Unreachable', `HTTP ${answer.status}: what came is no server`);
    if (isId(plug) && server.id !== plug.toLowerCase()) throw call.error('Unreachable', `asked for server ${plug}, and was shown ${server.id}`);
    return { server, answer };
  }

  /** Two servers may bear one name, and a name may be given again: it has to be the only one. */
  #named(call: Call, plug: string, servers: readonly Server[]): readonly Server[] {
    const named = servers.filter(({ name }) => name === plug);
    if (named.length === 1) return named;
    const how =
      named.length === 0 ? 'no server of this project and region bears this name: not known to be off' : `${named.length} servers bear this name`;
    throw call.error('Misconfigured', `${how}; write the id of the server as plug`);
  }

  /** By the id, which nova never gives again. Addresses count where there is no UUID to compare: a Node may have one that its cloud does not know. */
  #machineOf(call: Call, { id, addresses }: Server): MachineFacts {
    const { identity } = call.target;
    const named = openstackInstance(identity.providerID ?? '')?.plug;
    const providerID = named === undefined ? 'unknown' : named === id ? 'same' : 'other';
    const isCompared = this.#settings.comparesUUID && normalUUID(identity.systemUUID) !== undefined;
    return { providerID, ...(isCompared ? { uuid: id } : { addresses }) };
  }

  async #probed(call: Call, server: Server): Promise<Pick<InstanceView, 'wouldRefuse' | 'credentialExpiresAt'>> {
    const session = await this.#nova.session(call);
    const wouldRefuse = refusalOfProbe(server, session);
    const credentialExpiresAt = await credentialEnd(call, session);
    return { ...(wouldRefuse === undefined ? {} : { wouldRefuse }), ...(credentialExpiresAt === undefined ? {} : { credentialExpiresAt }) };
  }
}

/** What is in conflict may be there already, or come by itself; what broke inside may have been done: reads decide. A lock is a refusal. */
function isUnclear({ status, body }: WebAnswer): boolean {
  return status >= 500 || (status === 409 && !/\bis locked\b/i.test(faultIn(body)?.message ?? ''));
}

/** Nova takes a name for a regular expression. */
function exactly(name: string): string {
  return `^${name.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`;
}

function serversIn(body: unknown): readonly Server[] {
  return listAt(body, 'servers').flatMap((one) => serverIn(one) ?? []);
}

/** Without a state where a further request would have to decide it. */
function entryOf(server: Server): PlugEntry {
  const { state } = shownBy(server);
  return { plug: server.id, ...(server.name === undefined ? {} : { alias: server.name }), ...(state === 'claims' ? {} : { state }) };
}
