// Objects as a real API server sends them in `application/vnd.kubernetes.protobuf`. Written from the description of the format, and sharing nothing with what reads it in src/kube:
// one would hide the mistakes of the other. A field that the tables lack is a defect of this server, and says so.
import { isObject, textAt, type Json, type JsonObject } from '../json.ts';
import { MESSAGES } from './messages.ts';

/** A field of a message, as the table has it. */
interface Slot {
  name: string;
  number: number;
  type: string;
  isPointer: boolean;
  isList: boolean;
  isInline: boolean;
}

const TABLES: ReadonlyMap<string, readonly Slot[]> = new Map(
  Object.entries(MESSAGES).map(([message, words]) => [message, words.split(' ').map(slotOf)]),
);
const NAMES: ReadonlyMap<string, ReadonlySet<string>> = new Map([...TABLES.keys()].map((message) => [message, new Set(namesOf(message))]));

const KINDS: Readonly<Record<string, readonly string[]>> = {
  v1: ['Node', 'NodeList', 'Pod', 'PodList', 'Status'],
  'coordination.k8s.io/v1': ['Lease', 'LeaseList'],
  'storage.k8s.io/v1': ['VolumeAttachment', 'VolumeAttachmentList'],
};

/** Is there a table of this kind? */
export function isEncoded(apiVersion: string, kind: string): boolean {
  return KINDS[apiVersion]?.includes(kind) === true;
}

/** The envelope `k8s\0` with the type and the object in it. */
export function encodeObject(object: JsonObject): Buffer {
  const [apiVersion, kind] = [textAt(object, 'apiVersion'), textAt(object, 'kind')];
  if (!isEncoded(apiVersion, kind)) throw new Error(`protobuf: no table of ${apiVersion} ${kind}`);
  const type = Buffer.concat([chunk(1, Buffer.from(apiVersion)), chunk(2, Buffer.from(kind))]);
  const none = Buffer.alloc(0);
  return Buffer.concat([Buffer.from('k8s\0'), chunk(1, type), chunk(2, body(kind, object, kind)), chunk(3, none), chunk(4, none)]);
}

/** A frame of a watch: its length in four bytes, and the event. */
export function encodeEvent(type: string, envelope: Buffer): Buffer {
  const event = Buffer.concat([chunk(1, Buffer.from(type)), chunk(2, chunk(1, envelope))]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(event.length);
  return Buffer.concat([length, event]);
}

function body(message: string, value: Json, place: string): Buffer {
  if (!isObject(value)) throw new Error(`protobuf: ${place} is no object`);
  for (const name in value)
    if (value[name] !== undefined && NAMES.get(message)?.has(name) !== true)
      throw new Error(`protobuf: no field ${place}.${name} in the table of ${message}`);
  return Buffer.concat(slotsOf(message).flatMap((slot) => parts(slot, value, place)));
}

function parts(slot: Slot, owner: JsonObject, place: string): Buffer[] {
  const { name, number, type, isPointer, isList, isInline } = slot;
  if (isInline) return [chunk(number, own(type, owner, place))];
  const value = owner[name] ?? undefined;
  const here = `${place}.${name}`;
  if (isList) return array(value, here).map((item) => single(number, type, item, here));
  if (type === 'map' || type === 'quantities') return entries(value, here).map(([key, item]) => chunk(number, entry(key, item, type)));
  if (value === undefined && isPointer) return [];
  return [single(number, type, value, here)];
}

/** Of a message that is inlined: the fields of its owner that are its own. */
function own(message: string, owner: JsonObject, place: string): Buffer {
  return Buffer.concat(slotsOf(message).flatMap((slot) => parts(slot, owner, place)));
}

function single(number: number, type: string, value: Json | undefined, place: string): Buffer {
  switch (type) {
    case 'string':
      return chunk(number, Buffer.from(expected(value ?? '', 'string', place)));
    case 'bool':
      return Buffer.concat([varint((number << 3) | 0), varint(expected(value ?? false, 'boolean', place) ? 1 : 0)]);
    case 'int':
      return Buffer.concat([varint((number << 3) | 0), varint(expected(value ?? 0, 'number', place))]);
    case 'Time':
      return chunk(number, value === undefined ? Buffer.alloc(0) : moment(expected(value, 'string', place), false));
    case 'MicroTime':
      return chunk(number, moment(expected(value, 'string', place), true));
    case 'Quantity':
      return chunk(number, chunk(1, Buffer.from(quantity(value))));
    case 'Raw':
      return chunk(number, chunk(1, Buffer.from(JSON.stringify(value))));
    case 'IntOrString':
      return chunk(number, intOrString(value));
    default:
      return chunk(number, body(type, value ?? {}, place));
  }
}

/** A text, or a quantity that was written as a number. */
function quantity(value: Json | undefined): string {
  if (typeof value !== 'string' && typeof value !== 'number') throw new Error(`protobuf: ${JSON.stringify(value)} is no text`);
  return String(value);
}

function intOrString(value: Json | undefined): Buffer {
  const isText = typeof value === 'string';
  const numbers = [varint(1 << 3), varint(isText ? 1 : 0), varint(2 << 3), varint(isText ? 0 : Number(value))];
  return Buffer.concat([...numbers, chunk(3, Buffer.from(isText ? value : ''))]);
}

function entry(key: string, value: Json, type: string): Buffer {
  const text = Buffer.from(quantity(value));
  return Buffer.concat([chunk(1, Buffer.from(key)), chunk(2, type === 'map' ? text : chunk(1, text))]);
}

/** Seconds, and nanoseconds of those that JSON shows. */
function moment(text: string, isMicro: boolean): Buffer {
  const [, fraction = ''] = /\.(\d+)/.exec(text) ?? [];
  const nanoseconds = isMicro ? Number(fraction.padEnd(6, '0').slice(0, 6)) * 1_000 : 0;
  const seconds = Math.floor(Date.parse(text) / 1_000);
  if (Number.isNaN(seconds)) throw new Error(`protobuf: "${text}" is no time`);
  return Buffer.concat([varint(1 << 3), varint(seconds), varint(2 << 3), varint(nanoseconds)]);
}

function chunk(number: number, bytes: Buffer): Buffer {
  return Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes]);
}

function varint(value: number): Buffer {
  if (!Number.isSafeInteger(value)) throw new Error(`protobuf: ${String(value)} is no integer`);
  if (value >= 0 && value < 128) return Buffer.from([value]);
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return Buffer.from([...bytes, Number(rest)]);
}

interface Types {
  string: string;
  boolean: boolean;
  number: number;
}

function expected<T extends keyof Types>(value: Json | undefined, type: T, place: string): Types[T] {
  if (typeof value !== type) throw new Error(`protobuf: ${place} is no ${type}`);
  return value as Types[T];
}

function array(value: Json | undefined, place: string): readonly Json[] {
  if (value !== undefined && !Array.isArray(value)) throw new Error(`protobuf: ${place} is no list`);
  return value ?? [];
}

function entries(value: Json | undefined, place: string): [string, Json][] {
  if (value !== undefined && !isObject(value)) throw new Error(`protobuf: ${place} is no map`);
  const present = Object.entries(value ?? {}).flatMap(([key, item]): [string, Json][] => (item === undefined ? [] : [[key, item]]));
  return present.sort(([a], [b]) => (a < b ? -1 : 1));
}

function slotOf(word: string): Slot {
  const [name = '', number, type = ''] = word.split(':');
  const [, dots = '', open = '', bare = ''] = /^(\.\.\.)?(\[)?(\w*)/.exec(type) ?? [];
  return { name, number: Number(number), type: bare || 'string', isPointer: type.endsWith('?'), isList: open !== '', isInline: dots !== '' };
}

function slotsOf(message: string): readonly Slot[] {
  const slots = TABLES.get(message);
  if (slots === undefined) throw new Error(`protobuf: no table of ${message}`);
  return slots;
}

/** What JSON may have in an object of this message. */
function namesOf(message: string): string[] {
  const own = slotsOf(message).flatMap(({ name, type, isInline }) => (isInline ? namesOf(type) : [name]));
  return own.includes('metadata') ? [...own, 'apiVersion', 'kind'] : own;
}
