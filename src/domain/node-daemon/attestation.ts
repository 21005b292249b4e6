import { DEVICES_MAX, isDevicePath, isRegistrationKey, plainKey } from '../scsi-registration.ts';
import { foundWellIn } from './found-well.ts';
import type { FoundWell } from './found-well.ts';
import { ATTESTED_ORDERS_MAX, isOrderedAction, ORDER_STATES, orderRefusalOf, orderWords } from './order.ts';
import type { OrderedAction, OrderOutcome } from './order.ts';
import { PEERS_MAX } from './peers.ts';
import { INTERVAL_MAX_MS, INTERVAL_MIN_MS, SLOTS_MAX } from './storage-lease/layout.ts';
import { isUUID, UNFENCE_FAILURES, UNFENCE_STATES } from './unfencing.ts';
import type { AttestedUnfence, UnfenceFailure } from './unfencing.ts';

/** Annotations of the Lease `nodefence-node-<node>` in the fence namespace. The node's daemon writes the attestation, the controller the others. */
export const ATTESTATION = 'nodefence.ha.k8s.io/attestation';
export const GRANTS_ENDED = 'nodefence.ha.k8s.io/grants-ended';
/** Whom the node may ask to vouch for it, with what it needs to ask them: a list of `PeerEntry`. */
export const PEERS = 'nodefence.ha.k8s.io/peers';
/** What the controller ordered the node's daemon to do last, written before the order leaves: a `LastOrdered`. */
export const ORDERED = 'nodefence.ha.k8s.io/ordered';

/** No node can be called so that its Lease is one of the controllers': `nodefence-controller`, `nodefence-candidates`. */
const PREFIX = 'nodefence-node-';

export function attestationName(node: string): string {
  return `${PREFIX}${node}`;
}

/** The node whose attestation that Lease is; undefined: it is another Lease. */
export function nodeAttestedBy(lease: string): string | undefined {
  return lease.length > PREFIX.length && lease.startsWith(PREFIX) ? lease.slice(PREFIX.length) : undefined;
}

/** What a node's daemon says of its node while nothing is wrong: it must be known before the node is lost. */
export interface Attestation {
  bootID: string;
  systemUUID: string;
  /** Absent: the daemon has no watchdog. */
  watchdog?: AttestedWatchdog;
  /** Absent: the node does not fence itself. */
  selfFence?: AttestedSelfFence;
  /** Nodes whose vouch keeps this one up: each must promise to vouch no more before silence proves anything. */
  peers: string[];
  /** By which failure domains it counts those vouches, of itself and of its peers, by node: it counts by no others than it attests. Absent: it does not say. */
  domains?: Readonly<Record<string, string>>;
  /** X25519 public key of the daemon, 32 bytes in base64url. Absent: it exchanges nothing. */
  publicKey?: string;
  /** Where the daemon receives datagrams: `192.0.2.7:7411`, `[2001:db8::7]:7411`. */
  address?: string;
  /** `reachable`, `lost`, `unknown`: named storage, or the paths to storage where none is named. Absent: not looked at yet. */
  storage?: string;
  /** Absent: it renews no slot on shared storage. */
  storageLease?: AttestedStorageLease;
  /** Absent: this kernel has none, or it was not looked at yet. */
  kdump?: AttestedKdump;
  /** Shown to people, and used by nobody: a node must not aim anybody's credentials at an address. */
  proposedBmc?: ProposedBmc;
  /** Absent: the daemon does not put storage registrations back. */
  unfence?: AttestedUnfence;
  /** What became of the last orders of this boot, the newest last. Absent: none came. */
  orders?: OrderOutcome[];
  /** Conditions of others that it looked at in this boot and found well. Absent: none. */
  foundWell?: FoundWell[];
  /** The daemon is being stopped, as it should: from now on its silence says nothing. */
  isEnding?: true;
}

export interface ProposedBmc {
  /** Of the BMC, in its own network. */
  address: string;
  mac?: string;
}

/** Where on shared storage the node shows that it lives. */
export interface AttestedStorageLease {
  /** Of the lease: nodes that attest the same one can read each other's slots. */
  id: string;
  slot: number;
  intervalMs: number;
}

export interface AttestedKdump {
  /** A crash kernel is loaded. */
  isArmed: boolean;
  /** Whom it notifies by fence_kdump. */
  notifies: string[];
}

export interface AttestedWatchdog {
  state: string;
  /** `hardware`, `soft`. */
  kind: string;
  /** What it does when nobody feeds it: `reset`, `off`, ... */
  action: string;
  /** The machine may sleep or be paused, and its watchdog stands still with it. */
  isPausable: boolean;
  timeoutMs: number;
}

export interface AttestedSelfFence {
  grantMs: number;
  isolationTimeoutMs: number;
  podStopMaxMs: number;
  resetTimeMs: number;
}

/** That nobody keeps this boot of the node up any more: no controller grants, and every eligible peer has promised not to vouch. */
export interface GrantsEnded {
  bootID: string;
  eligible: string[];
  promised: string[];
}

/** The last order of the controllers to a node. */
export interface LastOrdered {
  id: string;
  action: OrderedAction;
  /** The boot that it was for. */
  bootID: string;
  /** Of the fence that gave it; empty: none did. */
  incident: string;
}

/** One peer of a node, as the controller tells it. */
export interface PeerEntry {
  node: string;
  /** Its failure domain. Absent: it has none. */
  domain?: string;
  publicKey: string;
  address: string;
}

/** What the controller tells a node: its own failure domain, and its peers. */
export interface PeersTold {
  domain?: string;
  peers: PeerEntry[];
}

/** Addresses that a crash kernel notifies. */
export const NOTIFIED_MAX = 16;

const LONGEST_MS = 3_600_000;
export const LONGEST_TEXT = 253;
const LONGEST_ANNOTATION = 16_384;
const MOST_PEERS = 10_000;

type Annotated = { metadata: { annotations?: Readonly<Record<string, string>> } };

/** Undefined where the annotation is absent or not whole: half an attestation attests nothing. */
export function parseAttestation(lease: Annotated): Attestation | undefined {
  const value = jsonOf(lease, ATTESTATION);
  const bootID = textAt(value, 'bootID');
  const systemUUID = textAt(value, 'systemUUID');
  const peers = value?.['peers'] === undefined ? [] : textsAt(value, 'peers');
  const domains = partAt(value, 'domains', domainsOf);
  const watchdog = partAt(value, 'watchdog', watchdogOf);
  const selfFence = partAt(value, 'selfFence', selfFenceOf);
  const publicKey = partAt(value, 'publicKey', keyOf);
  const address = partAt(value, 'address', textOf);
  const storage = partAt(value, 'storage', textOf);
  const storageLease = partAt(value, 'storageLease', storageLeaseOf);
  const kdump = partAt(value, 'kdump', kdumpOf);
  const proposedBmc = partAt(value, 'proposedBmc', bmcOf);
  const unfence = partAt(value, 'unfence', unfenceOf);
  const orders = ordersAt(value);
  const foundWell = foundWellIn(value?.['foundWell']);
  if (bootID === undefined || systemUUID === undefined || peers === undefined) return undefined;
  if (domains === 'broken' || watchdog === 'broken' || selfFence === 'broken' || publicKey === 'broken' || address === 'broken') return undefined;
  if (storage === 'broken' || storageLease === 'broken' || kdump === 'broken' || proposedBmc === 'broken' || unfence === 'broken') return undefined;
  return {
    bootID,
    systemUUID,
    peers,
    ...(domains === undefined ? {} : { domains }),
    ...(watchdog === undefined ? {} : { watchdog }),
    ...(selfFence === undefined ? {} : { selfFence }),
    ...(publicKey === undefined ? {} : { publicKey }),
    ...(address === undefined ? {} : { address }),
    ...(storage === undefined ? {} : { storage }),
    ...(storageLease === undefined ? {} : { storageLease }),
    ...(kdump === undefined ? {} : { kdump }),
    ...(proposedBmc === undefined ? {} : { proposedBmc }),
    ...(unfence === undefined ? {} : { unfence }),
    ...(orders.length === 0 ? {} : { orders }),
    ...(foundWell.length === 0 ? {} : { foundWell }),
    ...(value?.['isEnding'] === true ? { isEnding: true } : {}),
  };
}

export function parseGrantsEnded(lease: Annotated): GrantsEnded | undefined {
  const value = jsonOf(lease, GRANTS_ENDED);
  const bootID = textAt(value, 'bootID');
  const [eligible, promised] = ['eligible', 'promised'].map((key) => textsAt(value, key));
  return bootID === undefined || eligible === undefined || promised === undefined ? undefined : { bootID, eligible, promised };
}

/** Undefined where the annotation is absent or broken: nothing is known to have been ordered. */
export function parseOrdered(lease: Annotated): LastOrdered | undefined {
  const value = jsonOf(lease, ORDERED);
  const [id, bootID] = ['id', 'bootID'].map((key) => textAt(value, key));
  const { action, incident } = value ?? {};
  if (id === undefined || bootID === undefined || !isOrderedAction(action) || typeof incident !== 'string') return undefined;
  return { id, bootID, action, incident };
}

/** Undefined where the annotation is absent or broken: the node then has no peers. */
export function parsePeers(lease: Annotated): PeersTold | undefined {
  const value = jsonOf(lease, PEERS);
  const list: unknown = value?.['peers'];
  const domain = partAt(value, 'domain', textOf);
  if (!Array.isArray(list) || list.length > PEERS_MAX || domain === 'broken') return undefined;
  const peers = list.map((entry) => peerOf(fieldsOf(entry)));
  return peers.includes(undefined) ? undefined : { peers: peers.filter((peer) => peer !== undefined), ...(domain === undefined ? {} : { domain }) };
}

function peerOf(value: Fields | undefined): PeerEntry | undefined {
  const [node, address] = ['node', 'address'].map((key) => textAt(value, key));
  const publicKey = keyOf(value?.['publicKey']);
  const domain = partAt(value, 'domain', textOf);
  if (node === undefined || address === undefined || publicKey === undefined || domain === 'broken') return undefined;
  return { node, address, publicKey, ...(domain === undefined ? {} : { domain }) };
}

type Fields = Readonly<Record<string, unknown>>;

function jsonOf(lease: Annotated, annotation: string): Fields | undefined {
  const text = lease.metadata.annotations?.[annotation];
  if (text === undefined || text.length > LONGEST_ANNOTATION) return undefined;
  try {
    return fieldsOf(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** An optional part: absent, whole, or broken. */
function partAt<T>(value: Fields | undefined, key: string, parse: (part: unknown) => T | undefined): T | 'broken' | undefined {
  const part = value?.[key];
  return part === undefined ? undefined : (parse(part) ?? 'broken');
}

function domainsOf(part: unknown): Readonly<Record<string, string>> | undefined {
  const fields = fieldsOf(part);
  if (fields === undefined) return undefined;
  const entries = Object.entries(fields);
  const isWhole = entries.length <= PEERS_MAX + 1 && entries.every(([, domain]) => textOf(domain) !== undefined);
  return isWhole ? (Object.fromEntries(entries) as Record<string, string>) : undefined;
}

function watchdogOf(part: unknown): AttestedWatchdog | undefined {
  const value = fieldsOf(part);
  const [state, kind, action] = ['state', 'kind', 'action'].map((key) => textAt(value, key));
  const timeoutMs = timeAt(value, 'timeoutMs');
  const isPausable = value?.['isPausable'];
  if (state === undefined || kind === undefined || action === undefined) return undefined;
  return timeoutMs === undefined || typeof isPausable !== 'boolean' ? undefined : { state, kind, action, isPausable, timeoutMs };
}

function selfFenceOf(part: unknown): AttestedSelfFence | undefined {
  const value = fieldsOf(part);
  const [grantMs, isolationTimeoutMs, podStopMaxMs, resetTimeMs] = ['grantMs', 'isolationTimeoutMs', 'podStopMaxMs', 'resetTimeMs'].map((key) =>
    timeAt(value, key),
  );
  if (grantMs === undefined || isolationTimeoutMs === undefined) return undefined;
  return podStopMaxMs === undefined || resetTimeMs === undefined ? undefined : { grantMs, isolationTimeoutMs, podStopMaxMs, resetTimeMs };
}

function storageLeaseOf(part: unknown): AttestedStorageLease | undefined {
  const { id, slot, intervalMs } = fieldsOf(part) ?? {};
  if (typeof id !== 'string' || !/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id)) return undefined;
  if (typeof slot !== 'number' || !Number.isInteger(slot) || slot < 0 || slot >= SLOTS_MAX) return undefined;
  if (typeof intervalMs !== 'number' || !(intervalMs >= INTERVAL_MIN_MS && intervalMs <= INTERVAL_MAX_MS)) return undefined;
  return { id, slot, intervalMs };
}

function kdumpOf(part: unknown): AttestedKdump | undefined {
  const value = fieldsOf(part);
  const isArmed = value?.['isArmed'];
  const notifies = textsAt(value, 'notifies');
  if (typeof isArmed !== 'boolean' || notifies === undefined || notifies.length > NOTIFIED_MAX) return undefined;
  return notifies.every((address) => textOf(address) !== undefined) ? { isArmed, notifies } : undefined;
}

/** What a later version says of them that this one does not know spoils nothing else: only whoever waits for an order reads it. */
function ordersAt(value: Fields | undefined): OrderOutcome[] {
  const list: unknown = value?.['orders'];
  if (!Array.isArray(list)) return [];
  return list.slice(-ATTESTED_ORDERS_MAX).flatMap((entry) => {
    const { id, action, state, words, why } = fieldsOf(entry) ?? {};
    const refusal = orderRefusalOf(why);
    const known = ORDER_STATES.find((one) => one === state);
    if (textOf(id) === undefined || !isOrderedAction(action) || known === undefined || typeof words !== 'string') return [];
    return [{ id: String(id), action, state: known, words: orderWords(words), ...(refusal !== undefined && { why: refusal }) }];
  });
}

/** Digits and their separators only: whoever broke into a node writes no words for people to read. */
function bmcOf(part: unknown): ProposedBmc | undefined {
  const { address, mac } = fieldsOf(part) ?? {};
  if (typeof address !== 'string' || !/^[0-9a-f.:]{2,45}$/i.test(address)) return undefined;
  if (mac === undefined) return { address };
  return typeof mac === 'string' && /^(?:[0-9a-f]{2}:){5}[0-9a-f]{2}$/.test(mac) ? { address, mac } : undefined;
}

function unfenceOf(part: unknown): AttestedUnfence | undefined {
  const value = fieldsOf(part);
  const state = UNFENCE_STATES.find((known) => known === value?.['state']);
  const key = textAt(value, 'key');
  const devices = textsAt(value, 'devices');
  const why = (Object.keys(UNFENCE_FAILURES) as UnfenceFailure[]).find((known) => known === value?.['why']);
  const [fence, run, epoch] = ['fence', 'run', 'epoch'].map((name) => value?.[name]);
  if (state === undefined || key === undefined || !isRegistrationKey(key) || devices === undefined) return undefined;
  if (devices.length === 0 || devices.length > DEVICES_MAX || !devices.every(isDevicePath)) return undefined;
  if (value?.['why'] !== undefined && why === undefined) return undefined;
  const base: AttestedUnfence = { state, key: plainKey(key), devices, ...(why === undefined ? {} : { why }) };
  if (fence === undefined && run === undefined && epoch === undefined) return base;
  if (typeof fence !== 'string' || typeof run !== 'string' || !isUUID(fence) || !isUUID(run)) return undefined;
  return typeof epoch === 'number' && Number.isInteger(epoch) && epoch >= 0 ? { ...base, fence, run, epoch } : undefined;
}

/** 32 bytes in base64url without padding. */
function keyOf(part: unknown): string | undefined {
  return typeof part === 'string' && /^[A-Za-z0-9_-]{43}$/.test(part) ? part : undefined;
}

function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

function textAt(value: Fields | undefined, key: string): string | undefined {
  return textOf(value?.[key]);
}

function textOf(text: unknown): string | undefined {
  return typeof text === 'string' && text !== '' && text.length <= LONGEST_TEXT ? text : undefined;
}

function textsAt(value: Fields | undefined, key: string): string[] | undefined {
  const list: unknown = value?.[key];
  return Array.isArray(list) && list.length <= MOST_PEERS && list.every((item) => typeof item === 'string') ? list : undefined;
}

function timeAt(value: Fields | undefined, key: string): number | undefined {
  const time = value?.[key];
  return typeof time === 'number' && Number.isInteger(time) && time > 0 && time <= LONGEST_MS ? time : undefined;
}
