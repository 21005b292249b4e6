import { range, message, text, type Range } from './fields.ts';
import { BOOKMARK, tableOf } from './kinds.ts';
import { Message, type Fields } from './message.ts';
import type { Texts } from './texts.ts';
import { Malformed, Wire } from './wire.ts';

/** Before each object. */
const MAGIC = Buffer.from('k8s\0');

/** runtime.Unknown of k8s.io/apimachinery: of what kind the object is, and its bytes. */
const ENVELOPE = new Message({
  typeMeta: message(1, new Message({ apiVersion: text(1), kind: text(2) })),
  raw: range(2),
  contentEncoding: text(3),
});

/** meta.v1 WatchEvent, whose object is a RawExtension. */
const WATCH_EVENT = new Message({ type: text(1), object: message(2, new Message({ raw: range(1) })) });

/** An object, a list or a Status, as plain JSON in which only what is kept stands. Throws `Malformed`. */
export function decodeObject(bytes: Buffer, texts: Texts): Fields {
  return decodeAt(bytes, { at: 0, end: bytes.length }, texts);
}

/** One frame of a watch, which stands in `bytes`. A bookmark is an object of the kind that is watched, of which other things count. Throws `Malformed`. */
export function decodeEvent(bytes: Buffer, { at, end }: Range, texts: Texts): { type: string; object: Fields } {
  const { type = '', object } = WATCH_EVENT.read(new Wire(bytes, at), end, texts) as { type?: string; object: { raw?: Range } };
  if (object.raw === undefined) throw new Malformed('an event without an object');
  return { type, object: decodeAt(bytes, object.raw, texts, type === 'BOOKMARK' ? BOOKMARK : undefined) };
}

function decodeAt(bytes: Buffer, { at, end }: Range, texts: Texts, instead?: Message): Fields {
  if (end - at < MAGIC.length || bytes.compare(MAGIC, 0, MAGIC.length, at, at + MAGIC.length) !== 0) {
    throw new Malformed('an object does not begin as those of Kubernetes do');
  }
  const { typeMeta, raw, contentEncoding } = ENVELOPE.read(new Wire(bytes, at + MAGIC.length), end, texts) as unknown as Envelope;
  const { apiVersion = '', kind = '' } = typeMeta;
  const table = tableOf(apiVersion, kind);
  if (table === undefined || raw === undefined) throw new Malformed(`an object of the kind ${apiVersion} ${kind}, which nobody asked for`);
  if (contentEncoding !== undefined) throw new Malformed(`an object in the encoding ${contentEncoding}`);
  const object: Fields = { apiVersion, kind };
  (instead ?? table).readInto(object, new Wire(bytes, raw.at), raw.end, texts);
  return object;
}

interface Envelope {
  typeMeta: { apiVersion?: string; kind?: string };
  raw?: Range;
  contentEncoding?: string;
}
