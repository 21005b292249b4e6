/** A fence_kdump message (agents/kdump/message.h of fence-agents): magic and version, each 32 bits in the byte order of the host that sends it. */
const LENGTH = 8;
const MAGIC = 0x1b_30_2a_40;
const VERSION = 1;

/** What a datagram turned out to be; the labels of its metric. */
export const KDUMP_RESULTS = [
  'accepted',
  'wrong-length',
  'wrong-magic',
  'wrong-byte-order',
  'wrong-version',
  'unknown-source',
  'ambiguous-source',
  'pod-network',
  'too-many-nodes',
] as const;
export type KdumpResult = (typeof KDUMP_RESULTS)[number];

/** Why these bytes are no message of fence_kdump; undefined: they are one. */
export function malformedMessage(bytes: Uint8Array): Extract<KdumpResult, `wrong-${string}`> | undefined {
  if (bytes.length !== LENGTH) return 'wrong-length';
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  if (view.getUint32(0, true) !== MAGIC) return view.getUint32(0, false) === MAGIC ? 'wrong-byte-order' : 'wrong-magic';
  return view.getUint32(4, true) === VERSION ? undefined : 'wrong-version';
}
