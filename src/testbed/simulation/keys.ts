import type { Mac } from '../../domain/node-daemon/seal.ts';
import type { ExchangeKeyPairs } from '../../ports/node-daemon.ts';

/** 32 bytes that differ by name: the world has no need of secrets. */
export function keyOf(name: string): string {
  return `${name.replaceAll(/[^a-z0-9]/g, '_')}${'A'.repeat(43)}`.slice(0, 43);
}

/** The same for both ends of a pair, another one for every other pair. */
export function macOf(own: string, other: string): Mac {
  const pair = [own, other].sort().join('/');
  return (bytes) => {
    let hash = 0x811c9dc5;
    for (const letter of pair) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193);
    for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
    return Uint8Array.from({ length: 32 }, (_, index) => (hash >>> ((index % 4) * 8)) & 0xff);
  };
}

/** What the private key of the controllers begins with: it must stand nowhere but in its Secret (P9). */
export const PRIVATE_KEY_TEXT = 'the-private-half-of-the-exchange-key-';

/** Of the controllers of one world. */
export function controllerKeyPairs(): ExchangeKeyPairs {
  let count = 0;
  return {
    generate: () => {
      count += 1;
      return `${PRIVATE_KEY_TEXT}${count}`;
    },
    load: (text) => {
      if (!text.startsWith(PRIVATE_KEY_TEXT)) throw new TypeError('this is no private key');
      const own = keyOf(`controllers-${text.slice(PRIVATE_KEY_TEXT.length)}`);
      return { publicKey: own, macWith: (other) => macOf(own, other) };
    },
  };
}
