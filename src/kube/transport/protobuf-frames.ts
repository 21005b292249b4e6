import type { WatchEvent } from '../../ports/api-transport.ts';
import { decodeEvent } from '../protobuf/decode.ts';
import type { Texts } from '../protobuf/texts.ts';
import { Malformed } from '../protobuf/wire.ts';
import { isEventType, type WatchDecoder } from './watch-events.ts';

/** Of the length before each frame, the highest byte first. */
const HEADER_BYTES = 4;
/** etcd takes objects of 1.5 MB; what the server adds may make them some times longer. */
const FRAME_MAX_BYTES = 16_777_216;

/** A watch in protobuf: an event a frame, each after its length. Frames are read where they lie; only what ends in a later chunk is put together. */
export class ProtobufFrames implements WatchDecoder {
  readonly #texts: Texts;
  /** What has come of a frame that is not whole. */
  #begun: Buffer[] = [];
  #begunBytes = 0;
  /** Of it, with its length; only the length is wanted as long as that is not there. */
  #wantedBytes = HEADER_BYTES;

  constructor(texts: Texts) {
    this.#texts = texts;
  }

  *push(chunk: Buffer): Generator<WatchEvent> {
    let at = 0;
    while (this.#begunBytes > 0) {
      const missing = this.#wantedBytes - this.#begunBytes;
      if (chunk.length - at < missing) {
        this.#keep(chunk.subarray(at));
        return;
      }
      this.#keep(chunk.subarray(at, at + missing));
      at += missing;
      const frame = Buffer.concat(this.#begun, this.#begunBytes);
      this.#wantedBytes = endOfFrame(frame, 0);
      if (frame.length < this.#wantedBytes) continue;
      this.#forget();
      yield this.#event(frame, 0, frame.length);
    }
    for (let end = endOfFrame(chunk, at); end <= chunk.length; end = endOfFrame(chunk, at)) {
      yield this.#event(chunk, at, end);
      at = end;
    }
    this.#wantedBytes = endOfFrame(chunk, at) - at;
    this.#keep(chunk.subarray(at));
  }

  get isInsideEvent(): boolean {
    return this.#begunBytes > 0;
  }

  #keep(part: Buffer): void {
    if (part.length === 0) return;
    this.#begun.push(part);
    this.#begunBytes += part.length;
  }

  #forget(): void {
    this.#begun = [];
    this.#begunBytes = 0;
  }

  #event(bytes: Buffer, at: number, end: number): WatchEvent {
    const { type, object } = decodeEvent(bytes, { at: at + HEADER_BYTES, end }, this.#texts);
    if (!isEventType(type)) throw new Malformed('a frame of the stream is not a watch event');
    return { type, object };
  }
}

/** Where the frame ends that begins at `at`; where its length does, as long as that is not whole. */
function endOfFrame(bytes: Buffer, at: number): number {
  if (bytes.length - at < HEADER_BYTES) return at + HEADER_BYTES;
  const length = bytes.readUInt32BE(at);
  if (length > FRAME_MAX_BYTES) throw new Malformed(`a frame is longer than ${String(FRAME_MAX_BYTES)} bytes`);
  return at + HEADER_BYTES + length;
}
