/** An IPMI message as it travels over a LAN (section 13.8), request or response. */
export interface Message {
  /** Who it is for, and who sent it. */
  to: number;
  from: number;
  /** Even for requests, one more in their responses. */
  netFn: number;
  toLun: number;
  fromLun: number;
  sequence: number;
  command: number;
  /** Of a response: the completion code comes first. */
  data: Buffer;
}

const OVERHEAD_BYTES = 7;

/** `undefined` when it is too short or a checksum is wrong. */
export function parseMessage(bytes: Buffer): Message | undefined {
  if (bytes.length < OVERHEAD_BYTES) return undefined;
  if (checksum(bytes.subarray(0, 2)) !== bytes[2]) return undefined;
  if (checksum(bytes.subarray(3, -1)) !== bytes[bytes.length - 1]) return undefined;
  const function_ = bytes.readUInt8(1);
  const sequence = bytes.readUInt8(4);
  return {
    to: bytes.readUInt8(0),
    netFn: function_ >> 2,
    toLun: function_ & 3,
    from: bytes.readUInt8(3),
    sequence: sequence >> 2,
    fromLun: sequence & 3,
    command: bytes.readUInt8(5),
    data: bytes.subarray(6, -1),
  };
}

export function buildMessage(message: Message): Buffer {
  const head = Buffer.from([message.to, (message.netFn << 2) | message.toLun]);
  const tail = Buffer.concat([Buffer.from([message.from, (message.sequence << 2) | message.fromLun, message.command]), message.data]);
  return Buffer.concat([head, Buffer.from([checksum(head)]), tail, Buffer.from([checksum(tail)])]);
}

/** The response to a request; `data` begins with the completion code. */
export function responseTo(request: Message, data: Buffer): Message {
  const { to, from, toLun, fromLun, netFn, sequence, command } = request;
  return { to: from, from: to, toLun: fromLun, fromLun: toLun, netFn: netFn | 1, sequence, command, data };
}

function checksum(bytes: Buffer): number {
  let sum = 0;
  for (const byte of bytes) sum = (sum + byte) & 0xff;
  return -sum & 0xff;
}
