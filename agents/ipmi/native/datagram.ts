/** Payload types (table 13-16). */
export const PAYLOAD = { message: 0x00, openRequest: 0x10, openResponse: 0x11, rakp1: 0x12, rakp2: 0x13, rakp3: 0x14, rakp4: 0x15 } as const;

const RMCP_BYTES = 4;
const HEADER_BYTES = 12;
/** Where the body of a session packet begins in its datagram. */
const BODY_AT = RMCP_BYTES + HEADER_BYTES;
const PLAIN_BODY_AT = RMCP_BYTES + 10;
const AUTH_RMCP_PLUS = 0x06;
/** Encrypted and authenticated: what every message in a session must be. */
const SECURED = 0xc0;
/** More than any BMC may send in one datagram. */
const DATAGRAM_MAX = 2_048;

/** A session packet, taken apart; nothing in it is verified yet. */
export interface SessionPacket {
  /** With the bits for encrypted and authenticated. */
  typeByte: number;
  sessionID: number;
  sequence: number;
  payload: Buffer;
  /** From the session header to the end: what an integrity code covers, and the code. */
  trailed: Buffer;
}

/** RMCP header and session header with room for a payload behind them (tables 13-1 and 13-8). */
function withHeader(typeByte: number, sessionID: number, sequence: number, payloadBytes: number, moreBytes: number): Buffer {
  const datagram = Buffer.alloc(BODY_AT + payloadBytes + moreBytes);
  datagram.writeUInt32BE(0x0600ff07, 0);
  datagram[4] = AUTH_RMCP_PLUS;
  datagram[5] = typeByte;
  datagram.writeUInt32LE(sessionID, 6);
  datagram.writeUInt32LE(sequence, 10);
  datagram.writeUInt16LE(payloadBytes, 14);
  return datagram;
}

/** Open Session and RAKP: outside any session. */
export function handshakeDatagram(payloadType: number, payload: Buffer): Buffer {
  const datagram = withHeader(payloadType, 0, 0, payload.length, 0);
  payload.copy(datagram, BODY_AT);
  return datagram;
}

/** A message within a session; `sign` gives the code for what it covers. */
export function securedDatagram(
  sessionID: number,
  sequence: number,
  encrypted: Buffer,
  codeBytes: number,
  sign: (covered: Buffer) => Buffer,
): Buffer {
  // Pad, pad length and next header bring what is signed to a multiple of four (table 13-8).
  const padBytes = (4 - ((HEADER_BYTES + encrypted.length + 2) % 4)) % 4;
  const datagram = withHeader(SECURED | PAYLOAD.message, sessionID, sequence, encrypted.length, padBytes + 2 + codeBytes);
  encrypted.copy(datagram, BODY_AT);
  const padAt = BODY_AT + encrypted.length;
  datagram.fill(0xff, padAt, padAt + padBytes);
  datagram[padAt + padBytes] = padBytes;
  datagram[padAt + padBytes + 1] = 0x07;
  const codeAt = padAt + padBytes + 2;
  sign(datagram.subarray(RMCP_BYTES, codeAt)).copy(datagram, codeAt);
  return datagram;
}

/** IPMI 1.5 outside a session: the question that every BMC answers to strangers. */
export function plainDatagram(message: Buffer): Buffer {
  const header = Buffer.alloc(PLAIN_BODY_AT);
  header.writeUInt32BE(0x0600ff07, 0);
  header[13] = message.length;
  return Buffer.concat([header, message]);
}

/** The message of an IPMI 1.5 packet outside a session; `undefined` for all else. Never throws. */
export function plainMessage(datagram: Buffer): Buffer | undefined {
  if (!isIpmi(datagram) || datagram.length <= PLAIN_BODY_AT || datagram[4] !== 0) return undefined;
  const end = PLAIN_BODY_AT + datagram.readUInt8(13);
  return end > datagram.length ? undefined : datagram.subarray(PLAIN_BODY_AT, end);
}

/** `undefined`: no RMCP+ packet, or cut short. Never throws. */
export function sessionPacket(datagram: Buffer): SessionPacket | undefined {
  if (!isIpmi(datagram) || datagram.length < BODY_AT || datagram[4] !== AUTH_RMCP_PLUS) return undefined;
  const end = BODY_AT + datagram.readUInt16LE(14);
  if (end > datagram.length) return undefined;
  return {
    typeByte: datagram.readUInt8(5),
    sessionID: datagram.readUInt32LE(6),
    sequence: datagram.readUInt32LE(10),
    payload: datagram.subarray(BODY_AT, end),
    trailed: datagram.subarray(RMCP_BYTES),
  };
}

/** The payload of an answer of the handshake; `undefined` for all else. */
export function handshakePayload(datagram: Buffer, payloadType: number): Buffer | undefined {
  const packet = sessionPacket(datagram);
  return packet?.typeByte === payloadType && packet.sessionID === 0 ? packet.payload : undefined;
}

/** A message that claims to be encrypted and authenticated, for this session. */
export function securedPacket(datagram: Buffer, sessionID: number): SessionPacket | undefined {
  const packet = sessionPacket(datagram);
  return packet?.typeByte === (SECURED | PAYLOAD.message) && packet.sessionID === sessionID ? packet : undefined;
}

function isIpmi(datagram: Buffer): boolean {
  return datagram.length >= RMCP_BYTES && datagram.length <= DATAGRAM_MAX && datagram[0] === 0x06 && datagram[3] === 0x07;
}
