/** Status codes of Open Session and RAKP (table 13-15). */
export const STATUS = {
  ok: 0x00,
  noResources: 0x01,
  invalidSession: 0x02,
  noSuite: 0x11,
  invalidRole: 0x09,
  roleTooHigh: 0x0a,
  unknownUser: 0x0d,
  wrongCode: 0x0f,
} as const;

export interface OpenRequest {
  tag: number;
  /** Requested privilege level; 0: the highest that the suite allows. */
  privilege: number;
  consoleID: number;
  authentication: number;
  integrity: number;
  confidentiality: number;
}

/** What a request for 0 gets: FreeIPMI refuses to go on unless it is told. */
export const HIGHEST_PRIVILEGE = 4;

/** Parsers answer `undefined` for what is cut short or not of its shape. Section 13.17. */
export function parseOpenRequest(payload: Buffer): OpenRequest | undefined {
  if (payload.length < 32) return undefined;
  return {
    tag: payload.readUInt8(0),
    privilege: payload.readUInt8(1) & 0x0f,
    consoleID: payload.readUInt32LE(4),
    authentication: payload.readUInt8(12) & 0x3f,
    integrity: payload.readUInt8(20) & 0x3f,
    confidentiality: payload.readUInt8(28) & 0x3f,
  };
}

/** Section 13.18. */
export function buildOpenResponse(request: OpenRequest, status: number, systemID: number): Buffer {
  const answer = failure(request.tag, status, request.consoleID);
  if (status !== STATUS.ok) return answer;
  answer.writeUInt8(request.privilege === 0 ? HIGHEST_PRIVILEGE : request.privilege, 2);
  const algorithms = [request.authentication, request.integrity, request.confidentiality];
  return Buffer.concat([answer, fourBytes(systemID), ...algorithms.map((number, kind) => Buffer.from([kind, 0, 0, 8, number, 0, 0, 0]))]);
}

export interface Rakp1 {
  tag: number;
  systemID: number;
  consoleNonce: Buffer;
  /** With the bit that says how the user is looked up, as all codes cover it. */
  roleByte: number;
  username: string;
}

/** Section 13.20. */
export function parseRakp1(payload: Buffer): Rakp1 | undefined {
  if (payload.length < 28) return undefined;
  const length = payload.readUInt8(27);
  if (length > 16 || payload.length < 28 + length) return undefined;
  return {
    tag: payload.readUInt8(0),
    systemID: payload.readUInt32LE(4),
    consoleNonce: payload.subarray(8, 24),
    roleByte: payload.readUInt8(24),
    username: payload.toString('latin1', 28, 28 + length),
  };
}

/** Section 13.21. */
export function buildRakp2(tag: number, consoleID: number, systemNonce: Buffer, guid: Buffer, code: Buffer): Buffer {
  return Buffer.concat([failure(tag, STATUS.ok, consoleID), systemNonce, guid, code]);
}

export interface Rakp3 {
  tag: number;
  status: number;
  systemID: number;
  code: Buffer;
}

/** Section 13.22. */
export function parseRakp3(payload: Buffer): Rakp3 | undefined {
  if (payload.length < 8) return undefined;
  return { tag: payload.readUInt8(0), status: payload.readUInt8(1), systemID: payload.readUInt32LE(4), code: payload.subarray(8) };
}

/** Section 13.23. */
export function buildRakp4(tag: number, consoleID: number, code: Buffer): Buffer {
  return Buffer.concat([failure(tag, STATUS.ok, consoleID), code]);
}

/** The eight bytes that every answer begins with, and that a refusal consists of. */
export function failure(tag: number, status: number, consoleID: number): Buffer {
  return Buffer.concat([Buffer.from([tag, status, 0, 0]), fourBytes(consoleID)]);
}

/** A session's ID as the wire has it. */
export function fourBytes(id: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(id);
  return bytes;
}
