import type { Texts } from './texts.ts';
import { BYTES, Malformed, type VARINT, type Wire } from './wire.ts';

export type Fields = Record<string, unknown>;

/** A field that is kept. */
export interface Field {
  readonly number: number;
  /** The only one that it can have. */
  readonly wireType: typeof VARINT | typeof BYTES;
  /** Takes the value that stands at `wire`, and ends at `end` where its length was told, into `object`. The message ends at `within`. */
  take(object: Fields, wire: Wire, end: number, texts: Texts, within: number): void;
  /** When the whole message was read: what JSON shows where nothing was sent. */
  end?(object: Fields): void;
}

/** The fields of a message of protobuf that are kept, by their names in JSON, and how its bytes become the object that JSON would show. All others are passed over by their length. */
export class Message {
  readonly #byNumber: (Field | undefined)[] = [];
  readonly #ending: Field[] = [];
  readonly #Shape = shape();

  constructor(fields: Readonly<Record<string, (name: string) => Field>>) {
    for (const [name, declare] of Object.entries(fields)) {
      const field = declare(name);
      this.#byNumber[field.number] = field;
      if (field.end !== undefined) this.#ending.push(field);
    }
  }

  /** What stands between `wire` and `end`. Throws `Malformed`. */
  read(wire: Wire, end: number, texts: Texts): Fields {
    const object = new this.#Shape();
    this.readInto(object, wire, end, texts);
    return object;
  }

  /** What JSON shows of it where nothing was sent. */
  empty(): Fields {
    const object = new this.#Shape();
    this.#end(object);
    return object;
  }

  readInto(object: Fields, wire: Wire, end: number, texts: Texts): void {
    while (wire.at < end) {
      const tag = wire.tag(end);
      const field = this.#byNumber[tag >>> 3];
      if (field === undefined) {
        wire.skip(tag, end);
        continue;
      }
      if ((tag & 7) !== field.wireType) throw new Malformed(`field ${String(tag >>> 3)} has the wire type ${String(tag & 7)}`);
      field.take(object, wire, field.wireType === BYTES ? wire.endOfBytes(end) : end, texts, end);
    }
    this.#end(object);
  }

  #end(object: Fields): void {
    for (const field of this.#ending) field.end?.(object);
  }
}

/** Makes plain objects: those of one maker get room for the fields that the first of them had, where a literal has room for four and the rest costs an array. */
function shape(): new () => Fields {
  const Shape = function (): void {
    // Fields are set by whoever makes one.
  };
  Shape.prototype = Object.prototype;
  return Shape as unknown as new () => Fields;
}
