import { encodeEvent, encodeObject } from './protobuf/encode.ts';
import type { ServerEvent } from './watches.ts';

/** Events of watches as they go over the wire. An object that many watches are sent is written once in each encoding. */
export class EventBodies {
  readonly #lines = new WeakMap<object, string>();
  readonly #envelopes = new WeakMap<object, Buffer>();

  /** A line of JSON. */
  line({ type, object }: ServerEvent): string {
    const text = this.#lines.get(object) ?? JSON.stringify(object);
    this.#lines.set(object, text);
    return `{"type":"${type}","object":${text}}\n`;
  }

  /** A frame of protobuf. */
  frame({ type, object }: ServerEvent): Buffer {
    const envelope = this.#envelopes.get(object) ?? encodeObject(object);
    this.#envelopes.set(object, envelope);
    return encodeEvent(type, envelope);
  }
}
