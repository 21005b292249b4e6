/** How one device is spoken to. `snmpSettings` makes it from parameters. */
export interface SnmpSettings {
  host: string;
  port: number;
  /** Undefined: as the name resolves. */
  family: 4 | 6 | undefined;
  security: Community | User;
  /** Of one sending of a read; it is repeated until an answer comes, the tries are used up or the call ends. */
  tryMs: number;
}

export interface Community {
  version: '1' | '2c';
  community: string;
}

/** SNMP 3 by the user-based security model. */
export interface User {
  version: '3';
  name: string;
  context: string;
  authentication: { protocol: AuthenticationProtocol; password: string } | undefined;
  /** Only with authentication. */
  privacy: { protocol: PrivacyProtocol; password: string } | undefined;
}

export const AUTHENTICATION_PROTOCOLS = ['MD5', 'SHA', 'SHA-224', 'SHA-256', 'SHA-384', 'SHA-512'] as const;
export type AuthenticationProtocol = (typeof AUTHENTICATION_PROTOCOLS)[number];

/** AES is AES-128. The key of AES-256 is made longer after Blumenthal (most devices), of AES-256-C after Reeder (Cisco and others). */
export const PRIVACY_PROTOCOLS = ['DES', 'AES', 'AES-256', 'AES-256-C'] as const;
export type PrivacyProtocol = (typeof PRIVACY_PROTOCOLS)[number];
