import type { Field, Fields, Message } from './message.ts';
import type { Texts } from './texts.ts';
import { BYTES, Malformed, VARINT, type Wire } from './wire.ts';

/** When JSON shows a value: unless it is zero (Go's `omitempty`), `always`, or whenever it was `sent` (a pointer of Go's). */
type Presence = 'nonZero' | 'always' | 'sent';

type Declared = (name: string) => Field;

/** Reads one value; it ends at `end` where its length was told. */
type Read = (wire: Wire, end: number, texts: Texts) => unknown;

const INT32_MAX = 2_147_483_647;
/** Of the year 1, since 1970: what a time of Go is that was never set. */
const ZERO_TIME_SECONDS = -62_135_596_800;
/** Tags in an entry of a map, and in a time. */
const [KEY, VALUE] = [(1 << 3) | BYTES, (2 << 3) | BYTES];
const [SECONDS, NANOSECONDS] = [(1 << 3) | VARINT, (2 << 3) | VARINT];
const PROTOTYPE = '__proto__';

/** A text that many objects have. */
export function text(number: number, presence: Presence = 'nonZero'): Declared {
  return scalar(number, BYTES, presence, '', readText);
}

/** A text that differs from object to object. */
export function ownText(number: number, presence: Presence = 'nonZero'): Declared {
  return scalar(number, BYTES, presence, '', (wire, end, texts) => texts.own(wire.bytes, wire.goTo(end), end));
}

export function bool(number: number, presence: Presence = 'nonZero'): Declared {
  return scalar(number, VARINT, presence, false, (wire, end) => wire.integer(end) !== 0);
}

export function int64(number: number, presence: Presence = 'nonZero'): Declared {
  return scalar(number, VARINT, presence, 0, (wire, end) => wire.integer(end));
}

export function int32(number: number, presence: Presence = 'nonZero'): Declared {
  return scalar(number, VARINT, presence, 0, (wire, end) => {
    const sent = wire.integer(end);
    if (sent > INT32_MAX || sent < -INT32_MAX - 1) throw new Malformed(`field ${String(number)} is larger than 32 bits`);
    return sent;
  });
}

/** Another message as an object of its own. */
export function message(number: number, inner: Message, presence: 'always' | 'sent' = 'always'): Declared {
  return (name) => ({
    number,
    wireType: BYTES,
    take(object, wire, end, texts) {
      // Parts of one message that are sent apart would have to be merged: nobody sends them so.
      if (object[name] !== undefined) throw new Malformed(`${name} stands there twice`);
      object[name] = inner.read(wire, end, texts);
    },
    ...(presence === 'sent' ? {} : { end: (object: Fields) => (object[name] ??= inner.empty()) }),
  });
}

/** Another message whose fields JSON shows among those of this one. */
export function embedded(number: number, inner: Message): Declared {
  return () => ({
    number,
    wireType: BYTES,
    take: (object, wire, end, texts) => inner.readInto(object, wire, end, texts),
  });
}

export function messages(number: number, inner: Message): Declared {
  return list(number, (wire, end, texts) => inner.read(wire, end, texts));
}

export function textList(number: number): Declared {
  return list(number, readText);
}

/** A map of texts; the value of the entry `except` is not looked at, and the entry left out. */
export function textMap(number: number, except?: string): Declared {
  return (name) => ({
    number,
    wireType: BYTES,
    take(object, wire, end, texts) {
      const entries = (object[name] ??= {}) as Fields;
      const { key, at, to } = readEntry(wire, end, texts);
      if (key === except) return;
      const inner = texts.shared(wire.bytes, at, to);
      // An ordinary assignment would set no entry of that name.
      if (key === PROTOTYPE) Object.defineProperty(entries, key, { value: inner, enumerable: true, configurable: true, writable: true });
      else entries[key] = inner;
    },
  });
}

/** A list or a map that many objects have as a whole: made once, frozen, and known by the bytes of its entries, which stand one after the other. */
export function alike(declare: Declared): Declared {
  return (name) => {
    const field = declare(name);
    const tag = (field.number << 3) | field.wireType;
    return {
      ...field,
      take(object, wire, end, texts, within) {
        const at = wire.goTo(end);
        wire.passRun(tag, within);
        const stop = wire.at;
        const stood = object[name];
        const bytes = stood === undefined ? texts.parts.nameOf(wire.bytes, at, stop) : undefined;
        const known = bytes === undefined ? undefined : texts.parts.get(field, bytes, end - at);
        if (known !== undefined) {
          object[name] = known;
          return;
        }
        // The rest of it stood elsewhere.
        if (stood !== undefined) object[name] = Array.isArray(stood) ? [...(stood as unknown[])] : { ...stood };
        wire.goTo(at);
        field.take(object, wire, end, texts, within);
        while (wire.at < stop) {
          wire.tag(within);
          field.take(object, wire, wire.endOfBytes(within), texts, within);
        }
        field.end?.(object);
        const value = frozen(object[name]);
        if (bytes !== undefined) texts.parts.set(field, bytes, { firstBytes: end - at, value });
      },
      end: () => undefined,
    };
  };
}

function frozen(part: unknown): unknown {
  for (const entry of Object.values(part as object)) Object.freeze(entry);
  return Object.freeze(part);
}

/** Where the bytes of a field stand, which are read later. */
export interface Range {
  at: number;
  end: number;
}

export function range(number: number): Declared {
  return scalar(number, BYTES, 'sent', undefined, (wire, end): Range => ({ at: wire.goTo(end), end }));
}

/** metav1.Time, to the second as in JSON. */
export function time(number: number, presence: Presence): Declared {
  return moment(number, presence, (seconds, _nanoseconds, texts) => texts.second(seconds));
}

/** metav1.MicroTime. */
export function microTime(number: number): Declared {
  return moment(number, 'sent', (seconds, nanoseconds, texts) => texts.microsecond(seconds, nanoseconds));
}

function scalar(number: number, wireType: Field['wireType'], presence: Presence, zero: unknown, read: Read): Declared {
  return (name) => ({
    number,
    wireType,
    // Where it stands there twice, the last one counts.
    take(object, wire, end, texts) {
      const value = read(wire, end, texts);
      if (value !== zero || presence !== 'nonZero') object[name] = value;
      else if (object[name] !== undefined) Reflect.deleteProperty(object, name);
    },
    ...(presence === 'always' ? { end: (object: Fields) => (object[name] ??= zero) } : {}),
  });
}

function list(number: number, read: Read): Declared {
  return (name) => ({
    number,
    wireType: BYTES,
    take(object, wire, end, texts) {
      const items = (object[name] ??= []) as unknown[];
      items.push(read(wire, end, texts));
    },
    // A list that grew has room for many more.
    end(object) {
      const items = object[name] as unknown[] | undefined;
      if (items !== undefined) object[name] = items.slice();
    },
  });
}

function readText(wire: Wire, end: number, texts: Texts): string {
  return texts.shared(wire.bytes, wire.goTo(end), end);
}

/** An entry of a map: its key, and where its value stands. */
function readEntry(wire: Wire, end: number, texts: Texts): { key: string; at: number; to: number } {
  let key = '';
  let [at, to] = [end, end];
  while (wire.at < end) {
    const tag = wire.tag(end);
    if (tag === KEY) {
      key = readText(wire, wire.endOfBytes(end), texts);
    } else if (tag === VALUE) {
      to = wire.endOfBytes(end);
      at = wire.goTo(to);
    } else {
      throw new Malformed('an entry of a map is not of a key and a value');
    }
  }
  return { key, at, to };
}

/** Seconds since 1970 and nanoseconds. Go's zero time is sent as nothing at all; JSON says null. */
function moment(number: number, presence: Presence, textOf: (seconds: number, nanoseconds: number, texts: Texts) => string): Declared {
  return scalar(number, BYTES, presence, null, (wire, end, texts) => {
    if (wire.at === end) return null;
    let [seconds, nanoseconds] = [0, 0];
    while (wire.at < end) {
      const tag = wire.tag(end);
      if (tag === SECONDS) seconds = wire.integer(end);
      else if (tag === NANOSECONDS) nanoseconds = wire.integer(end);
      else throw new Malformed('a time is not of seconds and nanoseconds');
    }
    return seconds === ZERO_TIME_SECONDS ? null : textOf(seconds, nanoseconds, texts);
  });
}
