const BMC = 0x20;
/** Software ID of remote console software (table 5-4). */
const CONSOLE = 0x81;
const OVERHEAD_BYTES = 7;

/** One request; the answer to it is told by all of these together. */
export interface Request {
  netFn: number;
  command: number;
  data: readonly number[];
  /** rqSeq, 0 to 63. */
  sequence: number;
}

export interface Response {
  completion: number;
  data: Buffer;
}

/** A request as it travels over a LAN (section 13.8). */
export function requestBytes({ netFn, command, data, sequence }: Request): Buffer {
  const bytes = Buffer.from([BMC, netFn << 2, 0, CONSOLE, sequence << 2, command, ...data, 0]);
  bytes[2] = checksum(bytes, 0, 2);
  bytes[bytes.length - 1] = checksum(bytes, 3, bytes.length - 1);
  return bytes;
}

/** The response to exactly this request; `undefined` for all else. Never throws. */
export function responseTo(request: Request, bytes: Buffer): Response | undefined {
  if (bytes.length < OVERHEAD_BYTES + 1) return undefined;
  if (checksum(bytes, 0, 2) !== bytes[2] || checksum(bytes, 3, bytes.length - 1) !== bytes[bytes.length - 1]) return undefined;
  const { netFn, command, sequence } = request;
  const isOurs = bytes[0] === CONSOLE && bytes[1] === (netFn | 1) << 2 && bytes[3] === BMC && bytes[4] === sequence << 2 && bytes[5] === command;
  return isOurs ? { completion: bytes.readUInt8(6), data: bytes.subarray(7, -1) } : undefined;
}

function checksum(bytes: Buffer, from: number, end: number): number {
  let sum = 0;
  for (let index = from; index < end; index += 1) sum += bytes[index] ?? 0;
  return -sum & 0xff;
}
