import type { DeviceBoot, PortState } from '../../../src/ports/agents.ts';

/** ifAdminStatus, RFC 2863. */
export type AdminStatus = 'up' | 'down' | 'testing';
/** ifOperStatus, RFC 2863. */
export type OperStatus = 'up' | 'down' | 'testing' | 'unknown' | 'dormant' | 'notPresent' | 'lowerLayerDown';

/** One port as its switch shows it, at one moment. */
export interface PortView {
  /** As the switch spells it. */
  name: string;
  /** What people wrote on it (ifAlias, description, port name). */
  description: string | undefined;
  state: PortState;
  /** Somebody is at its other end; absent: it does not say. */
  hasLink?: boolean;
  /** In the device's words. */
  detail: string;
  /** Of the switch, where its protocol tells. */
  boot?: DeviceBoot;
}

/**
 * Closed is configured down and not passing traffic: `down`, or `lowerLayerDown` of an aggregate, a refinement of it. `notPresent` under a port
 * that is configured down is unknown: what has no transceiver never was the node's link. Open is configured up, with a link or without: a
 * machine that is off has none.
 */
export function portState(admin: AdminStatus | undefined, oper: OperStatus | undefined): PortState {
  if (admin === undefined || oper === undefined || admin === 'testing' || oper === 'testing' || oper === 'unknown') return 'unknown';
  if (admin === 'up') return 'open';
  if (oper === 'up' || oper === 'dormant') return 'pending';
  return oper === 'notPresent' ? 'unknown' : 'closed';
}
