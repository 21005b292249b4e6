/** A running fingerprint of trace lines: two runs of one seed that differ anywhere differ here. Two FNV-1a lanes of 32 bits each. */
export class TraceHash {
  #low = 0x811c9dc5;
  #high = 0x9747b28c;

  add(line: string): void {
    let low = this.#low;
    let high = this.#high;
    for (let index = 0; index < line.length; index++) {
      const code = line.charCodeAt(index);
      low = Math.imul(low ^ code, 0x01000193);
      high = Math.imul(high ^ code, 0x85ebca6b) ^ (high >>> 15);
    }
    this.#low = Math.imul(low ^ 0x0a, 0x01000193);
    this.#high = Math.imul(high ^ 0x0a, 0x85ebca6b) ^ (high >>> 15);
  }

  /** 16 hexadecimal digits. */
  digest(): string {
    return [this.#high, this.#low].map((lane) => (lane >>> 0).toString(16).padStart(8, '0')).join('');
  }
}
