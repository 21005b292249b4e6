import type { AgentError, PlugEntry, PowerState, Reading } from '../../src/ports/agents.ts';
import type { Call } from '../shared/call.ts';
import type { RedfishResponse } from './connection.ts';
import type { IdentityCheck } from './identity.ts';
import type { Session } from './session.ts';
import { isObject, plain, type JsonObject } from './words.ts';

export type Witness = NonNullable<Reading<PowerState>['witness']>;

/** What a device may be told. */
export type Wish = 'on' | 'off' | 'nmi';

/** One answer about what a plug switches, with everything that is judged from it. */
export interface ResourceView {
  path: string;
  response: RedfishResponse;
  /** Undefined when the answer was no JSON object. */
  resource: JsonObject | undefined;
  state: PowerState;
  detail: string;
  identity: IdentityCheck;
  /** Token of the session it was read over; undefined with basic authentication. */
  token: string | undefined;
  /** Monotonic time of the answer. */
  atMs: number;
}

/** A request that changes the device, as the device itself described it. */
export interface Order {
  target: string;
  body: Readonly<Record<string, string>>;
  /** The device was asked for more after the view: read the identity again before the order is sent. */
  isLate: boolean;
}

/** What plugs of a device stand for: its ComputerSystems, or its outlets. */
export interface Subject {
  /** Reads the resource behind the call's plug. Throws `Misconfigured` when another machine is there than the node's. */
  view(call: Call): Promise<ResourceView>;
  /** A view of the last seconds over a connection that still stands; undefined when there is none. */
  recent(call: Call): ResourceView | undefined;
  /** The second witness, where there is one. One that disagrees, or cannot be read, comes first. */
  witness(call: Call, view: ResourceView): Promise<Witness | undefined>;
  /** The request for a wish. Throws `Refused` in the device's words when it offers none. */
  order(call: Call, view: ResourceView, wish: Wish): Promise<Order>;
  list(call: Call): Promise<readonly PlugEntry[]>;
  /** Forgets what was found, so that the next call looks again. */
  forget(): void;
}

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

export function showPower(body: unknown): string {
  if (!isObject(body)) return 'no JSON object';
  if (!('PowerState' in body)) return 'PowerState absent';
  return plain(`PowerState=${typeof body['PowerState'] === 'string' ? body['PowerState'] : JSON.stringify(body['PowerState'])}`, []);
}

/** An answer that is none of what was asked for. */
export function unexpected(session: Session, call: Call, path: string, response: RedfishResponse): AgentError {
  const message = session.describe(response);
  if (response.status === 404) return call.error('Misconfigured', `${path}: ${message}; correct systems_uri, redfish_uri or the plug`);
  if (response.status === 403) return call.error('Refused', `${path}: ${message}`);
  return call.error('Unreachable', `${path}: ${response.status === 200 ? 'the answer is no JSON object' : message}`);
}
