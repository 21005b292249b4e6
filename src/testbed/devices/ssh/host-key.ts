import ssh2 from 'ssh2';

/** A fresh ed25519 host key. */
export interface HostKey {
  /** OpenSSH's private key file. */
  private: string;
  /** Type and key as in known_hosts. */
  public: string;
}

const TRIES = 10;

/** About one in two hundred keys that ssh2 1.17.0 makes is malformed, for OpenSSH too; then it is another one. */
export function makeHostKey(): HostKey {
  for (let attempt = 1; attempt <= TRIES; attempt += 1) {
    const made = ssh2.utils.generateKeyPairSync('ed25519');
    if (ssh2.utils.parseKey(made.private) instanceof Error) continue;
    return { private: made.private, public: made.public.split(' ').slice(0, 2).join(' ') };
  }
  throw new Error(`${TRIES} host keys in a row are malformed`);
}
