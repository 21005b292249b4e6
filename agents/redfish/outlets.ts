import type { PlugEntry, PowerState } from '../../src/ports/agents.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { Call } from '../shared/call.ts';
import { advertised, allowedByActionInfo, type AdvertisedAction } from './action.ts';
import { idOf, lookedThrough, membersOf, type Member } from './collection.ts';
import type { RedfishSettings } from './parameters.ts';
import { RecentViews } from './recent-views.ts';
import { powerState, showPower, unexpected, type Order, type ResourceView, type Subject, type Wish, type Witness } from './resource-view.ts';
import type { Session } from './session.ts';
import { isObject, linkPath, listAt, numberAt, objectAt, plain, textAt, type JsonObject } from './words.ts';

const PDUS_MAX = 32;
const OUTLETS_MAX = 1_000;
/** Outlets that are looked at one by one for their names, where the collection shows links only. */
const NAMED_MAX = 128;
/** Above it something still draws current: below are the leakage of a supply and the noise of the meter. */
const IDLE_AMPS = 0.05;
const COLLECTIONS = ['RackPDUs', 'FloorPDUs', 'PowerShelves', 'TransferSwitches'];
const ACTIONS = ['#Outlet.PowerControl', '#OutletGroup.PowerControl'];
const WORDS: Readonly<Record<'on' | 'off', string>> = { on: 'On', off: 'Off' };

/** The outlets of a rack PDU that speaks Redfish (DMTF PowerEquipment, DSP2046). */
export class Outlets implements Subject {
  readonly #session: Session;
  readonly #settings: RedfishSettings;
  readonly #clock: Clock;
  readonly #recent: RecentViews;
  readonly #paths = new Map<string, string>();
  #outlets: { members: readonly Member[]; isCut: boolean } | undefined;

  constructor(session: Session, settings: RedfishSettings, clock: Clock) {
    this.#session = session;
    this.#settings = settings;
    this.#clock = clock;
    this.#recent = new RecentViews(clock, session);
  }

  forget(): void {
    this.#paths.clear();
    this.#outlets = undefined;
    this.#recent.forget();
  }

  recent(call: Call): ResourceView | undefined {
    return this.#recent.find(call);
  }

  async view(call: Call): Promise<ResourceView> {
    for (let attempt = 1; ; attempt += 1) {
      const path = await this.#path(call);
      const response = await this.#session.get(call, path);
      const isGone = response.status === 404 || (isObject(response.body) && !this.#isMeant(call, path, response.body));
      if (isGone && attempt === 1) {
        // Outlets are renamed, and PDUs exchanged, while we remember where a name was.
        this.forget();
        continue;
      }
      if (response.status !== 200) throw unexpected(this.#session, call, path, response);
      if (isGone) throw call.error('Misconfigured', `${path} is not called ${call.target.plug} any more; nothing was sent`);
      const resource = isObject(response.body) ? response.body : undefined;
      const isMoving = resource?.['PowerStateInTransition'] === true;
      const view: ResourceView = {
        path,
        response,
        resource,
        state: isMoving ? 'pending' : powerState(resource?.['PowerState']),
        detail: `${response.isGarbled ? 'the answer is no JSON' : showPower(response.body)}${isMoving ? ', in transition' : ''}`,
        identity: { kind: 'unverified', why: 'an outlet does not show whose machine hangs on it' },
        token: this.#session.token,
        atMs: this.#clock.monotonicMs(),
      };
      this.#recent.remember(call, view);
      return view;
    }
  }

  /** The current that the outlet itself measures: one that is off and still feeds somebody is not off. Of a group, its outlets one by one. */
  async witness(call: Call, view: ResourceView): Promise<Witness | undefined> {
    if (view.state !== 'off' || view.resource === undefined) return undefined;
    return isGroup(view.resource) ? this.#ofGroup(call, view.path, view.resource) : currentOf(view.path, view.resource);
  }

  async order(call: Call, view: ResourceView, wish: Wish): Promise<Order> {
    if (wish === 'nmi') throw call.error('Misconfigured', 'an outlet has no NMI; nothing was sent');
    const { resource } = view;
    const action = resource === undefined ? undefined : controlOf(resource);
    if (action === undefined)
      throw call.error('Refused', `${view.path} advertises no PowerControl action: it is not a switched outlet; nothing was sent`);
    if (resource?.['PowerControlLocked'] === true) {
      throw call.error('Refused', `${view.path} has PowerControlLocked=true: unlock it at the PDU; nothing was sent`);
    }
    const info = action.actionInfo;
    const allowed = info === undefined ? action.allowed : await allowedByActionInfo(this.#session, call, info, 'PowerState');
    if (allowed !== undefined && allowed.some((word) => powerState(word) !== 'unknown') && !allowed.includes(WORDS[wish])) {
      throw call.error('Refused', `the outlet offers only ${allowed.join(', ')}; nothing was sent`);
    }
    return { target: action.target, body: { PowerState: WORDS[wish] }, isLate: info !== undefined };
  }

  async list(call: Call): Promise<readonly PlugEntry[]> {
    const entries: PlugEntry[] = [];
    for (const [index, member] of (await this.#all(call)).members.entries()) {
      const resource = member.resource ?? (index < NAMED_MAX ? await this.#read(call, member.path) : undefined);
      const alias = resource === undefined ? undefined : namesOf(resource)[0];
      const state = resource === undefined ? undefined : powerState(resource['PowerState']);
      entries.push({
        plug: plain(idOf(member.path), []),
        ...(alias === undefined ? {} : { alias: plain(alias, []) }),
        ...(state === undefined ? {} : { state }),
      });
    }
    return entries;
  }

  #isMeant(call: Call, path: string, resource: JsonObject): boolean {
    const { plug } = call.target;
    return plug.startsWith('/') || idOf(path) === plug || namesOf(resource).includes(plug);
  }

  async #path(call: Call): Promise<string> {
    const { plug } = call.target;
    if (plug.startsWith('/')) return plug;
    if (plug === '') throw call.error('Misconfigured', 'plug is missing: the Id, the name or the path of the outlet');
    const known = this.#paths.get(plug);
    if (known !== undefined) return known;
    const { members, isCut } = await this.#all(call);
    const byId = members.filter(({ path }) => idOf(path) === plug);
    const found = byId.length > 0 ? byId : await this.#named(call, members, { name: plug, isCut });
    const only = found[0];
    if (only === undefined || found.length > 1) {
      const shown = (found.length > 1 ? found : members).slice(0, 48).map(({ path }) => path);
      throw call.error(
        'Misconfigured',
        `${found.length > 1 ? 'more than one' : 'no'} outlet is called ${plug}; there are ${plain(shown.join(', '), [])}`,
      );
    }
    this.#paths.set(plug, only.path);
    return only.path;
  }

  /** All are looked at, or none is taken: another one of this name may be among the rest. */
  async #named(call: Call, members: readonly Member[], { name, isCut }: { name: string; isCut: boolean }): Promise<Member[]> {
    if (isCut || members.filter(({ resource }) => resource === undefined).length > NAMED_MAX)
      throw call.error('Misconfigured', `no outlet has the Id ${name}, and there are too many to look at the name of each: write the Id or the path`);
    const found: Member[] = [];
    for (const member of members) {
      const resource = member.resource ?? (await this.#read(call, member.path));
      if (resource !== undefined && namesOf(resource).includes(name)) found.push(member);
    }
    return found;
  }

  async #read(call: Call, path: string): Promise<JsonObject | undefined> {
    const response = await this.#session.get(call, path);
    if (response.status >= 500 || response.status === 429) throw unexpected(this.#session, call, path, response);
    return response.status === 200 && isObject(response.body) ? response.body : undefined;
  }

  /** What a group says of itself may be no more than what it was told: one of its outlets may be locked, or not have obeyed. */
  async #ofGroup(call: Call, path: string, group: JsonObject): Promise<Witness> {
    const links = objectAt(group, 'Links');
    const members = listAt(links, 'Outlets').map(linkPath);
    const source = `${path}#/Links/Outlets`;
    const count = numberAt(links, 'Outlets@odata.count');
    if (count !== undefined && count !== members.length)
      return { source, state: 'unknown', detail: `names ${members.length} of its ${count} outlets: the others may be on` };
    if (members.length === 0) return { source, state: 'unknown', detail: 'names no outlets: which ones would have to be off is not known' };
    const shown: { state: PowerState; detail: string }[] = [];
    for (const member of members) {
      const outlet = member === undefined ? undefined : await this.#read(call, member);
      const current = outlet === undefined ? undefined : currentOf(member ?? '', outlet);
      const own = outlet?.['PowerStateInTransition'] === true ? 'pending' : powerState(outlet?.['PowerState']);
      const state = own === 'off' && current !== undefined ? current.state : own;
      const detail = outlet === undefined ? 'not shown' : [showPower(outlet), current?.detail ?? []].flat().join(' ');
      shown.push({ state, detail: `${idOf(member ?? '?')} ${detail}` });
    }
    const worst = (['on', 'unknown', 'pending'] as const).find((one) => shown.some(({ state }) => state === one)) ?? 'off';
    return { source, state: worst, detail: plain(shown.map(({ detail }) => detail).join(', '), []) };
  }

  /** Every outlet of the PDU that is meant: the configured one, or the only one. */
  async #all(call: Call): Promise<{ members: readonly Member[]; isCut: boolean }> {
    if (this.#outlets !== undefined) return this.#outlets;
    const pdu = await this.#pdu(call);
    const response = await this.#session.get(call, pdu);
    if (response.status !== 200 || !isObject(response.body)) throw unexpected(this.#session, call, pdu, response);
    const collection = linkPath(response.body['Outlets']);
    if (collection === undefined) throw call.error('Misconfigured', `${pdu} has no outlets`);
    this.#outlets = await lookedThrough(this.#session, call, collection, OUTLETS_MAX);
    return this.#outlets;
  }

  async #pdu(call: Call): Promise<string> {
    const wanted = this.#settings.pdu;
    if (wanted?.startsWith('/') === true) return wanted;
    const root = await this.#session.root(call);
    const equipment = linkPath(objectAt(root.body, 'PowerEquipment')) ?? '/redfish/v1/PowerEquipment';
    const response = await this.#session.get(call, equipment);
    if (response.status !== 200 || !isObject(response.body)) throw unexpected(this.#session, call, equipment, response);
    const paths: string[] = [];
    for (const name of COLLECTIONS) {
      const collection = linkPath(response.body[name]);
      if (collection !== undefined) paths.push(...(await membersOf(this.#session, call, collection, PDUS_MAX)).map(({ path }) => path));
    }
    const found = wanted === undefined ? paths : paths.filter((path) => idOf(path) === wanted);
    const only = found[0];
    if (only !== undefined && found.length === 1) return only;
    const many = wanted === undefined ? `the device has ${paths.length} PDUs` : `${found.length} PDUs are called ${wanted}`;
    throw call.error('Misconfigured', `${many} (${plain(paths.join(', '), [])}): choose one by pdu, its Id or path`);
  }
}

function controlOf(resource: JsonObject): AdvertisedAction | undefined {
  return ACTIONS.map((name) => advertised(resource, name, 'PowerState')).find((action) => action !== undefined);
}

function isGroup(resource: JsonObject): boolean {
  return (
    textAt(resource, '@odata.type')?.startsWith('#OutletGroup.') === true || objectAt(resource['Actions'], '#OutletGroup.PowerControl') !== undefined
  );
}

function currentOf(path: string, outlet: JsonObject): Witness | undefined {
  const amps = numberAt(objectAt(outlet, 'CurrentAmps'), 'Reading');
  if (amps === undefined) return undefined;
  return { source: `${path}#/CurrentAmps`, state: Math.abs(amps) > IDLE_AMPS ? 'on' : 'off', detail: `CurrentAmps=${amps}` };
}

/** What people call an outlet: the label they gave it first. */
function namesOf(resource: JsonObject): string[] {
  return ['UserLabel', 'Name', 'Id'].map((key) => textAt(resource, key) ?? '').filter((name) => name !== '');
}
