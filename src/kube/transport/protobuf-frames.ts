import type { WatchEvent } from '../../ports/api-transport.ts';
import { decodeEvent } from '../protobuf/decode.ts';
import type { Texts } from '../protobuf/texts.ts';
import { Malformed } from '../protobuf/wire.ts';
import { isEventType, type WatchDecoder } from './watch-events.ts';

/** Of the length before each frame, the highest byte first. */
const HEADER_BYTES = 4;
/** etcd takes objects of 1.5 MB; what the server adds may make them some times longer. */
const FRAME_MAX_BYTES = 16_777_216;

/** A watch in protobuf: an event a frame, each after its length. Read where it lies; only what ends in a later chunk is put together. */
export class ProtobufFrames implements WatchDecoder {
  readonly #texts: Texts;
  /** What has come of a length or of a frame that is not whole. */
  #begun: Buffer[] = [];
  #begunBytes = 0;
  /** Of the frame whose length was read; undefined: a length comes next. */
  #frameBytes: number | undefined;

  constructor(texts: Texts) {
    this.#texts = texts;
  }

  *push(chunk: Buffer): Generator<WatchEvent> {
    let at = 0;
    for (;;) {
      const end = at + (this.#frameBytes ?? HEADER_BYTES) - this.#begunBytes;
      if (end > chunk.length) {
        this.#keep(chunk.subarray(at));
        return;
      }
      const part = this.#whole(chunk, at, end);
      at = end;
      if (this.#frameBytes === undefined) {
        this.#frameBytes = lengthIn(part);
      } else {
        this.#frameBytes = undefined;
        yield this.#event(part);
      }
    }
  }

  get isInsideEvent(): boolean {
    return this.#begunBytes > 0 || this.#frameBytes !== undefined;
  }

  #keep(part: Buffer): void {
    if (part.length === 0) return;
    this.#begun.push(part);
    this.#begunBytes += part.length;
  }

  /** What has begun, with the rest of it. */
  #whole(chunk: Buffer, at: number, end: number): Buffer {
    const rest = chunk.subarray(at, end);
    if (this.#begunBytes === 0) return rest;
    const whole = Buffer.concat([...this.#begun, rest]);
    this.#begun = [];
    this.#begunBytes = 0;
    return whole;
  }

  #event(frame: Buffer): WatchEvent {
    const { type, object } = decodeEvent(frame, this.#texts);
    if (!isEventType(type)) throw new Malformed('a frame of the stream is not a watch event');
    return { type, object };
  }
}

function lengthIn(header: Buffer): number {
  const length = header.readUInt32BE(0);
  if (length > FRAME_MAX_BYTES) throw new Malformed(`a frame is longer than ${String(FRAME_MAX_BYTES)} bytes`);
  return length;
}
