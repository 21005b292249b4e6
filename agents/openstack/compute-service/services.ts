import type { Call } from '../../shared/call.ts';
import { sentOnce } from '../../shared/cloud/repeat.ts';
import { deviceMessage } from '../../shared/ssh/words.ts';
import { listAt, member, textAt } from '../../shared/web/web-client.ts';
import type { NovaApi } from '../nova.ts';
import { wordsOf, type NovaRequest } from '../nova.ts';
import { serverIn, type Server } from '../server.ts';

/** Services have ids of their own, and one request for all of their state, from 2.53 ("REST API Version History"). */
const NEEDED = 53;
const SERVERS_MAX = 1_000;
const PAGE = 500;

/** nova-compute of one hypervisor. */
export interface ComputeService {
  id: string;
  host: string;
  isUp: boolean;
  isForcedDown: boolean;
  isDisabled: boolean;
  reason: string;
}

export interface ServiceChange {
  forced_down: boolean;
  status: 'enabled' | 'disabled';
  disabled_reason?: string;
}

/** What an admin does with hypervisors (Compute API, "Compute services" and "Servers - run an action"). */
export class ComputeServices {
  readonly #nova: NovaApi;

  constructor(nova: NovaApi) {
    this.#nova = nova;
  }

  /** Rejects `Misconfigured` where it is not exactly one. */
  async find(call: Call, host: string): Promise<ComputeService> {
    const { body } = await this.#nova.get(call, `/os-services?binary=nova-compute&host=${encodeURIComponent(host)}`);
    if (this.#nova.version < NEEDED)
      throw call.error('Misconfigured', `this Nova knows microversion 2.${this.#nova.version}; compute services are set from 2.${NEEDED} on`);
    if (!Array.isArray(member(body, 'services'))) throw call.error('Unreachable', 'what came is no list of compute services');
    const found = listAt(body, 'services')
      .flatMap((one) => serviceIn(one) ?? [])
      .filter((one) => one.host === host);
    const [service] = found;
    if (service !== undefined && found.length === 1) return service;
    throw call.error(
      'Misconfigured',
      `${found.length} services nova-compute have the host ${host}: write plug= as "openstack compute service list" shows it`,
    );
  }

  async change(call: Call, { id }: ComputeService, change: ServiceChange): Promise<void> {
    await this.#send(call, { method: 'PUT', path: `/os-services/${encodeURIComponent(id)}`, body: JSON.stringify(change) }, 200);
  }

  /** Of all projects. */
  async serversOf(call: Call, { host }: ComputeService): Promise<readonly Server[]> {
    const found: Server[] = [];
    let marker = '';
    for (;;) {
      const path = `/servers/detail?all_tenants=true&host=${encodeURIComponent(host)}&limit=${PAGE}${marker}`;
      const { body } = await this.#nova.get(call, path);
      if (!Array.isArray(member(body, 'servers'))) throw call.error('Unreachable', 'what came is no list of servers');
      found.push(...listAt(body, 'servers').flatMap((one) => serverIn(one) ?? []));
      const last = found.at(-1);
      const isMore = listAt(body, 'servers_links').some((link) => textAt(link, 'rel') === 'next');
      if (!isMore || last === undefined) return found;
      if (found.length >= SERVERS_MAX) throw call.error('Misconfigured', `host ${host} has more than ${SERVERS_MAX} servers: write evacuate=no`);
      marker = `&marker=${encodeURIComponent(last.id)}`;
    }
  }

  /** Undefined: taken up. Else why not, such as an evacuation that is under way already. */
  async evacuate(call: Call, { id }: Server): Promise<string | undefined> {
    const request: NovaRequest = { method: 'POST', path: `/servers/${encodeURIComponent(id)}/action`, body: JSON.stringify({ evacuate: {} }) };
    const { detail } = await this.#send(call, request, 200, 409);
    return detail === '' ? undefined : `${id}: ${detail}`;
  }

  /** `conflict`: a status that is told, and no error. */
  #send(call: Call, request: NovaRequest, wanted: number, conflict?: number): Promise<{ detail: string }> {
    return sentOnce(call, async () => {
      const answer = await this.#nova.exchange(call, { ...request, gate: () => call.target.beforeSend() });
      const isDone = answer.status === wanted || answer.status === 202;
      if (!isDone && answer.status !== conflict && answer.status < 500) throw await this.#nova.refusal(call, answer);
      return { result: isDone ? ('accepted' as const) : ('unclear' as const), detail: isDone ? '' : `HTTP ${answer.status}: ${wordsOf(answer)}` };
    });
  }
}

function serviceIn(shown: unknown): ComputeService | undefined {
  const [id, host] = [textAt(shown, 'id'), textAt(shown, 'host')];
  if (id === undefined || host === undefined || textAt(shown, 'binary') !== 'nova-compute') return undefined;
  return {
    id,
    host,
    isUp: textAt(shown, 'state') === 'up',
    isForcedDown: member(shown, 'forced_down') === true,
    isDisabled: textAt(shown, 'status') === 'disabled',
    reason: textAt(shown, 'disabled_reason') ?? '',
  };
}

const MARK = / ?\[nodefence forced it down, fence [\w/-]{0,80}\]$/;
const REASON_MAX = 255;

/** Nova takes no empty reason. */
const NO_REASON = 'disabled without a reason';

/** Nova keeps no word for `forced_down`; the reason why a service is disabled carries that it was us. What somebody else wrote there stays. */
export function markedDown({ reason, isDisabled }: ComputeService, incident: string): ServiceChange {
  const mark = `[nodefence forced it down, fence ${incident.replaceAll(/[^\w/-]/g, '').slice(0, 80)}]`;
  const before = reason === '' && isDisabled ? NO_REASON : reason.replace(MARK, '');
  const theirs = before.slice(0, REASON_MAX - mark.length - 1);
  return { forced_down: true, status: 'disabled', disabled_reason: theirs === '' ? mark : `${theirs} ${mark}` };
}

/** As it was before us; undefined where it was not us. */
export function markedUp({ reason }: ComputeService): ServiceChange | undefined {
  if (!MARK.test(reason)) return undefined;
  const theirs = reason.replace(MARK, '');
  return theirs === '' ? { forced_down: false, status: 'enabled' } : { forced_down: false, status: 'disabled', disabled_reason: theirs };
}

/** Nova evacuates no server in another state (nova/compute/api.py, `evacuate`). */
const MOVABLE = new Set(['active', 'stopped', 'error']);

export function isMovable({ vmState }: Server): boolean {
  return vmState !== undefined && MOVABLE.has(vmState);
}

export function namesOf(servers: readonly Server[]): string {
  return deviceMessage(servers.map(({ id, status }) => `${id} (${status ?? 'no status'})`).join(', '), []);
}
