import type { WatchEvent } from '../../ports/api-transport.ts';
import { asFields } from '../status.ts';
import { LineFramer } from './line-framer.ts';
import { isEventType, type WatchDecoder } from './watch-events.ts';

/** etcd takes objects of 1.5 MB; managedFields and escapes may make the line some times longer. */
const LINE_MAX_CHARACTERS = 16_777_216;

/** A watch in JSON: an event a line. */
export class JsonLines implements WatchDecoder {
  readonly #framer = new LineFramer(LINE_MAX_CHARACTERS);

  *push(chunk: Buffer): Generator<WatchEvent> {
    for (const line of this.#framer.push(chunk)) yield eventOf(line);
  }

  get isInsideEvent(): boolean {
    return this.#framer.isInsideLine;
  }
}

function eventOf(line: string): WatchEvent {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    // The parser's message quotes the line, which may be a Secret.
    throw new SyntaxError('a line of the stream is not JSON');
  }
  const fields = asFields(value);
  const type = fields?.['type'];
  if (!isEventType(type)) throw new SyntaxError('a line of the stream is not a watch event');
  return { type, object: fields?.['object'] };
}
