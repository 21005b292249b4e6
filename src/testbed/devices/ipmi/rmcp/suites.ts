/** Algorithms of one cipher suite (IPMI 2.0 revision 1.1, tables 13-17 to 13-20 and 22-20). */
export interface CipherSuite {
  id: number;
  hash: 'sha1' | 'sha256';
  authentication: number;
  integrity: number;
  confidentiality: number;
  /** Bytes of the code behind a packet, and of RAKP 4. */
  codeBytes: number;
}

/** The two suites that authenticate, sign and encrypt and that current BMCs offer; weaker ones are refused. */
export const SUITES: readonly CipherSuite[] = [
  { id: 3, hash: 'sha1', authentication: 1, integrity: 1, confidentiality: 1, codeBytes: 12 },
  { id: 17, hash: 'sha256', authentication: 3, integrity: 4, confidentiality: 1, codeBytes: 16 },
];

/** What `Get Channel Cipher Suites` lists: one record for each suite (table 22-20). */
export function suiteRecords(suites: readonly CipherSuite[]): Buffer {
  return Buffer.concat(
    suites.map(({ id, authentication, integrity, confidentiality }) =>
      Buffer.from([0xc0, id, authentication, 0x40 | integrity, 0x80 | confidentiality]),
    ),
  );
}
