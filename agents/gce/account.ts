import { AgentError, type Outcome, type PlugEntry, type Removal } from '../../src/ports/agents.ts';
import type { Call } from '../shared/call.ts';
import type { CloudAccount, InstanceView } from '../shared/cloud/instance.ts';
import { sentOnce } from '../shared/cloud/repeat.ts';
import { listAt, textAt, WebFailure, type WebAnswer } from '../shared/web/web-client.ts';
import { zonePath, type ComputeApi } from './compute-api.ts';
import { FIELDS, instanceIn, machineOf, METADATA_FIELDS, type GceInstance } from './instance-view.ts';
import type { Memory, OwnOperation } from './memory.ts';
import { operationIn } from './operation.ts';
import { placeOf, type Place } from './place.ts';
import { requestIdOf } from './request-id.ts';

const PAGE = 500;
const LISTED_MAX = 1_000;
const PERMISSIONS = ['compute.instances.stop', 'compute.instances.start'];
const DELETION_PERMISSIONS = ['compute.instances.stop', 'compute.instances.delete'];

/** Instances of one account. */
export class GceAccount implements CloudAccount {
  readonly #api: ComputeApi;
  readonly #memory: Memory;
  readonly #close: () => void;
  readonly #seen = new WeakMap<InstanceView, { place: Place; instance: GceInstance }>();

  /** `close`: ends its connections. */
  constructor(api: ComputeApi, memory: Memory, close: () => void) {
    this.#api = api;
    this.#memory = memory;
    this.#close = close;
  }

  async read(call: Call): Promise<InstanceView> {
    const place = this.#place(call);
    const path = pathOf(place);
    // First the operation: an instance that is read after the end of its stop is read after its effect.
    const operation = await this.#operation(call, place);
    const { instance, answer } = await this.#instance(call, place);
    if (place.instanceId !== undefined && place.instanceId !== instance.id)
      throw call.error('Misconfigured', `${place.instance} is another machine: its id is ${instance.id}, not ${place.instanceId}`);
    const replaced = this.#memory.replaced(call, path, instance);
    if (replaced !== undefined) throw call.error('Misconfigured', `${place.instance} is another machine: ${replaced}`);
    const view: InstanceView = {
      id: instance.id,
      ...combined(instance, operation),
      machine: machineOf(place, instance, call.target.identity),
      ...timeOf(answer),
    };
    if (call.target.isProbe === true) {
      const missing = await this.#missing(call, place, instance);
      if (missing !== undefined) view.wouldRefuse = missing;
    }
    this.#seen.set(view, { place, instance });
    return view;
  }

  /** By its numeric id, which no other instance will ever have: one that is replaced meanwhile is not found. */
  async set(call: Call, view: InstanceView, state: 'on' | 'off'): Promise<Outcome> {
    const { place, instance } = this.#seen.get(view) ?? this.#unseen(call);
    const query = new URLSearchParams({ requestId: requestIdOf(call.target.intent, instance.id, state) });
    if (state === 'off') query.set('noGracefulShutdown', 'true');
    if (state === 'off' && instance.hasLocalSsd) query.set('discardLocalSsd', 'true');
    const verb = state === 'off' ? 'stop' : 'start';
    const path = `${zonePath(place)}/instances/${instance.id}/${verb}?${query.toString()}`;
    const send = (): Promise<WebAnswer> => this.#api.exchange(call, { method: 'POST', path, gate: () => call.target.beforeSend() });
    return sentOnce(call, async () => this.#outcome(call, pathOf(place), { wanted: state, instanceId: instance.id }, await onceMore(send)));
  }

  /**
   * Deletes the instance, by its numeric id. Its persistent disks go where they are to be deleted with it (Compute Engine v1, `instances.delete`). A managed group
   * counts its instances, and repairs what is stopped or deleted behind its back: what happens to its members is left to it.
   */
  async remove(call: Call, view: InstanceView): Promise<Outcome> {
    const { place, instance } = this.#seen.get(view) ?? this.#unseen(call);
    if (instance.group !== undefined) throw call.error('Refused', `nothing was sent: ${managedBy(instance.group)}`);
    const query = new URLSearchParams({ requestId: requestIdOf(call.target.intent, instance.id, 'gone') });
    const path = `${zonePath(place)}/instances/${instance.id}?${query.toString()}`;
    const gate = (): void => {
      call.target.beforeSend();
      this.#memory.deletions.set(pathOf(place), instance.id);
    };
    const send = (): Promise<WebAnswer> => this.#api.exchange(call, { method: 'DELETE', path, gate });
    return sentOnce(call, async () => this.#outcome(call, pathOf(place), { wanted: 'gone', instanceId: instance.id }, await onceMore(send)));
  }

  /** By the id that was deleted, where it is known; else by the name, and one that bears it now counts as still there. */
  async removal(call: Call): Promise<Removal> {
    const place = this.#place(call);
    const id = this.#memory.deletions.get(pathOf(place));
    const operation = await this.#operation(call, place);
    const path = id === undefined ? pathOf(place) : `${zonePath(place)}/instances/${id}`;
    const answer = await this.#api.ask(call, { method: 'GET', path: `${path}?fields=${encodeURIComponent(FIELDS)}`, takesNotFound: true });
    if (answer.status === 404) return { isGone: true, detail: 'the cloud does not know it any more' };
    const instance = instanceIn(answer.body);
    if (instance === undefined) throw call.error('Unreachable', `HTTP ${answer.status}: what came is no instance`);
    return { isGone: false, detail: combined(instance, operation).detail };
  }

  async list(call: Call): Promise<readonly PlugEntry[]> {
    const place = placeOf('list', call.target.parameters);
    if ('problem' in place) throw call.error('Misconfigured', place.problem);
    const entries: PlugEntry[] = [];
    let token: string | undefined;
    do {
      const query = new URLSearchParams({ maxResults: String(PAGE), fields: 'items(id,name,status),nextPageToken' });
      if (token !== undefined) query.set('pageToken', token);
      const { body } = await this.#api.get(call, `${zonePath(place)}/instances?${query.toString()}`);
      const found = listAt(body, 'items')
        .map(instanceIn)
        .filter((one) => one !== undefined);
      entries.push(...found.map(({ id, name, state }) => ({ plug: name, alias: id, state })));
      token = textAt(body, 'nextPageToken');
    } while (token !== undefined && token !== '' && entries.length < LISTED_MAX);
    return entries.slice(0, LISTED_MAX);
  }

  async close(): Promise<void> {
    this.#close();
  }

  #place(call: Call): Place {
    const place = placeOf(call.target.plug, call.target.parameters);
    if ('problem' in place) throw call.error('Misconfigured', place.problem);
    return place;
  }

  #unseen(call: Call): never {
    throw call.error('NotSent', 'the instance was not read before');
  }

  async #instance(call: Call, place: Place): Promise<{ instance: GceInstance; answer: WebAnswer }> {
    const path = pathOf(place);
    const known = this.#memory.groups.get(path);
    if (known !== undefined) {
      const shown = await this.#shown(call, path, FIELDS);
      if (shown.instance.id === known.id) return { ...shown, instance: { ...shown.instance, group: known.group } };
    }
    const shown = await this.#shown(call, path, `${FIELDS},${METADATA_FIELDS}`);
    this.#memory.groups.set(path, { id: shown.instance.id, group: shown.instance.group });
    return shown;
  }

  async #shown(call: Call, path: string, fields: string): Promise<{ instance: GceInstance; answer: WebAnswer }> {
    const answer = await this.#api.get(call, `${path}?fields=${encodeURIComponent(fields)}`);
    const instance = instanceIn(answer.body);
    if (instance === undefined) throw call.error('Unreachable', `HTTP ${answer.status}: what came is no instance`);
    return { instance, answer };
  }

  /** Our own operation on this instance that has not ended well, as far as is known. */
  async #operation(call: Call, place: Place): Promise<OwnOperation | undefined> {
    const { operations } = this.#memory;
    const own = operations.get(pathOf(place));
    if (own === undefined || own.failure !== undefined) return own;
    try {
      const operation = operationIn((await this.#api.get(call, `${zonePath(place)}/operations/${own.name}`)).body);
      if (operation?.failure !== undefined) return this.#failed(place, own, `ended with ${operation.failure}`);
      if (operation?.status !== 'DONE') return own;
      operations.delete(pathOf(place));
      return undefined;
    } catch (error) {
      // It explains, and decides nothing by itself: who may not read operations reads instances.
      if (error instanceof AgentError && (error.kind === 'Refused' || error.kind === 'Misconfigured'))
        return this.#failed(place, own, `cannot be read: ${error.facts.answered}`);
      throw error;
    }
  }

  #failed(place: Place, own: OwnOperation, failure: string): OwnOperation {
    const failed = { ...own, failure };
    this.#memory.operations.set(pathOf(place), failed);
    return failed;
  }

  #outcome(call: Call, path: string, about: Pick<OwnOperation, 'wanted' | 'instanceId'>, answer: WebAnswer): Outcome {
    const operation = operationIn(answer.body);
    if (operation === undefined) return { result: 'unclear', detail: `HTTP ${answer.status}: what came is no operation` };
    const { name, status, failure } = operation;
    if (failure !== undefined) throw call.error('Refused', `${name} ended with ${failure}`);
    this.#memory.operations.set(path, { name, ...about });
    return { result: 'accepted', detail: `${name} ${status}` };
  }

  /** Asked without changing anything. */
  async #missing(call: Call, place: Place, { id, group }: GceInstance): Promise<string | undefined> {
    const permissions = call.target.deletes === true ? DELETION_PERMISSIONS : PERMISSIONS;
    const body = JSON.stringify({ permissions });
    const answer = await this.#api.ask(call, { method: 'POST', path: `${zonePath(place)}/instances/${id}/testIamPermissions`, body });
    const granted = listAt(answer.body, 'permissions');
    const missing = permissions.filter((permission) => !granted.includes(permission));
    if (call.target.deletes === true && group !== undefined && missing.length === 0) return `its deletion: ${managedBy(group)}`;
    return missing.length === 0 ? undefined : `the account lacks ${missing.join(' and ')} on the instance`;
  }
}

function pathOf(place: Place): string {
  return `${zonePath(place)}/instances/${place.instance}`;
}

/** Again over a new connection where a kept one had been closed: the cloud does what has the same request id once. */
async function onceMore(send: () => Promise<WebAnswer>): Promise<WebAnswer> {
  try {
    return await send();
  } catch (error) {
    if (error instanceof WebFailure && error.isStale) return send();
    throw error;
  }
}

const VERBS = { on: 'start', off: 'stop', gone: 'deletion' } as const;

function managedBy(group: string): string {
  return `it is managed by instance group ${group}, which replaces what is stopped by itself: use action=off, or power_management=restart-instance`;
}

/** The state of the instance, with what our own operation says: off is not off while that one is under way. */
function combined(instance: GceInstance, operation: OwnOperation | undefined): Pick<InstanceView, 'state' | 'detail'> {
  const own = operation?.instanceId === instance.id ? operation : undefined;
  const isUnderWay = own !== undefined && own.failure === undefined;
  const group = instance.group === undefined ? [] : [`managed by instance group ${instance.group}, which may recreate or restart it`];
  const verb = own === undefined ? '' : VERBS[own.wanted];
  const told = own === undefined ? [] : [`our ${verb} ${own.name} ${own.failure ?? 'is under way'}`];
  return {
    state: instance.state === 'off' && isUnderWay ? 'pending' : instance.state,
    detail: [instance.words, ...told, ...group].join(', '),
  };
}

function timeOf({ headers }: WebAnswer): { deviceTime?: string } {
  const ms = Date.parse(headers['date'] ?? '');
  return Number.isNaN(ms) ? {} : { deviceTime: new Date(ms).toISOString() };
}
