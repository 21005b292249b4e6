import type { Mac } from '../../../src/domain/node-daemon/seal.ts';

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
