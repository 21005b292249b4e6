import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createAuthority } from '../runtime/certificates.ts';

export interface KeyPair {
  cert: string;
  key: string;
}

/** Of the one that is made here, and how long before its end the next is made. */
const LIFETIME_MS = 30 * 86_400_000;
const RENEWED_BEFORE_MS = 10 * 86_400_000;

/** The certificate of a server: `tls.crt` and `tls.key` of a folder, read anew each time; where they are not, one that is made here. */
export class ServedCertificate {
  readonly #folder: string | undefined;
  readonly #host: string;
  #made: (KeyPair & { endsMs: number }) | undefined;

  constructor(folder: string | undefined, host: string) {
    this.#folder = folder;
    this.#host = host;
  }

  /** Rejects where the files are there and are no pair. */
  async current(nowMs: number): Promise<KeyPair> {
    const given = this.#folder === undefined ? undefined : await pairIn(this.#folder);
    return given ?? this.#own(nowMs);
  }

  #own(nowMs: number): KeyPair {
    if (this.#made === undefined || this.#made.endsMs - nowMs < RENEWED_BEFORE_MS) {
      const { certificatePem, keyPem } = createAuthority('nodefence').issue({ commonName: this.#host, hosts: [this.#host], lifetimeMs: LIFETIME_MS });
      this.#made = { cert: certificatePem, key: keyPem, endsMs: nowMs + LIFETIME_MS };
    }
    return this.#made;
  }
}

async function pairIn(folder: string): Promise<KeyPair | undefined> {
  const [cert, key] = await Promise.all(['tls.crt', 'tls.key'].map((name) => textOf(join(folder, name))));
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined || key === undefined) throw new Error(`${folder}: one of tls.crt and tls.key is missing; put both there`);
  // Between two writes of them, one is new and the other old.
  if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)))
    throw new Error(`${folder}: tls.key is not the key of tls.crt; write both anew`);
  return { cert, key };
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
