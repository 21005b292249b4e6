/** For servers that stand in for devices and for the API server. */
export { createAuthority, fingerprintSha256 } from '../runtime/certificates.ts';
export type { CertificateAuthority } from '../runtime/certificates.ts';
