import type { Suite } from './suites.ts';

/** RAKP looks a user up by name alone, whatever privilege is asked for (section 13.20). */
const BY_NAME_ONLY = 0x10;

/** Privilege levels (section 13.17). */
export const PRIVILEGE = { callback: 1, user: 2, operator: 3, administrator: 4 } as const;

export function roleByte(privilege: keyof typeof PRIVILEGE): number {
  return BY_NAME_ONLY | PRIVILEGE[privilege];
}

/** Every answer of the handshake: whose it is, and how it ended. */
export interface HandshakeAnswer {
  /** 0: no error (table 13-15). */
  status: number;
  /** What follows tag, status and the console's session ID. */
  rest: Buffer;
}

/** Section 13.17. */
export function openSessionRequest(tag: number, privilege: number, consoleID: number, { algorithms }: Suite): Buffer {
  return Buffer.concat([
    Buffer.from([tag, privilege, 0, 0]),
    fourBytes(consoleID),
    ...algorithms.map((algorithm, kind) => Buffer.from([kind, 0, 0, 8, algorithm, 0, 0, 0])),
  ]);
}

/** Section 13.18: the BMC's session ID where it takes exactly the suite that was asked for; undefined where it tells none. */
export function openedSession({ rest }: HandshakeAnswer, { algorithms }: Suite): number | 'other suite' | undefined {
  if (rest.length < 28) return undefined;
  const isSame = algorithms.every((algorithm, kind) => rest[4 + 8 * kind] === kind && (rest.readUInt8(8 + 8 * kind) & 0x3f) === algorithm);
  const systemID = rest.readUInt32LE(0);
  if (!isSame) return 'other suite';
  return systemID === 0 ? undefined : systemID;
}

/** Section 13.20. */
export function rakp1(tag: number, systemID: number, consoleNonce: Buffer, role: number, username: Buffer): Buffer {
  return Buffer.concat([Buffer.from([tag, 0, 0, 0]), fourBytes(systemID), consoleNonce, Buffer.from([role, 0, 0, username.length]), username]);
}

/** Section 13.22; a status other than 0 ends the handshake and carries no code. */
export function rakp3(tag: number, status: number, systemID: number, code: Buffer): Buffer {
  return Buffer.concat([Buffer.from([tag, status, 0, 0]), fourBytes(systemID), code]);
}

/** An answer of the handshake with this tag and for this session of ours; `undefined` for all else. Never throws. */
export function handshakeAnswer(payload: Buffer | undefined, tag: number, consoleID: number): HandshakeAnswer | undefined {
  if (payload === undefined || payload.length < 2 || payload[0] !== tag) return undefined;
  const status = payload.readUInt8(1);
  const id = payload.length < 8 ? undefined : payload.readUInt32LE(4);
  // BMCs that refuse may clear or leave out what they have not looked at.
  const isOurs = id === consoleID || (status !== 0 && (id === undefined || id === 0));
  return isOurs ? { status, rest: payload.subarray(8) } : undefined;
}

/** A session's ID as the wire has it. */
export function fourBytes(id: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(id);
  return bytes;
}
