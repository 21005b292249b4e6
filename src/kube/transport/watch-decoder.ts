import type { Texts } from '../protobuf/texts.ts';
import { JsonLines } from './json-lines.ts';
import { isProtobuf } from './media-type.ts';
import { ProtobufFrames } from './protobuf-frames.ts';
import type { WatchDecoder } from './watch-events.ts';

/** By what the server says that it sends. */
export function watchDecoder(contentType: string | undefined, texts: Texts): WatchDecoder {
  return isProtobuf(contentType) ? new ProtobufFrames(texts) : new JsonLines();
}
