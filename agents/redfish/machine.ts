import type { PlugEntry } from '../../src/ports/agents.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { Call } from '../shared/call.ts';
import { idOf, membersOf } from './collection.ts';
import { checkIdentity } from './identity.ts';
import type { RedfishSettings } from './parameters.ts';
import { quirkOf } from './quirks.ts';
import { RecentViews } from './recent-views.ts';
import type { Recollection } from './recollection.ts';
import { advertised, allowedByActionInfo } from './action.ts';
import { RESET_ACTION, resetType } from './reset.ts';
import { powerState, showPower, unexpected, type Order, type ResourceView, type Subject, type Wish, type Witness } from './resource-view.ts';
import type { Session } from './session.ts';
import { chooseSystem, otherMark } from './system-choice.ts';
import { isObject, linkPath, listAt, objectAt, plain, textAt } from './words.ts';

const MEMBERS_MAX = 64;
const CHASSIS_MAX = 4;
/** A chassis that is linked but not there, or not ours to see, witnesses nothing from the start. */
const NOT_OFFERED = new Set([403, 404, 405, 501]);

type Systems = Pick<Recollection, 'systemOf' | 'glimpseOf' | 'systemIs' | 'forgetSystem'>;

/** The ComputerSystem behind one BMC, chosen without ever guessing. */
export class Machine implements Subject {
  readonly #session: Session;
  readonly #settings: RedfishSettings;
  readonly #clock: Clock;
  readonly #recollection: Systems;
  readonly #recent: RecentViews;
  readonly #paths = new Map<string, string>();
  readonly #witnesses = new Map<string, readonly string[]>();
  /** Allowed reset types by the path of their ActionInfo. */
  readonly #actionInfos = new Map<string, readonly string[] | undefined>();

  constructor(session: Session, settings: RedfishSettings, clock: Clock, recollection: Systems) {
    this.#session = session;
    this.#settings = settings;
    this.#clock = clock;
    this.#recollection = recollection;
    this.#recent = new RecentViews(clock, session);
  }

  forget(): void {
    this.#paths.clear();
    this.#witnesses.clear();
    this.#actionInfos.clear();
    this.#recent.forget();
  }

  recent(call: Call): ResourceView | undefined {
    return this.#recent.find(call);
  }

  async view(call: Call): Promise<ResourceView> {
    const { plug } = call.target;
    const { path, from } = await this.#path(call);
    const response = await this.#session.get(call, path);
    const resource = isObject(response.body) ? response.body : undefined;
    const identity = checkIdentity(resource?.['UUID'], call.target.identity.systemUUID);
    const isVerified = response.status === 200 && identity.kind === 'verified';
    const other = resource === undefined ? undefined : otherMark(this.#settings, resource);
    const isLike = response.status === 200 && resource !== undefined && identity.kind === 'unverified' && other === undefined;
    if ((from === 'memory' && !isVerified) || (from === 'glimpse' && !isLike)) {
      // Where another machine is, or one that no longer shows which it is, nothing is remembered.
      this.#recollection.forgetSystem(plug);
      return this.view(call);
    }
    if (from === 'memory') this.#paths.set(plug, path);
    if (from === 'choice' && (isVerified || isLike)) this.#recollection.systemIs(plug, path, isVerified);
    if (response.status !== 200) {
      if (response.status === 404) this.forget();
      throw unexpected(this.#session, call, path, response);
    }
    if (identity.kind === 'other') {
      this.forget();
      const { node } = call.target.identity;
      throw call.error(
        'Misconfigured',
        `${path} is the machine ${plain(identity.shown, [])}, but node ${node} is ${identity.recorded}: nothing was sent; correct the address`,
      );
    }
    if (other !== undefined) {
      // Blades are exchanged, and slots counted anew, while we remember which path was meant.
      this.forget();
      throw call.error('Misconfigured', `${path} has ${other}: nothing was sent`);
    }
    // An empty slot has no power either, which says nothing of the machine that was there.
    const isAbsent = textAt(objectAt(resource, 'Status'), 'State') === 'Absent';
    const detail = `${response.isGarbled ? 'the answer is no JSON' : showPower(response.body)}${isAbsent ? ', Status.State=Absent' : ''}`;
    const { token } = this.#session;
    const state = isAbsent ? 'unknown' : powerState(resource?.['PowerState']);
    const view: ResourceView = { path, response, resource, state, detail, identity, token, atMs: this.#clock.monotonicMs() };
    // Whoever switches looks for the machine himself.
    if (from !== 'glimpse') this.#recent.remember(call, view);
    return view;
  }

  /** The machine's own Chassis, where it shows a PowerState. */
  async witness(call: Call, view: ResourceView): Promise<Witness | undefined> {
    if (!this.#settings.chassisWitness || view.resource === undefined) return undefined;
    const known = this.#witnesses.get(view.path);
    const links =
      known ??
      listAt(objectAt(view.resource, 'Links'), 'Chassis')
        .map(linkPath)
        .filter((path) => path !== undefined)
        .slice(0, CHASSIS_MAX);
    const found: Witness[] = [];
    let isComplete = true;
    for (const source of links) {
      const response = await this.#session.get(call, source);
      const isAnswer = response.status === 200 && isObject(response.body);
      if (known === undefined && (isAnswer ? !isDedicated(response.body, view) : NOT_OFFERED.has(response.status))) continue;
      isComplete &&= isAnswer;
      const state = isAnswer ? powerState(textAt(response.body, 'PowerState')) : 'unknown';
      found.push({
        source,
        state,
        detail: isAnswer ? showPower(response.body) : this.#session.describe(response),
        ...(state !== view.state && { waiver: waiverOf(view.resource, response.body) }),
      });
    }
    // Remembered only after a whole look, so that a chassis which once showed its power must go on doing so.
    if (known === undefined && isComplete) {
      this.#witnesses.set(
        view.path,
        found.map((witness) => witness.source),
      );
    }
    return found.find((witness) => witness.state !== view.state) ?? found[0];
  }

  async order(call: Call, view: ResourceView, wish: Wish): Promise<Order> {
    const action = view.resource === undefined ? undefined : advertised(view.resource, RESET_ACTION, 'ResetType');
    if (action === undefined) throw call.error('Refused', 'the ComputerSystem advertises no Reset action; nothing was sent');
    const info = action.actionInfo;
    const isLate = info !== undefined && !this.#actionInfos.has(info);
    if (info !== undefined && isLate) this.#actionInfos.set(info, await allowedByActionInfo(this.#session, call, info, 'ResetType'));
    const allowed = info === undefined ? action.allowed : this.#actionInfos.get(info);
    const type = resetType(allowed, wish, quirkOf(view.resource));
    if (type === undefined) throw call.error('Refused', `the device offers only ${allowed?.join(', ') ?? 'nothing'}; nothing was sent`);
    return { target: action.target, body: { ResetType: type }, isLate };
  }

  async list(call: Call): Promise<readonly PlugEntry[]> {
    const entries: PlugEntry[] = [];
    for (const path of await this.#members(call)) {
      const response = await this.#session.get(call, path);
      const alias = textAt(response.body, 'HostName') ?? textAt(response.body, 'Name') ?? '';
      const state = response.status === 200 ? powerState(objectOrEmpty(response.body)['PowerState']) : 'unknown';
      entries.push({ plug: plain(idOf(path), []), ...(alias === '' ? {} : { alias: plain(alias, []) }), state });
    }
    return entries;
  }

  /** `memory`: chosen over an earlier connection; `glimpse`: so too, for a probe of a machine that does not show which it is. */
  async #path(call: Call): Promise<{ path: string; from: 'configuration' | 'connection' | 'memory' | 'glimpse' | 'choice' }> {
    const { plug } = call.target;
    const fixed = plug.startsWith('/') ? plug : plug === '' ? this.#settings.systemsUri : undefined;
    if (fixed !== undefined) return { path: fixed, from: 'configuration' };
    const known = this.#paths.get(plug);
    if (known !== undefined) return { path: known, from: 'connection' };
    const remembered = this.#recollection.systemOf(plug);
    if (remembered !== undefined) return { path: remembered, from: 'memory' };
    const glimpse = call.target.isProbe === true ? this.#recollection.glimpseOf(plug) : undefined;
    if (glimpse !== undefined) return { path: glimpse, from: 'glimpse' };
    const found = await chooseSystem(this.#session, this.#settings, call, await this.#members(call));
    this.#paths.set(plug, found);
    return { path: found, from: 'choice' };
  }

  async #members(call: Call): Promise<string[]> {
    const root = await this.#session.root(call);
    const collection = linkPath(objectAt(root.body, 'Systems')) ?? '/redfish/v1/Systems';
    return (await membersOf(this.#session, call, collection, MEMBERS_MAX)).map(({ path }) => path);
  }
}

function objectOrEmpty(body: unknown): Readonly<Record<string, unknown>> {
  return isObject(body) ? body : {};
}

/** Told where the Chassis alone disagrees: a person decides, by what is known of the device. */
function waiverOf(system: unknown, chassis: unknown): string {
  const quirk = quirkOf(system, chassis);
  const known = quirk?.chassisPower === undefined ? '' : `; known of ${quirk.vendor}: ${quirk.chassisPower.known}`;
  return `the Chassis alone disagrees${known}: look at the machine; where its Chassis never shows Off, chassis_witness=no does without it, and an Off that the ComputerSystem alone shows is believed then, also one that its firmware shows by default`;
}

/** The chassis shows a PowerState and holds this machine only; a shared enclosure stays on and witnesses nothing. */
function isDedicated(chassis: unknown, view: ResourceView): boolean {
  if (textAt(chassis, 'PowerState') === undefined) return false;
  const systems = listAt(objectAt(chassis, 'Links'), 'ComputerSystems').map(linkPath);
  const own = linkPath(view.resource?.['@odata.id']);
  return systems.length === 0 || (systems.length === 1 && (own === undefined || systems[0]?.replace(/\/$/, '') === own.replace(/\/$/, '')));
}
