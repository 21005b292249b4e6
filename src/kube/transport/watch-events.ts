import type { WatchEvent } from '../../ports/api-transport.ts';

/** Makes events of the bytes of a watch, wherever its chunks begin and end. */
export interface WatchDecoder {
  /** The events that `chunk` completes, one after the other. Throws where the bytes are none. */
  push(chunk: Buffer): Iterable<WatchEvent>;
  /** Is there the beginning of an event that never ended? */
  readonly isInsideEvent: boolean;
}

const TYPES: readonly unknown[] = ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR'] satisfies WatchEvent['type'][];

export function isEventType(type: unknown): type is WatchEvent['type'] {
  return TYPES.includes(type);
}
