/** Algorithms of one cipher suite (IPMI 2.0 revision 1.1, tables 13-17 to 13-20 and 22-20). Section and table numbers in this folder are that document's. */
export interface Suite {
  hash: 'sha1' | 'sha256';
  /** As Open Session names them: authentication, integrity, confidentiality. */
  algorithms: readonly [number, number, number];
  /** Bytes of a whole code of the authentication algorithm: RAKP 2 and 3. */
  hashBytes: number;
  /** Bytes of the code behind a packet, and of RAKP 4. */
  codeBytes: number;
}

/** 3: RAKP-HMAC-SHA1, HMAC-SHA1-96, AES-CBC-128. 17: RAKP-HMAC-SHA256, HMAC-SHA256-128, AES-CBC-128. */
export const SUITES: Readonly<Record<'3' | '17', Suite>> = {
  '3': { hash: 'sha1', algorithms: [1, 1, 1], hashBytes: 20, codeBytes: 12 },
  '17': { hash: 'sha256', algorithms: [3, 4, 1], hashBytes: 32, codeBytes: 16 },
};
