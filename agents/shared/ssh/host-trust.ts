import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** One line of a known_hosts file (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT). */
interface KnownHost {
  marker: 'revoked' | 'cert-authority' | undefined;
  hosts: string;
  /** The key as it travels (RFC 4253, 6.6), base64. */
  key: string;
}

/** Whose host key is believed. */
export type HostTrust =
  | { kind: 'known-hosts'; entries: readonly KnownHost[] }
  | { kind: 'pinned'; fingerprints: readonly string[] }
  | { kind: 'insecure' };

export type TrustDecision = { trusted: true } | { trusted: false; why: string };

const ENTRIES_MAX = 1_000;

/** How a key of each kind may be proved; kinds that are not here cannot be checked. */
const PROOFS = {
  'ssh-ed25519': ['ssh-ed25519'],
  'ecdsa-sha2-nistp256': ['ecdsa-sha2-nistp256'],
  'ecdsa-sha2-nistp384': ['ecdsa-sha2-nistp384'],
  'ecdsa-sha2-nistp521': ['ecdsa-sha2-nistp521'],
  'ssh-rsa': ['rsa-sha2-512', 'rsa-sha2-256', 'ssh-rsa'],
} as const;
type Proof = (typeof PROOFS)[keyof typeof PROOFS][number];

/** Lines of known_hosts, or the number and fault of the first line that is none. */
export function parseKnownHosts(text: string): { entries: KnownHost[] } | { problem: string } {
  const entries: KnownHost[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const fields = line.trim().split(/\s+/);
    if (fields[0] === '' || fields[0]?.startsWith('#') === true) continue;
    const marker = fields[0]?.startsWith('@') === true ? fields.shift() : undefined;
    if (marker !== undefined && marker !== '@revoked' && marker !== '@cert-authority')
      return { problem: `line ${index + 1} has a marker that is neither @revoked nor @cert-authority` };
    const [hosts, type, key] = fields;
    if (hosts === undefined || type === undefined || key === undefined || keyType(Buffer.from(key, 'base64')) !== type)
      return { problem: `line ${index + 1} is not a host, a key type and a key` };
    if (entries.length >= ENTRIES_MAX) return { problem: `has more than ${ENTRIES_MAX} lines` };
    entries.push({ marker: marker === undefined ? undefined : marker === '@revoked' ? 'revoked' : 'cert-authority', hosts, key });
  }
  return entries.length === 0 ? { problem: 'has no line with a key' } : { entries };
}

/** `SHA256:` and unpadded base64, as ssh-keygen -l writes it. */
export function fingerprintOf(key: Buffer): string {
  return `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`;
}

/** Judges the key that a host showed. `host` as configured, lower case. */
export function judgeHostKey(trust: HostTrust, host: string, port: number, key: Buffer): TrustDecision {
  const shown = `its ${keyType(key) ?? 'unreadable'} host key is ${fingerprintOf(key)}`;
  switch (trust.kind) {
    case 'insecure':
      return { trusted: true };
    case 'pinned':
      if (trust.fingerprints.includes(fingerprintOf(key))) return { trusted: true };
      return { trusted: false, why: `${shown}, not the pinned ${trust.fingerprints.join(' or ')}` };
    case 'known-hosts':
      return judgeByLines(linesFor(trust.entries, host, port), key, shown, hostName(host, port));
  }
}

/** The algorithms by which the host may prove a key that is known here; undefined: any. */
export function hostKeyAlgorithms(trust: HostTrust, host: string, port: number): Proof[] | undefined {
  if (trust.kind !== 'known-hosts') return undefined;
  const lines = linesFor(trust.entries, host, port).filter(({ marker }) => marker === undefined);
  const types = new Set(lines.map(({ key }) => keyType(Buffer.from(key, 'base64'))));
  const proofs = Object.entries(PROOFS).flatMap(([type, ways]): readonly Proof[] => (types.has(type) ? ways : []));
  return proofs.length === 0 ? undefined : proofs;
}

function judgeByLines(lines: readonly KnownHost[], key: Buffer, shown: string, name: string): TrustDecision {
  const same = lines.filter((line) => Buffer.from(line.key, 'base64').equals(key));
  if (same.some(({ marker }) => marker === 'revoked')) return { trusted: false, why: `${shown}, which known_hosts marks @revoked` };
  if (same.some(({ marker }) => marker === undefined)) return { trusted: true };
  const plain = lines.filter(({ marker }) => marker === undefined);
  if (plain.length > 0) return { trusted: false, why: `${shown}, and known_hosts has another key for ${name}` };
  if (lines.some(({ marker }) => marker === 'cert-authority'))
    return {
      trusted: false,
      why: `known_hosts has only a @cert-authority line for ${name}, and host certificates are not understood: give the host's own key`,
    };
  return { trusted: false, why: `${shown}, and known_hosts has no line for ${name}` };
}

function linesFor(entries: readonly KnownHost[], host: string, port: number): KnownHost[] {
  const names = port === 22 ? [host, `[${host}]:22`] : [`[${host}]:${port}`];
  return entries.filter(({ hosts }) => names.some((name) => isListed(hosts, name)));
}

function hostName(host: string, port: number): string {
  return port === 22 ? host : `[${host}]:${port}`;
}

function isListed(hosts: string, name: string): boolean {
  const hashed = /^\|1\|([^|]+)\|([^|]+)$/.exec(hosts);
  if (hashed !== null) {
    const wanted = Buffer.from(hashed[2] ?? '', 'base64');
    const found = createHmac('sha1', Buffer.from(hashed[1] ?? '', 'base64'))
      .update(name)
      .digest();
    return wanted.length === found.length && timingSafeEqual(wanted, found);
  }
  const patterns = hosts.toLowerCase().split(',');
  if (patterns.some((pattern) => pattern.startsWith('!') && isMatch(pattern.slice(1), name))) return false;
  return patterns.some((pattern) => !pattern.startsWith('!') && isMatch(pattern, name));
}

function isMatch(pattern: string, name: string): boolean {
  const source = pattern
    .replace(/[\\^$.|+()[\]{}]/g, '\\$&')
    .replaceAll(/\*+/g, '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`).test(name);
}

function keyType(key: Buffer): string | undefined {
  if (key.length < 8) return undefined;
  const length = key.readUInt32BE(0);
  return length === 0 || length > 64 || key.length <= 4 + length ? undefined : key.toString('latin1', 4, 4 + length);
}
