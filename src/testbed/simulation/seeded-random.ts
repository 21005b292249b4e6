import type { Random } from '../../ports/random.ts';

/** Mixes a text into 32 bits (FNV-1a), to derive independent streams from names. */
export function hashText(text: string, start = 0x811c9dc5): number {
  let hash = start;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}

/** Chris Doty-Humphrey's sfc32: small, fast, passes PractRand. Equal seeds give equal streams on every platform. */
export class SeededRandom implements Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: number, stream = '') {
    this.#a = seed | 0;
    this.#b = Math.imul(seed ^ (seed >>> 16), 0x45d9f3b) | 0;
    this.#c = hashText(stream) | 0;
    for (let round = 0; round < 12; round++) {
      this.uint32();
    }
  }

  uint32(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  next(): number {
    return this.uint32() / 4_294_967_296;
  }

  uuid(): string {
    const digits = [0, 0, 0, 0].map(() => this.uint32().toString(16).padStart(8, '0')).join('');
    return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-a${digits.slice(17, 20)}-${digits.slice(20, 32)}`;
  }

  /** A whole number in [0, bound). */
  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }

  /** Uniform in [low, high). */
  between(low: number, high: number): number {
    return low + this.next() * (high - low);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(choices: readonly T[]): T {
    const choice = choices[this.below(choices.length)];
    if (choice === undefined) {
      throw new Error('SeededRandom.pick: there is nothing to choose from');
    }
    return choice;
  }

  /** One of the names, as often as its weight says. */
  weighted<T extends string>(weights: Readonly<Record<T, number>>): T {
    const names = Object.keys(weights) as T[];
    const total = names.reduce((sum, name) => sum + weights[name], 0);
    let rest = this.next() * total;
    for (const name of names) {
      rest -= weights[name];
      if (rest < 0) {
        return name;
      }
    }
    throw new Error('SeededRandom.weighted: the weights are empty or not positive');
  }
}
