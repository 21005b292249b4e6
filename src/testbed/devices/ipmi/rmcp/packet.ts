/** Numbers of payload types (table 13-16). */
export const PAYLOAD = { message: 0x00, openRequest: 0x10, openResponse: 0x11, rakp1: 0x12, rakp2: 0x13, rakp3: 0x14, rakp4: 0x15 } as const;

/** A datagram to or from UDP port 623, taken apart; nothing in it is verified yet. */
export type Packet =
  | { kind: 'ping'; tag: number }
  /** IPMI 1.5 outside a session: discovery. */
  | { kind: 'plain'; payload: Buffer }
  | SessionPacket;

/** RMCP+ (section 13.6). */
export interface SessionPacket {
  kind: 'session';
  payloadType: number;
  isEncrypted: boolean;
  isAuthenticated: boolean;
  sessionID: number;
  sequence: number;
  payload: Buffer;
  /** What an integrity code covers and what follows the payload; the code is the end of `rest`. */
  covered: Buffer;
  rest: Buffer;
}

const RMCP_HEADER = Buffer.from([0x06, 0x00, 0xff, 0x07]);
const ASF_CLASS = 0x06;
const IPMI_CLASS = 0x07;
const ASF_IANA = 4542;
const NEXT_HEADER = 0x07;
const AUTH_NONE = 0x00;
const AUTH_RMCP_PLUS = 0x06;
const SESSION_HEADER_BYTES = 12;
const PLAIN_HEADER_BYTES = 10;

/** `undefined`: not a packet that we speak, or cut short. Never throws. */
export function parsePacket(datagram: Buffer): Packet | undefined {
  if (datagram.length < 5 || datagram[0] !== 0x06) return undefined;
  const body = datagram.subarray(4);
  if (datagram[3] === ASF_CLASS) return parsePing(body);
  if (datagram[3] !== IPMI_CLASS) return undefined;
  return body[0] === AUTH_RMCP_PLUS ? parseSession(body) : parsePlain(body);
}

function parsePing(body: Buffer): Packet | undefined {
  if (body.length < 8 || body.readUInt32BE(0) !== ASF_IANA || body[4] !== 0x80) return undefined;
  return { kind: 'ping', tag: body.readUInt8(5) };
}

function parsePlain(body: Buffer): Packet | undefined {
  if (body.length < PLAIN_HEADER_BYTES || body[0] !== AUTH_NONE || body.readUInt32LE(5) !== 0) return undefined;
  const length = body.readUInt8(9);
  if (body.length < PLAIN_HEADER_BYTES + length) return undefined;
  return { kind: 'plain', payload: body.subarray(PLAIN_HEADER_BYTES, PLAIN_HEADER_BYTES + length) };
}

function parseSession(body: Buffer): Packet | undefined {
  if (body.length < SESSION_HEADER_BYTES) return undefined;
  const type = body.readUInt8(1);
  const length = body.readUInt16LE(10);
  const end = SESSION_HEADER_BYTES + length;
  if (body.length < end) return undefined;
  return {
    kind: 'session',
    payloadType: type & 0x3f,
    isEncrypted: (type & 0x80) !== 0,
    isAuthenticated: (type & 0x40) !== 0,
    sessionID: body.readUInt32LE(2),
    sequence: body.readUInt32LE(6),
    payload: body.subarray(SESSION_HEADER_BYTES, end),
    covered: body,
    rest: body.subarray(end),
  };
}

/** The answer to a presence ping: IPMI is spoken here (section 13.2.4). */
export function buildPong(tag: number): Buffer {
  const body = Buffer.alloc(24);
  body.writeUInt32BE(ASF_IANA, 0);
  body.set([0x40, tag, 0x00, 0x10], 4);
  body.writeUInt32BE(ASF_IANA, 8);
  body.set([0x81, 0x00], 16);
  return Buffer.concat([Buffer.from([0x06, 0x00, 0xff, ASF_CLASS]), body]);
}

export function buildPlain(payload: Buffer): Buffer {
  const header = Buffer.alloc(PLAIN_HEADER_BYTES);
  header.writeUInt8(payload.length, 9);
  return Buffer.concat([RMCP_HEADER, header, payload]);
}

/** A packet of RMCP+ outside a session: Open Session and RAKP. */
export function buildUnsigned(payloadType: number, payload: Buffer): Buffer {
  return Buffer.concat([RMCP_HEADER, sessionHeader(payloadType, 0, 0, payload.length), payload]);
}

/** A packet within a session; `sign` gives the code for what it covers. */
export function buildSigned(sessionID: number, sequence: number, encrypted: Buffer, sign: (covered: Buffer) => Buffer): Buffer {
  const header = sessionHeader(PAYLOAD.message | 0xc0, sessionID, sequence, encrypted.length);
  const padBytes = (4 - ((header.length + encrypted.length + 2) % 4)) % 4;
  const covered = Buffer.concat([header, encrypted, Buffer.alloc(padBytes, 0xff), Buffer.from([padBytes, NEXT_HEADER])]);
  return Buffer.concat([RMCP_HEADER, covered, sign(covered)]);
}

function sessionHeader(typeByte: number, sessionID: number, sequence: number, length: number): Buffer {
  const header = Buffer.alloc(SESSION_HEADER_BYTES);
  header.set([AUTH_RMCP_PLUS, typeByte], 0);
  header.writeUInt32LE(sessionID, 2);
  header.writeUInt32LE(sequence, 6);
  header.writeUInt16LE(length, 10);
  return header;
}
