import type { WatchEvent } from '../../ports/api-transport.ts';
import { decodeEvent } from '../protobuf/decode.ts';
import type { Texts } from '../protobuf/texts.ts';
import { Malformed } from '../protobuf/wire.ts';
import { isEventType, type WatchDecoder } from './watch-events.ts';

/** Of the length before each frame, the highest byte first. */
const HEADER_BYTES = 4;
/** etcd takes objects of 1.5 MB; what the server adds may make them some times longer. */
const FRAME_MAX_BYTES = 16_777_216;

/** What is kept for frames that come in parts; a longer one gives its room back. */
const ROOM_BYTES = 65_536;

/** A watch in protobuf: an event a frame, each after its length. Read where it lies; only what ends in a later chunk is put together, in one place for all. */
export class ProtobufFrames implements WatchDecoder {
  readonly #texts: Texts;
  /** Begins with what has come of a length or of a frame that is not whole. */
  #room: Buffer = Buffer.alloc(0);
  #begunBytes = 0;
  /** Of the frame whose length was read; undefined: a length comes next. */
  #frameBytes: number | undefined;

  constructor(texts: Texts) {
    this.#texts = texts;
  }

  *push(chunk: Buffer): Generator<WatchEvent> {
    let at = 0;
    for (;;) {
      const length = this.#frameBytes ?? HEADER_BYTES;
      const end = at + length - this.#begunBytes;
      if (end > chunk.length) {
        this.#keep(chunk, at, chunk.length, length);
        return;
      }
      const isWhole = this.#begunBytes === 0;
      if (!isWhole) this.#keep(chunk, at, end, length);
      const [bytes, from] = isWhole ? [chunk, at] : [this.#room, 0];
      at = end;
      this.#begunBytes = 0;
      if (this.#frameBytes === undefined) {
        this.#frameBytes = lengthAt(bytes, from);
      } else {
        this.#frameBytes = undefined;
        yield this.#event(bytes, from, from + length);
        if (this.#room.length > ROOM_BYTES) this.#room = Buffer.alloc(0);
      }
    }
  }

  get isInsideEvent(): boolean {
    return this.#begunBytes > 0 || this.#frameBytes !== undefined;
  }

  /** A part of what will be `length` bytes. A length that was told wrongly costs no more than what came. */
  #keep(chunk: Buffer, at: number, end: number, length: number): void {
    const bytes = this.#begunBytes + end - at;
    if (bytes > this.#room.length) {
      const wider = Buffer.allocUnsafeSlow(Math.max(bytes, Math.min(length, ROOM_BYTES), Math.min(length, 2 * this.#room.length)));
      this.#room.copy(wider, 0, 0, this.#begunBytes);
      this.#room = wider;
    }
    chunk.copy(this.#room, this.#begunBytes, at, end);
    this.#begunBytes = bytes;
  }

  #event(bytes: Buffer, at: number, end: number): WatchEvent {
    const { type, object } = decodeEvent(bytes, { at, end }, this.#texts);
    if (!isEventType(type)) throw new Malformed('a frame of the stream is not a watch event');
    return { type, object };
  }
}

function lengthAt(bytes: Buffer, at: number): number {
  const length = bytes.readUInt32BE(at);
  if (length > FRAME_MAX_BYTES) throw new Malformed(`a frame is longer than ${String(FRAME_MAX_BYTES)} bytes`);
  return length;
}
