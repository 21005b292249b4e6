import type { Mac } from '../../domain/node-daemon/seal.ts';
import type { ExchangeKeyPairs, ExchangeKeys } from '../../ports/node-daemon.ts';

/** More daemons than one installation has. */
const KNOWN_MAX = 10_000;
const NONE: readonly Mac[] = [];

/** The keys that all controllers share, the current one first; another one stands beside it while it is changed. */
export class SharedKeys {
  readonly #pairs: ExchangeKeyPairs;
  #texts: readonly string[] = [];
  #keys: readonly ExchangeKeys[] = [];
  readonly #macs = new Map<string, readonly Mac[]>();

  constructor(pairs: ExchangeKeyPairs) {
    this.#pairs = pairs;
  }

  /** Throws a TypeError where one of them is no key; those that were known stay then. */
  adopt(privateKeys: readonly string[]): void {
    if (privateKeys.join('\n') === this.#texts.join('\n')) return;
    this.#keys = privateKeys.map((text) => this.#pairs.load(text));
    this.#texts = [...privateKeys];
    this.#macs.clear();
  }

  /** Empty while none is known: nothing that comes can be opened. */
  get publicKeys(): string[] {
    return this.#keys.map(({ publicKey }) => publicKey);
  }

  /** Of us and the daemon with this public key, one for each of our keys; none where it is no key. */
  macsWith(publicKey: string): readonly Mac[] {
    const known = this.#macs.get(publicKey);
    if (known !== undefined) return known;
    const macs = this.#derive(publicKey);
    const [oldest] = this.#macs.keys();
    if (oldest !== undefined && this.#macs.size >= KNOWN_MAX) this.#macs.delete(oldest);
    this.#macs.set(publicKey, macs);
    return macs;
  }

  #derive(publicKey: string): readonly Mac[] {
    try {
      return this.#keys.map((keys) => keys.macWith(publicKey));
    } catch (error) {
      if (error instanceof TypeError) return NONE;
      throw error;
    }
  }
}
