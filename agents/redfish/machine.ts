import type { PowerState, Reading } from '../../src/ports/agents.ts';
import type { Call } from '../shared/call.ts';
import type { RedfishResponse } from './connection.ts';
import { normalUUID } from '../shared/machine-uuid.ts';
import { checkIdentity, type IdentityCheck } from './identity.ts';
import type { RedfishSettings } from './parameters.ts';
import type { Session } from './session.ts';
import { isObject, linkPath, listAt, objectAt, plain, textAt, type JsonObject } from './words.ts';

const MEMBERS_MAX = 64;
const PAGES_MAX = 8;
const CHASSIS_MAX = 4;
/** A chassis that is linked but not there, or not ours to see, witnesses nothing from the start. */
const NOT_OFFERED = new Set([403, 404, 405, 501]);

type Witness = NonNullable<Reading<PowerState>['witness']>;

/** Exact tokens of Resource.PowerState; everything else, Paused too, is unknown. */
export function powerState(token: unknown): PowerState {
  switch (token) {
    case 'On':
      return 'on';
    case 'Off':
      return 'off';
    case 'PoweringOn':
    case 'PoweringOff':
      return 'pending';
    default:
      return 'unknown';
  }
}

function showPower(body: unknown): string {
  if (!isObject(body)) return 'no JSON object';
  if (!('PowerState' in body)) return 'PowerState absent';
  return plain(`PowerState=${typeof body['PowerState'] === 'string' ? body['PowerState'] : JSON.stringify(body['PowerState'])}`, []);
}

/** One answer about the machine, with everything that is judged from it. */
export interface SystemView {
  response: RedfishResponse;
  /** Undefined when the answer was no JSON object. */
  system: JsonObject | undefined;
  state: PowerState;
  detail: string;
  identity: IdentityCheck;
}

/** The ComputerSystem behind one BMC, chosen without ever guessing. */
export class Machine {
  readonly #session: Session;
  readonly #settings: RedfishSettings;
  readonly #paths = new Map<string, string>();
  readonly #witnesses = new Map<string, readonly string[]>();

  constructor(session: Session, settings: RedfishSettings) {
    this.#session = session;
    this.#settings = settings;
  }

  /** Forgets what was found, so that the next call looks again. */
  forget(): void {
    this.#paths.clear();
    this.#witnesses.clear();
  }

  /** Reads the system. Throws `Misconfigured` when another machine is behind the address than the node's. */
  async view(call: Call): Promise<SystemView> {
    const path = await this.#path(call);
    const response = await this.#session.get(call, path);
    if (response.status !== 200) {
      if (response.status === 404) this.#paths.clear();
      throw this.#unexpected(call, path, response);
    }
    const system = isObject(response.body) ? response.body : undefined;
    const identity = checkIdentity(system?.['UUID'], call.target.identity.systemUUID);
    if (identity.kind === 'other') {
      const { node } = call.target.identity;
      throw call.error(
        'Misconfigured',
        `${path} is the machine ${plain(identity.shown, [])}, but node ${node} is ${identity.recorded}: nothing was sent; correct the address`,
      );
    }
    const detail = response.isGarbled ? 'the answer is no JSON' : showPower(response.body);
    return { response, system, state: powerState(system?.['PowerState']), detail, identity };
  }

  /** The second witness: the machine's own Chassis, where it shows a PowerState. One that disagrees, or cannot be read, comes first. */
  async witness(call: Call, view: SystemView): Promise<Witness | undefined> {
    if (!this.#settings.chassisWitness || view.system === undefined) return undefined;
    const known = this.#witnesses.get(await this.#path(call));
    const links =
      known ??
      listAt(objectAt(view.system, 'Links'), 'Chassis')
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
      found.push({ source, state, detail: isAnswer ? showPower(response.body) : this.#session.words(response) });
    }
    // Remembered only after a whole look, so that a chassis which once showed its power must go on doing so.
    if (known === undefined && isComplete)
      this.#witnesses.set(
        await this.#path(call),
        found.map((witness) => witness.source),
      );
    return found.find((witness) => witness.state !== view.state) ?? found[0];
  }

  async #path(call: Call): Promise<string> {
    const { plug } = call.target;
    const fixed = plug.startsWith('/') ? plug : plug === '' ? this.#settings.systemsUri : undefined;
    if (fixed !== undefined) return fixed;
    const known = this.#paths.get(plug);
    if (known !== undefined) return known;
    const found = await this.#choose(call, await this.#members(call));
    this.#paths.set(plug, found);
    return found;
  }

  async #members(call: Call): Promise<string[]> {
    const root = await this.#session.root(call);
    let next = linkPath(objectAt(root.body, 'Systems')) ?? '/redfish/v1/Systems';
    const members: string[] = [];
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const response = await this.#session.get(call, next);
      if (response.status !== 200 || !isObject(response.body)) throw this.#unexpected(call, next, response);
      members.push(
        ...listAt(response.body, 'Members')
          .map(linkPath)
          .filter((path) => path !== undefined),
      );
      const more = linkPath(response.body['Members@odata.nextLink']);
      if (more === undefined || members.length > MEMBERS_MAX) break;
      next = more;
    }
    return members.slice(0, MEMBERS_MAX);
  }

  async #choose(call: Call, members: readonly string[]): Promise<string> {
    const { plug } = call.target;
    const { systemUUID, serial } = this.#settings;
    const only = members[0];
    if (only === undefined) throw call.error('Misconfigured', 'the device has no ComputerSystem');
    if (plug !== '') {
      const named = members.find((path) => path.split('/').findLast((part) => part !== '') === plug);
      if (named !== undefined) return named;
      throw call.error('Misconfigured', `no ComputerSystem is called ${plug}; there are ${members.join(', ')}`);
    }
    if (systemUUID === undefined && serial === undefined) {
      if (members.length === 1) return only;
      throw call.error(
        'Misconfigured',
        `the device has ${members.length} ComputerSystems (${members.join(', ')}): choose one by systems_uri, system_uuid or serial`,
      );
    }
    return this.#chooseByMark(call, members);
  }

  /** By UUID and SerialNumber, as configured; exactly one may match. */
  async #chooseByMark(call: Call, members: readonly string[]): Promise<string> {
    const { systemUUID, serial } = this.#settings;
    const shown: string[] = [];
    const matches: string[] = [];
    for (const path of members) {
      const response = await this.#session.get(call, path);
      if (response.status >= 500) throw this.#unexpected(call, path, response);
      const uuid = textAt(response.body, 'UUID');
      const number = textAt(response.body, 'SerialNumber');
      shown.push(plain(`${path} (UUID ${uuid ?? 'none'}, SerialNumber ${number ?? 'none'})`, []));
      const isUUID = systemUUID === undefined || (normalUUID(uuid) !== undefined && checkIdentity(uuid, systemUUID).kind === 'verified');
      if (isUUID && (serial === undefined || number === serial)) matches.push(path);
    }
    const only = matches[0];
    if (only !== undefined && matches.length === 1) return only;
    const asked = [systemUUID === undefined ? '' : `UUID ${systemUUID}`, serial === undefined ? '' : `SerialNumber ${serial}`]
      .filter((part) => part !== '')
      .join(' and ');
    throw call.error('Misconfigured', `${matches.length === 0 ? 'no' : 'more than one'} ComputerSystem has ${asked}; there are ${shown.join(', ')}`);
  }

  #unexpected(call: Call, path: string, response: RedfishResponse): Error {
    if (response.status === 404) return call.error('Misconfigured', `${path}: ${this.#session.words(response)}; correct systems_uri or redfish_uri`);
    if (response.status === 403) return call.error('Refused', `${path}: ${this.#session.words(response)}`);
    const words = response.status === 200 ? 'the answer is no JSON object' : this.#session.words(response);
    return call.error('Unreachable', `${path}: ${words}`);
  }
}

/** The chassis shows a PowerState and holds this machine only; a shared enclosure stays on and witnesses nothing. */
function isDedicated(chassis: unknown, view: SystemView): boolean {
  if (textAt(chassis, 'PowerState') === undefined) return false;
  const systems = listAt(objectAt(chassis, 'Links'), 'ComputerSystems').map(linkPath);
  const own = linkPath(view.system?.['@odata.id']);
  return systems.length === 0 || (systems.length === 1 && (own === undefined || systems[0]?.replace(/\/$/, '') === own.replace(/\/$/, '')));
}
