import type { DeviceState, Outcome, PlugEntry, PortState, PowerState, Removal, Target } from '../../../src/ports/agents.ts';
import type { Call } from '../call.ts';
import { areSameUUID, normalUUID } from '../machine-uuid.ts';

/** An instance as its cloud shows it. */
export interface InstanceView<S extends DeviceState = PowerState> {
  /** As the cloud names it to set it; the plug where nothing else is needed. */
  id: string;
  state: S;
  /** The cloud's own words: `state=stopped (80)`. */
  detail: string;
  machine: MachineFacts;
  /** The group of the cloud that keeps a number of instances like it, where it belongs to one. */
  group?: string;
  /** Why it can never be started again: terminated. An `on` is refused with it before anything is sent. */
  cannotStart?: string;
  /** Why the cloud would refuse a set, as far as it tells without one being made; asked for by probes only. */
  wouldRefuse?: string;
  /** The cloud's clock (RFC 3339). */
  deviceTime?: string;
  /** When the credentials in use end (RFC 3339), where nobody renews them by itself. */
  credentialExpiresAt?: string;
}

/** What tells one machine from another. */
export interface MachineFacts {
  /**
   * Does the providerID of the Node name this machine? `same`: by what is never given to another one. `named`: by a name that another machine may bear later.
   * `other`: it names another one. `unknown`: the Node has no providerID of this cloud.
   */
  providerID: 'same' | 'named' | 'other' | 'unknown';
  /** Of its firmware, where the cloud shows it. */
  uuid?: string | undefined;
  /** Private addresses. */
  addresses?: readonly string[];
}

/** One account of a cloud, with what is kept between calls: connections, tokens, sessions. */
export interface CloudAccount {
  /** The instance of the target's plug, with what shows whose machine it is. Rejects `Misconfigured` where there is none: that is no proof of off. */
  read(call: Call): Promise<InstanceView>;
  /** What a set needs of that, where it costs less: whose machine it is, and whether it may be started. Its state may be `unknown`. */
  identify?(call: Call): Promise<InstanceView>;
  /** Sends once; `call.target.beforeSend` is the gate of that request. A refusal rejects as `Refused`. */
  set(call: Call, view: InstanceView, state: 'on' | 'off'): Promise<Outcome>;
  /**
   * Deletes the instance of this view for good, sent once, by the call of its group where it belongs to one. A refusal, such as a protection that an admin has set,
   * rejects as `Refused`. Absent: this cloud's instances are not deleted here.
   */
  remove?(call: Call, view: InstanceView): Promise<Outcome>;
  /** What is left of it after a `remove`: not to be found counts as gone here, and nowhere else. */
  removal?(call: Call): Promise<Removal>;
  /** At most 1,000 instances. */
  list(call: Call): Promise<readonly PlugEntry[]>;
  /** Ends sessions and connections. Never rejects. */
  close(): Promise<void>;
}

/** The same of ways between an instance and its storage or network. */
export interface PathAccount<V extends InstanceView<PortState>> {
  read(call: Call): Promise<V>;
  /** Sends each request once; `call.target.beforeSend` is the gate of every one of them. */
  set(call: Call, view: V, state: 'open' | 'closed'): Promise<Outcome>;
  /** Never rejects. */
  close(): Promise<void>;
}

/**
 * Whether the instance is the node's machine: `Misconfigured` where anything contradicts. A name proves it only together with the machine's UUID or one
 * of its addresses.
 */
export function identityOf(call: Call, { machine, id }: InstanceView<DeviceState>): 'verified' | 'unverified' {
  const { identity } = call.target;
  const other = (why: string): Error => call.error('Misconfigured', `${id} is another machine: ${why}`);
  if (machine.providerID === 'other') throw other(`the node's providerID is ${identity.providerID ?? 'unknown'}`);
  const [shown, expected] = [normalUUID(machine.uuid), normalUUID(identity.systemUUID)];
  const isSameUUID = shown !== undefined && expected !== undefined && areSameUUID(shown, expected);
  if (shown !== undefined && expected !== undefined && !isSameUUID)
    throw other(`its UUID is ${machine.uuid ?? ''}, the node's ${identity.systemUUID ?? ''}`);
  const addressed = addressesOf(identity, machine);
  if (addressed === 'other')
    throw other(`its addresses are ${(machine.addresses ?? []).join(', ')}, the node's ${(identity.addresses ?? []).join(', ')}`);
  const isKnown = machine.providerID === 'same' || isSameUUID || (machine.providerID === 'named' && addressed === 'same');
  return isKnown ? 'verified' : 'unverified';
}

function addressesOf(identity: Target['identity'], { addresses = [] }: MachineFacts): 'same' | 'other' | 'unknown' {
  const known = (identity.addresses ?? []).map(plainAddress);
  if (known.length === 0 || addresses.length === 0) return 'unknown';
  return addresses.some((address) => known.includes(plainAddress(address))) ? 'same' : 'other';
}

function plainAddress(address: string): string {
  return address.trim().toLowerCase();
}
