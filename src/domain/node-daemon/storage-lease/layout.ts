import { crc32 } from './crc32.ts';

/**
 * A storage lease: a header, and one slot for each node, on a block device or in a file that nodes share. Each stands in a sector of its own, within its first
 * 512 bytes, so that it is written whole or not at all. All numbers big-endian; the CRC-32 is of all before it.
 *
 *     header, sector 0                     slot N, sector N + 1
 *       0  'nodefence storage lease\0'       0  'nodefence slot\0\0'
 *      24  version 1                  2     16  version 1             2
 *      26  zeros                      2     18  1 held, 2 released    2
 *      28  sector size                4     20  N                     4
 *      32  slots                      4     24  counter               8
 *      36  lease ID                  16     32  interval in ms        4
 *      52  cluster               1 + 63     36  lease ID             16
 *     508  CRC-32                     4     52  boot ID              16
 *                                           68  node            1 + 253
 *                                          322  system UUID      1 + 64
 *                                          508  CRC-32                4
 */
export const SECTOR_SIZES = [512, 4_096] as const;
export type SectorSize = (typeof SECTOR_SIZES)[number];
export const SLOTS_MAX = 8_191;
/** Renewed once in so many milliseconds. */
export const [INTERVAL_MIN_MS, INTERVAL_MAX_MS] = [1_000, 30_000] as const;

export interface LeaseHeader {
  sectorSize: SectorSize;
  slots: number;
  /** Made when the area is laid out: a slot of an earlier one is none of this. */
  id: string;
  /** The name of the cluster whose nodes write here. */
  cluster: string;
}

export interface LeaseSlot {
  slot: number;
  state: 'held' | 'released';
  node: string;
  systemUUID: string;
  bootID: string;
  /** Grows by one with each renewal. */
  counter: number;
  intervalMs: number;
}

export type Header = { header: LeaseHeader } | { problem: 'empty' | 'foreign' | 'broken' };
export type SlotContent = { kind: 'empty' } | { kind: 'broken' } | { kind: 'slot'; slot: LeaseSlot };

export const CONTENT_BYTES = 512;
const CRC_AT = 508;
const VERSION = 1;
const HEADER_MAGIC = 'nodefence storage lease\0';
const SLOT_MAGIC = 'nodefence slot\0\0';
const AT = {
  header: { size: 28, slots: 32, id: 36, cluster: 52 },
  slot: { state: 18, index: 20, counter: 24, interval: 32, id: 36, boot: 52 },
} as const;
const [NODE_AT, NODE_MAX, SYSTEM_AT, SYSTEM_MAX, CLUSTER_MAX] = [68, 253, 322, 64, 63];
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const NODE = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/;
const SYSTEM = /^[0-9A-Za-z-]{1,64}$/;
export const CLUSTER = /^[A-Za-z0-9](?:[-A-Za-z0-9.]{0,61}[A-Za-z0-9])?$/;

export function areaBytes({ sectorSize, slots }: Pick<LeaseHeader, 'sectorSize' | 'slots'>): number {
  return (slots + 1) * sectorSize;
}

export function slotOffset({ sectorSize }: Pick<LeaseHeader, 'sectorSize'>, slot: number): number {
  return (slot + 1) * sectorSize;
}

/** One whole sector. */
export function encodeHeader({ sectorSize, slots, id, cluster }: LeaseHeader): Uint8Array {
  const { bytes, view } = sector(sectorSize, HEADER_MAGIC);
  view.setUint16(HEADER_MAGIC.length, VERSION);
  view.setUint32(AT.header.size, sectorSize);
  view.setUint32(AT.header.slots, slots);
  writeUUID(bytes, AT.header.id, id);
  writeText(bytes, AT.header.cluster, demand(cluster, CLUSTER));
  return sealed(bytes, view);
}

export function encodeSlot({ sectorSize, id }: Pick<LeaseHeader, 'sectorSize' | 'id'>, slot: LeaseSlot): Uint8Array {
  const { bytes, view } = sector(sectorSize, SLOT_MAGIC);
  view.setUint16(SLOT_MAGIC.length, VERSION);
  view.setUint16(AT.slot.state, slot.state === 'held' ? 1 : 2);
  view.setUint32(AT.slot.index, slot.slot);
  view.setBigUint64(AT.slot.counter, BigInt(slot.counter));
  view.setUint32(AT.slot.interval, slot.intervalMs);
  writeUUID(bytes, AT.slot.id, id);
  writeUUID(bytes, AT.slot.boot, slot.bootID);
  writeText(bytes, NODE_AT, demand(slot.node, NODE));
  writeText(bytes, SYSTEM_AT, demand(slot.systemUUID, SYSTEM));
  return sealed(bytes, view);
}

/** Of the first 512 bytes of the device, or more. `foreign`: something else stands there. */
export function decodeHeader(content: Uint8Array): Header {
  const bytes = content.subarray(0, CONTENT_BYTES);
  if (isZero(bytes)) return { problem: bytes.length < CONTENT_BYTES ? 'broken' : 'empty' };
  if (textAt(bytes, 0, HEADER_MAGIC.length) !== HEADER_MAGIC) return { problem: 'foreign' };
  if (!isSealed(bytes)) return { problem: 'broken' };
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const sectorSize = SECTOR_SIZES.find((size) => size === view.getUint32(AT.header.size));
  const slots = view.getUint32(AT.header.slots);
  const cluster = stringAt(bytes, AT.header.cluster, CLUSTER_MAX);
  if (view.getUint16(HEADER_MAGIC.length) !== VERSION || sectorSize === undefined || !CLUSTER.test(cluster)) return { problem: 'broken' };
  if (slots < 1 || slots > SLOTS_MAX) return { problem: 'broken' };
  return { header: { sectorSize, slots, id: uuidAt(bytes, AT.header.id), cluster } };
}

/** What stands in slot `index`. Whatever is not whole, of this area and of this very place is `broken`. */
export function decodeSlot({ id }: Pick<LeaseHeader, 'id'>, index: number, content: Uint8Array): SlotContent {
  const bytes = content.subarray(0, CONTENT_BYTES);
  if (bytes.length < CONTENT_BYTES) return { kind: 'broken' };
  if (isZero(bytes)) return { kind: 'empty' };
  if (textAt(bytes, 0, SLOT_MAGIC.length) !== SLOT_MAGIC || !isSealed(bytes)) return { kind: 'broken' };
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const state = ([undefined, 'held', 'released'] as const)[view.getUint16(AT.slot.state)];
  const counter = Number(view.getBigUint64(AT.slot.counter));
  const intervalMs = view.getUint32(AT.slot.interval);
  const [node, systemUUID] = [stringAt(bytes, NODE_AT, NODE_MAX), stringAt(bytes, SYSTEM_AT, SYSTEM_MAX)];
  const isHere = view.getUint32(AT.slot.index) === index && uuidAt(bytes, AT.slot.id) === id;
  const isWhole = view.getUint16(SLOT_MAGIC.length) === VERSION && state !== undefined && Number.isSafeInteger(counter);
  if (!isHere || !isWhole || intervalMs < INTERVAL_MIN_MS || intervalMs > INTERVAL_MAX_MS) return { kind: 'broken' };
  if (!NODE.test(node) || !SYSTEM.test(systemUUID)) return { kind: 'broken' };
  return { kind: 'slot', slot: { slot: index, state, node, systemUUID, bootID: uuidAt(bytes, AT.slot.boot), counter, intervalMs } };
}

export function isZero(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0);
}

function sector(size: number, magic: string): { bytes: Uint8Array; view: DataView } {
  const bytes = new Uint8Array(size);
  for (let index = 0; index < magic.length; index += 1) bytes[index] = magic.codePointAt(index) ?? 0;
  return { bytes, view: new DataView(bytes.buffer) };
}

function sealed(bytes: Uint8Array, view: DataView): Uint8Array {
  view.setUint32(CRC_AT, crc32(bytes.subarray(0, CRC_AT)));
  return bytes;
}

function isSealed(bytes: Uint8Array): boolean {
  return bytes.length === CONTENT_BYTES && new DataView(bytes.buffer, bytes.byteOffset).getUint32(CRC_AT) === crc32(bytes.subarray(0, CRC_AT));
}

/** A defect of the caller. */
function demand(text: string, pattern: RegExp): string {
  if (!pattern.test(text)) throw new TypeError(`${text} cannot stand in a storage lease`);
  return text;
}

function writeUUID(bytes: Uint8Array, at: number, uuid: string): void {
  const digits = demand(uuid, UUID).replaceAll('-', '');
  for (let index = 0; index < 16; index += 1) bytes[at + index] = Number.parseInt(digits.slice(2 * index, 2 * index + 2), 16);
}

function uuidAt(bytes: Uint8Array, at: number): string {
  const digits = Array.from(bytes.subarray(at, at + 16), (byte) => byte.toString(16).padStart(2, '0')).join('');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function writeText(bytes: Uint8Array, at: number, text: string): void {
  bytes[at] = text.length;
  for (let index = 0; index < text.length; index += 1) bytes[at + 1 + index] = text.codePointAt(index) ?? 0;
}

/** Empty where what is written is too long. */
function stringAt(bytes: Uint8Array, at: number, most: number): string {
  const length = bytes[at] ?? 0;
  return length > most ? '' : textAt(bytes, at + 1, length);
}

function textAt(bytes: Uint8Array, at: number, length: number): string {
  return String.fromCodePoint(...bytes.subarray(at, at + length));
}
