import { randomBytes, randomUUID } from 'node:crypto';
import type { Random } from '../ports/random.ts';

/** Randomness of the operating system. */
export class SystemRandom implements Random {
  next(): number {
    return randomBytes(6).readUIntBE(0, 6) / 2 ** 48;
  }

  uuid(): string {
    return randomUUID();
  }
}
