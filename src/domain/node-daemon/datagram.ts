import { isAddress } from './controllers.ts';
import { ORDERED_ACTIONS } from './order.ts';
import type { Order } from './order.ts';

/**
 * What daemons say to each other: one small datagram each (docs/node-daemon.md). All numbers big-endian:
 *
 *     0  'NF'          2  magic
 *     2  1             1  version
 *     3  type          1
 *     4  counter       8  microseconds since the sender's boot; a reply repeats the counter of what it answers
 *    12  boot ID      16  of the sender; all zeros: a controller
 *    28  signs         4  bits of a heartbeat, number of the slot of a slot-request, the leader's epoch in a permit, a grant, a refusal and an order; 0 elsewhere
 *    32  subject boot 16  the boot that a promise or a question is about; all zeros elsewhere
 *    48  name          1 + n  the sender
 *        subject       1 + n  the node that a promise or a question is about
 *        key           1 + n  X25519 public key of the sender, or of the subject of a reach-request, where the receiver cannot know it; fence and run of a permit
 *        address       1 + n  where the subject of a reach-request receives
 *        order        17  only in an order: its ID, and the number of what is to be done
 *        MAC          32  HMAC-SHA256 over all before it
 */
export const DATAGRAM_TYPES = [
  /** Node to controller, every second: I live, grant me to go on. */
  'heartbeat',
  /** Controller to node: go on for another G. */
  'grant',
  /** Node to peer: vouch for me. */
  'vouch-request',
  'vouch',
  /** Controller to peer: promise never again to vouch for this boot of the subject. */
  'promise-request',
  'promise',
  /** Answers a heartbeat or a vouch request: not any more for this boot. */
  'refusal',
  /** Controller to peer: does this boot of the subject answer you? */
  'reach-request',
  /** Peer to the node in question: answer me. */
  'ping',
  'alive',
  /** Peer to controller: it answered, it did not. */
  'reached',
  'unreached',
  /** Controller to a daemon that shares a storage lease with the subject: does this boot of it still renew its slot? */
  'slot-request',
  /** It was renewed by a node that lived after the question came; it was not. */
  'slot-moved',
  'slot-still',
  /** Controller to node, beside a grant: put the storage registrations back. Its signs are the leader's epoch, its key the fence and the run. */
  'unfence-permit',
  /** Controller to node, in answer to a heartbeat: do this, once. What becomes of it stands in the attestation. */
  'order',
] as const;
export type DatagramType = (typeof DATAGRAM_TYPES)[number];

export interface Datagram {
  type: DatagramType;
  /** A whole number under 2^53. */
  counter: number;
  /** Lower-case UUID; absent: a controller. */
  bootID?: string;
  /** Bits of `SIGNS`; the number of the slot where one is asked about; the leader's epoch. */
  signs: number;
  sender: string;
  subject?: string;
  subjectBootID?: string;
  /** 32 bytes in base64url. */
  publicKey?: string;
  /** `192.0.2.7:7411`, `[2001:db8::7]:7411`. */
  address?: string;
  /** Of an order, and of nothing else. */
  order?: Order;
}

/** What a heartbeat says of its node, by bit. */
export const SIGNS = {
  watchdogArmed: 1,
  isolated: 2,
  stopping: 4,
  storageLost: 8,
  kdumpArmed: 16,
  hardwareErrors: 32,
  leaving: 64,
  storageLease: 128,
} as const;

export const MAC_BYTES = 32;
const FIXED_BYTES = 48;
const NAME_MAX = 253;
const KEY_BYTES = 32;
const ORDER_BYTES = 17;
export const DATAGRAM_MAX_BYTES = FIXED_BYTES + 3 * (1 + NAME_MAX) + 1 + KEY_BYTES + ORDER_BYTES + MAC_BYTES;
const MAGIC = 0x4e46;
const VERSION = 1;
const UUID_BYTES = 16;
const [ZERO, NINE, LETTER_A] = [0x30, 0x39, 0x61];
const HEX: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
const LETTERS: readonly string[] = Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(byte));
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const NAME = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/;

/** The datagram without its MAC. Throws a TypeError for what no datagram can say: a defect of the caller. */
export function encode(datagram: Datagram): Uint8Array {
  const { counter, signs, sender, subject = '', address = '' } = datagram;
  const key = datagram.publicKey === undefined ? [] : keyBytes(datagram.publicKey);
  if (!Number.isSafeInteger(counter) || counter < 0) throw new TypeError(`counter ${counter} is no whole number under 2^53`);
  if (!NAME.test(sender) || (subject !== '' && !NAME.test(subject))) throw new TypeError(`${sender} or ${subject} is no name of a node`);
  if (address !== '' && (!isAddress(address) || address.length > NAME_MAX)) throw new TypeError(`${address} is no address`);
  if ((datagram.type === 'order') !== (datagram.order !== undefined)) throw new TypeError(`${datagram.type} is no order, or says none`);
  const bytes = new Uint8Array(FIXED_BYTES + 4 + sender.length + subject.length + key.length + address.length + orderBytes(datagram.type));
  const view = new DataView(bytes.buffer);
  view.setUint16(0, MAGIC);
  view.setUint8(2, VERSION);
  view.setUint8(3, DATAGRAM_TYPES.indexOf(datagram.type));
  view.setBigUint64(4, BigInt(counter));
  writeUUID(bytes, 12, datagram.bootID);
  view.setUint32(28, signs);
  writeUUID(bytes, 32, datagram.subjectBootID);
  const afterSender = writeName(bytes, FIXED_BYTES, sender);
  const afterSubject = writeName(bytes, afterSender, subject);
  bytes[afterSubject] = key.length;
  bytes.set(key, afterSubject + 1);
  const afterAddress = writeName(bytes, afterSubject + 1 + key.length, address);
  if (datagram.order !== undefined) {
    writeUUID(bytes, afterAddress, datagram.order.id);
    bytes[afterAddress + UUID_BYTES] = ORDERED_ACTIONS.indexOf(datagram.order.action);
  }
  return bytes;
}

function orderBytes(type: DatagramType): number {
  return type === 'order' ? ORDER_BYTES : 0;
}

/** Undefined for an action that this version does not know. */
function orderAt(bytes: Uint8Array, at: number): Order | undefined {
  const id = uuidAt(bytes, at);
  const action = ORDERED_ACTIONS[bytes[at + UUID_BYTES] ?? -1];
  return id === undefined || action === undefined ? undefined : { id, action };
}

/** Undefined for whatever is no datagram of this version; its MAC is not looked at. */
export function decode(bytes: Uint8Array): Datagram | undefined {
  if (bytes.length < FIXED_BYTES + 4 + MAC_BYTES || bytes.length > DATAGRAM_MAX_BYTES) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const type = DATAGRAM_TYPES[view.getUint8(3)];
  if (view.getUint16(0) !== MAGIC || view.getUint8(2) !== VERSION || type === undefined) return undefined;
  const counter = Number(view.getBigUint64(4));
  const sender = nameAt(bytes, FIXED_BYTES);
  const subject = sender === undefined ? undefined : nameAt(bytes, FIXED_BYTES + 1 + sender.length);
  if (!Number.isSafeInteger(counter) || sender === undefined || subject === undefined || sender === '') return undefined;
  const afterSubject = FIXED_BYTES + 2 + sender.length + subject.length;
  const keyLength = bytes[afterSubject];
  if (keyLength !== 0 && keyLength !== KEY_BYTES) return undefined;
  const address = textAt(bytes, afterSubject + 1 + keyLength);
  if (address === undefined) return undefined;
  const afterAddress = afterSubject + 2 + keyLength + address.length;
  if (bytes.length !== afterAddress + orderBytes(type) + MAC_BYTES) return undefined;
  const order = type === 'order' ? orderAt(bytes, afterAddress) : undefined;
  if (type === 'order' && order === undefined) return undefined;
  if (address !== '' && !isAddress(address)) return undefined;
  const bootID = uuidAt(bytes, 12);
  const subjectBootID = uuidAt(bytes, 32);
  return {
    type,
    counter,
    signs: view.getUint32(28),
    sender,
    ...(bootID === undefined ? {} : { bootID }),
    ...(subject === '' ? {} : { subject }),
    ...(subjectBootID === undefined ? {} : { subjectBootID }),
    ...(keyLength === 0 ? {} : { publicKey: keyText(bytes.subarray(afterSubject + 1, afterSubject + 1 + keyLength)) }),
    ...(address === '' ? {} : { address }),
    ...(order === undefined ? {} : { order }),
  };
}

function writeUUID(bytes: Uint8Array, at: number, uuid: string | undefined): void {
  if (uuid === undefined) return;
  if (!UUID.test(uuid)) throw new TypeError(`${uuid} is no boot ID`);
  let index = 0;
  for (let byte = 0; byte < UUID_BYTES; byte += 1) {
    if (uuid[index] === '-') index += 1;
    bytes[at + byte] = 16 * digitAt(uuid, index) + digitAt(uuid, index + 1);
    index += 2;
  }
}

function digitAt(text: string, index: number): number {
  const code = text.codePointAt(index) ?? 0;
  return code > NINE ? code - LETTER_A + 10 : code - ZERO;
}

/** All zeros say that there is none. A controller reads 5,000 a second: digits are looked up, and nothing is allocated but the text. */
function uuidAt(bytes: Uint8Array, at: number): string | undefined {
  let digits = '';
  let isAny = 0;
  for (let index = 0; index < UUID_BYTES; index += 1) {
    const byte = bytes[at + index] ?? 0;
    isAny |= byte;
    digits += index === 4 || index === 6 || index === 8 || index === 10 ? `-${HEX[byte] ?? ''}` : (HEX[byte] ?? '');
  }
  return isAny === 0 ? undefined : digits;
}

/** Base64url without padding (RFC 4648 section 5). */
function keyText(bytes: Uint8Array): string {
  return btoa(String.fromCodePoint(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

function keyBytes(text: string): number[] {
  const bytes = /^[A-Za-z0-9_-]{43}$/.test(text)
    ? Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.codePointAt(0) ?? 0)
    : [];
  if (bytes.length !== KEY_BYTES) throw new TypeError('a public key is 32 bytes in base64url');
  return bytes;
}

/** Names of nodes are ASCII (RFC 1123). Returns where the next field begins. */
function writeName(bytes: Uint8Array, at: number, name: string): number {
  bytes[at] = name.length;
  for (let index = 0; index < name.length; index += 1) bytes[at + 1 + index] = name.codePointAt(index) ?? 0;
  return at + 1 + name.length;
}

/** Empty where none is written; undefined where what is written is no name. */
function nameAt(bytes: Uint8Array, at: number): string | undefined {
  const name = textAt(bytes, at);
  return name === undefined || name === '' || NAME.test(name) ? name : undefined;
}

function textAt(bytes: Uint8Array, at: number): string | undefined {
  const length = bytes[at];
  if (length === undefined || at + 1 + length > bytes.length) return undefined;
  let text = '';
  for (let index = at + 1; index <= at + length; index += 1) text += LETTERS[bytes[index] ?? 0] ?? '';
  return text;
}
